"""The general bound: cycles that no schedule of this program on this machine can undercut, and what sets them.

Each limit is a sum over what the SM's blocks execute, by the rules that the engines use, and the bound is the largest.
Nothing is simulated and nothing compiled: one block's profile says how often each instruction executes and which
addresses it touches. All cycles are shader cycles of the SM that gets the most blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim.analysis import chain, rates
from gpusim.analysis.access_cost import AccessCost, Seen, costs
from gpusim.decode import pipe_names
from gpusim.feed import AFFINE, recordable
from gpusim.launch import launch, share_channel
from gpusim.machine import Machine, instances, register_bank
from gpusim.scalar_registers import place_of
from isa.block_step import block_steps
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.operand import PT, Register
from isa.profile import Profile, profile
from isa.reach import without_contents
from isa.register_bank import BANK_PERIOD
from isa.table import Unit

MOST_READS = 6  # registers of an instruction: three pairs
LIMIT = 10_000_000  # warp instructions of a block: in program order that takes a minute or two
Pipes = frozenset[int]  # by their index
ALL_PROFILED = 3  # blocks of an SM up to which each is profiled; of more, the first, middle and last, if they are alike


@dataclass(frozen=True)
class Bound:
    """The bound of a launch: `cycles` is the largest of `limits`, `limiter` its name.

    Every block of the SM, or of all SMs, is profiled, unless the first, middle and last execute the same instructions
    equally often: then they are `alike`, and stand for all; or unless a block's index does no more than move its global
    addresses by whole lines: then the first one does. The limits hold for every schedule as far as that is true.
    """

    cycles: int
    gflops: float
    percent_of_peak: float
    limiter: str
    limits: Mapping[str, int]
    blocks: int
    profiled_blocks: int
    alike: bool


@dataclass(frozen=True)
class Work:
    """What one block executes. Arrays have an entry per pc; `certain` counts warp instructions that do something."""

    kernel: Kernel
    machine: Machine
    sm: Any
    program: Any
    profile: Profile
    certain: NDArray[np.int64]
    costs: Mapping[int, AccessCost]


def bound(kernel: Kernel, machine: Machine, *, all_sms: bool = False, limit: int = LIMIT) -> Bound:
    """Return the bound of a launch, by the SM that gets the most blocks and has its share of the bandwidth.

    `all_sms`: by all SMs, which take what blocks they can, and the whole bandwidth together: some SM has as many blocks
    as the mean rounded up if they are alike, and if not as much to do as the mean.

    Raises UserError where kernel and machine don't fit, and what running a block in program order raises; LimitError
    beyond `limit` warp instructions in a block.
    """
    sms = machine.chip.sms
    ids = range(0, kernel.blocks, 1 if all_sms else sms)
    works, alike = _works(kernel, machine, ids, sms if all_sms else 1, limit)
    share = -(-kernel.blocks // sms)
    each = Fraction(share if alike or not all_sms else Fraction(kernel.blocks, sms)) / len(works)
    limits = {name: ceil(cycles) for name, cycles in _limits(works, each, Fraction(len(ids), len(works)), share)}
    limiter = max(limits, key=limits.__getitem__)
    rate = rates.gflops(kernel, machine, limits[limiter])
    percent = 100 * rate / rates.peak_gflops(kernel, machine)
    return Bound(limits[limiter], rate, percent, limiter, limits, len(ids), len(works), alike)


def issue_slots(work: Work) -> Fraction:
    """Return the cycles of issue slots: each dispatch port issues once per interval, some DP alone in the whole SM.

    An instruction replay takes all ports of its scheduler's turn.
    """
    schedulers = work.machine.schedulers
    ports = schedulers.count * schedulers.dispatch_ports
    alone = work.certain[work.program["double"][:-1] == 1].sum() if work.sm.machine.exclusive else 0
    replays = schedulers.dispatch_ports * sum(cost.replays for cost in work.costs.values())
    issues = int(work.profile.counts.sum()) + (ports - 1) * int(alone) + replays
    return Fraction(issues * schedulers.interval, ports)


def pipes(work: Work, group: Pipes) -> Fraction:
    """Return the cycles of some pipes: what executes nowhere else, over what all their instances take in a cycle."""
    only_here = [bool(choice) and choice <= group for choice in _choices(work)]
    names, intervals = pipe_names(work.machine), work.sm.machine.pipe_interval
    rate = sum(Fraction(instances(work.machine, names[index]), int(intervals[index])) for index in group)
    intervals = work.program["intervals"][:-1].astype(np.int64)
    return Fraction(int((work.certain * intervals)[only_here].sum())) / rate


def register_banks(work: Work) -> Fraction:
    """Return the cycles of the fullest register bank, over the schedulers; of registers never flagged for reuse.

    What may be carried from one instruction to the next is in no bound.
    """
    instructions = work.kernel.program.instructions
    kept = {register for i in instructions for register in _flagged(i)}
    reads = np.zeros(BANK_PERIOD, np.int64)
    for times, i in zip(work.certain, instructions, strict=True):
        for register in set(i.reads()) - kept:
            reads[register_bank(work.machine, place_of(work.kernel.program, register))] += times
    return Fraction(int(reads.max()), work.machine.schedulers.count)


def _flagged(i: Instruction) -> Iterator[int]:
    """Yield the registers that the reuse cache may keep from this instruction on."""
    for operand in i.operands:
        if isinstance(operand, Register) and operand.reuse:
            yield from range(operand.index, operand.index + i.row.source.words)


def load_store_unit(work: Work) -> Fraction:
    """Return the cycles of the load/store unit: shared-memory passes, requests to global and local memory, others.

    Where shared memory has a unit of its own, of the busier one.
    """
    taken = [int(work.certain @ work.program["service"][:-1].astype(np.int64)), 0]
    for pc, cost in work.costs.items():
        taken[int(work.sm.machine.units["path"][work.program["unit"][pc]])] += cost.cycles
    return Fraction(max(taken))


def memory_bandwidth(work: Work) -> Fraction:
    """Return the cycles in which the channel moves what is loaded and stored."""
    lines = sum(cost.transactions for cost in work.costs.values())
    return Fraction(lines * int(work.sm.machine.line_cost), int(work.sm.machine.channel_parts))


def dependence_chain(work: Work) -> Fraction:
    """Return the cycles that one block takes with the SM to itself: its average warp's chain and start."""
    always = frozenset(np.flatnonzero(work.certain >= work.profile.counts).tolist())
    program = chain.code(work.sm, work.program, work.costs, always)
    skew = Fraction(work.machine.launch.warp_skew * (work.kernel.warps - 1), 2)
    return chain.cycles_of_warp(program, work.profile, work.kernel.warps) + skew


