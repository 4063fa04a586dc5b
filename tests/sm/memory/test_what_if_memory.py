"""Limits of memory, lifted: lanes side by side, an L1 and an L2 that have every line, atomics that wait for nobody."""

import pytest
from draws import few
from msgspec import structs
from scan.every_cycle import scan
from twins import mistakes, run_both

from gpusim.bounds.bounds import bound
from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from gpusim.machine.occupancy import occupancy
from gpusim.sm.memory.what_if import WhatIf
from isa.text.listing import read

REAL = WhatIf()
LIFTED = {
    "lanes": WhatIf(lanes="side-by-side"),
    "l1": WhatIf(l1="holds"),
    "l2": WhatIf(l2="holds"),
    "atomics": WhatIf(atomics="at-once"),
    "all": WhatIf(lanes="side-by-side", l1="holds", l2="holds", atomics="at-once"),
}
MIXED = """.block 96
.grid 2
.buffer x u32 32768
.buffer y u32 16384
S2R R0, TID.X
IMUL R1, R0, {stride}
IADD R2, R1, c[x]
IADD R3, R1, c[y]
LDG R4, [R2]
LDG R5, [R2+4]
LDG{wide} R8, [R2+16]
IADD R6, R4, R5
STG [R3], R6
STG [R3+4], R8
MOV R7, c[y]
{atomic}
LDG R12, [R3]
IADD R12, R12, R6
STG{wide} [R3+16], R8
EXIT"""
ATOMICS = "RED.ADD [R7], R6", "ATOMG.ADD R13, [R3], R6"
SIDE = ".buffer x u32 2048\nS2R R0, LANEID\nSHL R0, R0, {shift}\nIADD R0, R0, c[x]\n"


def machine(name, lifted=REAL, **settings):
    """Return a machine of one SM that knows what is lifted."""
    changes = {"chip.sms": 1, "schedulers.policy": "lrr"} | {k.replace("__", "."): v for k, v in settings.items()}
    return structs.replace(load(name, changes), what_if=lifted)


def cycles(text, lifted=REAL, name="h200", **settings):
    """Return the cycles of a listing."""
    return run_sm(read(text), machine(name, lifted, **settings)).cycles


@pytest.mark.jit
@pytest.mark.parametrize("lifted", LIFTED)
@pytest.mark.parametrize("name", few(["gtx480", "h200", "v100"], 1))
def test_engines_and_the_scan_agree_on_lifted_limits(name, lifted):
    """Both engines and the scan of every cycle give the same events, stalls and values; the bound stays below.

    Lanes lie 4 to 128 bytes apart, wide and narrow; they load, store and update.
    """
    for stride, atomic in few([(s, a) for s in (4, 12, 64, 100, 128) for a in ATOMICS], 3):
        kernel = read(MIXED.format(stride=stride, wide="" if stride % 16 else ".128", atomic=atomic))
        on = machine(name, LIFTED[lifted])
        run, other = run_both(kernel, on)
        resident = min(occupancy(kernel, on).blocks, kernel.blocks)
        wrong = set(mistakes(run, scan(kernel, on, resident)))
        assert (stride, atomic, wrong) == (stride, atomic, set())
        assert run.cycles == other.cycles
        assert bound(kernel, on).cycles <= run.cycles


@pytest.mark.jit
@pytest.mark.parametrize("kind", ["LDG R{r}, [R0+{by}]", "STG [R0+{by}], R{r}"])
def test_columns_cost_as_much_as_rows(kind):
    """Lane l accesses the words 32 l + k in turn: side by side these take the cycles of the words 32 k + l, exactly."""
    column = SIDE.format(shift=7) + "".join(kind.format(r=8 + k, by=4 * k) + "\n" for k in range(32)) + "EXIT"
    row = SIDE.format(shift=2) + "".join(kind.format(r=8 + k, by=128 * k) + "\n" for k in range(32)) + "EXIT"
    together = LIFTED["lanes"]
    assert cycles(column) > 1.2 * cycles(row)
    assert cycles(column, together) == cycles(row) == cycles(row, together)


@pytest.mark.jit
@pytest.mark.parametrize("name", ["gtx580", "h200"])
def test_values_stay_where_lanes_lie_side_by_side(name):
    """Loads and stores of columns move what they do without: only their cost is another."""
    text = SIDE.format(shift=6) + "LDG R4, [R0+4]\nIADD R4, R4, 5\nSTG [R0+8], R4\nEXIT"
    before, after = (run_sm(read(text), machine(name, lifted)) for lifted in (REAL, LIFTED["lanes"]))
    assert before.memory.tolist() == after.memory.tolist()
    assert after.cycles < before.cycles


@pytest.mark.jit
@pytest.mark.parametrize("text", ["LDG R4, [R0]\n", "LDG R4, [R0+0]\nLDG R4, [R0+4]\n"])
def test_lanes_of_one_word_and_neighbours_stay(text):
    """Where lanes read one word, or neighbours from a line's start on, nothing is nearer side by side."""
    for shift in (2, 7):
        kernel = SIDE.format(shift=shift).replace("S2R R0, LANEID", "MOV R0, 0") + text + "EXIT"
        assert cycles(kernel, LIFTED["lanes"]) == cycles(kernel)
    neighbours = SIDE.format(shift=2) + "LDG R4, [R0]\nEXIT"
    assert cycles(neighbours, LIFTED["lanes"]) == cycles(neighbours)


def chain(lines, step):
    """Return loads of so many lines, each of which waits for the one before."""
    loads = "".join(f"LDG R4, [R0+{step * k}]\nLOP.AND R4, R4, 0\nIADD R0, R0, R4\n" for k in range(lines))
    return ".buffer x u32 8192\nMOV R0, c[x]\n" + loads + "EXIT"


@pytest.mark.jit
def test_a_cold_load_takes_a_hit_of_the_l1():
    """With an L1 that has every line each further load of a chain takes as long as one of a line that is there."""
    hit = cycles(chain(4, 0)) - cycles(chain(3, 0))
    assert cycles(chain(4, 128)) - cycles(chain(3, 128)) > 5 * hit
    held = LIFTED["l1"]
    assert cycles(chain(4, 128), held) - cycles(chain(3, 128), held) == hit


@pytest.mark.jit
def test_a_cold_launch_takes_as_long_as_a_warm_one():
    """With an L2 that has every line a cold launch takes the cycles of one whose data is there, and less than cold."""
    cold, warm = (cycles(chain(8, 128), l2__filled=filled) for filled in (0, 1))
    assert cycles(chain(8, 128), LIFTED["l2"], l2__filled=0) == warm < cold


@pytest.mark.jit
def test_atomics_of_one_word_go_together():
    """32 lanes add to one word of shared memory in the passes of one lane; in the L2 no slice is busy with them."""
    shared = ".shared 128\nMOV R1, 0\nMOV R2, 3\nATOMS.ADD R3, [R1], R2\nEXIT"
    passes = [
        int(run_sm(read(shared), machine("h200", lifted)).load_store_cycles[2]) for lifted in (REAL, LIFTED["atomics"])
    ]
    assert passes[0] == 32 * passes[1]
    red = ".block 1024\n.buffer x u32 64\nMOV R1, c[x]\nMOV R2, 3\n" + "RED.ADD [R1], R2\n" * 8 + "EXIT"
    before, after = (run_sm(read(red), machine("h200", lifted)) for lifted in (REAL, LIFTED["atomics"]))
    assert before.updating.sum() > 0 == after.updating.sum()
    assert after.cycles < before.cycles
    assert before.memory.tolist() == after.memory.tolist()
