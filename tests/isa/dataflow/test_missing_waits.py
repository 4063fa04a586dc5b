"""Waits that machine code lacks: none in what nvcc makes, and each that is taken out of it."""

import lzma
from pathlib import Path

import pytest
from coded import coded

from isa.dataflow.waits.missing_waits import MissingWait, missing_waits
from isa.nvidia.file import code
from isa.nvidia.file.choice import kernels
from isa.nvidia.lowering import lower

TESTS = Path(__file__).parents[2]
CUBINS = sorted(TESTS.glob("measured/*.cubin.xz")) + sorted(TESTS.glob("hardware/data/*.cubin.xz"))
NOT_EXECUTED = {"atomv4", "redv4", "redv4h"}  # of `stores`: atomics of 128 bits a lane, which are refused


def lacking(*lines):
    """Return what a listing lacks."""
    return missing_waits(coded(*lines).program)


def test_a_read_without_a_wait():
    """A load on barrier 2, read behind no wait, behind one for another barrier, and behind its own."""
    load = "[B------:R-:W2:-:S01] LDS R4, [RZ]"
    early = MissingWait(pc=1, register="R4", overwrites=False, writer=0, barrier=2)
    assert lacking(load, "[B------:R-:W-:-:S15] MOV R9, R4") == (early,)
    assert lacking(load, "[B-1----:R-:W-:-:S15] MOV R9, R4") == (early,)
    assert lacking(load, "[B--2---:R-:W-:-:S15] MOV R9, R4") == ()
    assert lacking(load, "[B--2---:R-:W-:-:S15] MOV R9, RZ", "[B------:R-:W-:-:S15] MOV R9, R4") == ()


def test_an_overwritten_result():
    """Who overwrites a register under way lacks a wait; of a result that is read too, the read is named."""
    load = "[B------:R-:W0:-:S01] LDS R4, [RZ]"
    write, read = "[B------:R-:W-:-:S15] MOV R4, RZ", "[B------:R-:W-:-:S15] MOV R9, R4"
    assert lacking(load, write) == (MissingWait(1, "R4", overwrites=True, writer=0, barrier=0),)
    assert lacking(load, write, read) == (MissingWait(2, "R4", overwrites=False, writer=0, barrier=0),)


def test_a_result_under_way_around_a_loop():
    """What the end of a loop loads is read by its beginning, which waits for nothing."""
    code = (
        "[B------:R-:W-:-:S15] MOV R4, RZ",
        "loop:",
        "[B------:R-:W-:-:S15] MOV R9, R4",
        "[B------:R-:W1:-:S15] LDS R4, [RZ]",
        "[B------:R-:W-:-:S15] @P0 BRA loop",
        "[B-1----:R-:W-:-:S15] EXIT",
    )
    assert [(one.pc, one.writer) for one in lacking(*code)] == [(1, 2)]


def lacking_in(path):
    """Return what each kernel of a cubin lacks, by name, if it lacks anything; constant banks lie at address 0."""
    held = code.of_cubin(lzma.decompress(path.read_bytes()), path.name)
    found = {}
    for name in sorted(set(kernels(held)) - NOT_EXECUTED):
        places = dict.fromkeys(range(256), 0)
        externals = held.cubin.externals
        program = lower.program(held.sections[name], places, externals=externals, registers=1, shared=0, local=0)
        found[name] = missing_waits(program)
    return found


@pytest.mark.long
@pytest.mark.parametrize("path", CUBINS, ids=[path.name.partition(".")[0] for path in CUBINS])
def test_compiled_code_lacks_none(path):
    """Not one of 1,700 kernels that nvcc compiled uses a result without a wait, on any path."""
    found = lacking_in(path)
    assert found
    assert not any(found.values())
