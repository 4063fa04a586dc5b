"""The operations that probes repeat: start value, other sources and closed form of the result, one row each.

The operands make every result exact, so a probe checks its values while it measures its cycles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from isa.instruction import Instruction
from isa.operands.operand import PT, Register
from isa.table import TABLE
from workloads.builder import Builder, RegisterMap, Value, double_bits, float_bits, instruction

SINGLE_EXACT = 1 << 24  # from here on a single can no longer count by one
DOUBLE_EXACT = 1 << 53
COS_FIXED_POINT = 0.7390851332151607  # of cos; the map contracts, so the nearest single is a fixed point of rounded cos
HALF_ONES, HALF_MINUS_ONES = 0x3C003C00, 0xBC00BC00  # two halves 1, two -1
TRUTH_TABLE = 0x96  # of exclusive or

BITS: dict[str, Callable[[float], int]] = {"f4": float_bits, "f8": double_bits, "u4": int}


@dataclass(frozen=True, slots=True)
class Operation:
    """The recurrence x = mnemonic(x, sources...) from x = start; `result(n)` is x after n steps, read as `dtype`."""

    mnemonic: str
    dtype: str
    start: float
    sources: tuple[float, ...]
    result: Callable[[int], float]

    @property
    def words(self) -> int:
        """32-bit registers of x."""
        return TABLE[self.mnemonic].words


def _always(value: float) -> Callable[[int], float]:
    return lambda n: value  # noqa: ARG005  (a fixed point: the count does not show)


def _sign(n: int) -> float:
    return -1.0 if n % 2 else 1.0


def _half_signs(n: int) -> float:
    return HALF_MINUS_ONES if n % 2 else HALF_ONES


# fmt: off
OPERATIONS = {row.mnemonic: row for row in (
    #         mnemonic    type  start          sources      after n times
    Operation("FFMA",     "f4", 0.0,           (1.0, 1.0),  lambda n: min(n, SINGLE_EXACT)),
    Operation("FADD",     "f4", 0.0,           (1.0,),      lambda n: min(n, SINGLE_EXACT)),
    Operation("FMUL",     "f4", 1.0,           (-1.0,),     _sign),
    Operation("FMNMX",    "f4", 1.0,           (2.0,),      _always(1.0)),
    Operation("DFMA",     "f8", 0.0,           (1.0, 1.0),  lambda n: min(n, DOUBLE_EXACT)),
    Operation("DADD",     "f8", 0.0,           (1.0,),      lambda n: min(n, DOUBLE_EXACT)),
    Operation("DMUL",     "f8", 1.0,           (-1.0,),     _sign),
    Operation("IADD",     "u4", 0,             (1,),        lambda n: n % 2**32),
    Operation("IMAD",     "u4", 0,             (1, 1),      lambda n: n % 2**32),
    Operation("IMUL",     "u4", 1,             (3,),        lambda n: pow(3, n, 2**32)),
    Operation("IMUL.HI",  "u4", 2**30,         (2**30,),    lambda n: 2**30 >> min(2 * n, 31)),
    Operation("IMNMX",    "u4", 1,             (2,),        _always(1)),
    Operation("SHL",      "u4", 1,             (1,),        lambda n: pow(2, n, 2**32)),
    Operation("SHR",      "u4", 2**31,         (1,),        lambda n: 2**32 - (2**31 >> min(n, 31))),
    Operation("SHR.U32",  "u4", 2**31,         (1,),        lambda n: 2**31 >> min(n, 32)),
    Operation("LOP.AND",  "u4", 5,             (7,),        _always(5)),
    Operation("LOP.OR",   "u4", 7,             (5,),        _always(7)),
    Operation("LOP.XOR",  "u4", 0,             (1,),        lambda n: n % 2),
    Operation("MOV",      "u4", 7,             (),          _always(7)),
    Operation("SEL",      "u4", 7,             (5,),        _always(7)),
    Operation("IADD3",    "u4", 0,             (1, 1),      lambda n: 2 * n % 2**32),
    Operation("UIADD3",   "u4", 0,             (1, 1),      lambda n: 2 * n % 2**32),
    Operation("IMAD.HI",  "u4", 1,             (1, 1),      _always(1)),
    Operation("IDP.4A",   "u4", 7,             (0, 7),      _always(7)),
    Operation("SHF.L",    "u4", 6,             (1, 3),      _always(6)),
    Operation("SHF.R",    "u4", 2**31,         (1, 0),      lambda n: 2**31 >> min(n, 32)),
    Operation("PRMT",     "u4", 1,             (0x0321, 0), lambda n: 2 ** (-8 * n % 32)),
    Operation("LOP3",     "u4", 0,             (1, 0),      lambda n: n % 2),
    Operation("POPC",     "u4", 1,             (),          _always(1)),
    Operation("FLO",      "u4", 2**32 - 1,     (),          _always(2**32 - 1)),
    Operation("FLO.U32",  "u4", 31,            (),          lambda n: (31, 4, 2, 1, 0, 2**32 - 1)[n % 6]),
    Operation("BREV",     "u4", 1,             (),          lambda n: 2**31 if n % 2 else 1),
    Operation("I2F",      "u4", 0,             (),          _always(0)),
    Operation("I2FP",     "u4", 0,             (),          _always(0)),
    Operation("F2I",      "u4", 0,             (),          _always(0)),
    Operation("HFMA2",    "u4", HALF_ONES,     (HALF_MINUS_ONES, 0), _half_signs),
    Operation("HFMA2.MMA", "u4", HALF_ONES,    (HALF_MINUS_ONES, 0), _half_signs),
    Operation("HMUL2",    "u4", HALF_ONES,     (HALF_MINUS_ONES,), _half_signs),
    Operation("HADD2",    "u4", HALF_ONES,     (0,),        _always(HALF_ONES)),
    Operation("MUFU.SQRT", "f4", 1.0,          (),          _always(1.0)),
    Operation("MUFU.TANH", "f4", 0.0,          (),          _always(0.0)),
    Operation("MUFU.RCP", "f4", 2.0,           (),          lambda n: 0.5 if n % 2 else 2.0),
    Operation("MUFU.RSQ", "f4", 1.0,           (),          _always(1.0)),
    Operation("MUFU.LG2", "u4", float_bits(inf), (),        _always(float_bits(inf))),
    Operation("MUFU.EX2", "u4", float_bits(inf), (),        _always(float_bits(inf))),
    Operation("MUFU.SIN", "f4", 0.0,           (),          _always(0.0)),
    Operation("MUFU.COS", "u4", float_bits(COS_FIXED_POINT), (), _always(float_bits(COS_FIXED_POINT))),
)}
# fmt: on


def step(operation: Operation, x: Register, sources: tuple[Register, ...]) -> Instruction:
    """Return x = operation(x, sources) as an instruction: PT for a read predicate, exclusive or for a truth table."""
    last: dict[str, Value] = {"Q": PT, "n": TRUTH_TABLE}
    return instruction(
        operation.mnemonic, x, x, *sources, *(last[x] for x in TABLE[operation.mnemonic].form if x in last)
    )


def load_sources(b: Builder, registers: RegisterMap, operation: Operation) -> tuple[Register, ...]:
    """Load the operation's other sources into new registers."""
    return tuple(load_value(b, registers, f"source{i}", operation, value) for i, value in enumerate(operation.sources))


def load_value(b: Builder, registers: RegisterMap, name: str, operation: Operation, value: float) -> Register:
    """Load `value`, in the operation's type, into a new register or pair; return the first."""
    block = registers.block(name, operation.words, operation.words)
    bits = BITS[operation.dtype](value)
    for word, register in enumerate(block):
        b.emit("MOV", register, bits >> 32 * word)
    return block[0]
