"""What the order of warps decides: which guards, addresses and branches may be others where warps run in another order.

It begins with `sources`: loads, atomics with a result and reads of the clock, whose result depends on the order. All
that is computed from such a result varies too, and so does what is stored and loaded again. Between a branch that
varies and its post-dominator the order decides how often instructions execute; a value that has one definition there
and others elsewhere varies behind it (Ferrante, Ottenstein and Warren, TOPLAS 9(3), 1987: control dependence).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from isa.dataflow.basic_blocks import basic_blocks
from isa.dataflow.flow import reads, walked
from isa.dataflow.memory.address_slice import address_slice, steering
from isa.dataflow.memory.pointers import pointed
from isa.dataflow.reaching import definitions, onward, reached
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.operands.operand import Special
from isa.program import Program
from isa.row import Unit
from isa.support.once import once

OF_TIME = ("CLOCK", "GLOBALTIMER", "SMID", "VIRTID")  # special registers that time decides, or where a block runs


@dataclass
class Varying:
    """The pcs that the order of warps changes: what they give, what they decide, how often and where they execute.

    `counts`: how often lanes execute them varies. `apart`: lanes may come there in other groups. `guards` and
    `addresses`: in which lanes the guard holds, or what they access, varies.
    """

    sources: frozenset[int]
    results: set[int]
    counts: set[int] = field(default_factory=set)
    apart: set[int] = field(default_factory=set)
    guards: set[int] = field(default_factory=set)
    addresses: set[int] = field(default_factory=set)
    branches: set[int] = field(default_factory=set)
    stores: set[int] = field(default_factory=set)  # what they store varies, or where, or whether they do
    unordered: bool = False  # a barrier may be passed elsewhere, or by others

    @property
    def size(self) -> int:
        """A number that grows with everything that is found."""
        found = (self.results, self.counts, self.apart, self.guards, self.addresses, self.branches, self.stores)
        return sum(map(len, found)) + self.unordered


@dataclass(frozen=True)
class _Flow:
    """A program's control flow to and from each pc, its end included, and the definitions that reach its operands."""

    program: Program
    onward: list[tuple[int, ...]]
    definitions: Mapping[tuple[int, str], frozenset[int]]  # by pc and name, of what the address slice computes
    stores: Mapping[int, frozenset[int]]  # by pc of a load in the slice, those from which it may read
    unwritten: dict[str, set[int]] = field(default_factory=dict)  # pcs to which a name comes as it was at the start

    @cached_property
    def post_dominators(self) -> Mapping[int, int]:
        """By basic block the next one on every path to the end; one without a path to the end is left out."""
        import networkx as nx  # noqa: PLC0415  (start-up time)

        flow, end = basic_blocks(self.program).flow, len(self.program)
        nearest: Mapping[int, int] = nx.immediate_dominators(flow.reverse(), end)
        return nearest

    def met(self, pc: int) -> int:
        """Return the next pc on every path from behind a pc to the end; the end if there is none."""
        first, end = basic_blocks(self.program).first, len(self.program)
        return pc + 1 if pc < end and first[pc] == first[pc + 1] else self.post_dominators.get(first[pc], end)


def may_vary(kernel: Kernel) -> frozenset[int]:
    """Return the pcs of the address slice whose result could depend on the order of warps."""
    code, needed = kernel.program.instructions, address_slice(kernel.program)
    private = _private(kernel.program)
    loads = {pc for pc, stores in read_from(kernel).items() if not stores <= private}
    return frozenset(loads | {pc for pc, i in enumerate(code) if needed[pc] and _of_time(i)})


def asks_blocks(kernel: Kernel) -> list[int]:
    """Return the pcs at which a launch may go by what other blocks store: atomics and loads of `may_vary`, in order.

    Of machine code only strong loads count, which is how blocks speak to each other (PTX ISA, memory consistency
    model); a listing does not tell them from others. Those of functions of the system, such as malloc, do not.
    """
    program = kernel.program
    of_memory = [pc for pc in sorted(may_vary(kernel)) if Unit.GLOBAL in program.memories(program.instructions[pc].row)]
    asking = [pc for pc in of_memory if not program.origins or is_strong(program, pc)] if kernel.blocks > 1 else []
    return [pc for pc in asking if not program.origins or not program.origins[pc].of_system]


def is_strong(program: Program, pc: int) -> bool:
    """Tell whether an instruction of machine code is an atomic or a strong access."""
    return program.instructions[pc].row.update is not None or ".STRONG." in program.origins[pc].text


def varying(kernel: Kernel, sources: frozenset[int]) -> Varying:
    """Return what varies with the order of warps, if the results of these instructions do."""
    program = kernel.program
    flow = _Flow(program, onward(program), definitions(program), read_from(kernel))
    found, before = Varying(sources, set(sources)), -1
    while found.size != before:
        before = found.size
        for pc in range(len(program)):
            _spread(flow, found, pc)
    return found


