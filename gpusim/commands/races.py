"""`gpusim races`: accesses of different warps to shared memory that no barrier orders."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Annotated

import typer

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
from gpusim.commands.document import write, write_json
from gpusim.commands.progress import begin_compiling, shown
from gpusim.support.document import Document, KernelKey, doc
from gpusim.support.plural import plural
from gpusim.walks.races import Race
from gpusim.walks.races import races as find
from isa.executing.faults import LIMIT
from isa.kernel import Kernel

FOUND = 1  # exit code
CHECKED = "accesses of different warps of a block to one word of shared memory"
NOT_CHECKED = ("lanes of one warp", "other memories", "different blocks", "barriers that threads skip")
ALL = 16  # blocks up to which a grid is checked whole; blocks mostly differ in data, not in accesses


class RacesDocument(Document, frozen=True):
    """Accesses of different warps to one word of shared memory that no barrier orders."""

    kernel: KernelKey
    blocks: Annotated[int, doc("Blocks of the grid.")]
    blocks_checked: Annotated[list[int], doc("Ids of the blocks that were checked.")]
    races: Annotated[list[Race], doc("One for each pair of instructions in a block.")]
    checked: Annotated[str, doc("What is looked at.")] = CHECKED
    not_checked: Annotated[tuple[str, ...], doc("What is not looked at: none of it is reported.")] = NOT_CHECKED


def races(
    kernel: KernelName,
    *,
    parameter: Parameters = None,
    max_instructions: MaxInstructions = None,
    architecture: Architecture = None,
    launch: LaunchFile = None,
    nvcc_flags: NvccFlags = "",
    json: Json = False,
) -> None:
    """Find accesses of different warps to one word of shared memory that no barrier orders. A race ends with code 1.

    Nothing else is looked at: neither lanes of one warp, nor other memories, different blocks, or barriers that threads
    skip. In a grid of more than 16 blocks only the first and the last are checked.

    Example: gpusim races examples/reduce.asm
    """
    chosen = kernel_of(kernel, parameter or (), CodeOptions(architecture, launch, nvcc_flags))
    blocks = _checked(chosen)
    begin_compiling("walk")
    with shown(chosen.name) as tell:
        found = find(chosen, _with_progress(blocks, tell), limit=instructions_of(kernel, max_instructions, LIMIT))
    if json:
        write_json(RacesDocument(chosen.name, chosen.blocks, blocks, found))
    else:
        write(_text(chosen, blocks, found))
    if found:
        raise typer.Exit(FOUND)


def _checked(kernel: Kernel) -> list[int]:
    return list(range(kernel.blocks)) if kernel.blocks <= ALL else [0, kernel.blocks - 1]


def _with_progress(blocks: Sequence[int], tell: Callable[[int, int], None]) -> Iterator[int]:
    """Yield the blocks, and report before each how many are done."""
    for done, block in enumerate(blocks):
        tell(done, len(blocks))
        yield block


def _text(kernel: Kernel, blocks: Sequence[int], found: Sequence[Race]) -> str:
    scope = "" if len(blocks) == kernel.blocks else f" (the first and the last of {kernel.blocks})"
    count = f"{plural(len(blocks), 'block')}{scope}"
    if not found:
        return f"{kernel.name}: no race between warps on shared memory in {count}; {_not_checked()}\n"
    racing = plural(len({race.block for race in found}), "block")
    head = f"{kernel.name}: {plural(len(found), 'race')}, in {racing}; checked {count}"
    return "".join(f"{line}\n" for line in (head, *found, _not_checked()))


def _not_checked() -> str:
    return f"not checked: {', '.join(NOT_CHECKED)}"
