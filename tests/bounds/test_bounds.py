from dataclasses import replace

import msgspec
import pytest
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies.launches import REPEATABLE, kernels, launches, parting_kernels

from gpusim.bounds.bounds import MOST_READS, Bound, bound
from gpusim.engines.simulate import run_chip, run_sm
from gpusim.machine.machine import load
from isa.errors import LimitError
from isa.kernel import Kernel
from isa.program import Program
from isa.text.listing import read
from workloads.catalog import make
from workloads.microbench.register_banks import register_banks

GTX580 = load("gtx580")
FP32 = "FFMA R0, R1, R2, R3\n"


def of(text: str, **settings: int | str) -> Bound:
    """Bound of a listing on a GTX 580 with some numbers replaced, without its start-up skew."""
    return bound(
        read(text), load("gtx580", {"launch.warp_skew": 0, **{k.replace("__", "."): v for k, v in settings.items()}})
    )


@pytest.mark.jit
@settings(REPEATABLE, max_examples=draws(100))
@given(launches(kernels(most_blocks=4)))
def test_no_simulation_beats_the_bound(launched):
    """On any machine a random kernel takes at least the cycles of its bound."""
    kernel, machine = launched
    assert bound(kernel, machine).cycles <= run_sm(kernel, machine, feed="trace-driven").cycles


@pytest.mark.jit
@settings(REPEATABLE, max_examples=draws(100))
@given(launches(parting_kernels()))
def test_no_way_around_a_convergence_barrier_beats_the_bound(launched):
    """Nor does one whose lanes part between BSSY and BSYNC, several ways, nested, in loops."""
    kernel, machine = launched
    assert bound(kernel, machine).cycles <= run_sm(kernel, machine, feed="trace-driven").cycles


@pytest.mark.jit
@settings(REPEATABLE, max_examples=draws(60))
@given(launches(kernels(most_blocks=9)), st.integers(2, 4))
def test_all_sms_do_not_beat_their_bound(launched, sms):
    """With two to four SMs that share the bandwidth a random kernel takes at least the cycles of the bound for all."""
    kernel, machine = launched
    chip = msgspec.structs.replace(machine, chip=msgspec.structs.replace(machine.chip, sms=sms))
    assert bound(kernel, chip, sms=sms).cycles <= run_chip(kernel, chip, feed="trace-driven").cycles


@pytest.mark.jit
@settings(REPEATABLE, max_examples=draws(100))
@given(launches(kernels(most_blocks=9)), st.integers(2, 4), st.booleans())
def test_an_sm_that_stands_for_others_does_not_beat_the_bound(launched, sms, channel):
    """Nor does one SM of two to four whose caches keep tags: it brings its part of the buffers, others the rest."""
    kernel, machine = launched
    chip = msgspec.structs.replace(machine.chip, sms=sms)
    machine = msgspec.structs.replace(machine, chip=chip, **({} if channel else {"l2_channel": None}))
    assert bound(kernel, machine).cycles <= run_sm(kernel, machine, feed="trace-driven").cycles


def test_all_sms_share_bandwidth_and_slots():
    """With 17 blocks on 16 SMs one SM issues for two blocks, but the channel moves the lines of 17, not of 32."""
    text = ".grid 17\n.buffer a f32 32\nMOV R0, c[a]\n" + "LDG R1, [R0]\n" * 32 + "EXIT"
    kernel = read(text)
    one, whole = bound(kernel, GTX580), bound(kernel, GTX580, sms=16)
    assert whole.limits["issue slots"] == one.limits["issue slots"]
    assert whole.limits["memory bandwidth"] == pytest.approx(one.limits["memory bandwidth"] * 17 / 32, abs=1)


