"""Streams of operations in independent chains, alone or two mixed, as the compiler writes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from isa.instruction import Instruction
from isa.operand import PT, RZ, Predicate, Register
from workloads.builder import Value, instruction
from workloads.measured.codes import coded
from workloads.measured.loop import Stream, load, looped

STEPS = 240
TOGETHER = 4  # chains whose first instructions go before their second ones
MAJORITY = 0xE8
TURNS = 0.15915494  # 1 / (2 pi)
NOT_PT = Predicate(PT.index, negated=True)
FIRST, SECOND = 4, 8  # registers of the sources, and of the chains of a stream alone


@dataclass(frozen=True)
class Step:
    """The registers of one step of a chain, its predicate, and how many steps went before."""

    x: Register
    a: Register
    b: Register
    p: Predicate
    turn: int


Make = Callable[[Step], tuple[Instruction, ...]]


@dataclass(frozen=True)
class Operation:
    """What a step of a chain is: x, a and b are `words` registers; lanes load words `bytes_apart`."""

    make: Make
    words: int = 1
    bytes_apart: int = 0


def _one(mnemonic: str, order: str, *rest: Value) -> Make:
    """A step of one instruction with x as destination and sources in the given order."""
    return lambda s: (instruction(mnemonic, s.x, *(getattr(s, letter) for letter in order), *rest),)


def _loaded(mnemonic: str) -> Make:
    return lambda s: (load(mnemonic, s.x),)


def _guarded(compare: str, mnemonic: str, order: str) -> Make:
    """A comparison of x and a, and an instruction under its guard; 1 stands for itself."""

    def make(s: Step) -> tuple[Instruction, ...]:
        sources = [1 if letter == "1" else getattr(s, letter) for letter in order]
        return instruction(compare, s.p, s.x, s.a), instruction(mnemonic, s.x, *sources, guard=s.p)

    return make


def _bounded(mnemonic: str) -> Make:
    """The smaller of x and a, then the larger of that and b."""
    return lambda s: (instruction(mnemonic, s.x, s.a, s.x, PT), instruction(mnemonic, s.x, s.b, s.x, NOT_PT))


def _halves(s: Step) -> tuple[Instruction, ...]:
    """The compiler adds halves on either unit in turn: a multiply-add by 1 on the one for matrices."""
    return (instruction("HADD2", s.x, s.x, s.a) if s.turn % 2 else instruction("HFMA2.MMA", s.x, s.x, 1, s.a),)


def _reduced(s: Step) -> tuple[Instruction, ...]:
    """A sum over the lanes, and its move back, to the integer multiplier every other time."""
    moved = instruction("MOV", s.x, s.x) if s.turn % 2 else instruction("IMAD", s.x, RZ, RZ, s.x)
    return instruction("REDUX.SUM", s.x, s.x), moved


OPERATIONS = {  # of two sources, one lies in each register bank, as ptxas arranges it
    "FFMA": Operation(_one("FFMA", "axb")),
    "FFMA_acc": Operation(_one("FFMA", "abx")),
    "FADD": Operation(_one("FADD", "bx")),
    "FMUL": Operation(_one("FMUL", "bx")),
    "FMNMX2": Operation(_bounded("FMNMX")),
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
        lambda s: (instruction("ISETP.LT.U32", s.p, s.x, s.a), instruction("SEL", s.x, s.a, s.b, s.p))
    ),
    "ISETP_PIADD": Operation(_guarded("ISETP.LT.U32", "IMAD", "b1x")),
    "ISETP_PIMAD": Operation(_guarded("ISETP.LT.U32", "IMAD", "axb")),
    "FSETP_PFFMA": Operation(_guarded("FSETP.LT", "FFMA", "axb")),
    "I2F_F2I": Operation(lambda s: (instruction("I2FP", s.x, s.x), instruction("F2I", s.x, s.x))),
    "MUFU_RCP_FADD": Operation(lambda s: (instruction("MUFU.RCP", s.x, s.x), instruction("FADD", s.x, s.a, s.x))),
    "MUFU_SIN": Operation(lambda s: (instruction("FMUL", s.x, s.x, TURNS), instruction("MUFU.SIN", s.x, s.x))),
    **{f"MUFU_{name}": Operation(_one(f"MUFU.{name}", "x")) for name in ("EX2", "RSQ", "LG2", "SQRT", "TANH")},
    "DFMA": Operation(_one("DFMA", "axb"), words=2),
    "DADD": Operation(_one("DADD", "ax"), words=2),
    "DMUL": Operation(_one("DMUL", "ax"), words=2),
    "HFMA2": Operation(lambda s: (instruction("HFMA2" if s.turn % 2 else "HFMA2.MMA", s.x, s.x, s.a, s.b),)),
    "HADD2": Operation(_halves),
    "SHFL_IDX": Operation(_one("SHFL.IDX", "xa")),
    "SHFL_BFLY": Operation(_one("SHFL.BFLY", "x", 1)),
    "ISETP_VOTE": Operation(lambda s: (instruction("ISETP.NE", s.p, s.x, s.a), instruction("VOTE.BALLOT", s.x, s.p))),
    "REDUX": Operation(_reduced),
    "LDS32": Operation(_loaded("LDS"), bytes_apart=4),
    "LDS64": Operation(_loaded("LDS.64"), words=2, bytes_apart=8),
    "LDS128": Operation(_loaded("LDS.128"), words=4, bytes_apart=16),
}
SLOW_OPERATIONS = ("LDS", "MUFU", "POPC", "BREV", "FLO", "REDUX", "SHFL")


def alone(op: str, chains: int, steps: int, iterations: int) -> Stream | None:
    """Return the stream of so many steps in turn from independent chains; None for an unknown operation."""
    operation = OPERATIONS.get(op)
    if operation is None or not 1 <= chains <= 16:
        return None
    parts = _parts(operation, chains, steps, FIRST, SECOND)
    slow = op.startswith(SLOW_OPERATIONS)
    return _stream(operation, looped(_staged(parts), iterations, 1, 2 if slow and chains == 1 else 3))


def mixed(ops: str, param: str, iterations: int) -> Stream | None:
    """Return the stream of two operations, "A:B" in the ratio of "3:1 U60", B first in each of the U groups."""
    first, _, second = ops.partition(":")
    match = re.fullmatch(r"(\d+):(\d+) U(\d+)", param)
    if first not in OPERATIONS or second not in OPERATIONS or not match:
        return None
    a, b, groups = (int(part) for part in match.groups())
    one = _parts(OPERATIONS[first], 8, a * groups, FIRST, 8)
    other = _parts(OPERATIONS[second], 4, b * groups, 24 if OPERATIONS[second].words == 2 else 6, 16)
    order = [part for g in range(groups) for part in (*other[b * g : b * g + b], *one[a * g : a * g + a])]
    return _stream(OPERATIONS[second], looped(_staged(order), iterations))


def _parts(operation: Operation, chains: int, steps: int, source: int, chain: int) -> list[tuple[Instruction, ...]]:
    """The steps, each as its instructions, chain by chain in turn; sources and chains from these registers on."""
    w = operation.words
    a, b = Register(source), Register(source + (w if w == 2 else 1))
    return [
        operation.make(Step(Register(chain + w * (i % chains)), a, b, Predicate(i % min(chains, TOGETHER)), i))
        for i in range(steps)
    ]


def _staged(parts: Sequence[tuple[Instruction, ...]]) -> list[Instruction]:
    """Steps of two instructions four at a time: the first ones of all, then the second ones."""
    staged = list[Instruction]()
    for group in (parts[i : i + TOGETHER] for i in range(0, len(parts), TOGETHER)):
        for stage in range(max(map(len, group))):
            staged += [part[stage] for part in group if stage < len(part)]
    return staged


def _stream(operation: Operation, body: Iterable[Instruction]) -> Stream:
    apart = operation.bytes_apart
    if not apart:
        return Stream(coded(list(body)))
    return Stream(coded(list(body)), tuple(apart * lane for lane in range(32)), shared_bytes=4096)
