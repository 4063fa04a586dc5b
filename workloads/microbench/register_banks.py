"""Streams of FFMAs whose sources are in given register banks: cycles per FFMA show the cost of bank conflicts.

The registers are numbered for four banks: register number modulo 4, or Kepler's pairs (Zhang et al., PPoPP 2017, table
3). A pattern gives for each FFMA, in turn or at random, how many distinct registers of bank 0, 1, 2 and 3 it reads:
3000 reads three of bank 0, 1110 one each of the first three. An FFMA with fewer than three distinct sources repeats its
last one. CuAssembler's authors measured triples of these on Maxwell (github.com/cloudcores/CuAssembler, RegBank).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import cycle
from random import Random

from isa.errors import UserError
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.operands.operand import Register
from isa.operands.register_bank import BANK_PERIOD, MAPPINGS, MODULO, bank_of
from workloads.builder import Builder, RegisterMap, instruction
from workloads.check import counts, fits, one_of
from workloads.microbench.probe import Geometry, everywhere, per_thread, probe, repeat, store_results, thread_index

BANKS = 4
SOURCES = 3  # of an FFMA
TARGETS = 12  # registers written in turn: none is written again before its last result is ready
ORDERS = ("turn", "random")


def register_banks(
    pattern: str = "3000,3000,2100",
    *,
    mapping: str = MODULO,
    order: str = "turn",
    flagged: int = 0,
    warps: int = 16,
    targets: int = TARGETS,
    length: int = 252,
    iterations: int = 1,
) -> Kernel:
    """Build a kernel of `length` FFMAs of the pattern; the first `flagged` sources of each stay for reuse.

    They write `targets` registers in turn: with one, each waits for the result of the last. Raises UserError for an
    invalid pattern, and numbers too small or large.
    """
    banks = parse_pattern(pattern)
    one_of("register-banks", "mapping", mapping, MAPPINGS)
    one_of("register-banks", "order", order, ORDERS)
    one_of("register-banks", "flagged", flagged, tuple(range(SOURCES + 1)))
    counts("register-banks", 1, warps=warps, targets=targets, iterations=iterations)
    counts("register-banks", max(targets, len(banks)), length=length)
    fits("register-banks", length, length=length)
    b, registers, geometry = Builder(), RegisterMap("register-banks"), Geometry(warps)
    index = thread_index(b, registers)
    last = max(_nth(mapping, bank, SOURCES - 1) for bank in range(BANKS))
    sources = registers.block("sources", last + 1, BANK_PERIOD)
    results = registers.block("results", targets)
    for value, register in enumerate(sources):
        b.emit("MOV", register, float(value))
    places = [_places(counted, mapping) for counted in _ordered(banks, order, length)]
    repeat(b, registers, iterations, _body(places, sources, results, flagged))
    for result in results[1:]:
        b.emit("FADD", results[0], results[0], result)
    store_results(b, index, geometry, results[:1])
    fits("register-banks", len(b.instructions), length=length)
    total = float(sum(a * b + c for a, b, c in places[-targets:]))
    expected = per_thread(partial(everywhere, total), geometry)
    arguments = {"pattern": pattern, "mapping": mapping, "order": order, "flagged": flagged, "warps": warps}
    arguments |= {"targets": targets, "length": length, "iterations": iterations}
    flops = 2 * length * iterations
    return probe("register-banks", b, geometry, arguments, expected, flops=flops)


def parse_pattern(pattern: str) -> tuple[tuple[int, ...], ...]:
    """Return registers of each bank for each FFMA; raises UserError unless each FFMA has one to three in all."""
    words = pattern.split(",")
    if not all(len(word) == BANKS and word.isdecimal() and 1 <= sum(map(int, word)) <= SOURCES for word in words):
        raise UserError(
            f"register-banks: pattern={pattern} is not counts of registers by bank; give four digits for each FFMA, "
            f"one to {SOURCES} registers in all, such as 3000,2100"
        )
    return tuple(tuple(map(int, word)) for word in words)


def _ordered(banks: Sequence[tuple[int, ...]], order: str, length: int) -> list[tuple[int, ...]]:
    """Return the counts of each FFMA; random order is the same at each call."""
    if order == "random":
        return Random(0).choices(banks, k=length)
    return [banks[i % len(banks)] for i in range(length)]


def _places(banks: tuple[int, ...], mapping: str) -> list[int]:
    """Return the source registers that an FFMA has as a, b and c; register i holds the number i."""
    distinct = [_nth(mapping, bank, i) for bank, count in enumerate(banks) for i in range(count)]
    return distinct + distinct[-1:] * (SOURCES - len(distinct))


def _nth(mapping: str, bank: int, i: int) -> int:
    """Return the i-th register of a bank, from 0 on."""
    return [register for register in range(SOURCES * BANK_PERIOD) if bank_of(register, mapping, BANKS) == bank][i]


def _body(
    places: Iterable[Sequence[int]], sources: Sequence[Register], results: Iterable[Register], flagged: int
) -> Iterator[Instruction]:
    """Yield the FFMAs."""
    for result, read in zip(cycle(results), places, strict=False):
        operands = [replace(sources[p], reuse=slot < flagged) for slot, p in enumerate(read)]
        yield instruction("FFMA", result, *operands)
