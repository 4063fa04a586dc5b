"""Independent lanes in the interpreter, worked by hand: R0 of lane i is i, and P0, P1 hold in its first lanes.

`ways` gives what each instruction was executed for: how often, and by how many lanes in all.
"""

import numpy as np
import pytest
from interpreter.interpret import Interpretation, interpret

from isa.errors import DeadlockError, ExecutionError
from isa.text.listing import read

HEAD = "S2R R0, LANEID\nISETP.LT P0, R0, 8\nISETP.LT P1, R0, 2\n"  # pc 0 to 2
INDEPENDENT = "\nYIELD\nEXIT"  # an instruction that only machines with independent lanes have


def run(text: str, threads: int = 32) -> Interpretation:
    """Interpret a block of so many threads, and more behind its end that makes its lanes independent."""
    return interpret(read(f".block {threads}\n{HEAD}{text}{INDEPENDENT}"))


def ways(text: str, threads: int = 32) -> list[tuple[int, int]]:
    """By pc from 3 on: how often the instruction was issued, and by how many lanes in all."""
    found = run(text, threads)
    return list(zip(found.counts.tolist(), found.active.tolist(), strict=True))[3:-2]


def test_lanes_that_part_meet_only_at_a_barrier():
    """8 lanes jump over pc 4; without a barrier 8 and 24 lanes execute pc 5 apart, with one all 32 do together."""
    assert ways("@P0 BRA on\nNOP\non:\nNOP\nEXIT") == [(1, 8), (1, 24), (2, 32), (2, 32)]
    together = ways("BSSY B0, on\n@P0 BRA on\nNOP\non:\nBSYNC B0\nNOP\nEXIT")
    assert together == [(1, 32), (1, 8), (1, 24), (2, 32), (1, 32), (1, 32)]


def test_nested_regions_meet_from_the_inside_out():
    """Of the 8 lanes that jump 2 jump on: the 8 execute pc 11 together, all 32 pc 13."""
    text = """BSSY B0, all
    @P0 BRA low
    NOP
    BRA all
    low:
    BSSY B1, few
    @P1 BRA few
    NOP
    few:
    BSYNC B1
    NOP
    all:
    BSYNC B0
    NOP
    EXIT"""
    expected = [(1, 32), (1, 8), (1, 24), (1, 24), (1, 8), (1, 2), (1, 6), (2, 8), (1, 8), (2, 32), (1, 32), (1, 32)]
    assert ways(text) == expected


def test_lanes_break_out_of_a_loop_one_by_one():
    """Lane i of 4 leaves the loop in round i + 1 with a BREAK: rounds of 4, 3, 2, 1 lanes, and none is stuck."""
    text = """BSSY B0, met
    again:
    IADD R1, R1, 1
    ISETP.GT P2, R1, R0
    @P2 BREAK B0
    @P2 BRA out
    BRA again
    met:
    BSYNC B0
    out:
    EXIT"""
    assert ways(text, threads=4) == [(1, 4), (4, 10), (4, 10), (4, 4), (4, 4), (3, 6), (0, 0), (4, 4)]


def test_a_call_returns_to_an_address_in_registers():
    """The function at pc 9 is called by 8 lanes from pc 5 and by 24 from pc 8; each comes back to its own place."""
    text = """@P0 BRA low
    LEPC R20, back
    CALL.REL.NOINC twice
    low:
    LEPC R20, end
    CALL.REL.NOINC twice
    end:
    EXIT
    back:
    EXIT
    twice:
    IADD R2, R0, R0
    RET.ABS.NODEC R20"""
    found = run(text)
    assert list(found.registers[2, 0]) == [2 * lane for lane in range(32)]
    assert ways(text) == [(1, 8), (1, 24), (1, 24), (1, 8), (1, 8), (1, 8), (1, 24), (2, 32), (2, 32)]


def test_a_jump_table_sends_each_lane_to_its_place():
    """Lanes 0 and 1, lanes 2 to 7, and the other 24 execute one of three moves each."""
    text = """LEPC R4, rest
    @P0 LEPC R4, low
    @P1 LEPC R4, lowest
    BRX R4, [lowest, low, rest]
    lowest:
    MOV R2, 1
    EXIT
    low:
    MOV R2, 2
    EXIT
    rest:
    MOV R2, 3
    EXIT"""
    assert list(run(text).registers[2, 0]) == [1] * 2 + [2] * 6 + [3] * 24


