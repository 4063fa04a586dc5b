"""The general bound: cycles that no schedule of this program on this machine can undercut, and what sets them.

Each limit sums what the SM's blocks execute, by the rules that the engines use, and the bound is the largest limit.
No time is simulated: one block's profile says how often each instruction executes and which
addresses it touches. All cycles are shader cycles of the SM with most work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil
from typing import Annotated

import numpy as np

from gpusim.bounds import pressure, rates
from gpusim.bounds.chain import across_warps, chain
from gpusim.bounds.memory.levels import Memory, of_memory
from gpusim.bounds.memory.share import share_of
from gpusim.bounds.pressure import Pipes, Pressure, Resource, Work, added
from gpusim.bounds.profiled import Profiled, profiled, same
from gpusim.bounds.wasted import conflicts, scattered, serialised
from gpusim.engines.busiest_sm import busiest_sm
from gpusim.machine.machine import Machine
from gpusim.machine.simulated_sms import blocks_of
from gpusim.sm.front.block_scheduler.declaration import refill_parts
from gpusim.sm.memory.cache.declaration import SHARE_PARTS, tagged
from gpusim.sm.memory.what_if import may_part, packs
from gpusim.sm.pipes.pipe.declaration import pipe_names
from gpusim.sm.registers.register_file.declaration import register_banks
from gpusim.support.document import Gflops, OfPeak, doc
from isa.dataflow.memory.order_dependence import may_vary
from isa.errors import DeadlockError, LimitError, UserError
from isa.kernel import Kernel
from isa.nvidia.abi.on_chip import on_chip

STARTS = "starts of blocks"
MOST_READS = 6  # registers of an instruction: three pairs
MOST_PASSES = 128  # of a copy: 32 lanes have four words each, all in one bank
LIMIT = 10_000_000  # warp instructions of a block: in program order that takes a minute or two
ENGINE, COPIES = "copy engine", "copies from the L2"
UNIT, SHARED, CONSTANTS, MATCH = "load/store unit", "shared-memory unit", "constant unit", "match unit"


class NoBoundError(UserError):
    """A block by itself, in program order, does not end, as it may wait for others; so its launch has no bound."""


@dataclass(frozen=True)
class Bound:
    """The bound of a launch: `cycles` is the largest of `limits`, `limiter` its name.

    Every block of the SM, or of all simulated SMs, is profiled, with three exceptions. If a block's index only moves
    its global addresses, the first block stands for all, once for each place in a line where these begin. Else, if the
    first, middle and last block and those at borders execute the same instructions equally often, they are `alike` and
    stand for all. Else, if what all blocks execute can be counted, a few stand for those that execute the same. Where
    these assumptions hold, so do the limits, for every schedule. If results of `order_dependent` instructions decide
    what is executed, limits count what every order of warps executes, and `conflicts` and the like program order.
    """

    cycles: Annotated[int, doc("Shader cycles.")]
    gflops: Gflops
    percent_of_peak: OfPeak
    limiter: str
    limits: Annotated[Mapping[str, int], doc("Shader cycles by resource.")]
    blocks: Annotated[int, doc("Blocks of the SM, or of all simulated SMs.")]
    profiled_blocks: Annotated[int, doc("Blocks that were profiled to know all of these.")]
    alike: bool
    conflicts: Annotated[
        Mapping[int, float],
        doc("Passes through shared memory for each that the width needs, by program counter, where they are more."),
    ] = field(default_factory=dict)
    serialised: Annotated[
        Mapping[int, float],
        doc("The same, of atomics whose lanes update one word and so go one after the other."),
    ] = field(default_factory=dict)
    scattered: Annotated[
        Mapping[int, float],
        doc("Sectors of global memory for each that the bytes fill, by program counter, where they are twice as many."),
    ] = field(default_factory=dict)
    order_dependent: Annotated[
        tuple[int, ...],
        doc("Instructions whose results the order of warps decides, and they what is executed or where; by counter."),
    ] = ()


def bound(kernel: Kernel, machine: Machine, *, sms: int = 1, limit: int = LIMIT) -> Bound:
    """Return the bound of a launch, on the SM with most work, with its share of the bandwidth.

    `sms`: on so many SMs (gpusim/machine/simulated_sms.py), which take blocks as they can, with the sum of their
    shares: if all blocks have equal work, some SM has at least the mean number of blocks rounded up; if not, it has at
    least the mean amount of work.

    Raises UserError where kernel and machine don't fit, NoBoundError where a block may wait for others, LimitError
    beyond `limit` warp instructions in another block, and the errors of a run in program order.
    """
    kernel = on_chip(kernel, machine.chip.sms)
    ids = blocks_of(kernel, machine, sms, busiest_sm(kernel, machine) if sms == 1 else 0)
    share = len(ids) if sms == 1 else -(-kernel.blocks // machine.chip.sms)
    found = _profiled(kernel, machine, ids, sms, limit)
    each = _each(found, machine, ids, sms)
    sharing = Fraction(len(ids), found.counted)
    moved = _memory(kernel, machine, ids, sms, found, limit)
    limits = {name: ceil(cycles) for name, cycles in _limits(found, each, sharing, share, moved)}
    limiter = max(limits, key=limits.__getitem__)
    return Bound(
        limits[limiter],
        rates.gflops(kernel, machine, limits[limiter]),
        rates.percent_of_peak(kernel, machine, limits[limiter]),
        limiter,
        limits,
        len(ids),
        found.blocks,
        found.alike,
        dict(conflicts(found.works)),
        dict(serialised(found.works)),
        dict(scattered(found.works)),
        found.sources,
    )


def works(kernel: Kernel, machine: Machine, *, sms: int = 1, limit: int = LIMIT) -> tuple[list[Work], Fraction]:
    """Return the works of the SM with most work, and how many of these there are for each that they count.

    Or of the blocks of so many `sms` that are simulated.

    Raises as `bound` does.
    """
    ids = blocks_of(kernel, machine, sms, busiest_sm(kernel, machine) if sms == 1 else 0)
    found = _profiled(kernel, machine, ids, sms, limit)
    return found.works, Fraction(len(ids), found.counted)


def _memory(kernel: Kernel, machine: Machine, ids: range, sms: int, found: Profiled, limit: int) -> Memory:
    """Return the use of the levels of memory by these blocks, which run on so many SMs."""
    return of_memory(found, share_of(kernel, machine, ids, sms), _each(found, machine, ids, sms), limit)


def _each(found: Profiled, machine: Machine, ids: range, sms: int) -> Fraction:
    """Return the blocks of the SM with the most to do for each that the works count."""
    share = len(ids) if sms == 1 else -(-found.works[0].kernel.blocks // machine.chip.sms)
    return Fraction(share if found.equal else Fraction(len(ids), sms)) / found.counted


def _profiled(kernel: Kernel, machine: Machine, ids: range, sms: int, limit: int) -> Profiled:
    """Return the profiled blocks; raises as `bound` does."""
    try:
        return profiled(kernel, machine, ids, sms, limit)
    except (LimitError, DeadlockError) as error:
        if not may_vary(kernel):
            raise
        more = ", or raise the limit, --max-instructions" if isinstance(error, LimitError) else ""
        raise NoBoundError(
            f"{str(error).split('; ')[0]}; a bound needs each block by itself, in program order, and this one may wait "
            f"for others: take `gpusim run`, which times it without a bound{more}"
        ) from None


def pressures(kernel: Kernel, machine: Machine, limit: int = LIMIT) -> tuple[list[Work], dict[str, Pressure]]:
    """Return the works of the SM with most work, and the pressure on each resource, by the name of its limit.

    Of the register banks only the fullest counts. Raises as `bound` does.
    """
    kernel = on_chip(kernel, machine.chip.sms)
    ids = blocks_of(kernel, machine, 1, busiest_sm(kernel, machine))
    found = _profiled(kernel, machine, ids, 1, limit)
    each = Fraction(len(ids), found.counted)
    resources = [*_resources(found.works, each, each), *_memory(kernel, machine, ids, 1, found, limit).resources]
    return found.works, {one.name: one.pressure for one in resources if one.pressure.cycles}


def code_of(work: Work) -> chain.Code:
    """Return a block's program in the form that the dependence chain needs."""
    always = frozenset(np.flatnonzero(work.certain >= work.profile.counts).tolist())
    return chain.code(work.numbers, work.program, work.costs, always)


