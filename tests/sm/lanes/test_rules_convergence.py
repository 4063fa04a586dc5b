"""Independent lanes in time, worked by hand: one warp instruction every 6 cycles, results after 18, branches 18.

P0 holds in the first 8 lanes of a warp, or in warp 0. The YIELD behind the end makes lanes independent.
"""

import numpy as np
import pytest
from interpreter.interpret import interpret
from timing import plain_machine, run_text

from gpusim.engines.simulate import run_sm
from gpusim.sm.account.record.declaration import TRACE_KINDS
from isa.errors import DeadlockError, ExecutionError
from isa.text.listing import read

OF_LANES = "S2R R0, LANEID\nISETP.LT P0, R0, 8\n"  # issue at 0 and 18; P0 is there at 36
OF_WARPS = "S2R R0, WARPID\nISETP.EQ P0, R0, 0\n"
SETTINGS = {"branch.latency": 18, "barrier.latency": 16, "unit.special.latency": 18, "unit.compare.latency": 18}


def issues(text: str, threads: int = 32, warp: int = 0) -> list[tuple[int, int, int]]:
    """Pc, cycle and active lanes of each issue of a warp from pc 2 on."""
    trace = run_text(f".block {threads}\n{text}\nEXIT\nYIELD", SETTINGS).trace
    found = [record for record in trace if TRACE_KINDS[record.kind] == "issue" and record.warp == warp]
    return [(int(record.pc), int(record.cycle), int(record.lanes)) for record in found][2:]


def test_one_group_after_the_other_comes_to_the_barrier():
    """The 8 lanes that jump run first, 18 cycles later; they wait at pc 7 at 60, and the 24 begin at 78.

    Those jump at 84 and come at 102; all 32 go on at the next issue, 108.
    """
    text = f"{OF_LANES}BSSY B0, met\n@P0 BRA low\nNOP\nBRA met\nlow:\nNOP\nmet:\nBSYNC B0\nNOP"
    few = [(2, 24, 32), (3, 36, 8), (6, 54, 8), (7, 60, 8)]
    assert issues(text) == [*few, (4, 78, 24), (5, 84, 24), (7, 102, 24), (8, 108, 32), (9, 114, 32)]


def test_the_group_of_lanes_that_exit_makes_room_for_the_next():
    """The 8 lanes that jump at 36 exit at 54; the 24 go on at pc 3 after 18 cycles more."""
    text = f"{OF_LANES}@P0 BRA low\nNOP\nlow:\nEXIT"
    assert issues(text) == [(2, 36, 8), (4, 54, 8), (3, 72, 24), (4, 78, 24)]


def test_a_yield_lets_the_other_group_run():
    """The 8 lanes yield at 54, the 24 go on at pc 3 at 72 and yield at 78.

    The 8 go on right behind that YIELD, at 84, and exit; the 24 go back to the EXIT, at 102.
    """
    text = f"{OF_LANES}@P0 BRA low\nNOP\nlow:\nYIELD"
    expected = [(2, 36, 8), (4, 54, 8), (3, 72, 24), (4, 78, 24), (5, 84, 8), (5, 102, 24)]
    assert issues(text) == expected


def test_a_warp_that_only_arrives_does_not_wait():
    """Warp 0 arrives at 36 and exits at 48; warp 1, issuing in the next slots, arrives at 44 and waits 16 cycles."""
    text = f"{OF_WARPS}@P0 BAR.ARV 1, 64\n@!P0 BAR.SYNC 1, 64"
    assert issues(text, threads=64) == [(2, 36, 32), (3, 42, 0), (4, 48, 32)]
    assert issues(text, threads=64, warp=1) == [(2, 38, 0), (3, 44, 32), (4, 60, 32)]


