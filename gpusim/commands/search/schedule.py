"""`gpusim schedule`: reorder a program so that it waits less."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from gpusim.commands.frame.arguments import chosen, cycles_of, instructions_of, kernel_of, refuse_code, sms_of
from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.document import joined
from gpusim.commands.frame.notices import ineffective_settings
from gpusim.commands.frame.options import Launch, Simulation, many, out, repeated, seed
from gpusim.commands.frame.progress import begin_compiling, shown
from gpusim.machine.machine import Machine
from gpusim.machine.simulated_sms import count
from gpusim.support import whole_file
from isa.errors import UserError
from isa.executing.faults import LIMIT
from isa.kernel import Kernel

if TYPE_CHECKING:
    from gpusim.analysis.search.schedule_search import Found, Order
    from gpusim.engines.walks.disjoint import Pairs

WRONG_VALUES = 1  # exit code
BUDGET = 400


def schedule(
    launch: Launch,
    how: Simulation,
    search: Annotated[bool, Option("--search", help="Search further by simulating orders; keep the fastest.")] = False,
    budget: Annotated[int | None, many("--budget", help=f"Orders that --search simulates; default {BUDGET}.")] = None,
    seed: Annotated[
        int | None, seed("--seed", help="Seed of --search, 0 by default; it fixes the order found.")
    ] = None,
    on: Annotated[Sequence[str], repeated("--on", "NAME=VALUE", "Search on a launch with this parameter instead")] = (),
    out: Annotated[Path | None, out("Write the reordered program to this file.")] = None,
) -> Answer:
    """Reorder a program: static stalls, simulated cycles and values before and after, and the program itself.

    The static scheduler (Tan et al., SC'11) moves memory instructions and barriers within regions without labels and
    branches to where one warp stalls least. Moved instructions are marked; the text can be assembled. If nothing moves,
    there is no text. Wrong values end with code 1. Machine code is refused: its order is its compiler's.

    Example: gpusim schedule dgemm-tan -p variant=v2 --machine c2050 --search --budget 100
    """
    refuse_code(launch.kernel, "whose order is its compiler's; reorder a listing")
    at = chosen(launch)
    _check_search(search, budget=budget, seed=seed, on=on or None)
    rehearsal = _rehearsal(launch, at.kernel, on)
    from gpusim.analysis.search import scheduling  # noqa: PLC0415  (--help waits for no compiler)

    if out:
        whole_file.check(out)
    which = sms_of(how.sms)
    count(at.machine, which)
    unfelt = ineffective_settings(at, sms=which)

    pairs, orders = _static(launch.kernel, at.kernel, at.machine)
    start, most = orders[scheduling.STATIC], budget or BUDGET
    found = _searched(rehearsal, at.machine, start, pairs, most, seed or 0) if search else None
    orders |= {scheduling.SEARCHED: found.order} if found else {}
    simulated = partial(scheduling.compare, at.kernel, at.machine, orders, sms=which, threads=how.threads)
    begin_compiling("walk")
    with shown(at.kernel.name) as tell:
        outcomes = simulated(max_cycles=cycles_of(launch.kernel, how.max_cycles), tell=tell)
    best = scheduling.least(outcomes) if search else outcomes[-1]
    head = [*scheduling.summary(at.machine, outcomes), "", *scheduling.remarks(best)]
    if out:
        whole_file.write(out, scheduling.text(best, head))
    return Answer(
        lambda: scheduling.document(at.machine, outcomes, best, found),
        joined(*head) if out or not best.moved else scheduling.text(best, head),
        unfelt,
        WRONG_VALUES if any(outcome.is_wrong for outcome in outcomes) else 0,
    )


def _check_search(search: bool, **options: object) -> None:
    """Raise UserError for an option of --search that is given without it."""
    for name, value in options.items():
        if value is not None and not search:
            raise UserError(f"--{name}: it is for --search; add that, or leave it out")


def _rehearsal(launch: Launch, kernel: Kernel, on: Sequence[str]) -> Kernel:
    """The launch that the search simulates; raises UserError where it runs another program."""
    other = kernel_of(launch.kernel, [*launch.parameter, *on]) if on else kernel
    if other.program != kernel.program:
        raise UserError(f"--on {' '.join(on)}: this changes the program; give sizes only")
    return other


def _static(name: str, kernel: Kernel, machine: Machine) -> tuple[Pairs, dict[str, Order]]:
    """The pairs of accesses that never overlap, and the orders without search."""
    from gpusim.analysis.search.latencies import latencies  # noqa: PLC0415
    from gpusim.analysis.search.scheduling import GIVEN, STATIC  # noqa: PLC0415
    from gpusim.engines.walks.disjoint import disjoint  # noqa: PLC0415
    from isa.schedule.reorder import improved  # noqa: PLC0415

    with shown(f"{kernel.name}, static schedule", "region") as tell:
        pairs = disjoint(kernel, sorted({0, kernel.blocks - 1}), limit=instructions_of(name, None, LIMIT))
        order = improved(kernel.program, latencies(machine), pairs, tell)
    return pairs, {GIVEN: tuple(range(len(order))), STATIC: order}


def _searched(kernel: Kernel, machine: Machine, start: Order, pairs: Pairs, budget: int, seed: int) -> Found:
    from gpusim.analysis.search.schedule_search import search  # noqa: PLC0415

    with shown(f"{kernel.name}, search", "order") as tell:
        return search(kernel, machine, budget=budget, seed=seed, starts=[start], disjoint=pairs, tell=tell)
