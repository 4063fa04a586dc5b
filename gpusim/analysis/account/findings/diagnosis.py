"""What limits a simulated launch, and what to do: plain rules on counts of the run itself, the costliest finding first.

A finding's `share` is what lifting its limit saves at most, of the time of the launch. How sure a finding is follows
from where it comes from:

- `counted`: from the grid, the program and the addresses of the launch, whatever the order of events;
- `likely`: issue slots lost for one reason, which has half of all lost slots or more. A slot is lost for the reason of
  the warps that could have used it; once that reason is lifted, warps may wait for another one;
- `possible`: the same for a lesser reason.

`gpusim limits` lifts limits in the simulation, and so says what really is saved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from gpusim.analysis.account.findings import tensor_pipe
from gpusim.analysis.account.findings.advice import ADVICE, ALL_SMS, INDEPENDENT, MORE_WARPS, Advice
from gpusim.analysis.account.findings.divergence import divergence
from gpusim.analysis.account.findings.finding import PLACES, Finding, Sure, named
from gpusim.analysis.account.findings.l2_atomics import l2_atomics
from gpusim.analysis.account.findings.local_memory import local_memory, told
from gpusim.analysis.account.rates.memory_rates import BUSY_DRAM, dram_busy, few_sms, used_sms
from gpusim.bounds.bounds import Bound
from gpusim.launch.codes.assign_codes import FAR, with_codes
from gpusim.simulation.simulation import Result
from gpusim.sm.registers.control_code.declaration import by_codes
from gpusim.sm.unit.opcodes import NEARBY
from gpusim.sm.unit.stall import BY_NUMBER, Stall, label
from gpusim.support.plural import plural
from isa.dataflow.waits.awaited import PHASES, SHARED, Awaited, awaited, result_of
from isa.row import Unit
from isa.text.printer import text_of
from isa.values.atomic import compare_and_swap

WORTH = 0.05  # share from which on a finding is worth a line: chosen, as are the shares below
UNEVEN = 0.1  # share of SM time without work from which on the grid is blamed
NEAR = 1.15  # times the bound up to which the bound's own limit is blamed: no schedule gains more than 13 %
LEADING = 0.5  # share of the lost slots from which on their reason is the likely limit
LOOKED_AT = 64  # instructions whose waits say what is awaited where none is worth a name
MOST = 3  # findings, and kinds of results that a cause names
MEMORY_REASONS = Stall.LONG_SCOREBOARD, Stall.DRAIN, Stall.WAR_HAZARD, Stall.MIO_THROTTLE  # where the DRAM is busy
FEW_WARPS = Stall.LONG_SCOREBOARD, Stall.SHORT_SCOREBOARD, Stall.WAIT, Stall.ISSUE_INTERVAL, Stall.BARRIER
RESULT_REASONS = Stall.LONG_SCOREBOARD, Stall.SHORT_SCOREBOARD
FEWER_BYTES = "move fewer bytes: reuse them from registers or shared memory, or store narrower types"
REUSE = "load fewer bytes: larger tiles in shared memory, and whole sectors, 32 bytes"
REMEDIES = {  # of a limit of the bound
    "issue slots": "execute fewer instructions: wider accesses, unrolled loops, addresses computed once",
    "load/store unit": ADVICE[Stall.MIO_THROTTLE].remedy,
    "shared-memory unit": ADVICE[Stall.MIO_THROTTLE].remedy,
    "memory bandwidth": FEWER_BYTES,
    "device memory": FEWER_BYTES,
    "L1 tag stage": "let lanes access neighbouring words: each line and each sector stored takes a turn",
    **dict.fromkeys(("L2 channel", "L2 channel, loads", "L2, loads", "L2, answers"), REUSE),
    **dict.fromkeys(("L2 channel, stores", "L2, stores"), "store whole sectors, 32 bytes, and each once"),
    "register banks": ADVICE[Stall.DISPATCH_STALL].remedy,
    "starts of blocks": ADVICE[Stall.LAUNCH_DELAY].remedy,
    "copy engine": "copy fewer bytes, in boxes with longer rows: a row is a piece at least",
    "copies from the L2": "copy fewer bytes: larger tiles, or one copy for the blocks of a cluster (multicast)",
    "dependence chain": "give each warp independent instructions, or the SM more warps",
}


def diagnosis(result: Result) -> tuple[Finding, ...]:
    """Return the findings of a result, the costliest first; none if nothing is worth a line."""
    bounded = _bounded(result, result.bound) if result.bound else ()
    counted = [*_grid(result), *divergence(result), *local_memory(result), *l2_atomics(result), *bounded]
    found = [*counted, *tensor_pipe.tensor_pipe(result), *_reasons(result)]
    worth = [one for one in found if one.share >= WORTH]
    by_remedy = {one.remedy: one for one in reversed(worth)}  # the first of those with the same: counted before lost
    return tuple(sorted(by_remedy.values(), key=lambda one: -one.share)[:MOST])


def _grid(result: Result) -> Iterator[Finding]:
    """SMs without a block, or with fewer blocks than the fullest."""
    blocks, sms, idle = result.kernel.blocks, result.machine.chip.sms, 1 - used_sms(result)
    more = "give the grid more blocks: a larger problem, or smaller blocks"
    if blocks < sms:
        yield Finding("grid", idle, "counted", f"{plural(blocks, 'block')} for {sms} SMs: the others idle", more)
    elif idle >= UNEVEN:
        full = plural(-(-blocks // sms), "block")
        what = f"the fullest SM has {full}, the mean SM {blocks / sms:.3g}: others idle at the end"
        yield Finding("grid", idle, "counted", what, "choose a grid that is a multiple of the SMs")


def _bounded(result: Result, bound: Bound) -> Iterator[Finding]:
    """What the bound tells: its limit, and what accesses waste."""
    for finding in (_bound, _conflicts, _serialised, _scattered):
        yield from finding(result, bound)


def _bound(result: Result, bound: Bound) -> Iterator[Finding]:
    """The limit of the bound, where the run comes near it."""
    limits, cycles = bound.limits, result.cycles
    if cycles > NEAR * bound.cycles:
        return
    name, busy = bound.limiter, bound.cycles / cycles
    others = [each for limit, each in limits.items() if limit != name]
    what = f"{name}: no schedule takes less than {100 * busy:.0f} % of these cycles"
    remedy = REMEDIES.get(name, ADVICE[Stall.MATH_PIPE_THROTTLE].remedy)
    yield Finding(name, 1 - max(others, default=0) / cycles, "counted", what, remedy)


def _conflicts(result: Result, bound: Bound) -> Iterator[Finding]:
    """Passes through shared memory that bank conflicts add, as time of the load/store unit."""
    ways = bound.conflicts
    if ways:
        pcs, share = _unit_time(result, ways)
        what = f"{_ways(ways[pcs[0]])} bank conflicts {_at(result, pcs)}"
        remedy = "pad the rows of the tile by a word, or permute its columns"
        yield Finding("bank conflicts", share, "counted", what, remedy, pcs)


def _serialised(result: Result, bound: Bound) -> Iterator[Finding]:
    """Passes through shared memory of lanes that update one word, as time of the load/store unit."""
    factors = bound.serialised
    if factors:
        pcs, share = _unit_time(result, factors)
        swaps = any(result.kernel.program.instructions[pc].row.update is compare_and_swap for pc in pcs)
        again = ", and those that another one outran try again" if swaps else ""
        passes = f"{factors[pcs[0]]:.3g} passes for each that the width needs"
        what = f"lanes update one word in shared memory, one after the other{again}, {_at(result, pcs)}: {passes}"
        remedy = "add up within each warp first, by shuffles, and let one lane update the word; or take a word per warp"
        yield Finding("serialised atomics", share, "counted", what, remedy, pcs)


def _ways(factor: float) -> str:
    return f"{factor:.0f}-way" if abs(factor - round(factor)) < 0.05 else f"{factor:.1f}-way (mean)"


def _scattered(result: Result, bound: Bound) -> Iterator[Finding]:
    """Sectors of global memory that lanes touch beyond those that their bytes fill.

    As time of the load/store unit, or of the DRAM where that is busy.
    """
    factors = bound.scattered
    if factors:
        pcs, share = _unit_time(result, factors)
        busy = dram_busy(result)
        if busy >= BUSY_DRAM:
            share = max(share, min(busy * _wasted(result, factors), _lost_share(result)))
        what = f"lanes lie apart {_at(result, pcs)}: {factors[pcs[0]]:.3g} times the sectors that their bytes fill"
        remedy = "let neighbouring lanes access neighbouring words, through shared memory if need be"
        yield Finding("scattered accesses", share, "counted", what, remedy, pcs)


def _wasted(result: Result, factors: Mapping[int, float]) -> float:
    """The part of all sectors of global memory that no lane asked for, as each access brings its factor's."""
    touched = {pc: float(result.run.issued[pc]) * factors.get(pc, 1) for pc in _global_accesses(result)}
    return sum(n * (1 - 1 / factors.get(pc, 1)) for pc, n in touched.items()) / max(1.0, sum(touched.values()))


