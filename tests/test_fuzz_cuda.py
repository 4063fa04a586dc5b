"""Generated programs of CUDA C leave the same words by nvcc and the simulator as by g++, lane by lane."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from random import Random

import numpy as np
import pytest
from fuzz import campaign, found
from fuzz.cuda import batch, case, emulate, operators, simulate
from fuzz.cuda.batch import Compared, Difference
from fuzz.cuda.expression import Place, expression
from fuzz.cuda.program import Program, memory, program
from fuzz.cuda.simulate import Way

needs_compilers = pytest.mark.skipif(bool(batch.missing()), reason=f"{batch.missing()} not installed")
needs_lanes = pytest.mark.skipif(not emulate.available(), reason="g++ is not installed")
BY_HAND = """extern "C" __global__ void hand(
    const u32 *__restrict__ in, u32 *out, u32 *gat, u64 *gat64, u32 *priv, S s) {
  u32 t = threadIdx.x, *o = out + 40u * t, odd = t & 1u, m = __ballot_sync(~0u, odd);
  if (odd) {
    o[0] = __shfl_sync(m, t, 5); o[1] = RADD(m, t); o[2] = __match_any_sync(m, t & 2u);
  }
  o[3] = __shfl_up_sync(~0u, t, 3); o[4] = __shfl_xor_sync(~0u, t, 9, 16); o[5] = (u32)__syncthreads_count(t > 20u);
  o[6] = hb(__float2half_ru(1.0f + 0x1p-20f)); o[7] = bb_(__hfma(bB(0x3f81), bB(0x3f81), bB(0xbf82)));
  o[8] = fb(__fdiv_rd(1.0f, 3.0f)); o[9] = __float2uint_rn(2.5f); o[10] = __vaddss4(0x7f80ff01u, 0x01ff0102u);
}
"""


def told(compared: Compared) -> list[str]:
    """The differences, a line each."""
    return [f"{one.program.name} {one.way}: {one.what}" for one in compared.differences]


@pytest.mark.long
@needs_compilers
@pytest.mark.jit
def test_a_sample_of_programs_leaves_the_same_words():
    """Two programs with a fixed seed, compiled for sm_90, leave every word as the lane emulation does."""
    assert told(batch.compared([program(n, 80) for n in (11, 12)], [Way(90, ())])) == []


@pytest.mark.long
@needs_compilers
@pytest.mark.jit
def test_what_the_headers_keep_from_nvcc_leaves_the_same_words():
    """SGXT of sm_80 gets its length in a register, not in a bank that no launch has; a large number is its own ceil."""
    begin = BY_HAND[: BY_HAND.index("{") + 1].replace("hand", "kept")
    length = "u0 = szext_wrap_s(t * 77u, cst[9]) + szext_clamp_u(t * 99u, s.w[1]);"
    body = f"\n  HEAD(32)\n  {length}\n  d0 = ceil(2.5e300);\n  SAVE();\n}}\n"
    assert told(batch.compared([Program("kept", begin + body, 1, (32, 1), 1)], [Way(80, ())])) == []


@pytest.mark.long
@needs_compilers
@pytest.mark.jit
def test_values_live_across_calls_of_the_system():
    """A program that prints and allocates in between leaves every word, optimised, and as it is for debuggers."""
    calling = next(one for n in range(100) if "malloc" in (one := program(n, 80)).text)
    assert told(batch.compared([calling], [Way(90, ()), Way(80, ("-G",))])) == []


def test_what_nvcc_makes_wrong_code_of_is_not_drawn():
    """No half is clamped to one number, no number is multiplied by itself in 24 bits, no shifted constant converted."""
    at = Place(Random(1), 80, iter(()))
    drawn = [expression(at, kind, depth) for kind, depth in (("h", 3), ("i", 1), ("b", 2)) for _ in range(20_000)]
    ends = [one.removeprefix("__hmin(__hmax(")[-24:] for one in drawn if one.startswith("__hmin(__hmax(")]
    assert any(one.endswith("bh(0x7bff)),bh(0x3c00))") for one in ends)
    assert [one for one in ends if one.endswith("bh(0x7bff)),bh(0x7bff))")] == []
    products = [one.removeprefix("__mul24(").removesuffix(")") for one in drawn if one.startswith("__mul24(")]
    assert [one for one in products if one == ", ".join([one[: len(one) // 2 - 1]] * 2)] == []
    assert [one for one in drawn if one.startswith("__ull2bfloat16_ru((u64)(0x123456789abcdefull<<")] == []


@needs_compilers
@pytest.mark.jit
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_programs_leave_the_same_words(seed):
    """Batches of ten programs with a fixed seed, each compiled in two ways, leave every word as the lane emulation."""
    assert told(batch.drawn(seed)) == []


@needs_compilers
@pytest.mark.jit
@pytest.mark.slow
@pytest.mark.parametrize("architecture", simulate.MACHINES)
@pytest.mark.parametrize("options", [(), ("-Xptxas", "-O0")], ids=["", "O0"])
def test_every_operator_of_every_architecture(architecture, options):
    """Every operator that programs draw gives what g++ gives, also as an idiom that only this architecture has."""
    since = max(each for each in (75, 80) if each <= architecture)
    assert told(batch.surveyed(1, since, [Way(architecture, options)])) == []


@needs_lanes
def test_the_lane_emulation_of_a_kernel_worked_by_hand(tmp_path):
    """Shuffles, votes and sums of some lanes, a barrier that counts, and roundings are those worked out by hand."""
    (words,) = emulate.emulated([Program("hand", BY_HAND, 1, (32, 1), 1)], tmp_path)
    out = words[: 32 * 40].reshape(32, 40)
    lanes = np.arange(32)
    odd = lanes % 2 == 1
    groups = np.where(lanes & 2, 0x88888888, 0x22222222)
    assert (out[odd, 0] == 5).all()
    assert (out[odd, 1] == 256).all()
    assert (out[odd, 2] == groups[odd]).all()
    assert not out[~odd, :3].any()
    assert (out[:, 3] == np.where(lanes < 3, lanes, lanes - 3)).all()
    assert (out[:, 4] == lanes ^ 9).all()
    assert out[0, 5:11].tolist() == [11, 0x3C01, 0x3880, 0x3EAAAAAA, 2, 0x7F800003]


def test_a_program_is_the_same_for_a_seed():
    """Two programs of a seed have the same text, and the same input."""
    first, second = program(7, 80), program(7, 80)
    assert first == second
    assert (memory(first).own == memory(second).own).all()


def test_operators_come_with_their_operands():
    """A text has a place for each operand; what only sm_80 computes exactly is not drawn for sm_75."""
    every = [one for each in operators.OPERATORS.values() for one in each]
    assert [one for one in every if one.text.count("$") != len(one.operands)] == []
    assert {one.since for one in every} == {75, 80}
    assert batch.way(Random(1), 80).architecture >= 80


@pytest.fixture
def planted(monkeypatch):
    """Let a program differ, and be refused, without any compiler: it does while its text has `planted`."""

    def compared(programs, ways):
        wrong = [Difference(one, each, "1 words") for one in programs for each in ways if "planted" in one.text]
        return Compared(len(programs), tuple(ways) * len(programs), tuple(wrong))

    monkeypatch.setattr(case, "compared", compared)
    return Difference(Program("k", "{\none\nplanted\n}\n", 1, (32, 1), 1), Way(80, ("-G",)), "1 words")


def test_a_program_that_differs_is_made_smaller_and_stored(planted, tmp_path):
    """A program that differs loses its other lines, and differs again from its file."""
    small = found.smaller(found.Found(case.CHECK, case.text(planted), planted.what))
    again = found.load(found.store(small, tmp_path))
    assert again.case.decode().splitlines()[1:] == ["planted"]
    assert found.wrong(again.check, again.case) == "1 words"
    assert case.wrong(case.text(replace(planted, program=replace(planted.program, text="fine")))) == ""


def test_a_campaign_without_compilers_says_so(monkeypatch):
    """Where nvcc or g++ is not installed, the report names what was not tried, and the rest goes on."""
    monkeypatch.setattr(campaign.cuda, "missing", lambda: "nvcc")
    assert campaign.programs(1).covered == {"not tried: CUDA C, without nvcc": 1}


def test_a_campaign_counts_programs_and_runs(monkeypatch, planted):
    """A campaign counts programs, runs and ways, and keeps a program that differs with its launch."""
    came = Compared(10, (planted.way,) * 20, (planted,))
    monkeypatch.setattr(campaign.cuda, "missing", lambda: "")
    monkeypatch.setattr(campaign.cuda, "drawn", lambda _: came)
    tally = campaign.programs(1)
    assert tally.covered["programs"] == 10
    assert tally.covered["compiled: sm_80 -G"] == tally.covered["runs of programs"] == 20
    assert case.wrong(tally.found[0].case) == "1 words"


def test_a_campaign_draws_every_kind_or_one():
    """Of eight batches five are of pairs, two of texts and one of programs, unless only one kind is asked for."""
    kinds = [name.partition("(")[0] for name, _ in islice(campaign.drawn(3), 8)]
    assert {kind: kinds.count(kind) for kind in campaign.ALL} == {"pairs": 5, "texts": 2, "programs": 1}
    assert {name.partition("(")[0] for name, _ in islice(campaign.drawn(3, "programs"), 8)} == {"programs"}
