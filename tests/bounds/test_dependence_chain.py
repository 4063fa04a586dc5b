"""The dependence chain: the least cycles of a warp alone, worked out by hand on the plain machine.

A result takes 18 cycles, a warp issues at most every 6 cycles in slots of 2, and its EXIT takes a slot.
"""

import pytest
from timing import plain_machine

from gpusim.bounds.bounds import bound
from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from isa.text.listing import read
from workloads.catalog import make

GTX580 = load("gtx580")


def chain(text: str) -> int:
    """Return the dependence chain of a listing's one warp, in cycles."""
    return bound(read(text), plain_machine()).limits["dependence chain"]


@pytest.mark.parametrize(
    ("second", "cycles"),
    [("FADD R3, R0, R0", 18 + 6 + 2), ("FADD R0, R3, R3", 18 + 6 + 2), ("FADD R3, R4, R5", 6 + 6 + 2)],
    ids=["RAW", "WAW", "neither"],
)
def test_an_instruction_waits_for_what_it_depends_on(second, cycles):
    """An FADD issues 18 cycles after the one that it reads or overwrites, else after 6; EXIT issues 6 later, for 2."""
    assert chain(f"FADD R0, R1, R2\n{second}\nEXIT") == cycles


def test_an_idle_instruction_delays_no_reader():
    """If an FADD's guard holds in no lane, its reader issues after the issue interval of 6 cycles, not after 18."""
    assert chain("@P0 FADD R0, R1, R2\nFADD R3, R0, R0\nEXIT") == 6 + 6 + 2
    assert chain("@!P0 FADD R0, R1, R2\nFADD R3, R0, R0\nEXIT") == 18 + 6 + 2


def test_a_warp_waits_for_its_own_pipe():
    """The SFU's 4 lanes take a warp instruction every 8 cycles: the third issues at 16, EXIT at 22."""
    assert chain("MUFU.RCP R0, R8\nMUFU.RCP R1, R8\nMUFU.RCP R2, R8\nEXIT") == 16 + 6 + 2


@pytest.mark.parametrize(("keeps", "cycles"), [("none", 8 + 6 + 2), ("sfu", 6 + 6 + 2)])
def test_an_idle_instruction_waits_for_the_pipe_unless_selection_comes_first(keeps, cycles):
    """An instruction whose guard holds in no lane waits for the SFU, unless selection precedes the check of pipes."""
    kernel = read("MUFU.RCP R0, R8\n@P0 MUFU.RCP R1, R8\nEXIT")
    machine = plain_machine(
        {"selection.keeps": keeps, "selection.freezes": 0, "selection.full_yields": 0, "double.exclusive": "off"}
    )
    assert bound(kernel, machine).limits["dependence chain"] == run_sm(kernel, machine).cycles == cycles


def test_a_warps_own_loads_are_served_one_after_the_other():
    """Two loads of 32 passes of 2 cycles issue at cycles 36 and 42 and are served from 36 and 100.

    The second result is available after 26 cycles and 62 of further passes, at 188; its reader issues then, EXIT after.
    """
    loads = "S2R R0, LANEID\nSHL R0, R0, 7\nLDS R1, [R0]\nLDS R2, [R0]\n"
    assert chain(f".shared 4096\n{loads}FADD R3, R2, R2\nEXIT") == 100 + 26 + 62 + 6 + 2


def test_a_loop_takes_its_round_each_time():
    """IADD issues at 0, ISETP at 18, BRA at 36, and the next round at 54; EXIT issues at 42 of the last round."""
    text = "again:\nIADD R1, R1, 1\nISETP.LT P0, R1, 5\n@P0 BRA again\nEXIT"
    assert chain(text) == 4 * 54 + 42 + 2


@pytest.mark.jit
@pytest.mark.parametrize("op", ["FFMA", "DADD", "MUFU.SIN", "LDS", "LDS.128", "LDG.64", "TEX", "IMAD"])
@pytest.mark.parametrize("iterations", ["1", "20"])
def test_a_chain_reaches_the_bound(op, iterations):
    """The dependence chain limits one warp of dependent instructions, within 0.5 % of its simulated cycles."""
    kernel = make("chain", {"op": op, "length": "50", "iterations": iterations})
    found, cycles = bound(kernel, GTX580), run_sm(kernel, GTX580, feed="trace-driven").cycles
    assert found.limiter == "dependence chain"
    assert 0.995 * cycles <= found.cycles <= cycles


def test_instructions_after_reconvergence_count_once():
    """Two paths to a BSYNC issue it twice, but the 40 dependent FFMAs after it only once.

    Each FFMA but the last takes 18 cycles, and the rest at most 200: far less than two chains of 40.
    """
    parted = "S2R R0, LANEID\nISETP.LT P0, R0, 8\nBSSY B0, met\n@P0 BRA past\nNOP\npast:\nBSYNC B0\nmet:\n"
    chained = "FFMA R1, R1, R1, R1\n" * 40
    found = chain(parted + chained + "EXIT")
    assert 39 * 18 <= found <= 39 * 18 + 200
