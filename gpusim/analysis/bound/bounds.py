"""The general bound: cycles that no schedule of this program on this machine can undercut, and what sets them.

Each limit sums what the SM's blocks execute, by the rules that the engines use, and the bound is the largest limit.
Nothing is simulated and nothing compiled: one block's profile says how often each instruction executes and which
addresses it touches. All cycles are shader cycles of the SM that gets the most blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from gpusim.analysis.bound import chain, pressure, rates
from gpusim.analysis.bound.access_cost import AccessCost, Seen, costs
from gpusim.analysis.bound.placement import moved, placements
from gpusim.analysis.bound.pressure import Pipes, Pressure, Resource, Work, added
from gpusim.launch.feed import recordable
from gpusim.launch.ground import ground
from gpusim.launch.launch import share_channel
from gpusim.machine.machine import Machine
from gpusim.support.document import Gflops, doc
from gpusim.units.pipe import pipe_names
from gpusim.units.register_file import register_banks
from isa.execute.block_step import block_steps
from isa.execute.profile import Profile, profile
from isa.execute.touched_lines import without_contents
from isa.kernel import Kernel
from isa.operand import PT

MOST_READS = 6  # registers of an instruction: three pairs
LIMIT = 10_000_000  # warp instructions of a block: in program order that takes a minute or two
UNITS = "load/store unit", "shared-memory unit"  # the latter where shared memory has its own unit
ALL_PROFILED = 3  # blocks of an SM up to which all are profiled; of more, the first, middle and last, if alike


@dataclass(frozen=True)
class Bound:
    """The bound of a launch: `cycles` is the largest of `limits`, `limiter` its name.

    Every block of the SM, or of all SMs, is profiled, with two exceptions. If a block's index only moves its global
    addresses, the first block stands for all, once for each place in a line where these may begin. Else, if the first,
    middle and last block execute the same instructions equally often, they are `alike` and stand for all. Where these
    assumptions hold, so do the limits, for every schedule.
    """

    cycles: Annotated[int, doc("Shader cycles.")]
    gflops: Gflops
    percent_of_peak: Annotated[float, doc("Percent of the chip's peak in the kernel's precision.")]
    limiter: str
    limits: Annotated[Mapping[str, int], doc("Shader cycles by resource.")]
    blocks: Annotated[int, doc("Blocks of the SM, or of all SMs.")]
    profiled_blocks: Annotated[int, doc("Blocks of these that were profiled.")]
    alike: bool


def bound(kernel: Kernel, machine: Machine, *, all_sms: bool = False, limit: int = LIMIT) -> Bound:
    """Return the bound of a launch, on the SM that gets the most blocks, with its share of the bandwidth.

    `all_sms`: on all SMs, which take blocks as they can, with the whole bandwidth: if blocks are alike, some SM has at
    least the mean number of blocks rounded up; if not, it has at least the mean amount of work.

    Raises UserError where kernel and machine don't fit, LimitError beyond `limit` warp instructions in a block, and the
    errors of a run in program order.
    """
    sms = machine.chip.sms
    ids = range(0, kernel.blocks, 1 if all_sms else sms)
    profiled, alike = _works(kernel, machine, ids, sms if all_sms else 1, limit)
    share = -(-kernel.blocks // sms)
    counted = sum(work.multiple for work in profiled)
    even = alike and counted == len(profiled)  # blocks may be rounded up, as none is cheaper than another
    each = Fraction(share if even or not all_sms else Fraction(kernel.blocks, sms)) / counted
    limits = {name: ceil(cycles) for name, cycles in _limits(profiled, each, Fraction(len(ids), counted), share)}
    limiter = max(limits, key=limits.__getitem__)
    rate = rates.gflops(kernel, machine, limits[limiter])
    percent = 100 * rate / rates.peak_gflops(kernel, machine)
    return Bound(limits[limiter], rate, percent, limiter, limits, len(ids), len(profiled), alike)


def works(kernel: Kernel, machine: Machine, *, limit: int = LIMIT) -> tuple[list[Work], Fraction]:
    """Return the work of profiled blocks of the SM that gets the most, and the blocks that each stands for.

    The number of blocks is that of a work whose multiple is 1.

    Raises as `bound` does.
    """
    ids = range(0, kernel.blocks, machine.chip.sms)
    profiled, _ = _works(kernel, machine, ids, 1, limit)
    return profiled, Fraction(len(ids), sum(work.multiple for work in profiled))


def pressures(profiled: Sequence[Work], each: Fraction) -> dict[str, Pressure]:
    """Return the pressure on each resource that an SM uses, by the name of the limit that it sets.

    Each profiled block stands for `each` blocks; of the register banks only the fullest counts.
    """
    found = _resources(profiled, each, each)
    return {resource.name: resource.pressure for resource in found if resource.pressure.cycles}


def code_of(work: Work) -> chain.Code:
    """Return a block's program in the form that the dependence chain needs."""
    always = frozenset(np.flatnonzero(work.certain >= work.profile.counts).tolist())
    return chain.code(work.numbers, work.program, work.costs, always)


