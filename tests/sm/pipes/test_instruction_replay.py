import pytest
from timing import cycles_of, run_text, stalled

from gpusim.bounds.bounds import bound
from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from gpusim.sm.unit.stall import Stall
from isa.text.listing import read
from workloads.catalog import make

ON = {"instruction_replay.pass_slots": 1, "instruction_replay.request_slots": 1}
SPREAD = """
.shared 4096
.buffer a f32 4096
    S2R R0, LANEID
    SHL R0, R0, {shift}
    {access}
    NOP
    EXIT
"""


@pytest.mark.every
@pytest.mark.parametrize(
    ("access", "shift", "slots"),
    [
        ("LDS R4, [R0]", 2, 0),
        ("LDS R4, [R0]", 3, 1),
        ("LDS R4, [R0]", 7, 31),
        ("STS [R0], R4", 3, 1),
        ("LDS.64 R4, [R0]", 3, 0),
        ("LDS.64 R4, [R0]", 4, 2),  # two half-warps of two passes, of which the width needs two
        ("LDS.128 R4, [R0]", 4, 0),
        ("LDG R4, [R0 + 4096]", 2, 0),
        ("LDG R4, [R0 + 4096]", 3, 1),
        ("LDG R4, [R0 + 4096]", 7, 31),
        ("LDG.64 R4, [R0 + 4096]", 3, 0),
        ("LDG.128 R4, [R0 + 4096]", 4, 0),
    ],
)
def test_slots_taken_again(access, shift, slots):
    """An access takes a slot again for each pass or line beyond those that its width needs without conflicts."""
    run = run_text(SPREAD.format(access=access, shift=shift), ON)
    assert run.lost[0, Stall.INSTRUCTION_REPLAY] == 2 * slots
    (_, (at, _, _), (after, _, _)) = cycles_of(run)[1:4]
    assert after - at == max(6, 2 + 2 * slots)


def test_local_memory_and_other_machines_replay_nothing():
    """Local memory, whose lanes' words are adjacent, replays nothing; nor does a machine without the section."""
    assert run_text(".local 32\nSTL [RZ], R1\nEXIT", ON).lost[0, Stall.INSTRUCTION_REPLAY] == 0
    assert load("gtx980").instruction_replay is None
    spread = run_sm(read(SPREAD.format(access="LDS R4, [R0]", shift=7)), load("gtx980"))
    assert stalled(spread, Stall.INSTRUCTION_REPLAY) == spread.lost[:, Stall.INSTRUCTION_REPLAY].sum() == 0


def test_a_pair_goes_together_and_both_are_replayed():
    """The second load of a turn still issues with the first; the replays of both follow one after the other."""
    text = SPREAD.format(access="LDS R4, [R0]\n    LDS R5, [R0]", shift=3)
    run = run_text(text, ON | {"schedulers.dispatch_ports": 2})
    first, second, after = (cycle for cycle, _, pc in cycles_of(run) if pc in (2, 3, 4))
    assert (second - first, after - first) == (0, 6)
    assert run.lost[0, Stall.INSTRUCTION_REPLAY] == 4


def test_the_bound_counts_replays():
    """With 32 lanes in one bank each load takes its slot and 31 more; both schedulers have one slot per cycle."""
    kernel = read(SPREAD.format(access="\n".join(["LDS R4, [R0]"] * 100), shift=7))
    assert bound(kernel, load("gtx580", ON)).limits["issue slots"] == 100 * 32 + 4
    assert bound(kernel, load("gtx580", dict.fromkeys(ON, 0))).limits["issue slots"] == 104


@pytest.mark.jit
@pytest.mark.parametrize(("ratio", "lds", "measured"), [("6:1", 64, 30.4), ("12:1", 128, 24.5)])
def test_wide_loads_are_not_replayed(ratio, lds, measured):
    """RR-7923's mixes are faster than the issue slots would allow if every further pass of a wide load took one."""
    kernel = make("mix", {"ratio": ratio, "lds": str(lds)})
    each_pass = run_sm(kernel, load("gtx580", {f"shared_memory.free_passes_{lds}": 1}), feed="trace-driven")
    assert 32 * each_pass.warp_instructions / each_pass.cycles < 0.95 * measured
    assert run_sm(kernel, load("gtx580"), feed="trace-driven").lost[:, Stall.INSTRUCTION_REPLAY].sum() == 0
