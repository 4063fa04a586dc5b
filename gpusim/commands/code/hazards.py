"""`gpusim hazards`: registers and shared memory used too early because of wrong control codes or missing waits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from gpusim.commands.code.codes import obeyed
from gpusim.commands.frame.arguments import chosen
from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.document import joined
from gpusim.commands.frame.notices import ineffective_settings
from gpusim.commands.frame.options import OBEYS, CodeOptions, LaunchOfCodes, many
from gpusim.commands.frame.progress import shown
from gpusim.support.plural import plural

if TYPE_CHECKING:
    from gpusim.analysis.account.hazards import Found

FOUND = 1  # exit code
MOST = 10_000_000  # cycles: wrong values may keep a loop from ending
MaxCycles = Annotated[int, many("--max-cycles", help="Stop after so many cycles.")]


def hazards(launch: LaunchOfCodes, code: CodeOptions, max_cycles: MaxCycles = MOST) -> Answer:
    """Find what is read or written too early because codes, waits or fences are wrong. A hazard ends with code 1.

    The command runs the blocks that fit on one SM at once, with values. Of asynchronous copies and of matrix
    instructions of a warpgroup it follows the waits in program order: those that are missing are found whatever the
    times, in registers and in shared memory.

    Example: gpusim hazards examples/saxpy.asm --machine h200

    Example: gpusim hazards examples/tensor/wgmma.toml
    """
    at = chosen(launch, code, OBEYS)
    if at.machine.wait_counters is None:
        obeyed(at.kernel, at.machine)
    unfelt = ineffective_settings(at)
    from gpusim.analysis.account import hazards as analysis  # noqa: PLC0415  (--help waits for no compiler)

    with shown(at.kernel.name):
        found = analysis.hazards(at.kernel, at.machine, max_cycles=max_cycles)
    if found.error and not found.hazards:
        raise found.error
    document = analysis.document(at.kernel, at.machine, found)
    lines = _lines(found, at.kernel.name, f"{plural(found.blocks, 'block')} on {at.machine.key}")
    return Answer(document, joined(*lines), unfelt, FOUND if found.hazards else 0)


def _lines(found: Found, name: str, scope: str) -> Iterator[object]:
    many = plural(len(found.hazards), "hazard") if found.hazards else "no hazard"
    yield f"{name}: {many} in {scope}"
    yield from found.hazards
    if found.error:
        yield f"then the run ended, as wrong values may make it: {found.error}"
