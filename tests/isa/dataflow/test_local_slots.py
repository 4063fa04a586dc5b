"""Slots of spilled registers: what is stored to one and reaches a load of it is in the slice, and nothing else."""

import numpy as np
import pytest
from interpreter.interpret import interpret

from gpusim.engines.simulate import run_sm
from gpusim.engines.walks.counting.block_counts import counted, counter
from gpusim.launch.feed import TRACE_DRIVEN, countable, recordable
from gpusim.machine.machine import load
from isa.dataflow.memory.address_slice import control_slice
from isa.dataflow.memory.local_slots import local_slots
from isa.text.listing import read

# A loaded value and the loop's counter are spilled; the counter's slot held the value before.
SPILLED = """
.grid 2
.block 64
.local 16
.buffer x f32 128
MOV R1, 0
S2R R0, TID.X
SHL R2, R0, 2
IADD R2, R2, c[x]
LDG R3, [R2]
STL [R1+8], R3
STL [R1+4], R3
LDL R6, [R1+4]
MOV R4, 5
STL [R1+4], R4
again:
LDL R5, [R1+4]
IADD R5, R5, -1
STL [R1+4], R5
ISETP.GT P0, R5, 0
@P0 BRA again
LDL R7, [R1+8]
FADD R7, R7, R6
STG [R2], R7
EXIT
"""


def test_slots_are_bytes_from_the_pointer():
    """Four bytes of each word from the pointer on have a name; other instructions have none."""
    slots = local_slots(read(SPILLED).program)
    assert {pc: names[0] for pc, names in slots.items()} == {
        5: "L8",
        6: "L4",
        7: "L4",
        9: "L4",
        10: "L4",
        12: "L4",
        15: "L8",
    }
    assert slots[5] == ["L8", "L9", "L10", "L11"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LDL R6, [R1+4]", "LDL R6, [R0+4]"),  # another base
        ("MOV R4, 5", "MOV R1, 4"),  # the pointer moves later
        ("S2R R0, TID.X", "BRA there\nthere:\nIADD R1, R1, 0"),  # or on one of two ways
    ],
)
def test_other_accesses_have_no_slots(old, new):
    """Where the pointer may differ between two accesses, nothing is known of any."""
    assert local_slots(read(SPILLED.replace(old, new)).program) == {}


def test_the_path_needs_the_counter_and_not_the_value():
    """The spilled counter decides the path: its load and both stores are in; the loaded value's stores are not."""
    kernel = read(SPILLED)
    assert np.flatnonzero(control_slice(kernel.program)).tolist() == [0, 8, 9, 10, 11, 12, 13]
    assert countable(kernel)
    assert recordable(kernel)
    assert not countable(read(SPILLED.replace("LDL R5, [R1+4]", "LDL R5, [R1+8]")))


def test_the_run_without_values_takes_the_same_time():
    """With loops by spilled counters, counts are the interpreter's, and cycles those of the run with values."""
    kernel, machine = read(SPILLED), load("gtx580")
    counts = interpret(kernel, [0]).counts
    assert counted(counter(kernel), [0], 1000).work[0] == counts.sum()
    with_values, without = run_sm(kernel, machine), run_sm(kernel, machine, feed=TRACE_DRIVEN)
    assert without.feed == TRACE_DRIVEN
    assert (with_values.cycles, with_values.issued.tolist()) == (without.cycles, without.issued.tolist())
