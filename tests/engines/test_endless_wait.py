"""Blocks that wait for each other: they end where all run, one SM alone is not enough, and a deadlock is told."""

from dataclasses import replace

import pytest
from timing import plain_machine

from gpusim.commands import main
from gpusim.engines import endless_wait
from gpusim.engines.endless_wait import BlocksWaitError
from gpusim.engines.simulate import run_chip, run_sm
from gpusim.simulation.simulation import simulate
from gpusim.sm.account.record.declaration import ISSUE
from isa.errors import DeadlockError, ExecutionError
from isa.memory import bases
from isa.operands.operand import Special
from isa.text.listing import read

# A barrier of the grid: each block counts itself, and looks until all have.
BARRIER = """
.grid {blocks}
.block {threads}
.buffer x u32 64
S2R R0, TID.X
ISETP.NE P0, R0, 0
@P0 BRA met
MOV R1, 1
MOV R2, c[x]
RED.ADD [R2], R1
look:
LDG R3, [R2]
ISETP.LT P1, R3, {count}
@P1 BRA look
met:
BAR.SYNC 0
S2R R4, CTAID.X
SHL R4, R4, 2
IADD R4, R4, c[x]
@!P0 STG [R4+4], R3
EXIT
"""
# Each block waits for the one before, and block 0 for nobody, as in a scan with look-back.
CHAIN = """
.grid {blocks}
.buffer x u32 64
S2R R0, CTAID.X
SHL R1, R0, 2
IADD R1, R1, c[x]
MOV R3, 1
ISETP.EQ P0, R0, 0
@P0 BRA go
look:
LDG R2, [R1-4]
ISETP.EQ P1, R2, 0
@P1 BRA look
IADD R3, R2, 1
go:
STG [R1], R3
EXIT
"""
GIVES_UP = CHAIN.replace("@P1 BRA look", "@!P1 BRA go\nIADD R5, R5, 1\nISETP.LT P1, R5, 90\n@P1 BRA look")
ENDS_BY_ITSELF = CHAIN.replace("@P1 BRA look", "IADD R5, R5, 1\nISETP.LT P1, R5, 900\n@P1 BRA look")


@pytest.fixture(autouse=True)
def _look_early(monkeypatch):
    monkeypatch.setattr(endless_wait, "FIRST_LOOK", 2000)


def on(sms, **changes):
    """Return a machine with so many SMs, of one block each unless said otherwise."""
    return plain_machine({"chip.sms": sms, "chip.dram_mbs": 100_000, "limits.blocks": 1} | changes)


def barrier(blocks, count=None, threads=32):
    """Return a kernel whose blocks wait for so many."""
    return read(BARRIER.format(blocks=blocks, threads=threads, count=count or blocks))


