"""GCN's notation: reading it, writing it, and refusing mistakes with place and fix."""

import pytest
from interpreter.interpret import interpret

from gpusim.engines.simulate import ENGINES, run_sm
from gpusim.machine.machine import load
from isa.errors import UserError
from isa.operands.operand import Address, Register, scalar
from isa.text.assembler import AssemblyError, assemble
from isa.text.listing import load as load_listing
from isa.text.listing import read
from isa.text.printer import show_instruction


@pytest.mark.parametrize(
    ("text", "operands"),
    [
        ("V_MAC_F32 v1, s2, v3", (Register(1), scalar(2), Register(3))),
        ("V_FMA_F64 v[1:2], -v[3:4], v[5:6], v[7:8]", (Register(1), Register(3, True), Register(5), Register(7))),
        ("S_LOAD_DWORDX8 s[8:15], s0, 0x20", (scalar(8), Address(scalar(0), 32))),
        ("DS_READ_B64 v[3:4], v0 offset:0x8", (Register(3), Address(Register(0), 8))),
        ("DS_WRITE_B32 v0, v1", (Address(Register(0), 0), Register(1))),
        ("GLOBAL_LOAD_DWORD v1, v2, off", (Register(1), Address(Register(2), 0))),
        ("GLOBAL_STORE_DWORDX4 v2, v[4:7], off offset:0x10", (Address(Register(2), 16), Register(4))),
        ("V_CMP_LT_F32 VCC, v1, v2", (Register(1), Register(2))),
        ("V_CNDMASK_B32 v1, v2, v3, VCC", (Register(1), Register(2), Register(3))),
    ],
)
def test_operands_are_read_and_written_as_gcn_does(text, operands):
    """Registers, ranges of registers, offsets, and words that are no operands are read and written back unchanged."""
    (instruction,) = assemble(text).instructions
    assert instruction.operands == operands
    assert show_instruction(instruction) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("V_ADD_F32 v0, s1, s2", "1:19: V_ADD_F32 reads one scalar register at most; V_MOV_B32 s2"),
        ("V_ADD_F32 v0, R1, v2", "1:15: 'R1' is no register that V_ADD_F32 takes here; write one as v3 or s3"),
        ("S_ADD_U32 s0, v1, s2", "1:15: 'v1' is no register that S_ADD_U32 takes here; write one as s3"),
        ("FADD R0, s1, R2", "1:10: 's1' is not an operand that FADD takes here"),
        ("@P0 S_MOV_B32 s0, s1", "1:1: S_MOV_B32 has no guard"),
        ("V_FMA_F64 v[0:1], v[2:4], v[2:3], v[4:5]", "1:19: V_FMA_F64 takes 64 bits here; write v[2:3]"),
        ("S_LOAD_DWORDX4 s[2:5], s0, 0", "1:16: s[2:5] begins at no multiple of 4; take s0"),
        ("S_LOAD_DWORD s102, s0, 0", "1:14: s102 reaches above s101"),
        ("GLOBAL_LOAD_DWORD v0, v1", "1:23: GLOBAL_LOAD_DWORD has off here; write GLOBAL_LOAD_DWORD vdst, vaddr, off"),
        ("DS_READ_B32 v0, v1 offset:zz", "offset of DS_READ_B32"),
        ("V_CMP_LT_F32 v0, v1", "1:14: V_CMP_LT_F32 has VCC here"),
        ("V_MOV_B32 v0, -v1", "1:15: -v1 can't be negated in V_MOV_B32"),
        ("S_WAITCNT vmcnt(1) expcnt(0)", "'expcnt(0)' is no count"),
        ("S_WAITCNT vmcnt(0) lgkmcnt(64)", "1:11: S_WAITCNT takes no number vmcnt(0) lgkmcnt(64); write 0 to 0x3f"),
        ("S_WAITCNT 0, 64", "1:14: S_WAITCNT takes no number 64; write 0 to 0x3f"),
        ("on:\nS_CMP_EQ_U32 s0, 0\nS_ADD_U32 s0, s0, 1\nS_CBRANCH_SCC1 on", "4:1: S_ADD_U32 has changed SCC"),
    ],
)
def test_mistakes_in_gcn_are_refused_in_one_line(text, message):
    """Each mistake raises AssemblyError, in one line with its place, cause and fix."""
    with pytest.raises(AssemblyError) as caught:
        assemble(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "machine", "message"),
    [
        ("S_MOV_B32 s3, 0", "gtx580", "line 2: s3 is a scalar register, gtx580 has none; take a machine with them"),
        ("S_MOV_B32 s3, 0\nS2R s1, TID.X", "gtx580", "gtx580 has none"),
        ("S2R s1, TID.X", "mi60", "line 2: TID.X differs between lanes, and a scalar register is one for all"),
        ("S2R v0, TID.X\nS_MOV_B32 s0, 1\nISETP.LT P0, R0, 3\n@P0 EXIT", "mi60", "lanes may part"),
    ],
)
def test_scalar_registers_that_a_machine_can_not_hold_are_refused(text, machine, message):
    """A machine without scalar registers, a value that differs between lanes, and lanes that diverge are refused."""
    kernel = read(f".warp {32 if machine == 'gtx580' else 64}\n{text}")
    with pytest.raises(UserError, match=message):
        run_sm(kernel, load(machine))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("below", "zero", "other"), [(0, 1, 0), (40, 0, 1), (64, 0, 1)])
def test_a_warp_branches_as_a_whole_on_vcc(below, zero, other, engine):
    """S_CBRANCH_VCCZ branches if VCC holds in none of the 64 lanes, S_CBRANCH_VCCNZ if it holds in at least one."""
    text = f"""
    .warp 64
        S2R v0, TID.X
        V_CMP_LT_U32 VCC, v0, {below}
        V_MOV_B32 v1, 1
        V_MOV_B32 v2, 1
        S_CBRANCH_VCCZ none
        V_MOV_B32 v1, 0
    none:
        S_CBRANCH_VCCNZ some
        V_MOV_B32 v2, 0
    some:
        S_ENDPGM
    """
    kernel = read(text)
    registers = run_sm(kernel, load("mi60"), engine=engine).registers[0]
    assert (set(registers[1].tolist()), set(registers[2].tolist())) == ({zero}, {other})
    assert (registers == interpret(kernel).registers[:, 0]).all()


def test_the_example_of_vega_computes_what_it_expects():
    """examples/vega.asm runs on mi60, with no wrong value in a complete verification."""
    from gpusim.simulation.simulation import simulate  # noqa: PLC0415  (heavy)

    found = simulate(load_listing("examples/vega.asm"), "mi60").verification
    assert (found.scope, found.wrong) == ("complete", 0)


def test_a_wait_for_counts_keeps_its_control_code():
    """Both ways to write S_WAITCNT give the same instruction, with the control code written before it."""
    texts = [f"[B------:R-:W-:-:S02] S_WAITCNT {counts}" for counts in ("1, 0", "vmcnt(1) lgkmcnt(0)")]
    one, other = (assemble(text).instructions for text in texts)
    assert one == other
    assert one[0].control.stall == 2
