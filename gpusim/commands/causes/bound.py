"""`gpusim bound`: the analytic bound of a kernel on a machine, without simulating it."""

from __future__ import annotations

from gpusim.commands.frame.arguments import chosen, instructions_of
from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.notices import ineffective_settings
from gpusim.commands.frame.options import CodeOptions, Launch, MaxInstructions
from gpusim.commands.frame.progress import begin_compiling, shown


def bound(launch: Launch, code: CodeOptions, max_instructions: MaxInstructions = None) -> Answer:
    """Bound a kernel's cycles from below: issue slots, pipes, load/store unit, bandwidth, dependence chain.

    Example: gpusim bound sgemm-lai --machine gtx580 -p lds=128
    """
    found = chosen(launch, code)
    from gpusim.analysis.account import report, run_document  # noqa: PLC0415  (--help waits for no compiler)
    from gpusim.bounds import bounds  # noqa: PLC0415
    from gpusim.machine.occupancy import occupancy  # noqa: PLC0415

    limit, changes = instructions_of(launch.kernel, max_instructions, bounds.LIMIT), found.changes
    unfelt, at = ineffective_settings(found), (found.kernel, found.machine)
    begin_compiling("walk")
    with shown(found.kernel.name):
        facts = *at, bounds.bound(*at, limit=limit), occupancy(*at), changes
    return Answer(lambda: run_document.bound_document(*facts), lambda: [report.bound_screen(*facts)], unfelt)