def _global_accesses(result: Result) -> Iterator[int]:
    rows = (one.row for one in result.kernel.program.instructions)
    return (pc for pc, row in enumerate(rows) if row.unit is Unit.GLOBAL)


def _unit_time(result: Result, factors: Mapping[int, float]) -> tuple[tuple[int, ...], float]:
    """The instructions, costliest first, and the share of the run's cycles by which factors lengthen them."""
    of_unit = {pc: float(result.run.load_store_cycles[pc]) * (1 - 1 / factor) for pc, factor in factors.items()}
    order = sorted(of_unit, key=lambda pc: -of_unit[pc])
    share = sum(of_unit.values()) / (result.run.cycles * result.run.sms)
    return tuple(order), min(share, _lost_share(result))


def _reasons(result: Result) -> Iterator[Finding]:
    """The reasons of lost issue slots, but those that local memory causes."""
    lost = result.run.lost.sum(axis=0)
    elsewhere = told(result) | tensor_pipe.told(result) | {Stall.NO_WARP}
    every, slots = int(lost.sum()), result.run.cycles * len(result.run.lost)
    for number in np.argsort(-lost, kind="stable"):
        reason = BY_NUMBER[number]
        if lost[reason] < max(1, WORTH * slots) or reason in elsewhere:
            continue
        share = float(lost[reason]) / slots
        sure: Sure = "likely" if lost[reason] >= LEADING * every else "possible"
        pcs = _places(result, reason)
        yield Finding(label(reason), share, sure, *_words(result, reason, share, pcs), pcs)


