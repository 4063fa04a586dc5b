"""Streams of operations in independent chains, one kind or a mix of two, as compiled."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from isa.instruction import Instruction
from isa.nvidia.control import BARRIERS
from isa.operands.operand import PT, RZ, Predicate, Register
from workloads.builder import Value, instruction
from workloads.check import MOST_INSTRUCTIONS
from workloads.measured.codes import coded
from workloads.measured.loop import Stream, load, looped
from workloads.measured.order import ordered

STEPS = 240
PREDICATES = 6  # available for chains; further chains wait for one
FEW, MANY = 3, 4  # ratios from which on the registers are placed differently
MAJORITY = 0xE8
TURNS = 0.15915494  # 1 / (2 pi)
NOT_PT = Predicate(PT.index, negated=True)
FIRST_CHAIN = 8  # first register of the chains; the sources precede it

Sources = tuple[Register, Register]


@dataclass(frozen=True)
class Step:
    """The registers of one step of a chain, its predicate, and the number of earlier steps."""

    x: Register
    a: Register
    b: Register
    p: Predicate
    turn: int


@dataclass(frozen=True)
class Chains:
    """The register of each chain, and the sources that all share."""

    registers: list[Register]
    sources: Sources


Make = Callable[[Step], tuple[Instruction, ...]]


@dataclass(frozen=True)
class Operation:
    """The step of a chain: x, a and b are `words` registers; lanes load words at a distance of `byte_stride`.

    Chains are in the banks in turn, or all in the first source's (`bank` 0) or the other (1); the sources are in one
    bank each, or both in the even one (`even`). `queued`: it goes through the queue of memory instructions.
    """

    make: Make
    words: int = 1
    byte_stride: int = 0
    bank: int | None = None
    even: bool = False
    queued: bool = False


def _one(mnemonic: str, order: str, *rest: Value) -> Make:
    """Return a step of one instruction with x as destination and sources in the given order."""
    return lambda s: (instruction(mnemonic, s.x, *(getattr(s, letter) for letter in order), *rest),)


def _loaded(mnemonic: str) -> Make:
    return lambda s: (load(mnemonic, s.x),)


def _guarded(compare: str, mnemonic: str, order: str) -> Make:
    """Return a comparison of x and a, and an instruction under its guard; 1 stands for itself."""

    def make(s: Step) -> tuple[Instruction, ...]:
        sources = [1 if letter == "1" else getattr(s, letter) for letter in order]
        return instruction(compare, s.p, s.x, s.a), instruction(mnemonic, s.x, *sources, guard=s.p)

    return make


def _bounded(mnemonic: str) -> Make:
    """Return the smaller of x and a, then the larger of that and b."""
    return lambda s: (instruction(mnemonic, s.x, s.a, s.x, PT), instruction(mnemonic, s.x, s.b, s.x, NOT_PT))


def _halves(s: Step) -> tuple[Instruction, ...]:
    """Return an addition of halves, on either unit in turn as compiled: a multiply-add by 1 on the matrix unit."""
    return (instruction("HADD2", s.x, s.x, s.a) if s.turn % 2 else instruction("HFMA2.MMA", s.x, s.x, 1, s.a),)


def _reduced(s: Step) -> tuple[Instruction, ...]:
    """Return a sum over the lanes, and its move back, on the integer multiplier every other time."""
    moved = instruction("MOV", s.x, s.x) if s.turn % 2 else instruction("IMAD", s.x, RZ, RZ, s.x)
    return instruction("REDUX.SUM", s.x, s.x), moved


OPERATIONS = {  # of two sources, one is in each register bank, as ptxas arranges it
    "FFMA": Operation(_one("FFMA", "axb"), bank=0),
    "FFMA_acc": Operation(_one("FFMA", "abx")),
    "FADD": Operation(_one("FADD", "bx"), bank=0),
    "FMUL": Operation(_one("FMUL", "bx"), bank=0),
    "FMNMX2": Operation(_bounded("FMNMX"), even=True),
    "IMAD": Operation(_one("IMAD", "axb")),
    "IMADHI": Operation(_one("IMAD.HI", "axb")),
    "IADD3": Operation(_one("IADD3", "bxa")),
    "LOP3": Operation(_one("LOP3", "xab", MAJORITY)),
    "SHF": Operation(_one("SHF.L", "xba")),
    "PRMT": Operation(_one("PRMT", "xba")),
    "VIMNMX2": Operation(_bounded("IMNMX")),
    "IDP4A": Operation(_one("IDP.4A", "xab")),
    "POPC": Operation(_one("POPC", "x")),
    "BREV": Operation(_one("BREV", "x")),
    "FLO": Operation(_one("FLO.U32", "x")),
    "ISETP_SEL": Operation(
        lambda s: (instruction("ISETP.LT.U32", s.p, s.x, s.a), instruction("SEL", s.x, s.a, s.b, s.p)), bank=1
    ),
    "ISETP_PIADD": Operation(_guarded("ISETP.LT.U32", "IMAD", "b1x")),
    "ISETP_PIMAD": Operation(_guarded("ISETP.LT.U32", "IMAD", "axb"), bank=1),
    "FSETP_PFFMA": Operation(_guarded("FSETP.LT", "FFMA", "axb"), bank=0),
    "I2F_F2I": Operation(lambda s: (instruction("I2FP", s.x, s.x), instruction("F2I", s.x, s.x))),
    "MUFU_RCP_FADD": Operation(lambda s: (instruction("MUFU.RCP", s.x, s.x), instruction("FADD", s.x, s.a, s.x))),
    "MUFU_SIN": Operation(lambda s: (instruction("FMUL", s.x, s.x, TURNS), instruction("MUFU.SIN", s.x, s.x))),
    **{f"MUFU_{name}": Operation(_one(f"MUFU.{name}", "x")) for name in ("EX2", "RSQ", "LG2", "SQRT", "TANH")},
    "DFMA": Operation(_one("DFMA", "axb"), words=2),
    "DADD": Operation(_one("DADD", "ax"), words=2),
    "DMUL": Operation(_one("DMUL", "ax"), words=2),
    "HFMA2": Operation(lambda s: (instruction("HFMA2" if s.turn % 2 else "HFMA2.MMA", s.x, s.x, s.a, s.b),)),
    "HADD2": Operation(_halves, bank=1),
    "SHFL_IDX": Operation(_one("SHFL.IDX", "xa"), bank=1, queued=True),
    "SHFL_BFLY": Operation(_one("SHFL.BFLY", "x", 1), queued=True),
    "ISETP_VOTE": Operation(
        lambda s: (instruction("ISETP.NE", s.p, s.x, s.a), instruction("VOTE.BALLOT", s.x, s.p)), bank=1
    ),
    "REDUX": Operation(_reduced),
    "LDS32": Operation(_loaded("LDS"), byte_stride=4, queued=True),
    "LDS64": Operation(_loaded("LDS.64"), words=2, byte_stride=8, queued=True),
    "LDS128": Operation(_loaded("LDS.128"), words=4, byte_stride=16, queued=True),
}
SLOW_OPERATIONS = ("LDS", "MUFU", "POPC", "BREV", "FLO", "REDUX", "SHFL")


def alone(op: str, chains: int, steps: int, iterations: int) -> Stream | None:
    """Return a stream of so many steps in turn from independent chains; None for an unknown op, or too many steps."""
    operation = OPERATIONS.get(op)
    if operation is None or not 1 <= chains <= 16 or steps > MOST_INSTRUCTIONS:
        return None
    banked = operation.bank is not None
    registers = _registers(FIRST_CHAIN + (operation.bank or 0), chains, 2 if banked else operation.words)
    body = ordered(_steps(operation, Chains(registers, _sources(operation, 4)), 0, steps))
    slow = op.startswith(SLOW_OPERATIONS)
    return _stream(operation, looped(body, iterations, 1, 2 if slow and chains == 1 else 3))


def mixed(ops: str, param: str, iterations: int) -> Stream | None:
    """Return the stream of two operations, "A:B" in the ratio of "3:1 U60", B first in each of the U groups.

    None for unknown operations, and for more than a program holds.
    """
    first, _, second = ops.partition(":")
    match = re.fullmatch(r"(\d{1,4}):(\d{1,4}) U(\d{1,4})", param)
    if first not in OPERATIONS or second not in OPERATIONS or not match:
        return None
    a, b, groups = (int(part) for part in match.groups())
    if (a + b) * groups > MOST_INSTRUCTIONS:
        return None
    one, other = OPERATIONS[first], OPERATIONS[second]
    ones, others = _mixed_chains(one, other, a, b)
    made = [step for g in range(groups) for step in _steps(other, others, b * g, b) + _steps(one, ones, a * g, a)]
    return _stream(other, looped(ordered(made), iterations))


def _mixed_chains(one: Operation, other: Operation, a: int, b: int) -> tuple[Chains, Chains]:
    """Return the registers of eight chains of one operation and four of another, in a ratio of a to b, as by ptxas.

    Multiply-adds are in the even bank, with their first source. Chains of single words beside them are in the odd bank,
    except the last one if they are few or go through the queue. From 1:4 on the banks change places. A pair of
    operations has both sources in the multiply-adds' bank, from 4:1 on in the other, and then its chains are there too.
    """
    parted = one.bank is not None and (other.words == 1 or other.byte_stride > 0)
    few, many = other.even and a >= MANY * b, b >= MANY * a and not other.even
    ones = _registers(FIRST_CHAIN + many, 8, 2 if parted else 1), (Register(4 + many), Register(5 - many))
    if other.words > 1 or not parted:
        others = _registers(24, 4, other.words)
    else:
        others = _registers(25 - (few or many), 4, 2)
        if other.queued or (a >= FEW * b and not few):
            others[-1] = Register(32 + many)
    return Chains(*ones), Chains(others, _sources(other, 40 + few))


def _sources(operation: Operation, first: int) -> Sources:
    """Return the two sources, from this register on."""
    return Register(first), Register(first + (2 if operation.words == 2 or operation.even else 1))


def _registers(first: int, chains: int, distance: int) -> list[Register]:
    return [Register(first + distance * i) for i in range(chains)]


def _steps(operation: Operation, chains: Chains, first: int, number: int) -> list[Instruction]:
    """Return so many steps from `first` on, of the chains in turn, as their instructions."""
    made = list[Instruction]()
    for i in range(first, first + number):
        turn = i % len(chains.registers)
        made += operation.make(Step(chains.registers[turn], *chains.sources, Predicate(turn % PREDICATES), i))
    return made


def _stream(operation: Operation, body: Sequence[Instruction]) -> Stream:
    stride = operation.byte_stride
    if not stride:
        return Stream(coded(body, BARRIERS - 1))
    return Stream(coded(body), tuple(stride * lane for lane in range(32)), shared_bytes=4096)
