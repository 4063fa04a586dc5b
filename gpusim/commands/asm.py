"""`gpusim asm`: a listing as the assembler reads it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.table import Column, Table

from gpusim.commands.arguments import refuse_code
from gpusim.commands.document import new_table, right, show, write_json
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


def asm(
    file: Annotated[str, typer.Argument(help="A listing, such as examples/saxpy.asm.")],
    json: Annotated[bool, typer.Option("--json", help="Print a JSON document.")] = False,
) -> None:
    """Assemble a listing: program counters, units, registers written and read, counts per unit.

    docs/listing.md describes the language of listings.

    Example: gpusim asm examples/saxpy.asm
    """
    refuse_code(file, "no listing; gpusim sass prints it, and gpusim codes as a listing")
    kernel = listing.load(file)
    if json:
        write_json(_document(kernel))
    else:
        units = ", ".join(f"{count} {unit}" for unit, count in _units(kernel).items())
        show(_headline(kernel), _listing(kernel), units)


def _listing(kernel: Kernel) -> Table:
    folded = (Column(name, overflow="fold") for name in ("unit", "writes", "reads", "instruction"))
    table = new_table(*right("pc"), *folded)
    for pc, instruction in enumerate(kernel.program.instructions):
        _add_labels(table, kernel, pc)
        unit, writes, reads = instruction.row.unit.value, _written(instruction), _read(instruction)
        table.add_row(str(pc), unit, " ".join(writes), " ".join(reads), f"  {show_instruction(instruction)}")
    _add_labels(table, kernel, len(kernel.program))
    return table


def _headline(kernel: Kernel) -> str:
    program = kernel.program
    return (
        f"{kernel.name}: {plural(kernel.blocks, 'block')} of {plural(kernel.threads, 'thread')}, "
        f"{plural(len(program), 'instruction')}, {plural(program.registers, 'register')} per thread, "
        f"{plural(program.shared_bytes, 'byte')} of shared memory per block"
    )


def _add_labels(table: Table, kernel: Kernel, pc: int) -> None:
    for name, place in kernel.program.labels.items():
        if place == pc:
            table.add_row("", "", "", "", f"{name}:")


def _written(instruction: Instruction) -> list[str]:
    return [f"R{r}" for r in instruction.writes()] + [f"P{p}" for p in instruction.predicates_written()]


def _read(instruction: Instruction) -> list[str]:
    registers, predicates = dict.fromkeys(instruction.reads()), dict.fromkeys(instruction.predicates_read())
    return [f"R{r}" for r in registers] + [f"P{p}" for p in predicates]


def _units(kernel: Kernel) -> Counter[str]:
    return Counter(instruction.row.unit.value for instruction in kernel.program.instructions)


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
        units=_units(kernel),
        instructions=[_assembled(pc, i) for pc, i in enumerate(program.instructions)],
    )


def _assembled(pc: int, instruction: Instruction) -> Assembled:
    unit, text = instruction.row.unit.value, show_instruction(instruction)
    return Assembled(pc, instruction.line, unit, text, _written(instruction), _read(instruction))