def words(found):
    """Return what the buffer holds."""
    return found.run.memory[bases(found.kernel.buffers)["x"] // 4 :].tolist()


@pytest.mark.jit
@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize("threads", [32, 96])
def test_a_barrier_of_the_grid_ends(engine, threads):
    """One SM can't stand for all: all are simulated in its place, as if asked for, and all blocks see all."""
    found = simulate(barrier(3, threads=threads), on(3), engine=engine)
    assert found.run.sms == 3
    assert words(found)[:4] == [3, 3, 3, 3]
    assert found.cycles == run_chip(barrier(3, threads=threads), on(3), engine=engine).cycles


@pytest.mark.jit
def test_a_chain_of_blocks_ends():
    """A block of a later wave waits for one of another SM, and gets its value."""
    found = simulate(read(CHAIN.format(blocks=7)), on(2))
    assert found.run.sms == 2
    assert words(found)[:7] == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.jit
def test_without_values_it_ends_as_well():
    """Where only time is asked for, too: what blocks wait for is computed."""
    assert simulate(barrier(3), on(3), values=False).cycles == simulate(barrier(3), on(3)).cycles


def test_one_sm_alone_says_what_is_missing():
    """A run of one SM, and of a few, ends with an error that names the place and all SMs."""
    with pytest.raises(BlocksWaitError, match=r"block 0, warp 0: waits for blocks of SMs .* give --sms all"):
        run_sm(barrier(4), on(4))
    with pytest.raises(BlocksWaitError, match="give --sms all"):
        run_chip(barrier(4), on(4), sms=2)


# 64 threads, of which those of warp 0 look so often, and then go on at `out`.
COUNTED = """
.block 64
.buffer x u32 64
S2R R0, TID.X
ISETP.GE P0, R0, 32
@P0 BRA gone
MOV R1, c[x]
MOV R5, 0
look:
LDG R2, [R1]
IADD R5, R5, 1
ISETP.EQ P1, R2, 1
@P1 BRA out
ISETP.LT P1, R5, {looks}
@P1 BRA look
out:
{then}
gone:
EXIT
"""
LOOKS = (20, 60, 100, 140, 200, 300)  # some end while warps are looked at


@pytest.mark.parametrize("looks", LOOKS)
def test_a_fault_while_warps_are_looked_at_ends_the_run(looks):
    """A store outside the buffer is told, whenever it comes."""
    with pytest.raises(ExecutionError, match="STG"):
        run_sm(read(COUNTED.format(looks=looks, then="STG [R1+0x10000], R5")), on(1))


@pytest.mark.parametrize("looks", LOOKS)
def test_a_deadlock_while_warps_are_looked_at_is_told(looks):
    """Warp 0 waits at a barrier for warp 1, which has exited: a deadlock, whenever it comes."""
    with pytest.raises(DeadlockError, match="barrier 0"):
        run_sm(read(COUNTED.format(looks=looks, then="BAR.SYNC 0")), on(1))


@pytest.mark.parametrize("looks", LOOKS)
def test_what_is_recorded_while_warps_are_looked_at_is_kept(looks):
    """A trace has each issue of the run, and the run takes as long as without one."""
    kernel = read(COUNTED.format(looks=looks, then="STG [R1+4], R5"))
    found = run_sm(kernel, on(1), trace=True)
    assert int((found.trace["kind"] == ISSUE).sum()) == found.warp_instructions
    assert found.cycles == run_sm(kernel, on(1)).cycles


def with_clock(kernel):
    """Return a kernel that reads the clock where it reads TID.Y."""
    clock = {Special("TID.Y"): Special("CLOCKLO")}
    code = [replace(one, operands=tuple(clock.get(o, o) for o in one.operands)) for one in kernel.program.instructions]
    return replace(kernel, program=replace(kernel.program, instructions=tuple(code)))


@pytest.mark.parametrize("limit", [3000, 90000])
def test_a_loop_with_a_time_limit_ends_by_itself(limit):
    """A loop that asks the clock, whose register it then overwrites, is no endless wait."""
    text = CHAIN.replace("look:", "S2R R6, TID.Y\nlook:\nS2R R5, TID.Y\nIADD R5, R5, -R6\nISETP.LT P2, R5, {limit}")
    text = text.replace("@P1 BRA look", "MOV R5, 0\n@!P1 BRA go\n@P2 BRA look").replace("go:", "go:\nEXIT")
    found = run_sm(with_clock(read(text.format(blocks=2, limit=limit))), on(1))
    assert limit < found.cycles < limit + 5000


def test_a_clock_read_before_does_not_hide_an_endless_wait():
    """A program that reads the clock once, and then waits for what nobody stores, deadlocks."""
    text = CHAIN.replace("look:", "S2R R6, TID.Y\nlook:").replace("go:", "go:\nEXIT")
    with pytest.raises(
        DeadlockError, match=r"waits for a store to x\[\d+\] \(0x.*\), which holds \d+, and no block will store"
    ):
        run_sm(with_clock(read(text.format(blocks=2))), on(1))


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_blocks_that_do_not_fit_deadlock(engine):
    """Four blocks wait for a fifth, which fits only when one ends, as on a chip: the error says how many fit."""
    with pytest.raises(DeadlockError, match=r"0 of 5 blocks have ended, 4 blocks wait .* at once, 4 here"):
        simulate(barrier(5), on(4), engine=engine)


def test_blocks_that_nobody_wakes_deadlock():
    """All blocks have a place and wait for a count that is never reached: the error sends to who should store it."""
    with pytest.raises(
        DeadlockError, match=r"waits for a store to x\[\d+\] \(0x.*\), which holds \d+, and no block will store"
    ):
        simulate(barrier(3, count=4), on(3))


@pytest.mark.jit
def test_a_loop_that_counts_its_looks_ends_by_itself():
    """A loop that reads memory and gives up is no endless wait: one SM stands for all."""
    found = simulate(read(ENDS_BY_ITSELF.format(blocks=2)), on(2))
    assert found.run.sms == 1
    assert found.cycles > 3 * endless_wait.FIRST_LOOK


@pytest.mark.jit
def test_the_screen_says_that_all_sms_ran(tmp_path, capsys):
    """`gpusim run` notes on stderr that all SMs were simulated in place of one, and why."""
    listing = tmp_path / "barrier.asm"
    listing.write_text(BARRIER.format(blocks=2, threads=32, count=2))
    settings = ["--set", "chip.sms=2", "--set", "limits.blocks=1"]
    assert main.execute(["run", str(listing), "--machine", "gtx580", *settings]) == 0
    assert "note: blocks wait for blocks of other SMs, so all 2 SMs were simulated\n" in capsys.readouterr().err


@pytest.mark.jit
def test_the_screen_says_that_one_sm_misses_what_others_store(tmp_path, capsys):
    """A loop that ends by itself without what the block before stores: the note names the load and all SMs."""
    listing = tmp_path / "chain.asm"
    listing.write_text(GIVES_UP.format(blocks=2))
    settings = ["--set", "chip.sms=2", "--set", "limits.blocks=1"]
    assert main.execute(["run", str(listing), "--machine", "gtx580", *settings]) == 0
    asked = "note: line 11, pc 6 `LDG R2, [R1-0x4]` may go by what blocks of other SMs store, and one SM is timed"
    assert f"{asked}: add --sms all\n" in capsys.readouterr().err
    assert main.execute(["run", str(listing), "--machine", "gtx580", *settings, "--sms", "all"]) == 0
    assert "may go by" not in capsys.readouterr().err
