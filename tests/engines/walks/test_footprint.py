"""The sectors that launches touch, compared with a run of every block."""

from collections import defaultdict
from dataclasses import replace

import numpy as np
from draws import draws
from hypothesis import given, settings
from interpreter.interpret import interpret
from strategies.launches import kernels, looping_kernels

from gpusim.engines.walks.footprint import footprint
from isa.kernel import Buffer, Kernel
from isa.memory import SECTOR_BYTES, bases
from isa.row import GLOBAL_UNITS, Unit
from isa.text.assembler import assemble


def check_by_running(kernel):
    """Compare the footprint with a run of all blocks, address by address."""
    seen, words, current = defaultdict(set), defaultdict(set), []

    def observe(pc, _warps, addresses, active):
        row = kernel.program.instructions[pc].row
        for address in addresses[active].tolist():
            for byte in range(16 if row.matrices else row.nbytes):
                if row.unit in GLOBAL_UNITS | {Unit.TEXTURE}:
                    seen[current[-1], row.is_store].add((address + byte) // SECTOR_BYTES)
                else:
                    words[pc].add(
                        (address + byte + (kernel.program.shared_bytes if row.unit is Unit.LOCAL else 0)) // 4
                    )

    run = interpret(kernel, None, observe, started=current.append)
    found = footprint(kernel)
    assert found.counts.tolist() == run.counts.tolist()
    assert found.active.tolist() == run.active.tolist()
    assert {pc: set(n.tolist()) for pc, n in found.words.items() if n.size} == words
    for buffer in kernel.buffers:
        first = bases(kernel.buffers)[buffer.name] // SECTOR_BYTES
        own = range(first, first - -buffer.nbytes // SECTOR_BYTES + 1)
        for written in (False, True):
            each = [{s for s in touched if s in own} for (_, w), touched in seen.items() if w is written]
            assert found.of_blocks.get((buffer.name, written), 0) == sum(map(len, each))
            assert found.of_launch.get((buffer.name, written), 0) == len(set().union(*each))


@given(kernels())
@settings(deadline=None, max_examples=draws(40))
def test_sectors_are_those_that_blocks_access(kernel):
    """For kernels of any kind, counts and distinct sectors and words are those of running every block."""
    check_by_running(kernel)


@given(looping_kernels())
@settings(deadline=None, max_examples=draws(15))
def test_sectors_of_moving_blocks_are_those_that_each_accesses(kernel):
    """Where one block may stand for all, what all touch is the same as by running each."""
    check_by_running(kernel)


def moving(step, blocks):
    """Return a kernel of blocks of 32 threads that copy words `step` bytes from those of the block before."""
    text = f"""
        S2R R0, TID.X
        S2R R1, CTAID.X
        SHL R0, R0, 2
        IMAD R2, R1, {step}, R0
        IADD R3, R2, c[x]
        LDG R4, [R3]
        IADD R3, R2, c[y]
        STG [R3], R4
    """
    buffers = tuple(Buffer(name, "<u4", 4096) for name in ("x", "y"))
    return Kernel("moving", assemble(text), (blocks, 1, 1), (32, 1, 1), buffers=buffers)


def test_blocks_that_overlap_share_sectors():
    """Five blocks of 128 bytes, each 64 bytes after the one before, touch 4 sectors each and 12 in all."""
    found = footprint(moving(64, 5))
    assert found.of_blocks == {("x", False): 20, ("y", True): 20}
    assert found.of_launch == {("x", False): 12, ("y", True): 12}
    assert found.buffers == {5: {"x"}, 7: {"y"}}


def test_blocks_that_move_by_parts_of_a_sector_are_walked_through():
    """Of three blocks 4 bytes apart the first touches 4 sectors, the others 5 each, and all together 5."""
    found = footprint(moving(4, 3))
    assert found.of_blocks[("x", False)] == 14
    assert found.of_launch[("x", False)] == 5


def test_a_step_back_stays_in_the_address_space():
    """Four blocks with a step of -128 bytes touch 16 sectors, each of them once."""
    text = """
        S2R R0, TID.X
        S2R R1, CTAID.X
        SHL R0, R0, 2
        IADD R0, R0, 384
        IMAD R2, R1, -128, R0
        IADD R3, R2, c[x]
        LDG R4, [R3]
    """
    found = footprint(replace(moving(0, 4), program=assemble(text)))
    assert found.of_launch == {("x", False): 16}
    assert found.of_blocks == {("x", False): 16}


def test_lanes_that_are_off_touch_nothing():
    """A load whose guard never holds touches no sector and counts no active thread."""
    program = assemble(".shared 4\n@!PT LDG R1, [RZ]\nSTS [RZ], R1")
    found = footprint(replace(moving(128, 1), program=program, block=(1, 1, 1)))
    assert found.of_blocks == found.of_launch == {}
    assert found.active.tolist() == [0, 1]


def test_the_footprint_does_not_depend_on_the_room_for_numbers(monkeypatch):
    """With room for 3 pending numbers the footprint is the same as with plenty."""
    whole = footprint(moving(4, 9))
    monkeypatch.setattr("gpusim.engines.walks.footprint.PENDING", 3)
    few = footprint(moving(4, 9))
    assert few.of_blocks == whole.of_blocks
    assert np.array_equal(few.counts, whole.counts)