def _limits(works: Sequence[Work], each: Fraction, sharing: Fraction, share: int) -> Iterator[tuple[str, Fraction]]:
    """Yield the limits of the SM that has the most to do.

    A profiled block stands for `each` of its blocks, and for `sharing` of all that use the same memory channel.
    """
    yield "issue slots", each * sum(map(issue_slots, works))
    for group in _groups(works):
        name = " ".join(pipe_names(works[0].machine)[index] for index in sorted(group))
        cycles = each * sum(pipes(work, group) for work in works)
        yield f"pipe {name}", cycles - _still_busy(works[0], group)
    file = works[0].machine.register_file
    if file and (file.collecting or file.window) and not file.carried:
        late = file.window + MOST_READS * max(1, file.collecting)  # reads that the last instructions may still wait for
        yield "register banks", each * sum(map(register_banks, works)) - late
    if any(work.costs for work in works):
        early = max(cost.early for work in works for cost in work.costs.values())
        yield "load/store unit", each * sum(map(load_store_unit, works)) - early
        yield "memory bandwidth", sharing * sum(map(memory_bandwidth, works))
    yield "dependence chain", _waves(works[0], share) * min(map(dependence_chain, works)) + _refills(works[0], share)


def _choices(work: Work) -> list[Pipes]:
    """Return by pc the pipes that may execute the instruction."""
    units = work.sm.machine.units
    return [frozenset(units["choice"][u, : units["choices"][u]].tolist()) for u in work.program["unit"][:-1]]


def _groups(works: Sequence[Work]) -> Sequence[Pipes]:
    """Return the pipes that limit together: those of one instruction that did something, and unions that share some."""
    used = [c for work in works for c, n in zip(_choices(work), work.certain, strict=True) if c and n]
    groups = list(dict.fromkeys(used))
    for group in groups:  # grows as it goes
        groups += {group | other for other in groups if group & other} - set(groups)
    return sorted(groups, key=sorted)


def _still_busy(work: Work, group: Pipes) -> int:
    """Cycles that a pipe may still be busy when the warp behind its last instruction has exited."""
    interval = max(int(work.sm.machine.pipe_interval[index]) for index in group)
    return max(0, interval - work.machine.schedulers.reissue - work.machine.schedulers.interval)


def _waves(work: Work, share: int) -> int:
    """Blocks that some place of the SM runs one after another."""
    return -(-share // int(work.sm.launch.resident))


def _refills(work: Work, share: int) -> int:
    """Cycles between those blocks."""
    return (_waves(work, share) - 1) * work.machine.launch.block_latency


def _works(kernel: Kernel, machine: Machine, ids: range, sms: int, limit: int) -> tuple[list[Work], bool]:
    """Return the work of these blocks of so many SMs: of all, of three if alike, of one if all must be; and whether."""
    ground = launch(kernel, machine, feed=AFFINE, memory=np.zeros(0, np.uint32))
    share_channel(ground.sm, sms)
    light = without_contents(kernel) if recordable(kernel) else kernel
    seen: Seen = {}

    def work(block: int) -> Work:
        executed = profile(light, block, limit=limit)
        patterns = costs(ground.sm, ground.program, executed, seen)
        certain = _certain(kernel, executed, patterns)
        return Work(kernel, machine, ground.sm, ground.program, executed, certain, patterns)

    if _only_moves(kernel, machine):
        return [work(0)], True
    few = [work(block) for block in (ids if len(ids) <= ALL_PROFILED else (ids[0], ids[len(ids) // 2], ids[-1]))]
    alike = all(np.array_equal(few[0].profile.counts, other.profile.counts) for other in few)
    return (few, alike) if alike or len(few) == len(ids) else ([work(block) for block in ids], False)


def _only_moves(kernel: Kernel, machine: Machine) -> bool:
    """Tell whether blocks do the same but for global addresses that lie whole lines apart: they cost the same."""
    steps = block_steps(kernel)
    return steps is not None and all(
        not any(part % machine.global_memory.line_bytes for part in step)
        for pc, step in steps.items()
        if kernel.program.instructions[pc].row.unit is Unit.GLOBAL
    )


def _certain(kernel: Kernel, executed: Profile, patterns: Mapping[int, AccessCost]) -> NDArray[np.int64]:
    """Return the warp instructions, by pc, in which for certain a lane was active: all, or enough for the lanes."""
    unguarded = np.array([i.guard == PT for i in kernel.program.instructions])
    certain = np.where(unguarded, executed.counts, -(-executed.active // kernel.warp_size))
    for pc, cost in patterns.items():
        certain[pc] = cost.executions
    return certain
