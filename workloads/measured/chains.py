"""Streams of dependent chains, as compiled and with some control codes edited."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from isa.instruction import Instruction
from isa.nvidia.control import Control
from isa.operands.operand import RZ, SPECIALS, Predicate, Register
from isa.row import Unit
from isa.table import TABLE
from workloads.builder import at, instruction
from workloads.measured.codes import SLOW, coded, plain
from workloads.measured.loop import BRANCH, COUNT, DONE, PLACE, Stream, load, looped, test

STEPS = 96
A, B, X, Y, ADDED = (Register(i) for i in range(16, 21))
P = Predicate(0)
NOT_P = replace(P, negated=True)
TRUTH_TABLE, CONSTANT = 0x96, 1.25
LANES = range(32)


@dataclass(frozen=True)
class Chain:
    """The instructions of one step of a chain, and the bytes that its lanes access."""

    step: tuple[Instruction, ...]
    memory: str = ""
    nbytes: int = 4


def _multiply(x: Register) -> Instruction:
    return instruction("IMAD", x, A, x, B)


def _logic(x: Register) -> Instruction:
    return instruction("LOP3", x, x, A, B, TRUTH_TABLE)


FMA = instruction("FFMA", X, A, X, B)
MULTIPLY = _multiply(Y)
ADD = instruction("IADD3", Y, B, Y, A)
CHAINS = {  # chains with an FFMA that multiplies them are in the bank of its first source, the others in the other bank
    "ch_ffma": Chain((FMA,)),
    "ch_ffma_c": Chain((instruction("FFMA", Y, A, B, Y),)),
    "ch_fadd": Chain((instruction("FADD", Y, A, Y),)),
    "ch_imad": Chain((MULTIPLY,)),
    "ch_s2r": Chain((MULTIPLY,)),
    "ch_iadd3": Chain((ADD,)),
    "ch_shf": Chain((instruction("SHF.L", Y, Y, A, Y),)),
    "ch_prmt": Chain((instruction("PRMT", Y, Y, B, A),)),
    "ch_imad_iadd3": Chain((MULTIPLY, ADD)),
    "ch_imad_lop3": Chain((MULTIPLY, _logic(Y))),
    "ch_ffma_imad": Chain((FMA, _multiply(X))),
    "ch_ffma_lop3": Chain((FMA, _logic(X))),
    "ch_dfma": Chain((instruction("DFMA", X, A, X, ADDED),)),
    "ch_hfma2": Chain((instruction("HFMA2.MMA", Y, Y, A, B), instruction("HFMA2", Y, Y, A, B))),
    "ch_mufu": Chain((instruction("MUFU.EX2", Y, Y),)),
    "ch_imm": Chain((instruction("FFMA", Y, Y, CONSTANT, A),)),
    "ch_isetp_sel": Chain((instruction("ISETP.NE", P, Y, A), instruction("SEL", Y, B, A, NOT_P))),
    "ch_isetp_p": Chain((
        instruction("ISETP.GE", P, Y, RZ),
        instruction("IMAD", Y, A, 1, Y, guard=NOT_P),
        instruction("IADD3", Y, B, Y, RZ, guard=P),
    )),
    "ch_lds": Chain((load("LDS", X),), "shared"),
    "ch_sts": Chain((instruction("STS", at(PLACE), X),), "shared"),
    "ch_ldg": Chain((load("LDG.64", X),), "global", 8),
    "ch_stg": Chain((instruction("STG", at(PLACE), X),), "global"),
}  # fmt: skip


@dataclass(frozen=True)
class Wait:
    """The control code of each of 96 equal instructions, and the destination of their result: none, or one register."""

    target: Register
    code: Control


WAITING = {
    "war": Wait(RZ, Control(2, read_barrier=0, write_barrier=5, waits=1)),  # until the last has read its sources
    "raw": Wait(X, Control(2, write_barrier=0, waits=1)),  # until its result is there
    "nowait": Wait(RZ, Control(1, write_barrier=5)),
}
KINDS = frozenset({"ref", "s2r", "minstall", *WAITING})


def chain(kind: str, rest: str, op: str, iterations: int) -> Stream | None:
    """Return the stream of a chain by experiment, the rest of its name and its kernel; None if unknown."""
    if kind == "ref":
        return _referred(op, iterations)
    if kind == "s2r":
        return _special(rest, iterations)
    found = CHAINS.get(op)
    if found is None:
        return None
    if kind == "minstall":
        return _shortened(found, rest, iterations)
    return _waiting(found, WAITING[kind], iterations) if kind in WAITING else None


def _referred(op: str, iterations: int) -> Stream | None:
    """Return the loop before any edit."""
    if op == "base_alu":
        return Stream(coded(looped(_accumulators(), iterations, 0)))
    if op.startswith("base_mix"):
        return _rotation({"base_mix4": 4, "base_mix8": 8}.get(op, 16), iterations)
    found = CHAINS.get(op)
    return _stream(found, coded(looped(_steps(found), iterations))) if found else None


def _steps(found: Chain) -> list[Instruction]:
    """Return the chain at its length: 96 of one instruction or of a two-instruction operation, else 96 of each."""
    number = STEPS // 2 if found is CHAINS["ch_hfma2"] else STEPS
    return list(found.step) * number


def _stream(found: Chain, body: tuple[Instruction, ...]) -> Stream:
    if not found.memory:
        return Stream(body)
    offsets = tuple(found.nbytes * lane for lane in LANES)
    if found.memory == "shared":
        return Stream(body, offsets, shared_bytes=4096)
    return Stream(body, offsets, data_bytes=1 << 16)


def _accumulators() -> list[Instruction]:
    """Return 220 multiply-adds to 44 registers in turn."""
    return [instruction("FFMA", x, A, x, B) for x in (Register(20 + i % 44) for i in range(220))]


def _rotation(offset: int, iterations: int) -> Stream:
    """Return a load, and 216 multiply-adds of 36 registers, each of the next two."""
    xs = [Register(16 + i) for i in range(36)]
    steps = [load("LDS", xs[0])]
    steps += [instruction("FFMA", xs[i % 36], xs[(i + 1) % 36], xs[i % 36], xs[(i + 2) % 36]) for i in range(216)]
    body = coded(looped(steps, iterations, 1, 2))
    return Stream(body, tuple(offset * lane for lane in LANES), shared_bytes=4096)


def _shortened(found: Chain, rest: str, iterations: int) -> Stream | None:
    """Return the chain with another stall count after one of its instructions."""
    match = re.fullmatch(r"([\w.]+)>.+:stall(\d|1[0-5])", rest)
    if not match:
        return None
    body = coded(looped(_steps(found), iterations))
    return _stream(found, tuple(_shorter(made, match[1], int(match[2])) for made in body))


def _shorter(made: Instruction, producer: str, stall: int) -> Instruction:
    mnemonic, code = made.row.mnemonic, made.control
    named = mnemonic == producer or (mnemonic.startswith(f"{producer}.") and producer not in TABLE)
    if not named or DONE in made.operands or code is None:
        return made
    return replace(made, control=replace(code, stall=stall, yields=code.yields or stall >= 12))


def _waiting(found: Chain, wait: Wait, iterations: int) -> Stream | None:
    """Return 96 copies of the chain's instruction, each with the same control code."""
    first = found.step[0]
    if first.row.unit not in SLOW | {Unit.SHARED, Unit.GLOBAL}:
        return None
    code = wait.code
    if first.writes():
        first = replace(first, operands=(wait.target, *first.operands[1:]))
    else:
        code = replace(code, write_barrier=None)
    made = replace(first, control=code)
    counting = plain(COUNT, stall=6, yields=True), plain(test(iterations))
    return _stream(found, (made, *counting, *[made] * (STEPS - 1), plain(BRANCH, stall=5)))


def _special(rest: str, iterations: int) -> Stream | None:
    """Return 96 reads of a special register, each issued when the previous result is there."""
    name = rest.removeprefix("SR_")
    if name not in SPECIALS:
        return None
    made = plain(instruction("S2R", X, name), stall=2, write_barrier=0, waits=1)
    counting = plain(COUNT, stall=3, yields=True), made, plain(test(iterations))
    return Stream((made, *counting, *[made] * (STEPS - 2), plain(BRANCH, stall=6)))
