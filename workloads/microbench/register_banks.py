"""Streams of FFMAs whose sources lie in given register banks: cycles per FFMA shows what bank conflicts cost.

The registers are numbered for four banks, register number modulo 4. A pattern says of each FFMA in turn how many
distinct registers of bank 0, 1, 2 and 3 it reads: 3000 reads three of bank 0, 1110 one each of the first three. An FFMA
with fewer than three distinct sources reads its last one again. CuAssembler's authors measured triples of these on
Maxwell (github.com/cloudcores/CuAssembler, RegBank).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import cycle, islice

import numpy as np

from isa.errors import UserError
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.operand import Register
from workloads.builder import Builder, RegisterMap, instruction
from workloads.check import counts, fits, one_of
from workloads.microbench.probe import Geometry, per_thread, probe, repeat, store_results, thread_index

BANKS = 4
SOURCES = 3  # of an FFMA
TARGETS = 12  # registers written in turn: none is written again before its last result is there


def register_banks(
    pattern: str = "3000,3000,2100", *, flagged: int = 0, warps: int = 16, length: int = 252, iterations: int = 1
) -> Kernel:
    """Build a kernel of `length` FFMAs of the pattern in turn; the first `flagged` sources of each stay for reuse.

    Raises UserError for a pattern that is none, and numbers too small or large.
    """
    banks = parse_pattern(pattern)
    one_of("register-banks", "flagged", flagged, tuple(range(SOURCES + 1)))
    counts("register-banks", 1, warps=warps, iterations=iterations)
    counts("register-banks", max(TARGETS, len(banks)), length=length)
    fits("register-banks", length, length=length)
    b, registers, geometry = Builder(), RegisterMap("register-banks"), Geometry(warps)
    index = thread_index(b, registers)
    sources = registers.block("sources", SOURCES * BANKS, BANKS)
    targets = registers.block("targets", TARGETS)
    for value, register in enumerate(sources):
        b.emit("MOV", register, float(value))
    body = list(islice(_body(banks, sources, targets, flagged), length))
    repeat(b, registers, iterations, body)
    for target in targets[1:]:
        b.emit("FADD", targets[0], targets[0], target)
    store_results(b, index, geometry, targets[:1])
    fits("register-banks", len(b.instructions), length=length)
    result = float(sum(_value(banks[i % len(banks)]) for i in range(length - TARGETS, length)))
    expected = per_thread(lambda t: np.full(t.shape, result), geometry)
    arguments = {"pattern": pattern, "flagged": flagged, "warps": warps, "length": length, "iterations": iterations}
    flops = 2 * length * iterations
    return probe("register-banks", b, geometry, arguments, expected, flops=flops)


def parse_pattern(pattern: str) -> tuple[tuple[int, ...], ...]:
    """Registers of each bank for each FFMA; raises UserError if the text is not such counts, one to three in all."""
    words = pattern.split(",")
    if not all(len(word) == BANKS and word.isdecimal() and 1 <= sum(map(int, word)) <= SOURCES for word in words):
        raise UserError(
            f"register-banks: pattern={pattern} is not counts of registers by bank; give four digits for each FFMA, "
            f"one to {SOURCES} registers in all, such as 3000,2100"
        )
    return tuple(tuple(map(int, word)) for word in words)


def _places(banks: tuple[int, ...]) -> list[int]:
    """Which of the source registers an FFMA has as a, b and c."""
    distinct = [BANKS * i + bank for bank, count in enumerate(banks) for i in range(count)]
    return distinct + distinct[-1:] * (SOURCES - len(distinct))


def _body(
    banks: Iterable[tuple[int, ...]], sources: Sequence[Register], targets: Iterable[Register], flagged: int
) -> Iterator[Instruction]:
    """The FFMAs, without end."""
    for target, counted in zip(cycle(targets), cycle(banks), strict=False):
        operands = [replace(sources[p], reuse=slot < flagged) for slot, p in enumerate(_places(counted))]
        yield instruction("FFMA", target, *operands)


def _value(banks: tuple[int, ...]) -> int:
    """What an FFMA computes: source register i holds the number i."""
    a, b, c = _places(banks)
    return a * b + c