def _words(result: Result, reason: Stall, share: float, pcs: tuple[int, ...]) -> tuple[str, str]:
    """What was found about a reason, mostly before some instructions, and the remedy."""
    cause, remedy = _advice(result, reason, pcs)
    where = f", {_before(result, pcs)}" if pcs else ""
    what = f"{100 * share:.0f} % of the issue slots are lost to {cause} ({label(reason)}){where}"
    busy = dram_busy(result)
    if reason in MEMORY_REASONS and busy >= BUSY_DRAM:
        return f"{what}; the DRAM moves {100 * busy:.0f} % of what {_who(result)} can", _less_moved(result)
    warps, limits = result.occupancy, result.machine.limits
    resident = min(warps.warps, result.kernel.warps * -(-result.kernel.blocks // result.machine.chip.sms))
    if reason in FEW_WARPS and 2 * resident <= limits.warps:
        by = warps.limiter if resident == warps.warps else "the grid"
        step = f": {warps.next_step}" if resident == warps.warps else ""
        return f"{what}; {resident} of {limits.warps} warps resident, limited by {by}", f"{remedy}{step}"
    return what, remedy.replace(MORE_WARPS, INDEPENDENT) if resident == limits.warps else remedy


def _advice(result: Result, reason: Stall, pcs: tuple[int, ...]) -> Advice:
    """The advice on a reason; of waits for results that take a time of their own, the cause names what these are."""
    kinds = _awaited(result, reason, pcs or _waiting(result, reason)[:LOOKED_AT]) if reason in RESULT_REASONS else []
    if not kinds:
        return ADVICE[reason]
    names = [*(kind.many for kind in kinds[:MOST]), *(["other results"] if len(kinds) > MOST else [])]
    cause = " and ".join((*([", ".join(names[:-1])] if names[1:] else []), names[-1]))
    if kinds == [PHASES]:
        return Advice(cause, f"arrive earlier, and ask for copies earlier; {MORE_WARPS}")
    elsewhere = reason is Stall.SHORT_SCOREBOARD and SHARED not in kinds
    remedy = f"execute these earlier than their values are needed; {MORE_WARPS}" if elsewhere else ADVICE[reason].remedy
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


def _who(result: Result) -> str:
    """Whose share of the DRAM counts."""
    return f"its share for {result.run.sms} of {result.machine.chip.sms} SMs" if few_sms(result) else "it"


def _less_moved(result: Result) -> str:
    """Return what to do where the DRAM is busy."""
    return ALL_SMS if few_sms(result) else REMEDIES["memory bandwidth"]


def _lost_share(result: Result) -> float:
    return float(result.run.lost.sum()) / (result.run.cycles * len(result.run.lost))


def _places(result: Result, reason: Stall) -> tuple[int, ...]:
    """The instructions before which warps spent most warp-cycles of a reason."""
    waited = result.run.stalls[: len(result.kernel.program), reason]
    return tuple(pc for pc in _waiting(result, reason)[:PLACES] if waited[pc] >= waited.sum() / (2 * PLACES))


def _waiting(result: Result, reason: Stall) -> tuple[int, ...]:
    """The instructions before which warps waited for a reason, the costliest first."""
    waited = result.run.stalls[: len(result.kernel.program), reason]
    return tuple(int(pc) for pc in np.argsort(-waited, kind="stable") if waited[pc])


def _before(result: Result, pcs: tuple[int, ...]) -> str:
    return f"mostly before {named(result.kernel.program, pcs)}"


def _at(result: Result, pcs: tuple[int, ...]) -> str:
    return f"at {named(result.kernel.program, pcs)}"
