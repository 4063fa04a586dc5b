from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import groupby, product

import fused
import pytest
from draws import draws, few
from hypothesis import given, settings
from hypothesis import strategies as st

from isa.amd.waits import unsure_reads
from isa.errors import UserError
from isa.operands.operand import scalar
from workloads.papers.vega.vega_vlp import (
    DOUBLE,
    ORDERS,
    SINGLE,
    dgemm_vega_vlp,
    program,
    register_map,
    sgemm_vega_vlp,
)

REFERENCES = {sgemm_vega_vlp: fused.vega_vlp, dgemm_vega_vlp: partial(fused.vega_vlp, p=DOUBLE)}
KERNELS = tuple(REFERENCES)


@pytest.mark.parametrize(("build", "threads", "order"), few(product(KERNELS, (64, 128, 256), ORDERS), 2))
def test_the_result_is_the_fused_reference_to_the_last_bit(check_bits, build, threads, order):
    """One, two or four warps, either order and precision, one round of the loop or three: right bit for bit."""
    check_bits(REFERENCES[build], build(64, threads, 16, threads, order))
    check_bits(REFERENCES[build], build(64, threads, 48, threads, order))


@pytest.mark.parametrize("build", KERNELS)
@pytest.mark.parametrize(("pad", "beta"), [(8, 0.0), (24, -0.75)])
def test_pitch_and_beta_keep_the_bits(check_bits, build, pad, beta):
    """Rows of another pitch, a C that is not read or is scaled: right bit for bit."""
    check_bits(REFERENCES[build], build(64, 128, 32, 64, "forwarding", pad, beta))


@pytest.mark.long
@settings(max_examples=draws(8), deadline=None)
@given(
    st.sampled_from(KERNELS), st.integers(1, 3), st.integers(1, 3), st.integers(1, 3),
    st.sampled_from([64, 128]), st.sampled_from(ORDERS),
)  # fmt: skip
def test_every_block_of_every_shape_keeps_the_bits(check_bits, build, rows, columns, rounds, threads, order):
    """Grids that are not square, any number of rounds: each block is right to the last bit."""
    check_bits(REFERENCES[build], build(64 * rows, threads * columns, 16 * rounds, threads, order))


@pytest.mark.parametrize("build", few(KERNELS, 1))
def test_a_block_of_a_large_product_is_checked_alone(check_bits, build):
    """One block in the middle of 1024 by 1024 by 64 is made and checked without the others."""
    check_bits(REFERENCES[build], build(1024, 1024, 64), [37])


def loop_of(order, precision=SINGLE):
    """Return the instructions of the main loop."""
    built = program(256, order, precision)
    loop = built.instructions[built.labels["loop"] :]
    return loop[: next(n for n, i in enumerate(loop) if i.row.mnemonic == "S_CBRANCH_SCC1")]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("precision", "groups"), [(SINGLE, 8), (DOUBLE, 16)])
def test_a_step_of_8_k_has_the_instructions_of_the_readme(order, precision, groups):
    """Per 8 k 64 rows of A in groups with a wait each, 512 multiply-adds, B by 16 bytes; no LDS, no barrier."""
    loop = loop_of(order, precision)
    counts = Counter(i.row.mnemonic for i in loop)
    waits = [i for i in loop if i.row.mnemonic == "S_WAITCNT"]
    assert counts[precision.load_a] == 2 * 64
    assert counts[precision.multiply_add] == 2 * 512
    assert counts["GLOBAL_LOAD_DWORDX4"] == 2 * 2 * precision.words
    assert sum(i.operands[1].bits == 0 for i in waits) == 2 * groups
    assert sum(i.operands[0].bits == 2 * precision.words for i in waits) == 2
    whole = program(256, order, precision).instructions
    assert {i.row.mnemonic.split("_", maxsplit=1)[0] for i in whole} == {"S", "V", "GLOBAL", "S2R"}
    assert "S_BARRIER" not in counts


@pytest.mark.parametrize(("order", "run_length"), [("forwarding", 8), ("interleaved", 1)])
def test_the_order_sets_how_many_multiply_adds_of_a_sum_follow_each_other(order, run_length):
    """With `forwarding` the eight multiply-adds of a sum follow each other; with `interleaved` no two do."""
    sums = [i.operands[0].index for i in loop_of(order) if i.row.mnemonic == "V_FMA_F32"]
    assert {len(list(run)) for _, run in groupby(sums)} == {run_length}
    assert len(sums) == 1024


@pytest.mark.parametrize(("order", "rows"), [("forwarding", 1), ("interleaved", 2)])
def test_a_row_is_loaded_as_soon_as_its_multiply_adds_are_issued(order, rows):
    """Between two loads of A, or pairs of them, are the multiply-adds of the rows that they replace."""
    kinds = [i.row.mnemonic for i in loop_of(order) if i.row.mnemonic in {"V_FMA_F32", "S_LOAD_DWORDX8"}]
    runs = [(name, len(list(run))) for name, run in groupby(kinds)]
    assert set(runs) == {("V_FMA_F32", 8 * rows), ("S_LOAD_DWORDX8", rows)}


@pytest.mark.parametrize(("precision", "order"), list(product((SINGLE, DOUBLE), ORDERS)))
def test_no_scalar_is_read_or_loaded_again_before_a_wait_for_all_loads(precision, order):
    """Scalar loads return in any order: none is under way when its register is read or overwritten."""
    assert unsure_reads(program(256, order, precision)) == []


def test_the_registers_are_those_of_the_readme():
    """83 vector registers, of which v4 to v67 are sums and v68 to v83 hold B; A is in s32 to s95."""
    blocks = register_map().blocks
    assert sum(len(block) for block in blocks.values()) == 83
    assert [r.index for r in blocks["sums"]] == list(range(4, 68))
    assert [r.index for r in blocks["b"]] == list(range(68, 84))
    written = [i.operands[0] for i in program(256, "forwarding").instructions if i.row.mnemonic == "S_LOAD_DWORDX8"]
    assert {w.index for w in written} == {scalar(s).index for s in range(32, 96, 8)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"m": 100}, "m=100 is not a positive multiple of 64; the nearest is 128"),
        ({"n": 384}, "n=384 is not a positive multiple of 256; the nearest is 512"),
        ({"k": 24}, "k=24 is not a positive multiple of 16; the nearest is 32"),
        ({"pad": 0}, "pad=0 is not a positive multiple of 8; the nearest is 8"),
        ({"threads": 192}, "threads=192 is not allowed; give one of 64, 128, 256"),
        ({"order": "base"}, "order=base is not allowed; give one of forwarding, interleaved"),
        ({"beta": 1e31}, "beta=1e\\+31 is out of range"),
        ({"m": 65536, "n": 65536}, "m=65536 n=65536 k=64: "),
    ],
)
@pytest.mark.parametrize(("build", "name"), [(sgemm_vega_vlp, "sgemm-vega-vlp"), (dgemm_vega_vlp, "dgemm-vega-vlp")])
def test_bad_arguments_are_refused_in_one_line(build, name, arguments, message):
    """The message has the rule and what to give instead."""
    with pytest.raises(UserError, match=rf"^{name}: {message}") as caught:
        build(**arguments)
    assert "\n" not in str(caught.value)
