"""What the size of the launch costs: SMs without a block, a last wave of few blocks, SMs with few warps."""

from __future__ import annotations

from collections.abc import Iterator

from gpusim.analysis.account.findings.finding import Finding
from gpusim.analysis.account.findings.resources import Room
from gpusim.analysis.account.rates.memory_rates import used_sms
from gpusim.simulation.result import Result
from gpusim.sm.unit.stall import Stall
from gpusim.support.plural import plural

MORE = "give the grid more blocks: a larger problem, or smaller blocks"
EVEN = "choose a grid that is a multiple of what the SMs hold, or let each block take work as long as there is any"
FEW_WARPS = Stall.LONG_SCOREBOARD, Stall.SHORT_SCOREBOARD, Stall.WAIT, Stall.ISSUE_INTERVAL, Stall.BARRIER


def grid(result: Result, room: Room) -> Iterator[Finding]:
    """Yield what more blocks, or evenly shared ones, would save; the threshold is that of all findings."""
    blocks, sms = result.kernel.blocks, result.machine.chip.sms
    if blocks < sms:
        what = f"{plural(blocks, 'block')} for {sms} SMs: the others idle"
        yield Finding("grid", 1 - used_sms(result), "counted", what, MORE)
    elif blocks % sms:
        yield _uneven(result)
    resident, limit = resident_warps(result), result.machine.limits.warps
    if resident < result.occupancy.warps and 2 * resident <= limit:
        lost = result.run.lost.sum(axis=0)[[*FEW_WARPS, Stall.NO_WARP]].sum()
        share = room.saved({}, float(lost) / (result.run.cycles * len(result.run.lost)))
        what = f"the launch is too small: an SM has {resident} of {limit} warps, and nothing to issue while these wait"
        yield Finding("warps", share, "likely", what, MORE)


def resident_warps(result: Result) -> int:
    """Return the warps of the fullest SM: as many as fit, or as the grid has for it."""
    return min(result.occupancy.warps, result.kernel.warps * -(-result.kernel.blocks // result.machine.chip.sms))


def _uneven(result: Result) -> Finding:
    """What SMs with a block less than the fullest lose at the end."""
    blocks, sms = result.kernel.blocks, result.machine.chip.sms
    share = max(1 - used_sms(result), _last_alone(result) * (sms - blocks % sms) / sms)
    wave = sms * result.occupancy.blocks
    if blocks > wave and blocks % wave:
        last = f"the last of {blocks // wave + 1} waves has {plural(blocks % wave, 'block')} of {wave:,}"
        return Finding("grid", share, "counted", f"tail: {last}, and SMs idle at the end", EVEN)
    full = plural(-(-blocks // sms), "block")
    what = f"the fullest SM has {full}, the mean SM {blocks / sms:.3g}: others idle at the end"
    return Finding("grid", share, "counted", what, EVEN)


def _last_alone(result: Result) -> float:
    """Return the part of the time in which the SM with most work has only its last block; 0 if that is not known."""
    ends = result.run.ends
    return 1 - int(ends["cycle"][-2]) / result.cycles if len(ends) > 1 and result.run.sms == 1 else 0.0