def test_a_barrier_is_saved_and_put_back():
    """BMOV takes the mask of B0 into R2, which clears it, and puts it back: all 32 lanes meet at the BSYNC."""
    text = "BSSY B0, met\nBMOV.32.CLEAR R2, B0\nBMOV.32 B0, R2\n@P0 BRA met\nNOP\nmet:\nBSYNC B0\nNOP\nEXIT"
    assert list(run(text).registers[2, 0]) == [0xFFFFFFFF] * 32
    assert ways(text)[-2:] == [(1, 32), (1, 32)]


def test_a_barrier_expects_those_that_came_to_any_of_its_bssys():
    """All 32 lanes come to the first BSSY, 8 to the second, which adds them: all meet."""
    text = "BSSY B0, met\n@P0 BRA low\nBRA met\nlow:\nBSSY B0, met\nmet:\nBSYNC B0\nNOP\nEXIT"
    assert ways(text)[-3:] == [(2, 32), (1, 32), (1, 32)]


def test_lanes_that_wait_at_another_barrier_are_not_waited_for():
    """8 lanes wait at B0 for all; so 24 pass B1, which has all, and when they have exited the 8 pass B0."""
    text = """MOV R2, -1
    BMOV.32 B0, R2
    BMOV.32 B1, R2
    @P0 BRA low
    BSYNC B1
    BRA end
    low:
    BSYNC B0
    end:
    EXIT"""
    assert ways(text)[-3:] == [(1, 24), (2, 16), (2, 32)]


def test_lanes_that_wait_at_a_warpsync_are_not_waited_for_at_a_barrier():
    """8 lanes leave the region without a BREAK, and wait at WARPSYNC; the 24 pass the BSYNC, and all meet."""
    text = "BSSY B0, met\n@P0 BRA low\nmet:\nBSYNC B0\nNOP\nlow:\nWARPSYNC.ALL\nNOP\nEXIT"
    assert ways(text)[2:] == [(1, 24), (1, 24), (2, 32), (1, 32), (1, 32)]


def test_lanes_that_exit_are_not_waited_for():
    """2 of the 8 lanes that jump exit: the other 6 meet the 24."""
    text = "BSSY B0, met\n@P0 BRA low\nBRA met\nlow:\n@P1 EXIT\nmet:\nBSYNC B0\nNOP\nEXIT"
    assert ways(text)[-2:] == [(1, 30), (1, 30)]


def test_warpsync_waits_for_the_lanes_of_its_mask():
    """8 lanes skip pc 4 and wait at pc 5 for the others; all go on together."""
    assert ways("@P0 BRA on\nNOP\non:\nWARPSYNC 0xffffffff\nNOP\nEXIT")[2:] == [(2, 32), (1, 32), (1, 32)]


def test_warpsync_waits_for_lanes_that_wait_for_one_too():
    """8 lanes wait at pc 3 for all; the 24 that wait at pc 1 for themselves alone do not let them go (H100)."""
    text = "@P0 BRA on\nWARPSYNC 0xffffff00\nNOP\non:\nWARPSYNC.ALL\nNOP\nEXIT"
    assert ways(text)[1:] == [(1, 24), (1, 24), (2, 32), (1, 32), (1, 32)]


def test_lanes_that_have_yielded_are_of_a_released_barrier_no_more():
    """24 lanes pass pc 3 while 8 have yielded, and wait for these at pc 5; these pass pc 3 alone (H100)."""
    text = "BSSY B0, met\n@!P0 BRA met\nYIELD\nmet:\nBSYNC B0\nBSSY B0, end\nWARPSYNC.ALL\nend:\nBSYNC B0\nEXIT"
    assert ways(text)[2:] == [(1, 8), (2, 32), (2, 32), (2, 32), (1, 32), (1, 32)]


def test_a_collective_is_executed_by_lanes_from_both_ways():
    """8 lanes and 24 come apart to the collective, and execute pc 6 and 7 together; then the last to come go first."""
    text = "@P0 BRA on\nNOP\non:\nWARPSYNC.COLLECTIVE 0xffffffff, after\nNOP\nENDCOLLECTIVE\nafter:\nEXIT"
    assert ways(text)[2:] == [(2, 32), (1, 32), (1, 32), (2, 32)]


BY_HALF = "ISETP.LT P2, R0, 16\nMOV R3, 0xffff0000\n@P2 MOV R3, 0xffff\n"  # pc 3 to 5: the mask of a lane's half


