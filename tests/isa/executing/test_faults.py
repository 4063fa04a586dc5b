from dataclasses import replace

import pytest
from interpreter.interpret import interpret
from machine_code import saxpy

from gpusim.engines.walks.races import races
from isa import memory
from isa.errors import ExecutionError
from isa.executing import faults
from isa.kernel import Buffer, Kernel
from isa.reading.origin import Origin
from isa.text import listing
from isa.text.assembler import assemble

RACY = assemble(".shared 256\nS2R R0, TID.X\nSHL R1, R0, 2\nSTS [R1], R0\nLOP.XOR R2, R1, 0x80\nLDS R3, [R2]")
ORIGINS = tuple(Origin("k", 16 * pc, f"I{pc}", "/a/k.cu", 7 + pc) for pc in range(len(RACY)))


def test_a_fault_in_machine_code_names_its_place():
    """A load beyond every buffer names kernel, function, offset, text and line of source, and block, warp and lane."""
    kernel = saxpy()
    with pytest.raises(ExecutionError) as error:
        interpret(replace(kernel, parameters={**kernel.parameters, "n": 4096}))
    place = "saxpy: saxpy+0x100 LDG.E R2, desc[UR6][R2.64] (saxpy.cu:3), block 0, warp 1, lane 0: 4 bytes at 0x"
    assert str(error.value).startswith(place)


def test_a_deadlock_in_machine_code_names_places():
    """Warps that wait at a barrier are named with their places in the machine code."""
    error = faults.deadlock(saxpy(), 0, {0: [(0, 7), (1, 7), (2, 23)]}, {0: 4})
    assert "warps 0 1 at saxpy+0x70 @P0 EXIT (saxpy.cu:3), warp 2 at saxpy+0x170 EXIT (saxpy.cu:4)" in str(error)


def test_lanes_that_wait_for_each_other_are_named_with_their_places():
    """In machine code they wait before function, offset and line; in a listing before a pc."""
    error = str(faults.stuck(saxpy(), 7, 0, 1, [(8, 0xFF), (23, 0xFF00)]))
    assert "0x000000ff before saxpy+0x80 (saxpy.cu:3), 0x0000ff00 before saxpy+0x170 (saxpy.cu:4);" in error
    listed = Kernel("k", RACY, (1, 1, 1), (64, 1, 1))
    assert "0x000000ff before pc 3;" in str(faults.stuck(listed, 2, 0, 1, [(3, 0xFF)]))


def test_a_race_in_machine_code_names_places():
    """Both accesses of a race are named by their places in the machine code, with the lines of its source."""
    kernel = Kernel("k", replace(RACY, origins=ORIGINS), (1, 1, 1), (64, 1, 1))
    (race,) = races(kernel)
    assert {(one.text, one.line, one.place) for one in (race.first, race.second)} == {
        ("I2", 9, "k+0x20 I2 (k.cu:9)"),
        ("I4", 11, "k+0x40 I4 (k.cu:11)"),
    }
    assert "writes it at k+0x20 I2 (k.cu:9)" in str(race)


def test_a_buffer_that_is_too_small_is_named_and_no_bank_of_constants():
    """Behind the last buffer of data lies the bank of the parameters: an address there is of the buffer before it."""
    kernel = listing.read(".buffer y f32 1024\nEXIT")
    both = replace(kernel, buffers=(*kernel.buffers, Buffer("c[0x0]", "uint8", 560)))
    ends = max(start for start in memory.bases(both.buffers).values())
    assert faults.nearest(both, ends + 4096).startswith("the nearest is y at ")