def dependence_chain(work: Work) -> Fraction:
    """Return the cycles of one block with the SM to itself: its average warp's chain and start."""
    skew = Fraction(work.machine.launch.warp_skew * (work.kernel.warps - 1), 2)
    warps = work.kernel.warps * work.kernel.cluster_blocks  # a profile is of all blocks of a cluster
    return chain.cycles_of_warp(code_of(work), work.profile, warps) + skew


def _later(work: Work, delays: Mapping[int, int]) -> Work:
    """Return the work whose loads have their results after so many cycles at least, by pc."""
    later = {pc: replace(cost, delay=max(cost.delay, delays.get(pc, 0))) for pc, cost in work.costs.items()}
    return replace(work, costs=later)


def _across_warps(found: Profiled, delays: Mapping[int, int]) -> int:
    """Return the cycles of a block whose warps wait for phases, if all blocks execute the same in every order."""
    work = _later(found.works[0], delays)
    if not (found.equal and across_warps.waits_for_phases(work.kernel) and same(work.profile, found.least[0].profile)):
        return 0
    return across_warps.cycles_of_block(work.kernel, code_of(work))


def _limits(
    found: Profiled, each: Fraction, sharing: Fraction, share: int, memory: Memory
) -> Iterator[tuple[str, Fraction]]:
    """Yield the limits of the SM with the most to do.

    Arguments are as for `_resources`, and the SM's share of the blocks, and the use of the levels of memory.
    """
    works = found.least
    for resource in (*_resources(works, each, sharing), *memory.resources):
        yield resource.name, max(Fraction(0), resource.pressure.cycles - resource.after)
    if starts := starts_of_blocks(works[0].machine, share, works[0].resident):
        yield STARTS, starts
    if packs(works[0].machine) and may_part(works[0].kernel):
        return  # a warp may pass over any part of a chain
    alone = min(dependence_chain(_later(work, memory.delays)) for work in works)
    least = max(alone, Fraction(_across_warps(found, memory.delays)))
    yield "dependence chain", _waves(works[0], share) * least + _refills(works[0], share)


