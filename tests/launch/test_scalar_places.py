"""Places of scalar registers in the SM's register file."""

import numpy as np
import pytest
from interpreter.interpret import interpret
from tagged_caches import SCALAR_FILE
from timing import plain_machine

from gpusim.engines.simulate import ENGINES, run_sm
from gpusim.launch.scalar_registers import name_of, place_of, places
from isa.operands.operand import FIRST_SCALAR, RZ_INDEX
from isa.text.listing import read


def summed(registers):
    """Return a kernel that sums scalars s0 to s9 in a thread's last register, of so many."""
    last = f"v{registers - 1}"
    scalars = "".join(f"S_MOV_B32 s{i}, {i + 1}\n" for i in range(10))
    sums = "".join(f"V_ADD_U32 {last}, s{i}, {last}\n" for i in range(10))
    text = f".buffer y u32 32\n{scalars}V_MOV_B32 {last}, 0\n{sums}V_MOV_B32 v0, c[y]\n"
    return read(f"{text}GLOBAL_STORE_DWORD v0, {last}, off\nS_ENDPGM")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("registers", [40, 245, 246, 250, 255])
def test_no_scalar_register_has_the_place_of_rz(registers, engine):
    """Ten scalars keep their values however many registers a thread has: none is where RZ reads as zero."""
    kernel = summed(registers)
    assert (kernel.program.registers, kernel.program.scalars) == (registers, 10)
    machine = plain_machine(SCALAR_FILE | {"limits.registers_per_thread": 255})
    run = run_sm(kernel, machine, engine=engine)
    assert np.count_nonzero(run.memory == sum(range(1, 11))) == 1
    assert np.array_equal(run.memory, interpret(kernel).memory)


@pytest.mark.parametrize("registers", [40, 245, 246, 255])
def test_places_follow_each_other(registers):
    """Scalars have places in a row, behind a thread's registers or behind RZ, and each has its name."""
    program = summed(registers).program
    found = [place_of(program, FIRST_SCALAR + i) for i in range(10)]
    assert found == list(range(found[0], found[0] + 10))
    assert found[0] == (registers if registers + 10 <= RZ_INDEX else RZ_INDEX + 1)
    assert places(program) == found[-1] + 1
    assert [name_of(program, place) for place in found] == [f"s{i}" for i in range(10)]
    assert name_of(program, 3) == "R3"
