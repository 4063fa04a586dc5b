"""`gpusim races`: accesses to shared memory that no barrier orders."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict

import typer

from gpusim.commands.arguments import Json, KernelName, Parameters, kernel_of
from gpusim.commands.document import write_json
from isa.kernel import Kernel
from isa.races import Race
from isa.races import races as find

FOUND = 1  # exit code
ALL = 16  # blocks of a grid that are all checked; blocks mostly differ in their data, not in their accesses


def races(kernel: KernelName, *, parameter: Parameters = None, json: Json = False) -> None:
    """Find accesses of different warps to one word of shared memory that no barrier orders. A race ends with code 1.

    Of a grid of more than 16 blocks only the first and the last are checked.

    Example: gpusim races examples/reduce.asm
    """
    chosen = kernel_of(kernel, parameter or ())
    blocks = _checked(chosen)
    found = find(chosen, blocks)
    if json:
        write_json(_as_dict(chosen, blocks, found))
    else:
        sys.stdout.write(_text(chosen, blocks, found))
    if found:
        raise typer.Exit(FOUND)


def _checked(kernel: Kernel) -> list[int]:
    return list(range(kernel.blocks)) if kernel.blocks <= ALL else [0, kernel.blocks - 1]


def _text(kernel: Kernel, blocks: Sequence[int], found: Sequence[Race]) -> str:
    scope = "" if len(blocks) == kernel.blocks else f" (the first and the last of {kernel.blocks})"
    count = f"{len(blocks)} block{'s' if len(blocks) > 1 else ''}{scope}"
    if not found:
        return f"{kernel.name}: no race in {count}\n"
    head = f"{kernel.name}: {len(found)} race{'s' if len(found) > 1 else ''} in {count}"
    return "".join(f"{line}\n" for line in (head, *found))


def _as_dict(kernel: Kernel, blocks: Sequence[int], found: Sequence[Race]) -> dict[str, object]:
    return {
        "kernel": kernel.name,
        "blocks": kernel.blocks,
        "blocks_checked": blocks,
        "races": [asdict(race) for race in found],
    }
