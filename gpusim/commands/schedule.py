"""`gpusim schedule`: reorder a program so that it waits less."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gpusim.commands.arguments import (
    MOST_SEED,
    MOST_WHOLE,
    Json,
    KernelName,
    MachineOfKernel,
    MaxCycles,
    Overrides,
    Parameters,
    Policy,
    cycles_of,
    instructions_of,
    kernel_of,
    machine_of,
    placed,
    refuse_code,
)
from gpusim.commands.document import write, write_json
from gpusim.commands.notices import ineffective_settings
from gpusim.commands.progress import shown
from gpusim.machine.machine import Machine
from gpusim.support import whole_file
from gpusim.support.document import Ineffective
from isa.errors import UserError
from isa.executing.faults import LIMIT
from isa.kernel import Kernel

if TYPE_CHECKING:
    from gpusim.analysis.search.schedule_search import Found, Order
    from gpusim.analysis.search.scheduling import Outcome
    from gpusim.walks.disjoint import Pairs

WRONG_VALUES = 1  # exit code
BUDGET = 400


def schedule(
    kernel: KernelName,
    *,
    machine: MachineOfKernel = None,
    parameter: Parameters = None,
    setting: Overrides = None,
    policy: Policy = None,
    search: Annotated[
        bool, typer.Option("--search", help="Search further by simulating orders; keep the fastest.")
    ] = False,
    budget: Annotated[
        int | None,
        typer.Option("--budget", min=1, max=MOST_WHOLE, help=f"Orders that --search simulates; default {BUDGET}."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, max=MOST_SEED, help="Seed of --search, 0 by default; it fixes the order found."),
    ] = None,
    on: Annotated[
        list[str] | None,
        typer.Option("--on", metavar="NAME=VALUE", help="Search on a launch with this parameter instead; repeatable."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the reordered program to this file.")] = None,
    max_cycles: MaxCycles = None,
    json: Json = False,
) -> None:
    """Reorder a program: static stalls, simulated cycles and values before and after, and the program itself.

    The static scheduler (Tan et al., SC'11) moves memory instructions and barriers within regions without labels and
    branches to where one warp stalls least. Moved instructions are marked; the text can be assembled. If nothing moves,
    there is no text. Wrong values end with code 1. Machine code is refused: its order is its compiler's.

    Example: gpusim schedule dgemm-tan -p variant=v2 --machine c2050 --search --budget 100
    """
    refuse_code(kernel, "whose order is its compiler's; reorder a listing")
    chosen = kernel_of(kernel, parameter or ())
    machine, setting = placed(chosen, machine, setting or ())
    where = machine_of(machine, setting, policy)
    _check_search(search, budget=budget, seed=seed, on=on)
    rehearsal = _rehearsal(kernel, chosen, parameter or (), on or ())
    from gpusim.analysis.search import scheduling  # noqa: PLC0415  (--help waits for no compiler)

    if out:
        whole_file.check(out)
    unfelt = ineffective_settings(chosen, machine, setting, policy)

    pairs, orders = _static(kernel, chosen, where)
    found = (
        _searched(rehearsal, where, orders[scheduling.STATIC], pairs, budget or BUDGET, seed or 0) if search else None
    )
    orders |= {scheduling.SEARCHED: found.order} if found else {}
    with shown(chosen.name) as tell:
        limit = cycles_of(kernel, max_cycles)
        outcomes = scheduling.compare(chosen, where, orders, max_cycles=limit, tell=tell)
    best = scheduling.least(outcomes) if search else outcomes[-1]
    _tell(where, outcomes, best, out, found, unfelt, json=json)
    if any(outcome.is_wrong for outcome in outcomes):
        raise typer.Exit(WRONG_VALUES)


def _tell(
    machine: Machine,
    outcomes: list[Outcome],
    best: Outcome,
    out: Path | None,
    found: Found | None,
    unfelt: Sequence[Ineffective],
    *,
    json: bool,
) -> None:
    """Write the program to its file or to stdout, and print the comparison of orders."""
    from gpusim.analysis.search.scheduling import document, remarks, summary, text  # noqa: PLC0415

    head = [*summary(machine, outcomes), "", *remarks(best)]
    if out:
        whole_file.write(out, text(best, head))
    if json:
        write_json(document(machine, outcomes, best, found), unfelt)
    elif out or not best.moved:
        write("".join(f"{line}\n" for line in head))
    else:
        write(text(best, head))


def _check_search(search: bool, **options: object) -> None:
    """Raise UserError for an option of --search that is given without it."""
    for name, value in options.items():
        if value is not None and not search:
            raise UserError(f"--{name}: it is for --search; add that, or leave it out")


def _rehearsal(name: str, kernel: Kernel, parameters: Sequence[str], on: Sequence[str]) -> Kernel:
    """The launch that the search simulates; raises UserError where it runs another program."""
    if not on:
        return kernel
    other = kernel_of(name, [*parameters, *on])
    if other.program != kernel.program:
        raise UserError(f"--on {' '.join(on)}: this changes the program; give sizes only")
    return other


def _static(name: str, kernel: Kernel, machine: Machine) -> tuple[Pairs, dict[str, Order]]:
    """The pairs of accesses that never overlap, and the orders without search."""
    from gpusim.analysis.search.scheduling import GIVEN, STATIC  # noqa: PLC0415
    from gpusim.launch.latencies import latencies  # noqa: PLC0415
    from gpusim.walks.disjoint import disjoint  # noqa: PLC0415
    from isa.schedule.reorder import improved  # noqa: PLC0415

    with shown(f"{kernel.name}, static schedule", "region") as tell:
        pairs = disjoint(kernel, sorted({0, kernel.blocks - 1}), limit=instructions_of(name, None, LIMIT))
        order = improved(kernel.program, latencies(machine), pairs, tell)
    return pairs, {GIVEN: tuple(range(len(order))), STATIC: order}


def _searched(kernel: Kernel, machine: Machine, start: Order, pairs: Pairs, budget: int, seed: int) -> Found:
    from gpusim.analysis.search.schedule_search import search  # noqa: PLC0415

    with shown(f"{kernel.name}, search", "order") as tell:
        return search(kernel, machine, budget=budget, seed=seed, starts=[start], disjoint=pairs, tell=tell)
