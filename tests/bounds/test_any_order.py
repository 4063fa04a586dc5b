"""The bound of programs whose path the order of warps decides."""

from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from rich.console import Console
from strategies.contention import banked_kernels, contended_kernels, named_machines
from strategies.launches import REPEATABLE, kernels, launches

import gpusim
from gpusim.analysis.account.findings.diagnosis import diagnosis
from gpusim.analysis.account.report import bound_screen, screen
from gpusim.analysis.account.run_document import document
from gpusim.bounds import of_run
from gpusim.bounds.bounds import bound, works
from gpusim.bounds.chain import any_order
from gpusim.engines.simulate import run_chip, run_sm
from gpusim.machine.machine import load
from gpusim.machine.occupancy import occupancy
from gpusim.simulation.simulation import simulate
from isa.text.listing import read

DATA = Path(__file__).with_name("data")
GTX580 = load("gtx580")
FULL = contended_kernels(most_blocks=2, threads=(256,))
RETRY = """.block {}
.shared 64
BSSY B0, met
again:
LDS R2, [RZ]
IADD R3, R2, 1
ATOMS.CAS R4, [RZ], R2, R3
ISETP.NE P0, R4, R2
@P0 BRA again
BSYNC B0
met:
EXIT
""".format
MEET = """.grid 2
.block 32
.buffer a u32 32
MOV R0, c[a]
S2R R1, LANEID
MOV R2, 1
ISETP.NE P0, R1, 0
@P0 BRA wait
RED.ADD [R0], R2
wait:
LDG R4, [R0]
ISETP.LT P1, R4, 2
@P1 BRA wait
EXIT
"""


def shown(screen) -> str:
    """Return a screen as one line of text."""
    console = Console(file=StringIO(), width=200)
    console.print(screen)
    return " ".join(console.file.getvalue().split())


def holds(launched, sms: int) -> bool:
    """Tell whether one SM of so many, and all of them, take at least the cycles of their bounds."""
    kernel, machine = launched
    chip = structs.replace(machine, chip=structs.replace(machine.chip, sms=sms))
    one, every = (run(kernel, chip, feed="trace-driven").cycles for run in (run_sm, run_chip))
    return bound(kernel, chip).cycles <= one and bound(kernel, chip, sms=sms).cycles <= every


@pytest.mark.jit
@settings(REPEATABLE, max_examples=draws(60))
@given(launches(contended_kernels()) | st.tuples(FULL, named_machines()), st.integers(1, 3))
def test_no_order_of_warps_beats_the_bound(launched, sms):
    """Threads that retry a compare-and-swap, or whose tickets decide what they do, take at least their bound."""
    assert holds(launched, sms)


@pytest.mark.jit
@settings(REPEATABLE, max_examples=draws(40))
@given(launches(kernels(barriers=False, most_blocks=3, least=4)), st.integers(1, 3))
def test_no_race_beats_the_bound(launched, sms):
    """Nor do threads that read what others write with no barrier between, and go by what they have read."""
    assert holds(launched, sms)


@pytest.mark.jit
@settings(REPEATABLE, max_examples=draws(60))
@given(banked_kernels(), named_machines())
def test_no_kernel_that_waits_for_banks_beats_the_bound(kernel, machine):
    """Kernels that read few register banks, and constants and scalar registers, over waves with tails, hold it."""
    assert holds((kernel, machine), machine.chip.sms)


@pytest.mark.jit
@pytest.mark.parametrize("threads", [256, 1024])
def test_additions_of_floats_to_one_word_hold_their_bound(threads):
    """The loop that nvcc makes of atomicAdd counts once for each warp, as no order does less; the word is named."""
    result = gpusim.RawModule(path=DATA / "float_atomic_90.cubin").get_function("shf")(1, threads, [np.zeros(1, "f4")])
    assert result.bound.cycles <= result.cycles
    (loop,) = (one for one in diagnosis(result) if one.limit == "serialised atomics")
    assert "lanes update one word" in loop.what
    assert "pad" not in loop.remedy
    assert not result.bound.conflicts
    names = {result.kernel.program.instructions[pc].row.mnemonic for pc in result.bound.order_dependent}
    assert names == {"LDS", "ATOMS.CAST.SPIN"}


@pytest.mark.jit
def test_constants_and_uniform_registers_take_no_register_bank():
    """Horner's scheme with uniform coefficients reads two registers for each multiply-add: banks are not its limit."""
    words = np.zeros(528 * 2048, np.float32)
    function = gpusim.RawModule(path=DATA / "horner_90.cubin").get_function("horner4")
    kernel, machine = function.launched(528, 256, [words, words.copy()]), load("h200")
    found = bound(kernel, machine)
    assert found.limits["register banks"] < found.limits["issue slots"]
    assert found.cycles <= run_sm(kernel, machine, feed="trace-driven").cycles


