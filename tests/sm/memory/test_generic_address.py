"""Generic addresses in the engines and in what is found without time: lanes in several memories."""

import pytest
from draws import draws
from hypothesis import given, settings
from strategies import moves
from strategies.launches import REPEATABLE
from twins import differences, run_both

from gpusim.engines.simulate import run_sm
from gpusim.engines.walks.races import races
from gpusim.engines.walks.traffic import Level, traffic
from gpusim.launch.feed import recordable
from gpusim.machine.machine import load
from isa.dataflow.block_step import block_steps
from isa.errors import ExecutionError
from isa.instruction import Instruction
from isa.kernel import Buffer, Kernel
from isa.nvidia.abi.launch import WINDOW
from isa.operands.operand import RZ, Address, Constant, Immediate, Register, Special
from isa.program import Program
from isa.row import Unit
from isa.table import TABLE, machine_row

TAGS = {"cache.hits": "tags"}
LOW, HIGH = Register(2), Register(3)


@pytest.mark.jit
@pytest.mark.parametrize("changes", [{}, TAGS])
def test_both_engines_agree(changes):
    """Of random loads, stores and atomics, many by generic addresses, both engines give the same times and values."""
    machine = load("h200", changes)

    @settings(REPEATABLE, max_examples=draws(20))
    @given(moves.kernels())
    def agree(kernel):
        assert differences(*run_both(kernel, machine)) == []

    agree()


def access(mnemonic, special, byte, threads=64, stride=4):
    """Return a launch whose threads access words by generic addresses: in the window of a special register, or y."""
    row = machine_row(mnemonic)
    head = [
        Instruction(TABLE["S2R"], (Register(0), Special("TID.X"))),
        Instruction(TABLE["S2R"], (HIGH, Special("SWINHI"))),
        Instruction(TABLE["IMAD"], (LOW, Register(0), Immediate(stride, "int"), RZ)),
    ]
    if special:
        head += [Instruction(TABLE["S2R"], (HIGH, Special(special)))]
    else:
        head += [
            Instruction(TABLE["IADD"], (LOW, LOW, Constant("y"))),
            Instruction(TABLE["MOV"], (HIGH, Immediate(WINDOW >> 32, "int"))),
        ]
    there = Address(LOW, byte, wide=True, pair=True)
    operands = (Register(4), there) if row.is_load else (there, Register(0))
    program = Program((*head, Instruction(row, operands), Instruction(TABLE["EXIT"], ())), {}, 512, 512)
    return Kernel("one", program, (2, 1, 1), (threads, 1, 1), buffers=(Buffer("y", "<u4", 128),), window=WINDOW)


@pytest.mark.jit
@pytest.mark.parametrize(
    ("special", "byte", "words"),
    [
        ("SWINHI", 509, "misaligned"),
        ("SWINHI", 512, "outside the 512 bytes of shared memory"),
        ("LWINHI", 512, "outside the 512 bytes of local memory"),
        ("LWINHI", 1 << 24, "lie in no buffer"),
        ("", 512, "lie in no buffer"),
    ],
)
def test_an_address_outside_its_memory_ends_the_run(special, byte, words):
    """The first access beyond the memory of its window is refused by the interpreter, which runs first."""
    kernel = access("LD.E", special, byte, stride=0, threads=32)  # of several warps, any may be first
    with pytest.raises(ExecutionError, match=words) as found:
        races(kernel)
    with pytest.raises(ExecutionError) as again:
        run_sm(kernel, load("h200"))
    assert str(found.value) == str(again.value)


def test_races_are_found_in_shared_memory_only():
    """Two warps that store to the same words race in shared memory; each thread's local memory is its own."""
    assert len(races(access("ST.E", "SWINHI", 0, stride=0))) == 1
    assert races(access("ST.E", "LWINHI", 0, stride=0)) == []
    assert races(access("ST.E", "", 0, stride=0)) == []


@pytest.mark.parametrize(("special", "level"), [("SWINHI", Level.SHARED), ("LWINHI", Level.L1), ("", Level.L1)])
def test_traffic_belongs_to_the_memory_of_the_address(special, level):
    """Two blocks of 64 threads load 128 words from the memory that their addresses are in; the DRAM sees 256 bytes."""
    found = traffic(access("LD.E", special, 0))
    assert found.read(level) == 128
    assert found.read(Level.SHARED) == (128 if level is Level.SHARED else 0)
    assert found.read(Level.DRAM) == (0 if special else 64)


def test_programs_that_take_no_window_are_as_before():
    """Without the address of a window, generic accesses are global ones: streams are recorded, memories told apart."""
    taking = access("LD.E", "", 0)
    code = tuple(i for i in taking.program.instructions if not i.takes_window(taking.program.windows))
    alone = Program(code, {}, 512, 512)
    row = code[-2].row
    assert (taking.program.leaves_global, alone.leaves_global) == (True, False)
    assert alone.memories(row) == {Unit.GLOBAL}
    assert taking.program.memories(row) == {Unit.SHARED, Unit.LOCAL, Unit.GLOBAL}
    plain = Kernel("one", alone, (2, 1, 1), (64, 1, 1), buffers=taking.buffers, window=WINDOW)
    assert (recordable(taking), recordable(plain)) == (False, True)
    assert block_steps(plain) is not None