def dependence_chain(work: Work) -> Fraction:
    """Return the cycles of one block with the SM to itself: its average warp's chain and start."""
    skew = Fraction(work.machine.launch.warp_skew * (work.kernel.warps - 1), 2)
    return chain.cycles_of_warp(code_of(work), work.profile, work.kernel.warps) + skew


def _limits(works: Sequence[Work], each: Fraction, sharing: Fraction, share: int) -> Iterator[tuple[str, Fraction]]:
    """Yield the limits of the SM with the most to do; arguments as for `_resources`, and its share of the blocks."""
    for resource in _resources(works, each, sharing):
        yield resource.name, resource.pressure.cycles - resource.after
    yield "dependence chain", _waves(works[0], share) * min(map(dependence_chain, works)) + _refills(works[0], share)


def _resources(works: Sequence[Work], each: Fraction, sharing: Fraction) -> Iterator[Resource]:
    """Yield the resources that the SM uses.

    A profiled block stands for `each` of its blocks, and for `sharing` of all that use the same memory channel.
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
    if any(work.costs for work in works):
        early = max(cost.early for work in works for cost in work.costs.values())
        units = [added(works, unit, each) for unit in zip(*map(pressure.load_store_units, works), strict=True)]
        yield from (Resource(name, unit, early) for name, unit in zip(UNITS, units, strict=True) if unit.cycles)
        yield Resource("memory bandwidth", added(works, map(pressure.memory_bandwidth, works), sharing))


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


def _refills(work: Work, share: int) -> int:
    """Cycles between those blocks."""
    return (_waves(work, share) - 1) * work.machine.launch.block_latency


def _works(kernel: Kernel, machine: Machine, ids: range, sms: int, limit: int) -> tuple[list[Work], bool]:
    """Return the work of the profiled blocks (all, three if alike, one if all must be), and if all are alike."""
    base = ground(kernel, machine)
    share_channel(base.numbers, sms)
    light = without_contents(kernel) if recordable(kernel) else kernel
    seen: Seen = {}

    def work(executed: Profile, multiple: int = 1) -> Work:
        patterns = costs(base.numbers, base.rows, executed, seen)
        certain = _certain(kernel, executed, patterns)
        return Work(kernel, machine, base.numbers, base.resident, base.rows, executed, certain, patterns, multiple)

    def of(block: int) -> Work:
        return work(profile(light, block, limit=limit))

    steps = block_steps(kernel)
    if steps is not None:
        first = profile(light, limit=limit)
        found = placements(kernel, steps, machine.global_memory.line_bytes, ids)
        return [work(moved(first, places), count) for places, count in found], True
    few = [of(block) for block in (ids if len(ids) <= ALL_PROFILED else (ids[0], ids[len(ids) // 2], ids[-1]))]
    alike = all(np.array_equal(few[0].profile.counts, other.profile.counts) for other in few)
    return (few, alike) if alike or len(few) == len(ids) else ([of(block) for block in ids], False)


def _certain(kernel: Kernel, executed: Profile, patterns: Mapping[int, AccessCost]) -> NDArray[np.int64]:
    """Return the warp instructions, by pc, that surely had an active lane: all, or the fewest that hold the lanes."""
    unguarded = np.array([i.guard == PT for i in kernel.program.instructions])
    certain = np.where(unguarded, executed.counts, -(-executed.active // kernel.warp_size))
    for pc, cost in patterns.items():
        certain[pc] = cost.executions
    return certain
