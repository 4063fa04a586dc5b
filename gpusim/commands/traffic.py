"""`gpusim traffic`: the words that a kernel moves at each level; it needs no machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.table import Table

from gpusim.commands.arguments import (
    Architecture,
    CodeOptions,
    Json,
    KernelName,
    LaunchFile,
    MaxInstructions,
    NvccFlags,
    Parameters,
    instructions_of,
    kernel_of,
)
from gpusim.commands.document import new_table, right, show, write_json
from gpusim.commands.progress import shown
from gpusim.support.document import Arguments, Document, KernelKey, doc, plain
from gpusim.support.plural import plural
from isa.execute.interpret import LIMIT
from isa.execute.traffic import Level, Traffic
from isa.execute.traffic import traffic as count
from isa.kernel import Kernel

ALL = (
    "registers: every result is written to them and read from them; --forwarding leaves out results that only the next "
    "instruction takes, and so does `gpusim run --energy` on machines with energy.forwarding."
)
FORWARDED = "registers: a result that only the next instruction takes is neither written to them nor read from them."


@dataclass(frozen=True)
class Moved:
    """32-bit words that a launch reads and writes at a level, of one use: a buffer, results, or others."""

    level: Level
    whose: str
    read: int
    written: int


class TrafficDocument(Document, frozen=True):
    """Words that a launch moves at each level, and its arithmetic; no rule of a machine is applied."""

    kernel: KernelKey
    parameters: Arguments
    forwarding: Annotated[bool, doc("Results that only the next instruction takes are not counted at registers.")]
    words: Annotated[list[Moved], doc("From the registers to DRAM.")]
    barriers: Annotated[int, doc("How often warps are released from a barrier, over all blocks.")]
    arithmetic: Annotated[dict[str, int], doc("Floating-point thread instructions by the bits of their operands.")]


def traffic(
    kernel: KernelName,
    *,
    parameter: Parameters = None,
    forwarding: Annotated[
        bool, typer.Option("--forwarding", help="The next instruction gets a result without the register file.")
    ] = False,
    max_instructions: MaxInstructions = None,
    architecture: Architecture = None,
    launch: LaunchFile = None,
    nvcc_flags: NvccFlags = "",
    json: Json = False,
) -> None:
    """Count the 32-bit words that a launch reads and writes at each level, by use: a buffer, results, or others.

    Example: gpusim traffic sgemm-vega-vlp --forwarding
    """
    chosen = kernel_of(kernel, parameter or (), CodeOptions(architecture, launch, nvcc_flags))
    with shown(chosen.name):
        found = count(chosen, forwarding=forwarding, limit=instructions_of(kernel, max_instructions, LIMIT))
    if json:
        write_json(_document(chosen, found, forwarding=forwarding))
    else:
        releases = f"{chosen.name}: {plural(found.barriers, 'barrier release')}"
        show(_table(found), "", releases, FORWARDED if forwarding else ALL)


def _rows(found: Traffic) -> Iterator[Moved]:
    """Yield the words by level and use, from the lanes outwards."""
    for level in Level:
        for use in sorted({words.use for words in found.words if words.level is level}):
            yield Moved(level, use, found.read(level, use), found.written(level, use))


def _table(found: Traffic) -> Table:
    table = new_table("level", "whose", *right("words read", "words written"))
    for each in _rows(found):
        table.add_row(each.level, each.whose, f"{each.read:,}", f"{each.written:,}")
    return table


def _document(kernel: Kernel, found: Traffic, *, forwarding: bool) -> TrafficDocument:
    return TrafficDocument(
        kernel=kernel.name,
        parameters=plain(kernel.arguments),
        forwarding=forwarding,
        words=list(_rows(found)),
        barriers=found.barriers,
        arithmetic={str(bits): count for bits, count in found.arithmetic.items()},
    )
