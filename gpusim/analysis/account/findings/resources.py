"""What the resources of a launch allow: how much a cause costs at most, and which resource is the limit.

A launch takes at least the time of its busiest resource. A cause that keeps resources busy saves at most the time that
it takes of one of them, and at most what lies above the others, and above what it leaves (`Room.saved`). What only
waits saves at most what lies above the busiest resource. So a launch at the roof of one has nothing else to save.

The resource that is the limit is told by what it does beyond the waste that other findings tell. It saves at most what
lies above the next busiest one; of DRAM and L2, which move the same bytes, above others. The way to the caches is none
that others lie above: it counts waits of accesses there, which end with what they wait for. Shares from which on it is
told, and from which on it is at the roof, are those of Nsight Compute's rule "GPU Speed Of Light Throughput".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from gpusim.analysis.account.findings.advice import ADVICE, ALL_SMS, advice_on
from gpusim.analysis.account.findings.finding import PLACES, Finding, places
from gpusim.analysis.account.rates.memory_rates import DRAM, L2, few_sms, used_sms
from gpusim.analysis.account.rates.utilisation import (
    ATOMICS,
    BANKS,
    BYTES,
    CHANNEL,
    ISSUE,
    PIPE,
    WAY,
    Parts,
    roofs,
)
from gpusim.bounds.bounds import CONSTANTS, MATCH, SHARED, STARTS, UNIT
from gpusim.simulation.result import Result
from gpusim.sm.pipes.pipe.declaration import choices
from gpusim.sm.unit.stall import Stall

BUSY, ROOF = 0.6, 0.8
HIGH = 0.77  # part of the time from which on a resource is always named, as it leaves a quarter to save: chosen
NAMED = 2  # further resources below that share which are named
FEWER_BYTES = (
    "move fewer bytes: narrower types, or one kernel in place of several that pass data through memory; keep what is"
    " read again in registers or shared memory"
)
FEWER_SECTORS = "reuse what was loaded, in registers or shared memory, or load narrower types"
REMEDIES = {
    ISSUE: "execute fewer instructions: wider accesses, unrolled loops, addresses computed once",
    CONSTANTS: "read constants that all lanes of a warp share, and keep them in registers",
    MATCH: "compare fewer different values: MATCH.ANY takes them one after the other",
    CHANNEL: FEWER_BYTES,
    DRAM: FEWER_BYTES,
    L2: FEWER_SECTORS,
    ATOMICS: "update other words, or add up within each block first",
    "copy engine": "copy fewer bytes, in boxes with longer rows: a row is a piece at least",
    "copies from the L2": "copy fewer bytes: larger tiles, or one copy for the blocks of a cluster (multicast)",
}
REASONS = {  # whose advice helps
    UNIT: Stall.MIO_THROTTLE,
    WAY: Stall.LG_THROTTLE,
    SHARED: Stall.MIO_THROTTLE,
    BANKS: Stall.DISPATCH_STALL,
    STARTS: Stall.LAUNCH_DELAY,
}
USE_FEWER = ADVICE[Stall.MATH_PIPE_THROTTLE].remedy
DONE = "done, unless it does less"


def is_done(one: Finding) -> bool:
    """Tell whether a finding says that the launch is at a roof, and done."""
    return one.remedy.startswith(DONE)


@dataclass(frozen=True)
class Room:
    """What is busy, by resource, as parts of the time, and what sets the bound."""

    used: Parts
    limiter: str = ""

    def saved(self, freed: Parts, waits: float = 0.0) -> float:
        """Return what a cause costs at most: it keeps resources busy for some parts of the time, or is waited for."""
        most = max([waits, *freed.values()])
        left = max((part - freed.get(name, 0.0) for name, part in self.used.items() if name != WAY), default=0.0)
        return max(0.0, min(most, 1 - left))

    def named(self, but: Collection[str], least: float = HIGH) -> str:
        """Return in words how busy resources are: from HIGH on, what sets the bound from BUSY, NAMED from `least`."""
        parts = [(name, part) for name, part in self.used.items() if name not in (*but, WAY)]
        first = [name for name, part in parts if part >= least][:NAMED]
        shown = [
            (name, part) for name, part in parts if name in first or part >= (BUSY if name == self.limiter else HIGH)
        ]
        return ", ".join(f"{name} {100 * part:.0f} %" for name, part in shown)


def resources(result: Result, room: Room, wasted: Sequence[Parts]) -> Iterator[Finding]:
    """Yield the resource that is the limit, if one is busy enough beyond what causes that are told waste of it."""
    useful = {name: part - sum(one.get(name, 0.0) for one in wasted) for name, part in room.used.items()}
    busy = {name: part for name, part in useful.items() if part >= BUSY and (name != WAY or _only_waits(useful))}
    if few_sms(result) and room.used.get(DRAM, 0.0) >= BUSY:
        who = f"its share for {result.run.sms} of {result.machine.chip.sms} SMs"
        what = f"the DRAM moves {100 * room.used[DRAM]:.0f} % of {who}"
        yield Finding(DRAM, room.saved({DRAM: room.used[DRAM]}), "counted", what, ALL_SMS)
        busy.pop(DRAM, None)
    if not busy:
        return
    at_roof = [name for name in busy if name in roofs(result) and busy[name] * used_sms(result) >= ROOF]
    name = max(at_roof or busy, key=busy.__getitem__)
    apart = (part for other, part in room.used.items() if other != WAY and other not in _moved_by(name))
    named = room.named({BANKS, name}, least=BUSY)
    words = f"{_worded(result, name)} {100 * room.used[name]:.0f} % busy" + f" ({named})" * bool(named)
    remedy, pcs = _remedy(result, name), _users(result, name)
    if at_roof:
        words, remedy = f"at the roof: {words}", f"{DONE}: {remedy}"
    elif pcs:
        words = f"{words}, mostly at {places(result.kernel.program, pcs[:PLACES])}"
    yield Finding(name, min(busy[name], 1 - max(apart, default=0.0)), "counted", words, remedy, pcs)


def _moved_by(name: str) -> frozenset[str]:
    """Return the resources whose work is that of one, and which are spared with it."""
    return BYTES if name in BYTES else frozenset({name})


def _only_waits(useful: Parts) -> bool:
    """Tell whether nothing that accesses wait for on their way is busy itself."""
    return all(useful.get(name, 0.0) < BUSY for name in (UNIT, L2, DRAM))


def _worded(result: Result, name: str) -> str:
    """Return a resource, of a pipe with the two classes of instructions of which it does most."""
    pcs = _users(result, name) if name.startswith(PIPE) else ()
    code, issued = result.kernel.program.instructions, Counter[str]()
    for pc in pcs:
        issued[code[pc].row.unit.value] += int(result.run.issued[pc])
    kinds = " and ".join(kind for kind, _ in issued.most_common(2))
    return f"{name} ({kinds})" if kinds else name


def _users(result: Result, name: str) -> tuple[int, ...]:
    """Return the instructions that use a resource, those of the line that uses it most first; none if unknown."""
    run, code = result.run, result.kernel.program.instructions
    if name == ISSUE:
        times = [int(run.issued[pc]) for pc in range(len(code))]
    elif name in (UNIT, WAY):
        times = [int(run.held[0, pc]) for pc in range(len(code))]
    elif name.startswith(PIPE):
        pipes = set(name.removeprefix(PIPE).split())
        chosen = [set(choices(result.machine, one.row.unit)) for one in code]
        times = [int(run.issued[pc]) * (bool(chosen[pc]) and chosen[pc] <= pipes) for pc in range(len(code))]
    else:
        return ()
    lines = Counter[tuple[str, int]]()
    for pc, time in enumerate(times):
        lines[result.kernel.program.source(pc)] += time
    used = (pc for pc, time in enumerate(times) if time)
    return tuple(sorted(used, key=lambda pc: (-lines[result.kernel.program.source(pc)], -times[pc])))


def _remedy(result: Result, name: str) -> str:
    if name in REASONS:
        return advice_on(result.kernel, REASONS[name]).remedy
    return REMEDIES.get(name, USE_FEWER)
