"""`gpusim races`: accesses of different warps, and of what they have under way, that no barrier orders."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Annotated

from gpusim.commands.frame.arguments import instructions_of, kernel_of, machine_if_any
from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.document import joined
from gpusim.commands.frame.options import CodeOptions, MachineIfAny, MaxInstructions, OfKernel, Overrides
from gpusim.commands.frame.progress import begin_compiling, shown
from gpusim.engines.walks.happens_before.conflicts import Race
from gpusim.engines.walks.races import races as find
from gpusim.support.document import Document, KernelKey, doc
from gpusim.support.plural import plural
from isa.executing.faults import LIMIT

FOUND = 1  # exit code
CHECKED = "accesses of different warps, copies and matrix instructions to one word of shared memory"
NOT_CHECKED = "lanes of one warp", "other memories", "different blocks", "barriers that threads skip"
ALL = 16  # blocks up to which a grid is checked whole; blocks mostly differ in data, not in accesses


class RacesDocument(Document, frozen=True):
    """Accesses of different warps, and of what they have under way, to one shared word that no barrier orders."""

    kernel: KernelKey
    blocks: Annotated[int, doc("Blocks of the grid.")]
    blocks_checked: Annotated[list[int], doc("Ids of the blocks that were checked.")]
    races: Annotated[list[Race], doc("One for each pair of instructions in a block.")]
    checked: Annotated[str, doc("What is looked at.")] = CHECKED
    not_checked: Annotated[tuple[str, ...], doc("What is not looked at: none of it is reported.")] = NOT_CHECKED


def races(
    launch: OfKernel,
    code: CodeOptions,
    machine: MachineIfAny = None,
    setting: Overrides = (),
    max_instructions: MaxInstructions = None,
) -> Answer:
    """Find accesses of different warps to one word of shared memory that no barrier orders. A race ends with code 1.

    Copies and matrix instructions that a warp has under way count as others: a stage that is read before it is waited
    for is a race, and so is one that is copied to before its readers have released it. Barriers are BAR, those in
    shared memory (mbarrier), whose use must be ordered behind their beginning, and a cluster's, whose blocks are looked
    at together.

    Nothing else is looked at: neither lanes of one warp, nor other memories, different blocks, or barriers that threads
    skip. In a grid of more than 16 blocks only the first and the last are checked. It needs no machine; one that is
    named must be able to run the kernel.

    Example: gpusim races examples/reduce.asm

    Example: gpusim races examples/tensor/pipeline.toml
    """
    kernel = kernel_of(launch.kernel, launch.parameter, code, machine)
    machine_if_any(kernel, machine, setting)
    blocks = list(range(kernel.blocks)) if kernel.blocks <= ALL else [0, kernel.blocks - 1]
    limit = instructions_of(launch.kernel, max_instructions, LIMIT)
    begin_compiling("walk")
    with shown(kernel.name) as tell:
        found = find(kernel, _with_progress(blocks, tell), limit=limit)
    document = RacesDocument(kernel.name, kernel.blocks, blocks, found)
    return Answer(document, joined(*_lines(document)), code=FOUND if found else 0)


def _with_progress(blocks: Sequence[int], tell: Callable[[int, int], None]) -> Iterator[int]:
    """Yield the blocks, and report before each how many are done."""
    for done, block in enumerate(blocks):
        tell(done, len(blocks))
        yield block


def _lines(found: RacesDocument) -> Iterator[object]:
    checked, races = found.blocks_checked, found.races
    scope = "" if len(checked) == found.blocks else f" (the first and the last of {found.blocks})"
    count = f"{plural(len(checked), 'block')}{scope}"
    rest = f"not checked: {', '.join(NOT_CHECKED)}"
    if not races:
        yield f"{found.kernel}: no race between warps on shared memory in {count}; {rest}"
        return
    racing = plural(len({race.block for race in races}), "block")
    yield f"{found.kernel}: {plural(len(races), 'race')}, in {racing}; checked {count}"
    yield from (*races, rest)
