"""`gpusim asm`: what the assembler makes of a listing."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

import typer
from rich.table import Column, Table

from gpusim.commands.document import new_table, right, show, write_json
from gpusim.plural import plural
from isa import listing
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.printer import show_instruction


def asm(
    file: Annotated[str, typer.Argument(help="A listing, such as examples/saxpy.asm.")],
    json: Annotated[bool, typer.Option("--json", help="Print a JSON document.")] = False,
) -> None:
    """Assemble a listing: program counters, units, registers written and read, counts per unit.

    docs/listing.md describes the language of listings.

    Example: gpusim asm examples/saxpy.asm
    """
    kernel = listing.load(file)
    if json:
        write_json(_as_dict(kernel))
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


def _as_dict(kernel: Kernel) -> dict[str, Any]:
    program = kernel.program
    return {
        "kernel": kernel.name,
        "grid": kernel.grid,
        "block": kernel.block,
        "registers": program.registers,
        "shared_bytes": program.shared_bytes,
        "local_bytes": program.local_bytes,
        "labels": dict(program.labels),
        "units": dict(_units(kernel)),
        "instructions": [_instruction(pc, i) for pc, i in enumerate(program.instructions)],
    }


def _instruction(pc: int, instruction: Instruction) -> dict[str, Any]:
    return {
        "pc": pc,
        "line": instruction.line,
        "unit": instruction.row.unit.value,
        "text": show_instruction(instruction),
        "writes": _written(instruction),
        "reads": _read(instruction),
    }