def test_an_exit_completes_a_barrier():
    """Warp 1 waits from 38 for all warps that have not exited; warp 0 exits at 48, and it goes on 16 cycles later."""
    text = f"{OF_WARPS}@!P0 BAR.SYNC 0\nNOP"
    assert issues(text, threads=64) == [(2, 36, 0), (3, 42, 32), (4, 48, 32)]
    assert issues(text, threads=64, warp=1) == [(2, 38, 32), (3, 64, 32), (4, 70, 32)]


def test_a_barrier_may_be_named_by_a_register():
    """Barrier 5 comes from a register in one warp and from the text in the other: both meet there."""
    run = run_sm(read(".block 64\nMOV R1, 5\nBAR.SYNC R1\nBAR.SYNC 5\nEXIT\nYIELD"), plain_machine(SETTINGS))
    assert run.issued[:4].tolist() == [2, 2, 2, 2]


@pytest.mark.parametrize("bar", ["BAR.SYNC 1, R1", "BAR.SYNC R2, R2", "BAR.SYNC R3, 64"])
def test_a_register_has_the_threads_of_a_barrier(bar):
    """Two warps of three meet: a count is in a register's upper half only where that has the number, too (nvcc)."""
    text = f""".block 96
    S2R R0, TID.X
    ISETP.GE P1, R0, 64
    MOV R1, 64
    MOV R2, {1 + (64 << 16)}
    MOV R3, 1
    @P1 BRA on
    {bar}
    on:
    NOP
    EXIT
    YIELD"""
    run = run_sm(read(text), plain_machine(SETTINGS))
    assert run.issued[6:8].tolist() == [2, 3]


BAD = "S2R R0, TID.X\nISETP.GE P0, R0, 32\nLOP.AND R1, R0, 1\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (f"{BAD}BAR.SYNC R1, 64", "the register has several numbers of barriers"),
        (f"{BAD}@P0 BRA on\nBAR.SYNC 0\nEXIT\non:\nBAR.RED.POPC 0, P0", "by a BAR of another kind"),
        (f"{BAD}@P0 BRA on\nBAR.RED.AND 0, P0\nEXIT\non:\nBAR.RED.OR 0, P0", "by a BAR of another kind"),
    ],
)
def test_a_barrier_is_one_for_all_who_come(text, cause):
    """Several numbers in one warp, and BARs of several kinds, end the run: an H200 refuses them (715)."""
    kernel = read(f".block 64\n{text}\nEXIT\nYIELD")
    with pytest.raises(ExecutionError, match=cause):
        interpret(kernel)
    with pytest.raises(ExecutionError, match=cause):
        run_sm(kernel, plain_machine(SETTINGS))


@pytest.mark.parametrize(("kind", "found"), [("POPC", 40), ("AND", 0), ("OR", 1)])
def test_a_barrier_counts_a_predicate_over_the_block(kind, found):
    """P0 holds in 40 of 64 threads: both warps get 40, no for all, yes for any."""
    text = f".block 64\nS2R R1, TID.X\nISETP.LT P0, R1, 40\nBAR.RED.{kind} 1, P0\nB2R.RESULT R2, P1\nEXIT"
    run = run_sm(read(text), plain_machine(SETTINGS))
    assert np.unique(run.registers[:2, 2]).tolist() == [found]


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("@P0 BRA low\nWARPSYNC.ALL\nEXIT\nlow:\nWARPSYNC.ALL\nEXIT", DeadlockError, "0x000000ff"),
        ("MOV R20, 0x1000\nRET.ABS.NODEC R20", ExecutionError, "at code address 0x1000"),
        ("@P0 BPT.TRAP\nEXIT\nYIELD", ExecutionError, "lane 0: the kernel traps"),
    ],
)
def test_what_cannot_go_on_ends_the_run(text, error, words):
    """Lanes that wait for each other, a branch to no instruction, and a trap end the run with their own error."""
    with pytest.raises(error, match=words):
        run_sm(read(f".block 32\n{OF_LANES}{text}"), plain_machine(SETTINGS))