def test_lanes_of_one_mask_go_on_apart_until_they_meet():
    """The halves of a warp execute the vote at pc 8 apart, each with its own 16 lanes, and the rest together."""
    text = f"{BY_HALF}BSSY B0, met\nWARPSYNC.EXCLUSIVE R3\nVOTE.BALLOT R4, PT\nmet:\nBSYNC B0\nNOP\nEXIT"
    assert ways(text)[3:] == [(1, 32), (1, 32), (2, 32), (2, 32), (1, 32), (1, 32)]
    assert list(run(text).registers[4, 0]) == [0xFFFF] * 16 + [0xFFFF0000] * 16


def test_a_collective_is_executed_mask_by_mask():
    """8 lanes and 24 come apart to the collective; each half of the warp then executes pc 9 and 10 together."""
    text = f"""{BY_HALF}@P0 BRA on
    NOP
    on:
    WARPSYNC.COLLECTIVE R3, after
    VOTE.BALLOT R4, PT
    ENDCOLLECTIVE
    after:
    EXIT"""
    assert ways(text)[5:8] == [(2, 32), (2, 32), (2, 32)]
    assert list(run(text).registers[4, 0]) == [0xFFFF] * 16 + [0xFFFF0000] * 16


@pytest.mark.parametrize(
    ("guard", "mask", "skips"), [("", 0xFF, 32), ("@P0 ", 0xFF, 0), ("@P0 ", 0xFFFF, 32), ("@!PT ", 1, 0)]
)
def test_all_lanes_branch_if_others_than_those_of_the_mask_hold_the_guard(guard, mask, skips):
    """BRA.DIV compares the mask with the lanes that hold its guard, and all 32 branch; if none does, none (H100)."""
    found = ways(f"{guard}BRA.DIV {mask}, on\nNOP\non:\nEXIT")
    assert found[1] == ((0, 0) if skips else (1, 32))


@pytest.mark.parametrize(("kind", "found"), [("POPC", 40), ("AND", 0), ("OR", 1)])
def test_a_barrier_counts_a_predicate_over_the_block(kind, found):
    """P2 holds in 40 of 64 threads: not in all, and in some."""
    text = f"S2R R1, TID.X\nISETP.LT P2, R1, 40\nBAR.RED.{kind} 1, P2\nB2R.RESULT R2, P3\nEXIT"
    result = run(text, threads=64)
    assert set(result.registers[2].flat) == {found}
    assert result.predicates[3].all() == bool(found)


def test_a_warp_that_arrives_without_waiting_lets_another_go_on():
    """Warp 0 arrives at barrier 1 and exits; warp 1 waits there for 64 threads, and ends."""
    text = "S2R R1, WARPID\nISETP.EQ P2, R1, 0\n@P2 BAR.ARV 1, 64\n@!P2 BAR.SYNC 1, 64\nNOP\nEXIT"
    assert ways(text, threads=64)[-2:] == [(2, 64), (2, 64)]


def test_lanes_that_wait_for_each_other_are_named():
    """8 lanes wait at a WARPSYNC for all, the others at another: the error gives both places and masks (H200)."""
    text = "@P0 BRA low\nWARPSYNC.ALL\nEXIT\nlow:\nWARPSYNC.ALL\nEXIT"
    with pytest.raises(DeadlockError, match="wait for each other: 0x000000ff before pc 7, 0xffffff00 before pc 5"):
        run(text)


def test_a_return_to_no_instruction_is_refused():
    """R20 = 0x1000 is behind the end of the code."""
    with pytest.raises(ExecutionError, match="no instruction is at code address 0x1000"):
        run("MOV R20, 0x1000\nRET.ABS.NODEC R20")


def test_a_trap_ends_the_run():
    """BPT.TRAP under a guard that holds in lane 0 ends the run and says where."""
    with pytest.raises(ExecutionError, match="lane 0: the kernel traps"):
        run("@P1 BPT.TRAP\nEXIT")


def test_rounds_without_divergence_stay_whole():
    """A loop that all lanes leave together is executed by whole warps: 5 rounds of 64 lanes in 2 warps."""
    found = run("again:\nIADD R1, R1, 1\nISETP.LT P2, R1, 5\n@P2 BRA again\nEXIT", threads=64)
    assert found.counts[3:7].tolist() == [10, 10, 10, 2]
    assert np.array_equal(found.active[3:7], [320, 320, 256, 64])


@pytest.mark.parametrize(("guard", "threads"), [("", 32), ("@P0 ", 8)])
def test_a_question_counts_the_threads_that_ask_it(guard, threads):
    """At BRA.DIV and BRA.CONV the threads are active whose guard holds, whether they branch or not, as ncu counts."""
    for base in ("BRA.DIV", "BRA.CONV"):
        assert ways(f"{guard}{base} 0xffffffff, on\nNOP\non:\nEXIT")[0] == (1, threads)