def _resources(works: Sequence[Work], each: Fraction, sharing: Fraction) -> Iterator[Resource]:
    """Yield the resources that the SM uses.

    For each block that the works count it has `each` blocks, and all that share its memory channel have `sharing`.
    """
    first = works[0]
    yield Resource("issue slots", added(works, map(pressure.issue_slots, works), each))
    for group in _groups(works):
        used = added(works, (pressure.pipes(work, group) for work in works), each)
        yield Resource(_name(first, group), used, _still_busy(first, group))
    file = first.machine.register_file
    if file and register_banks(first.machine) and (file.collecting or file.window) and not file.carried:
        banks = [added(works, bank, each) for bank in zip(*map(pressure.reads_of_banks, works), strict=True)]
        late = file.window + MOST_READS * max(1, file.collecting)  # reads that the last instructions may still wait for
        yield Resource("register banks", max(banks, key=lambda bank: bank.cycles), late)
    yield from _load_store(works, each)
    if any(work.profile.copied.any() for work in works):
        engine, way = (added(works, one, each) for one in zip(*map(pressure.copy_engine, works), strict=True))
        yield Resource(ENGINE, engine, pressure.still_copied(first))
        yield Resource(COPIES, way, pressure.still_copied(first))
    if any(work.costs for work in works) and not tagged(first.machine):  # what misses, only a run can tell
        yield Resource("memory bandwidth", added(works, map(pressure.memory_bandwidth, works), sharing))


def _load_store(works: Sequence[Work], each: Fraction) -> Iterator[Resource]:
    """Yield the use of the load/store unit, and of those of shared memory or constants, and MATCH, that lie apart.

    The unit goes on before a copy's passes are over, but these and what is behind them follow each other.
    """
    first = works[0]
    early = max((cost.early for work in works for cost in work.costs.values()), default=0)
    units = zip(*map(pressure.load_store_units, works), strict=True)
    names = UNIT, CONSTANTS if first.machine.constant_path else SHARED, MATCH
    found = [Resource(name, added(works, unit, each), early) for name, unit in zip(names, units, strict=True)]
    if first.numbers.copy_cycles and any(i.row.copies for i in first.kernel.program.instructions):
        ahead = early + int(first.numbers.passes_ahead) + MOST_PASSES
        passes = Resource(UNIT, added(works, map(pressure.passes_with_copies, works), each), ahead)
        found[0] = max(found[0], passes, key=lambda one: one.pressure.cycles - one.after)
    yield from (one for one in found if one.pressure.cycles)


def _groups(works: Sequence[Work]) -> Sequence[Pipes]:
    """Return the pipes that limit together: those that may take one executed instruction, and unions that overlap."""
    used = [c for work in works for c, n in zip(pressure.choices(work), work.certain, strict=True) if c and n]
    groups = list(dict.fromkeys(used))
    for group in groups:  # grows as it goes
        groups += {group | other for other in groups if group & other} - set(groups)
    return sorted(groups, key=sorted)


def _name(work: Work, group: Pipes) -> str:
    return f"pipe {' '.join(pipe_names(work.machine)[index] for index in sorted(group))}"


def _still_busy(work: Work, group: Pipes) -> int:
    """Return the cycles for which a pipe may still be busy when the warp of its last instruction has exited.

    The warp exits one issue interval later at the earliest, or in the same turn through another dispatch port.
    """
    interval, machine = max(int(work.numbers.pipe_interval[index]) for index in group), work.numbers
    until_exit = 0 if machine.ports > 1 and machine.same_warp else int(machine.issue_interval)
    return max(0, interval - until_exit - int(machine.interval))


def _waves(work: Work, share: int) -> int:
    """The number of blocks that the busiest block slot of the SM runs one after another."""
    return -(-share // work.resident)


def starts_of_blocks(machine: Machine, share: int, resident: int) -> Fraction:
    """Return the cycles in which the chip hands out an SM's blocks behind the first wave, all but the first of them.

    `share`: the SM's blocks, of which so many are resident. A block of all SMs at a time, as they are simulated:
    exactly, or rounded where one SM stands for all.
    """
    exactly = Fraction(machine.launch.refill_parts * machine.chip.sms, SHARE_PARTS)
    return max(0, share - resident - 1) * min(exactly, Fraction(refill_parts(machine), SHARE_PARTS))


def _refills(work: Work, share: int) -> int:
    """Cycles between those blocks."""
    return (_waves(work, share) - 1) * work.machine.launch.block_latency