def test_blocks_of_all_sms_that_differ_are_all_counted():
    """Of 32 blocks that loop as often as their id says, once at least, one of each kind is profiled.

    The mean of 16 SMs limits the issue slots.
    """
    text = ".grid 32\nS2R R0, CTAID.X\nagain:\nIADD R1, R1, 1\nISETP.LT P0, R1, R0\n@P0 BRA again\nEXIT"
    found = bound(read(text), GTX580, sms=16)
    rounds = sum(max(1, block) for block in range(32))
    assert (found.profiled_blocks, found.alike) == (31, False)
    assert found.limits["issue slots"] == -(-(32 * 2 + 3 * rounds) // 16)


@pytest.mark.jit
@pytest.mark.parametrize("op", ["FFMA", "IMAD", "DFMA", "MUFU.RCP", "LDS", "LDS.64", "LDS.128"])
def test_throughput_reaches_the_bound(op):
    """The bound of 16 warps of independent instructions, or conflict-free shared loads, is within 3 % of the cycles."""
    kernel = make("throughput", {"op": op})
    cycles = run_sm(kernel, GTX580, feed="trace-driven").cycles
    assert 0.97 * cycles <= bound(kernel, GTX580).cycles <= cycles


@pytest.mark.jit
@pytest.mark.parametrize(
    ("arguments", "limiter"),
    [
        (("throughput", {}), "issue slots"),
        (("throughput", {"op": "DFMA"}), "pipe dp"),
        (("throughput", {"op": "LDS.64"}), "load/store unit"),
        (("throughput", {"op": "LDG", "blocks": "64"}), "memory bandwidth"),
        (("chain", {}), "dependence chain"),
        (("sgemm-lai", {}), "issue slots"),
        (("sgemm-lai", {"lds": "128"}), "load/store unit"),
    ],
)
def test_the_limiter_is_the_scarce_resource(arguments, limiter):
    """A kernel that is made to use up one resource is limited by it."""
    assert bound(make(*arguments), GTX580).limiter == limiter


def test_issue_slots_by_hand():
    """4 warps of 10 FFMAs and an EXIT: 44 instructions, two schedulers, one slot per 2 cycles each: 44 cycles."""
    limits = of(".block 128\n" + FP32 * 10 + "EXIT").limits
    assert limits["issue slots"] == 44
    assert limits["pipe sp"] == 40


def test_a_pipe_of_the_sm_is_one_for_all_schedulers():
    """4 warps of 10 SFU instructions keep the one pipe of 4 lanes busy for 4 x 10 x 8 cycles."""
    assert of(".block 128\n" + "MUFU.RCP R0, R1\n" * 10 + "EXIT").limits["pipe sfu"] == 320


def test_double_precision_takes_both_schedulers_slots():
    """A DADD that is exclusive at issue costs two slots, an EXIT one: 4 x 10 and 4 take 84 cycles, otherwise 44."""
    text = ".block 128\n" + "DADD R0, R2, R4\n" * 10 + "EXIT"
    assert of(text, double__exclusive="issue").limits["issue slots"] == 84
    assert of(text, double__exclusive="off").limits["issue slots"] == 44


def test_passes_follow_the_addresses():
    """Lanes 8 words apart hit 4 banks, 8 ways: 10 loads of one warp take 10 x 8 passes of 2 cycles."""
    text = ".shared 1024\nS2R R0, LANEID\nSHL R0, R0, 5\n" + "LDS R1, [R0]\n" * 10 + "EXIT"
    assert of(text).limits["load/store unit"] == 160


def test_bandwidth_counts_transactions_of_loads():
    """10 loads of 128 bytes take 10 lines of the SM's share: 192.4 GB/s / 16 SMs / 1544 MHz = 7.79 bytes per cycle."""
    text = ".buffer a f32 32\nS2R R0, LANEID\nSHL R0, R0, 2\nIADD R0, R0, c[a]\n" + "LDG R1, [R0]\n" * 10 + "EXIT"
    assert of(text).limits["memory bandwidth"] == pytest.approx(1280 / 7.788, abs=1)


@pytest.mark.parametrize("machine", ["gtx680", "gtx980", "v100", "a100", "h200"])
def test_no_limit_is_below_nothing(machine):
    """A kernel of three instructions has no limit below 0, though reads of registers may lie after its end."""
    kernel = read("S2R R0, TID.X\nIADD R1, R0, R0\nFFMA R2, R1, R1, R1")
    assert min(bound(kernel, load(machine)).limits.values()) >= 0


def test_an_empty_program_takes_an_issue_slot():
    """Running off the end is an exit: one slot of 2 cycles."""
    empty = Kernel("empty", Program(()), (1, 1, 1), (32, 1, 1))
    assert bound(empty, GTX580).cycles == of("EXIT").cycles == 2


def test_waves_lengthen_the_chain():
    """With 17 blocks on 16 SMs one SM has two: together they take one chain, one at a time two and 100 cycles."""
    text = ".grid 17\n" + FP32 * 2 + "EXIT"
    alone = of(text.replace("17", "1")).limits["dependence chain"]
    assert of(text).limits["dependence chain"] == alone
    assert of(text, limits__blocks=1, launch__block_latency=100).limits["dependence chain"] == 2 * alone + 100


def test_the_chip_hands_out_blocks_one_after_the_other():
    """An SM of 16 has 10 of 160 blocks, two at once: 7 times 16 x 15 cycles lie between the other 8."""
    found = of(".grid 160\nEXIT", limits__blocks=2, launch__refill_parts=960)
    assert found.limits["starts of blocks"] == 7 * 240
    assert found.limiter == "starts of blocks"
    rounded = of(".grid 160\nEXIT", limits__blocks=2, launch__refill_parts=97)  # 24.25 cycles, 24 where one SM runs
    assert rounded.limits["starts of blocks"] == 7 * 24
    assert "starts of blocks" not in of(".grid 32\nEXIT", limits__blocks=2, launch__refill_parts=96).limits


def test_the_rate_is_that_of_the_whole_launch():
    """32 blocks of 1000 operations each have the rate of 32,000 operations in the cycles of an SM with two blocks."""
    found = of(".grid 32\n.flops 32000\n" + FP32 * 20 + "EXIT")
    assert found.gflops == pytest.approx(32000 / (found.cycles / 1544e6) / 1e9)
    assert found.percent_of_peak == pytest.approx(100 * found.gflops / (1024 * 1.544))


def test_few_blocks_are_profiled_for_many():
    """The bound profiles 3 of an SM's 40 blocks that may differ, both of two, and 1 of 40 that cannot differ."""
    differing = ".shared 4096\n.grid {}\nS2R R0, CTAID.X\nLOP.AND R0, R0, 0xfc\nLDS R1, [R0]\nEXIT".format
    assert (of(differing(640)).blocks, of(differing(640)).profiled_blocks) == (40, 3)
    assert of(differing(32)).profiled_blocks == 2
    assert (of(".grid 640\nEXIT").blocks, of(".grid 640\nEXIT").profiled_blocks) == (40, 1)


@pytest.mark.jit
def test_contents_of_buffers_matter_only_to_addresses():
    """A kernel whose addresses do not come from memory is bounded without filling its buffers."""

    def refuse(_: object) -> None:
        raise AssertionError("filled")

    kernel = make("sgemm-lai", {"m": "96", "n": "96", "k": "32"})
    hollow = replace(kernel, buffers=tuple(replace(b, fill=refuse) for b in kernel.buffers))
    assert bound(hollow, GTX580) == bound(kernel, GTX580)


def test_pointers_in_memory_are_followed():
    """If addresses come from memory, the bound follows them: 8 dependent loads in a ring take over 600 cycles each."""
    assert bound(make("chain", {"op": "LDG", "length": "8"}), GTX580).cycles > 8 * 600


def test_an_endless_loop_is_refused():
    """A loop without end is refused after the given limit of 1000 warp instructions."""
    with pytest.raises(LimitError, match="more than 1000 warp instructions"):
        bound(read("top:\nBRA top"), GTX580, limit=1000)


def test_the_fullest_register_bank_is_a_limit():
    """Three sources in one bank take three cycles of a scheduler's bank, unless they may be kept for reuse."""
    kernel, machine = register_banks("3000", length=252, warps=16), load("gtx980")
    found = bound(kernel, machine)
    assert found.limiter == "register banks"
    assert 3 * 252 * 4 <= found.cycles + MOST_READS * 2 <= 3 * 252 * 4 + 100
    assert "register banks" not in bound(kernel, load("gtx580")).limits
    assert bound(register_banks("3000", flagged=3, length=252), machine).limiter != "register banks"
    assert "register banks" not in bound(kernel, load("gtx680")).limits  # the next FFMA has all at hand


@pytest.mark.jit
def test_operands_that_are_never_late_are_no_limit():
    """Registers that are in no bank limit nothing, even if their reads may take only one cycle."""
    changes = {"register_file.mapping": "none", "register_file.window": 1, "register_file.collecting": 0}
    kernel, machine = make("throughput"), load("gtx980", changes)
    found = bound(kernel, machine)
    assert "register banks" not in found.limits
    assert found.cycles <= run_sm(kernel, machine, feed="trace-driven").cycles
