"""What limits a simulated launch, and what to do: plain rules on counts of the run itself, the costliest finding first.

A finding's `share` is what lifting its limit saves at most, of the time of the launch; none saves what a busy resource
still needs (resources.py). How sure a finding is follows from where it comes from:

- `counted`: from the grid, the program, the addresses and the work of each resource;
- `likely`: issue slots lost for one reason, which has half of all lost slots or more. A slot is lost for the reason of
  the warps that could have used it; once that reason is lifted, warps may wait for another one;
- `possible`: the same for a lesser reason.

`gpusim limits` lifts limits in the simulation, and so says what really is saved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gpusim.analysis.account.findings import tensor_pipe
from gpusim.analysis.account.findings.accesses import accesses
from gpusim.analysis.account.findings.advice import FULL, INDEPENDENT, MORE_WARPS, Advice, advice_on
from gpusim.analysis.account.findings.divergence import divergence
from gpusim.analysis.account.findings.finding import PLACES, Finding, Sure, places
from gpusim.analysis.account.findings.grid import FEW_WARPS, grid, resident_warps
from gpusim.analysis.account.findings.l2_atomics import l2_atomics
from gpusim.analysis.account.findings.local_memory import local_memory, told
from gpusim.analysis.account.findings.resources import ROOF, Room, resources
from gpusim.analysis.account.rates.utilisation import CHAIN, limiter, utilisation
from gpusim.launch.codes.assign_codes import FAR, with_codes
from gpusim.simulation.result import Result
from gpusim.sm.registers.control_code.declaration import by_codes
from gpusim.sm.unit.opcodes import NEARBY
from gpusim.sm.unit.stall import BY_NUMBER, Stall, label
from isa.dataflow.waits.awaited import PHASES, SHARED, Awaited, awaited, result_of
from isa.row import Unit
from isa.text.printer import text_of

WORTH = 0.05  # share from which on a finding is worth a line: chosen, as are the shares below
NEAR = 1.15  # times the bound up to which its chain of dependences is blamed: no schedule gains more than 13 %
LEADING = 0.5  # share of the lost slots from which on their reason is the likely limit
LOOKED_AT = 64  # instructions whose waits say what is awaited where none is worth a name
CAUSES = accesses, divergence, local_memory, l2_atomics
MUCH = 1 - ROOF  # share from which on waste is told before what is only busy with work
MOST = 3  # findings, and kinds of results that a cause names
RESULT_REASONS = Stall.LONG_SCOREBOARD, Stall.SHORT_SCOREBOARD
FEWER_STEPS = "give each warp independent instructions, or the SM more warps"


def diagnosis(result: Result) -> tuple[Finding, ...]:
    """Return the findings of a result; none if nothing is worth a line.

    Waste that costs much is told first, since it can go, what is counted before what is likely; then the costliest
    first. The resource that is the limit is told though another one leaves little to save.
    """
    room = Room(utilisation(result), limiter(result))
    causes = [(one, room.saved(one.freed, one.waits)) for tell in CAUSES for one in tell(result)]
    work = list(resources(result, room, [one.freed for one, share in causes if share >= WORTH]))
    waste = [*grid(result, room), *(one.finding(share) for one, share in causes)]
    others = [*_chain(result, room), *tensor_pipe.tensor_pipe(result), *_reasons(result, room)]
    much = [one for one in waste if one.share >= MUCH]
    rest = [*work, *(one for one in (*waste, *others) if one not in much and one.share >= WORTH)]
    ranked = sorted(much, key=lambda one: (one.sure != "counted", -one.share))
    found = dict[str, Finding]()
    for one in (*ranked, *sorted(rest, key=lambda one: -one.share)):
        found.setdefault(one.remedy, one)
    first = list(found.values())[:MOST]
    if work and work[0].remedy not in {one.remedy for one in first}:
        first[-1] = work[0]
    return tuple(first if work else _with_busy(first, room))


def _with_busy(found: Sequence[Finding], room: Room) -> Iterator[Finding]:
    """Yield the findings, the first with the resources that the launch keeps busy, as no finding is about them."""
    busy = room.named(())
    for rank, one in enumerate(found):
        yield replace(one, what=f"{one.what}; busy: {busy}") if busy and not rank else one


def _chain(result: Result, room: Room) -> Iterator[Finding]:
    """The chain of dependences, where the run comes near the time that it takes."""
    cycles = result.bound.limits.get(CHAIN, 0) if result.bound else 0
    if cycles and result.cycles <= NEAR * cycles:
        what = f"{CHAIN}: no schedule takes less than {100 * cycles / result.cycles:.0f} % of these cycles"
        yield Finding(CHAIN, room.saved({}, cycles / result.cycles), "counted", what, FEWER_STEPS)


def _reasons(result: Result, room: Room) -> Iterator[Finding]:
    """The reasons of lost issue slots, but those that local memory causes, that of most warp-cycles first.

    Lifting one saves at most the slots lost to it; a wait for results also the part of the warps' time, in which others
    may lose the slots.
    """
    lost = result.run.lost.sum(axis=0)
    elsewhere = told(result) | tensor_pipe.told(result) | {Stall.NO_WARP}
    every, slots, spent = int(lost.sum()), result.run.cycles * len(result.run.lost), warps_time(result)
    for number in sorted(range(len(lost)), key=lambda reason: -spent[reason]):
        reason = BY_NUMBER[number]
        if lost[reason] < max(1, WORTH * slots) or reason in elsewhere:
            continue
        share = float(lost[reason]) / slots
        sure: Sure = "likely" if lost[reason] >= LEADING * every else "possible"
        pcs = _places(result, reason)
        what, remedy = _words(result, reason, share, pcs)
        most = max(share, float(spent[reason])) if reason in RESULT_REASONS else share
        yield Finding(label(reason), room.saved({}, most), sure, what, remedy, pcs)


def warps_time(result: Result) -> NDArray[np.float64]:
    """Return by reason the part of the time of resident warps."""
    cycles = result.run.stalls.sum(axis=0).astype(np.float64)
    cycles[Stall.NO_WARP] = 0
    parts: NDArray[np.float64] = cycles / max(1.0, cycles.sum())
    return parts


def _words(result: Result, reason: Stall, share: float, pcs: tuple[int, ...]) -> tuple[str, str]:
    """What was found about a reason, mostly before some instructions, and the remedy."""
    cause, remedy = _advice(result, reason, pcs)
    where = f", mostly before {places(result.kernel.program, pcs)}" if pcs else ""
    what = f"{100 * share:.0f} % of the issue slots are lost to {cause} ({label(reason)}){where}"
    warps, limits, resident = result.occupancy, result.machine.limits, resident_warps(result)
    if reason in FEW_WARPS and 2 * resident <= limits.warps:
        by = warps.limiter if resident == warps.warps else "the grid"
        step = f": {warps.next_step}" if resident == warps.warps else ""
        return f"{what}; {resident} of {limits.warps} warps resident, limited by {by}", f"{remedy}{step}"
    if resident < limits.warps:
        return what, remedy
    return what, FULL.get(remedy, remedy.replace(MORE_WARPS, INDEPENDENT))


def _advice(result: Result, reason: Stall, pcs: tuple[int, ...]) -> Advice:
    """The advice on a reason; of waits for results that take a time of their own, the cause names what these are."""
    kinds = _awaited(result, reason, pcs or _waiting(result, reason)[:LOOKED_AT]) if reason in RESULT_REASONS else []
    usual = advice_on(result.kernel, reason)
    if not kinds:
        return usual
    names = [*(kind.many for kind in kinds[:MOST]), *(["other results"] if len(kinds) > MOST else [])]
    cause = " and ".join((*([", ".join(names[:-1])] if names[1:] else []), names[-1]))
    if kinds == [PHASES]:
        return Advice(cause, f"arrive earlier, and ask for copies earlier; {MORE_WARPS}")
    elsewhere = reason is Stall.SHORT_SCOREBOARD and SHARED not in kinds
    remedy = f"execute these earlier than their values are needed; {MORE_WARPS}" if elsewhere else usual.remedy
    return Advice(cause, remedy)


def _awaited(result: Result, reason: Stall, pcs: tuple[int, ...]) -> list[Awaited]:
    """What the instructions wait for whose waits are of a reason, that of the costliest first."""
    kernel, machine = result.kernel, result.machine
    coded = by_codes(machine)
    program = with_codes(kernel.program, machine) if coded else kernel.program
    found, rows = awaited(program, pcs), [one.row for one in program.instructions]
    producers = dict.fromkeys(giver for pc in pcs for giver in found[pc])
    long = FAR | {Unit.SYNC}
    if reason is Stall.LONG_SCOREBOARD:
        mine = [pc for pc in producers if rows[pc].unit in long]
    else:  # of a scoreboard, arithmetic has a reason of its own
        mine = [pc for pc in producers if (rows[pc].unit not in long if coded else rows[pc].unit in NEARBY)]
    return list(dict.fromkeys(result_of(rows[pc].unit, text_of(kernel.program, pc)) for pc in mine))


def _places(result: Result, reason: Stall) -> tuple[int, ...]:
    """The instructions before which warps spent most warp-cycles of a reason."""
    waited = result.run.stalls[: len(result.kernel.program), reason]
    return tuple(pc for pc in _waiting(result, reason)[:PLACES] if waited[pc] >= waited.sum() / (2 * PLACES))


def _waiting(result: Result, reason: Stall) -> tuple[int, ...]:
    """The instructions before which warps waited for a reason, the costliest first."""
    waited = result.run.stalls[: len(result.kernel.program), reason]
    return tuple(int(pc) for pc in np.argsort(-waited, kind="stable") if waited[pc])
