"""Registers of matrix instructions of a warpgroup that are used while the tensor cores have them.

D and, where it comes from registers, A belong to the tensor cores from the issue of a product until a wait that covers
its group, as does the register that says which numbers a sparse A has (PTX ISA, "Asynchronous wgmma instructions").
What a warp has written to them before, or where it issues its first product, it orders with WARPGROUP.ARRIVE. A product
may add to the result of one that is under way.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.walks.happens_before.known import Words
from gpusim.engines.walks.happens_before.work import waits_for
from gpusim.sm.walk.marks import MULTIPLIED, NOTED
from isa.instruction import Instruction
from isa.operands.operand import Register
from isa.program import Program
from isa.row import CLOSES, Groups, Unit

ARRIVES = "WARPGROUP.ARRIVE"
RAW, WAW, WAR, UNORDERED = "RAW", "WAW", "WAR", "ARRIVE"
Use = tuple[str, int, int, int]  # kind, pc, that of the other instruction (-1: none) and the register


@dataclass(frozen=True)
class _Product:
    """A product under way: its instruction, its group, its registers."""

    pc: int
    group: int
    result: frozenset[int]
    first: frozenset[int]


@dataclass
class _Warp:
    """What a warp has under way, the groups that it has closed, and who wrote which register since it arrived last."""

    products: list[_Product] = field(default_factory=list)
    closed: int = 0
    arrived: bool = False
    written: dict[int, int] = field(default_factory=dict)


@dataclass
class ProductRegisters:
    """The uses so far, with how often each occurred; a `More` of gpusim.engines.walks.happens_before.work."""

    program: Program
    found: Counter[Use] = field(default_factory=Counter)
    block: int = -1
    warps: dict[int, _Warp] = field(default_factory=dict)

    @cached_property
    def pcs(self) -> frozenset[int]:
        """The instructions that use registers of products, or say when these may be used."""
        code = self.program.instructions
        taken = set[int]().union(*(self._registers(pc)[0] | self._registers(pc)[1] for pc in self._products))
        uses = {pc for pc, i in enumerate(code) if taken.intersection(i.reads()) or taken.intersection(i.writes())}
        arrivals = {pc for pc, i in enumerate(code) if i.row.mnemonic == ARRIVES}
        return frozenset(uses | arrivals) if self._products else frozenset()

    @cached_property
    def _products(self) -> list[int]:
        return [pc for pc, i in enumerate(self.program.instructions) if i.row.unit is Unit.WARPGROUP]

    def _registers(self, pc: int) -> tuple[frozenset[int], frozenset[int]]:
        """Return the registers of D, and of A if it is in registers."""
        instruction = self.program.instructions[pc]
        return frozenset(instruction.writes()), _first(instruction)

    def note(
        self, block: int, mark: int, pc: int, warps: Words, words: NDArray[np.uint32], active: NDArray[np.bool_]
    ) -> None:
        """See that warps of a block execute an instruction."""
        if block != self.block:
            self.block, self.warps = block, {}
        if mark not in (NOTED, MULTIPLIED):
            return
        for warp, row, lanes in zip(warps.tolist(), words, active, strict=True):
            here = self.warps.setdefault(warp, _Warp())
            if mark == MULTIPLIED:
                self._multiply(here, pc, adds=bool(row[4]))
            else:
                self._use(here, pc, active=bool(lanes.any()))

    def _use(self, warp: _Warp, pc: int, *, active: bool) -> None:
        """Let a warp wait, arrive, or use registers."""
        instruction = self.program.instructions[pc]
        for kind, most in waits_for(self.program, instruction):
            if kind is Groups.MATRIX:
                warp.products = [one for one in warp.products if one.group >= warp.closed - most]
        if not active:
            return
        if instruction.row.mnemonic == ARRIVES:
            warp.arrived, warp.written = True, {}
        reads, writes = set(instruction.reads()), set(instruction.writes())
        for product in warp.products:
            self._add(RAW, pc, product.pc, reads & product.result)
            self._add(WAW, pc, product.pc, (writes - reads) & product.result)
            self._add(WAR, pc, product.pc, writes & product.first)
        warp.written |= dict.fromkeys(writes, pc)

    def _multiply(self, warp: _Warp, pc: int, *, adds: bool) -> None:
        """Let a warp issue a product."""
        result, first = self._registers(pc)
        for product in warp.products:
            self._add(RAW, pc, product.pc, first & product.result)
            self._add(WAR, pc, product.pc, result & product.first)
            if result != product.result:
                self._add(WAW, pc, product.pc, result & product.result)
        if not warp.arrived:
            self.found[UNORDERED, pc, -1, min(result, default=0)] += 1
            warp.arrived = True
        taken = (first | result if adds else first) & warp.written.keys()
        for register in sorted(taken)[:1]:
            self.found[UNORDERED, pc, warp.written[register], register] += 1
        warp.products.append(_Product(pc, warp.closed, result, first))
        if self.program.instructions[pc].row.grouping & CLOSES:
            warp.closed += 1

    def _add(self, kind: str, pc: int, other: int, registers: set[int] | frozenset[int]) -> None:
        for register in sorted(registers)[:1]:
            self.found[kind, pc, other, register] += 1


def _first(instruction: Instruction) -> frozenset[int]:
    """Return the registers of A, if it is there, and that which says what numbers a sparse one has."""
    row, given = instruction.row, [(x, o) for x, o in instruction.slots() if x in "ai" and isinstance(o, Register)]
    return frozenset(o.index + word for letter, o in given for word in range(row.words_of(letter)))