@once
def read_from(kernel: Kernel) -> Mapping[int, frozenset[int]]:
    """Return for each load of the address slice the stores whose words it may read, by pc."""
    program, code = kernel.program, kernel.program.instructions
    stores = [pc for pc, i in enumerate(code) if i.row.is_store or i.row.copies]
    loads = [pc for pc in address_slice(program).nonzero()[0].tolist() if _reads_written(code[pc])]
    if not stores:
        return {}
    written = {pc: (program.written(code[pc].row), pointed(kernel, pc)) for pc in stores}
    read = {pc: (program.read(code[pc].row), pointed(kernel, pc)) for pc in loads}
    met = {place: frozenset(at for at in stores if _meet(place, written[at])) for place in set(read.values())}
    return {pc: met[read[pc]] for pc in loads}


Places = tuple[frozenset[Unit], frozenset[str]]  # memories, and of global memory buffers; none: any


def _meet(one: Places, other: Places) -> bool:
    """Tell whether two accesses may share a word."""
    memories, buffers = one[0] & other[0], one[1] & other[1]
    return bool(memories) and (memories != {Unit.GLOBAL} or bool(buffers) or not (one[1] and other[1]))


def _private(program: Program) -> set[int]:
    """Return the stores that only their own lane can read."""
    return {pc for pc, i in enumerate(program.instructions) if program.memories(i.row) == {Unit.LOCAL}}


def _reads_written(instruction: Instruction) -> bool:
    """Tell whether it reads from memory; what a constant bank holds the launch decides."""
    address = instruction.address()
    return instruction.reads_memory() and not (address is not None and address.bank is not None)


def _of_time(instruction: Instruction) -> bool:
    return any(isinstance(o, Special) and o.name.startswith(OF_TIME) for o in instruction.operands)


def _varies(flow: _Flow, found: Varying, pc: int, name: str) -> bool:
    """Tell whether an operand varies: some definition does, or the order decides which of several it is."""
    definitions = flow.definitions.get((pc, name), frozenset())
    if definitions & found.results:
        return True
    if not definitions & found.counts:
        return False
    if name not in flow.unwritten:
        flow.unwritten[name] = reached(flow.program, flow.onward, (0,), name)
    return len(definitions) + (pc in flow.unwritten[name]) > 1


def _spread(flow: _Flow, found: Varying, pc: int) -> None:
    """Add what varies at an instruction."""
    instruction = flow.program.instructions[pc]
    row, moved = instruction.row, {name for name in reads(instruction) if _varies(flow, found, pc, name)}
    if f"P{instruction.guard.index}" in moved:
        found.guards.add(pc)
    address = instruction.address()
    if moved and (row.unit is Unit.TEXTURE or (address and {f"R{r}" for r in address.registers} & moved)):
        found.addresses.add(pc)
    if moved or _of_others(flow, found, pc):
        found.results.add(pc)
    if (row.is_store or row.copies) and (moved or pc in found.counts):
        found.stores.add(pc)
    if row.unit is Unit.BARRIER and (steering(instruction) & moved or pc in found.counts):
        found.unordered = True
        found.stores |= {at for at, i in enumerate(flow.program.instructions) if i.row.is_store or i.row.copies}
    if pc not in found.branches and _decides(found, pc, instruction, moved):
        _part(flow, found, pc)


def _of_others(flow: _Flow, found: Varying, pc: int) -> bool:
    """Tell whether the result varies by what other lanes or warps have left, or by which of them are here."""
    instruction = flow.program.instructions[pc]
    row = instruction.row
    if flow.stores.get(pc, frozenset()) & found.stores:
        return True
    if row.reads_barrier:
        barriers = {at for at, i in enumerate(flow.program.instructions) if i.row.unit is Unit.BARRIER}
        return found.unordered or bool(barriers & found.results)
    return pc in found.apart and bool(row.across or row.across_truth)


def _decides(found: Varying, pc: int, instruction: Instruction, moved: set[str]) -> bool:
    """Tell whether the order decides where lanes go on behind an instruction."""
    row = instruction.row
    if not (row.is_branch or row.is_exit or row.steers):
        return False
    asks = row.asks or instruction.guard.whole
    return pc in found.guards or bool(steering(instruction) & moved) or (asks and pc in found.apart)


def _part(flow: _Flow, found: Varying, pc: int) -> None:
    """Add what follows from a branch that varies: up to its post-dominator counts do, and lanes part."""
    found.branches.add(pc)
    end, first = len(flow.program), flow.onward[pc]
    met = {flow.met(pc), end}
    found.counts |= walked(flow.onward, first, met.__contains__) - met
    walked(flow.onward, first, end.__eq__, found.apart).discard(end)  # what follows one that is apart is so already
