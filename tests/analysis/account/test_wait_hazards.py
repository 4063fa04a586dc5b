"""Missing waits of GCN: the values that they lead to, and the hazards that the checker reports."""

import pytest

from gpusim.analysis.account.hazards import hazards
from gpusim.engines.simulate import ENGINES, run_sm
from gpusim.machine.machine import load
from isa.amd.waits import unsure_reads
from isa.text.listing import read

MI60 = load("mi60", {"chip.sms": 1})
HEAD = """
.warp 64
.shared 256
.buffer x u32 64 = constant 7
.buffer y u32 64
    S2R v0, TID.X
    V_LSHLREV_B32 v0, 2, v0
    S_MOV_B32 s0, c[x]
    V_ADD_U32 v1, v0, s0
    V_MOV_B32 v4, 5
    S_MOV_B32 s4, 5
    DS_WRITE_B32 v0, v4
"""
TAIL = """
    V_ADD_U32 v9, v0, c[y]
    GLOBAL_STORE_DWORD v9, v8, off
    S_ENDPGM
"""
LOADS = {
    "GLOBAL_LOAD_DWORD v4, v1, off": ("v4", "vmcnt(0)", 7),
    "DS_READ_B32 v4, v0 offset:0": ("v4", "lgkmcnt(0)", 5),
    "S_LOAD_DWORD s4, s0, 0": ("s4", "lgkmcnt(0)", 7),
    "S_LOAD_DWORDX16 s[4:19], s0, 0": ("s4", "lgkmcnt(0)", 7),
}


def kernel(*lines: str):
    """Build a kernel of one wave that stores v8."""
    return read(HEAD + "\n".join(lines) + TAIL)


def stored(*lines: str, engine: str = "compiled") -> set[int]:
    """Return the values that the lanes store."""
    return set(run_sm(kernel(*lines), MI60, engine=engine).memory[-64:].tolist())


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("load", LOADS)
def test_a_loaded_value_is_available_only_after_the_wait(load, engine):
    """Without a wait every lane reads the old value of the register, 3; after the wait it reads the loaded one."""
    register, count, value = LOADS[load]
    clear = "S_WAITCNT lgkmcnt(0)", "V_MOV_B32 v4, 3", "S_MOV_B32 s4, 3"
    use = f"V_MOV_B32 v8, {register}"
    assert stored(*clear, load, use, engine=engine) == {3}
    assert stored(*clear, load, f"S_WAITCNT {count}", use, engine=engine) == {value}


@pytest.mark.parametrize("load", LOADS)
def test_a_missing_wait_is_reported_with_the_count_that_mends_it(load):
    """A missing wait is one RAW hazard with the register, both instructions and the counter; a wait removes it."""
    register, count, _ = LOADS[load]
    use = f"V_MOV_B32 v8, {register}"
    (hazard,) = hazards(kernel(load, use), MI60).hazards
    assert (hazard.kind, hazard.register, hazard.pc, hazard.other) == ("RAW", register.replace("v", "R"), 8, 7)
    assert count.split("(")[0] in hazard.mend
    assert hazards(kernel(load, f"S_WAITCNT {count}", use), MI60).hazards == ()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_load_overwrites_a_register_written_meanwhile(engine):
    """A load overwrites a value written to its register while it is under way; a WAW hazard reports this."""
    lines = "GLOBAL_LOAD_DWORD v4, v1, off", "V_MOV_B32 v4, 9", "S_WAITCNT vmcnt(0)", "V_MOV_B32 v8, v4"
    assert stored(*lines, engine=engine) == {7}
    (hazard,) = hazards(kernel(*lines), MI60).hazards
    assert (hazard.kind, hazard.register, hazard.pc, hazard.other) == ("WAW", "R4", 8, 7)


def test_arithmetic_needs_no_wait():
    """The hardware waits for vector and scalar results."""
    lines = "S_ADD_U32 s5, s4, 2", "V_ADD_U32 v4, v4, s5", "V_MUL_LO_U32 v8, v4, v4"
    assert stored(*lines) == {144}
    assert hazards(kernel(*lines), MI60).hazards == ()


def test_a_count_above_zero_tells_nothing_of_scalar_loads():
    """A program that waits for one of two scalar loads is reported, even if the load that it needs is back in time."""
    lines = "S_LOAD_DWORD s4, s0, 0", "S_LOAD_DWORD s5, s0, 4", "S_WAITCNT lgkmcnt(1)", "V_MOV_B32 v8, s4"
    assert stored(*lines) == {7}
    (hazard,) = hazards(kernel(*lines), MI60).hazards
    assert (hazard.register, hazard.pc, hazard.other, hazard.times) == ("s4", 10, 7, 0)
    assert hazard.mend == "wait for lgkmcnt(0): scalar loads come back in any order"


def test_a_path_without_a_wait_is_found():
    """If one path to a reader waits and the other does not, the reader is unsure; after waits on both it is not."""
    text = """
        S_MOV_B32 s0, 0
        S_LOAD_DWORD s4, s0, 0
        S_CMP_EQ_U32 s0, 0
        S_CBRANCH_SCC1 past
        S_WAITCNT lgkmcnt(0)
    past:
        {}
        S_ADD_U32 s5, s4, 1
        S_ENDPGM
    """
    assert unsure_reads(read(text.format("S_NOP 0")).program) == [(6, 1)]
    assert unsure_reads(read(text.format("S_WAITCNT 63, 0")).program) == []
