"""`gpusim traffic`: what a kernel moves at each level, without a machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer
from rich.table import Table

from gpusim.commands.arguments import Json, KernelName, MaxInstructions, Parameters, instructions_of, kernel_of
from gpusim.commands.document import new_table, right, show, write_json
from gpusim.commands.progress import shown
from gpusim.plural import plural
from isa.interpret import LIMIT
from isa.traffic import Level, Traffic
from isa.traffic import traffic as count

ALL = (
    "registers: every result is written to them and read from them; --forwarding leaves out what the next instruction "
    "takes, and so does `gpusim run --energy` on machines with energy.forwarding."
)
FORWARDED = "registers: a result that only the next instruction takes is neither written to them nor read from them."


def traffic(
    kernel: KernelName,
    *,
    parameter: Parameters = None,
    forwarding: Annotated[
        bool, typer.Option("--forwarding", help="The next instruction gets a result without the register file.")
    ] = False,
    max_instructions: MaxInstructions = None,
    json: Json = False,
) -> None:
    """Count the 32-bit words that a launch reads and writes at each level, by whose values they are.

    Example: gpusim traffic sgemm-vega-vlp --forwarding
    """
    chosen = kernel_of(kernel, parameter or ())
    with shown(chosen.name):
        found = count(chosen, forwarding=forwarding, limit=instructions_of(kernel, max_instructions, LIMIT))
    if json:
        launch = {"kernel": chosen.name, "parameters": dict(chosen.arguments), "forwarding": forwarding}
        write_json({**launch, **_as_dict(found)})
    else:
        releases = f"{chosen.name}: {plural(found.barriers, 'barrier release')}"
        show(_table(found), "", releases, FORWARDED if forwarding else ALL)


def _rows(found: Traffic) -> Iterator[tuple[Level, str, int, int]]:
    """Yield level, role, words read and words written, from the lanes outwards."""
    for level in Level:
        for role in sorted({words.role for words in found.words if words.level is level}):
            yield level, role, found.read(level, role), found.written(level, role)


def _table(found: Traffic) -> Table:
    table = new_table("level", "whose", *right("words read", "words written"))
    for level, role, read, written in _rows(found):
        table.add_row(level, role, f"{read:,}", f"{written:,}")
    return table


def _as_dict(found: Traffic) -> dict[str, object]:
    return {
        "words": [
            {"level": level, "whose": role, "read": read, "written": written}
            for level, role, read, written in _rows(found)
        ],
        "barriers": found.barriers,
        "arithmetic": {str(bits): count for bits, count in found.arithmetic.items()},
    }
