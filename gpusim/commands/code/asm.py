"""`gpusim asm`: a listing as the assembler reads it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from rich.table import Column, Table
from typer import Argument

from gpusim.commands.frame.arguments import refuse_code
from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.document import new_table, right
from gpusim.support.document import Document, Extent, KernelKey, Labels, Pc, SourceLine, Text, doc
from gpusim.support.plural import plural
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.text import listing
from isa.text.printer import show_instruction


@dataclass(frozen=True)
class Assembled:
    """An instruction: the class of unit that it needs, and the registers and predicates that it writes and reads."""

    pc: Pc
    line: SourceLine
    unit: str
    text: Text
    writes: list[str]
    reads: list[str]


class AsmDocument(Document, frozen=True):
    """A listing as the assembler reads it."""

    kernel: KernelKey
    grid: Annotated[Extent, doc("Blocks in x, y and z.")]
    block: Annotated[Extent, doc("Threads of a block in x, y and z.")]
    registers: Annotated[int, doc("32-bit registers of a thread.")]
    shared_bytes: Annotated[int, doc("Bytes of shared memory of a block.")]
    local_bytes: Annotated[int, doc("Bytes of local memory of a thread.")]
    labels: Labels
    units: Annotated[Mapping[str, int], doc("Instructions by the class of unit that they need.")]
    instructions: Annotated[list[Assembled], doc("The program.")]


def asm(file: Annotated[str, Argument(help="A listing, such as examples/saxpy.asm.")]) -> Answer:
    """Assemble a listing: program counters, units, registers written and read, counts per unit.

    docs/listing.md describes the language of listings.

    Example: gpusim asm examples/saxpy.asm
    """
    refuse_code(file, "no listing; gpusim sass prints it, and gpusim codes as a listing")
    kernel = listing.load(file)
    document = _document(kernel)
    units = ", ".join(f"{count} {unit}" for unit, count in document.units.items())
    return Answer(document, lambda: [_headline(kernel), _table(document), units])


def _table(found: AsmDocument) -> Table:
    folded = (Column(name, overflow="fold") for name in ("unit", "writes", "reads", "instruction"))
    rows: list[tuple[object, ...]] = []
    for pc in range(len(found.instructions) + 1):
        rows += [("", "", "", "", f"{name}:") for name, place in found.labels.items() if place == pc]
        for one in found.instructions[pc : pc + 1]:
            rows.append((pc, one.unit, " ".join(one.writes), " ".join(one.reads), f"  {one.text}"))
    return new_table(*right("pc"), *folded, rows=rows)


def _headline(kernel: Kernel) -> str:
    program = kernel.program
    return (
        f"{kernel.name}: {plural(kernel.blocks, 'block')} of {plural(kernel.threads, 'thread')}, "
        f"{plural(len(program), 'instruction')}, {plural(program.registers, 'register')} per thread, "
        f"{plural(program.shared_bytes, 'byte')} of shared memory per block"
    )


def _document(kernel: Kernel) -> AsmDocument:
    program = kernel.program
    return AsmDocument(
        kernel=kernel.name,
        grid=kernel.grid,
        block=kernel.block,
        registers=program.registers,
        shared_bytes=program.shared_bytes,
        local_bytes=program.local_bytes,
        labels=dict(program.labels),
        units=Counter(instruction.row.unit.value for instruction in program.instructions),
        instructions=[_assembled(pc, i) for pc, i in enumerate(program.instructions)],
    )


def _assembled(pc: int, one: Instruction) -> Assembled:
    written = [f"R{r}" for r in one.writes()] + [f"P{p}" for p in one.predicates_written()]
    read = [f"R{r}" for r in dict.fromkeys(one.reads())] + [f"P{p}" for p in dict.fromkeys(one.predicates_read())]
    return Assembled(pc, one.line, one.row.unit.value, show_instruction(one), written, read)