def test_a_loop_that_retries_counts_once_for_each_warp():
    """128 threads that add to one word by compare-and-swap: four warps execute the loop's five instructions once.

    With BSSY, BSYNC and EXIT each has eight instructions; the chain has no second round.
    """
    found, machine = bound(read(RETRY(128)), GTX580), GTX580
    (work,), _ = works(read(RETRY(128)), machine)
    assert work.profile.counts[1] > 4
    assert found.limits["issue slots"] == 4 * 8 * 2 // 2
    assert found.order_dependent == (1, 3)


def test_one_warp_has_one_order():
    """The same loop in one warp executes as often in any order of warps, and counts as in program order."""
    found = bound(read(RETRY(32)), GTX580)
    (work,), _ = works(read(RETRY(32)), GTX580)
    assert found.order_dependent == ()
    assert found.limits["issue slots"] == int(work.profile.counts.sum())


@pytest.mark.parametrize("fence", ["BAR.SYNC 0\n", ""])
def test_a_barrier_orders_what_it_divides(fence):
    """A load that decides a branch depends on the order of warps unless a barrier divides it from another's store."""
    text = ".block 64\n.shared 512\nS2R R0, TID.X\nSHL R1, R0, 2\nSTS [R1], R0\n" + fence
    text += "LOP.XOR R1, R1, 128\nLDS R2, [R1]\nISETP.LT P0, R2, 40\n@P0 BRA past\nFADD R3, R3, R3\npast:\nEXIT"
    assert bool(bound(read(text), GTX580).order_dependent) == (not fence)


def test_a_ticket_moves_an_access_of_one_lane_at_least():
    """32 lanes gather by tickets that other warps take too: a line at least, where program order needs eight."""
    text = ".block 64\n.buffer a u32 4096\n.buffer n u32 32\nMOV R0, c[n]\nMOV R1, 32\nATOMG.ADD R2, [R0], R1\n"
    text += "LOP.AND R2, R2, 0x3fff\nIADD R2, R2, c[a]\nLDG R3, [R2]\nEXIT"
    (program_order,), _ = works(read(text), GTX580)
    assert program_order.costs[5].transactions == 2 * 8
    alone = bound(read(text.replace("LDG R3, [R2]", "LDG R3, [R0]")), GTX580)
    assert bound(read(text), GTX580).limits["memory bandwidth"] == alone.limits["memory bandwidth"]


def test_what_nobody_writes_decides_in_any_order_alike():
    """Loads from a buffer that only other pointers lead past are as they are, whatever blocks store elsewhere."""
    text = ".grid 64\n.buffer a u32 64\n.buffer out u32 4096\nS2R R0, CTAID.X\nSHL R0, R0, 2\nIADD R1, R0, c[a]\n"
    text += "LDG R2, [R1]\nISETP.LT P0, R2, 1\n@P0 BRA past\nFADD R3, R3, R3\npast:\nIADD R4, R0, c[out]\nSTG [R4], R3"
    assert bound(read(text + "\nEXIT"), GTX580).order_dependent == ()
    assert bound(read(text.replace("c[out]", "c[a]") + "\nEXIT"), GTX580).order_dependent == ()  # words of its own
    shared = text.replace("IADD R4, R0, c[out]", "MOV R4, c[a]")
    assert bound(read(shared + "\nEXIT"), load("gtx580", {"chip.sms": 1})).order_dependent == (3,)


def test_many_blocks_are_taken_to_contend(monkeypatch):
    """Where blocks are too many to look for words that others write, every load of a written buffer counts."""
    text = ".buffer a u32 64\nMOV R1, c[a]\nLDG R2, [R1]\nISETP.LT P0, R2, 1\n@P0 STG [R1], R2\nEXIT"
    assert bound(read(text), GTX580).order_dependent == ()
    monkeypatch.setattr(any_order, "LOOKED_AT", 0)
    assert bound(read(text), GTX580).order_dependent == (1,)


def test_the_screens_say_what_the_order_decides():
    """The screen of a run and that of a bound name the instructions whose results the order decides."""
    kernel = read(RETRY(64))
    result = simulate(kernel, GTX580)
    text = "decide what is executed, or where it accesses memory, and depend on the order of warps"
    assert text in shown(screen(result))
    assert text in shown(bound_screen(kernel, GTX580, bound(kernel, GTX580), occupancy(kernel, GTX580)))
    assert document(result).bound.order_dependent == (1, 3)


def test_blocks_that_wait_for_each_other_have_cycles_and_no_bound(monkeypatch):
    """Two blocks that meet on one SM end; by itself the first waits for ever, which the screen and document say."""
    monkeypatch.setattr(of_run, "SOME", 1000)
    kernel, machine = read(MEET), load("gtx580", {"chip.sms": 1})
    result = simulate(kernel, machine)
    assert result.cycles == run_sm(kernel, machine).cycles
    assert result.bound is None
    assert "each block by itself, in program order, which does not end: <text>: line 1" in result.no_bound
    assert f"bound none: {result.no_bound}" in shown(screen(result))
    assert (document(result).bound, document(result).no_bound) == (None, result.no_bound)
    assert "no bound" in repr(result)
