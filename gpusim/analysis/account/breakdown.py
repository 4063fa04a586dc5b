"""The breakdown from the chip's peak down to the simulated rate: each step has a cause, and the steps add up exactly.

In cycles of the SM with most work, or of all SMs together:

    the launch's operations, or bytes, at the chip's peak rate
    + other SMs have fewer blocks: they could have shared this one's if blocks were divisible
    + issue slots of instructions without operations (or with fewer than the peak's instruction)
    + time of the bound's limiter beyond the issue slots
    + issue slots that stayed empty beyond that, by reason
    = the simulated cycles

The last part is exact because each issue slot is either used or lost for one reason. Slots lost to the limiter are
subtracted from all reasons in proportion; so are those of blocks that were not simulated. Where several SMs were
simulated, slots are those of the SM that is done last: what SMs with fewer blocks lose is the step of uneven SMs. A
rate is the launch's work over the cycles so far: GFLOP/s, or for kernels without operations GB/s at the level of memory
that is nearest to its peak, or where issue slots are nearer to theirs, or no bytes are known, thread instructions per
cycle of an SM.
`gpusim limits` instead runs the launch again (gpusim/analysis/account/limit_study.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpusim.analysis.account.rates.memory_rates import MemoryRate, memory_rates
from gpusim.analysis.account.stalls import lost_by_the_last
from gpusim.bounds import rates
from gpusim.simulation.result import Result
from gpusim.support.plural import plural

NEGLIGIBLE = 1e-6  # share of the cycles: limits are rounded up to whole cycles


@dataclass(frozen=True)
class Step:
    """One step: what it costs and why, and the rate that is left. `loss` and `rate` are in the breakdown's unit."""

    cause: str
    cycles: float
    loss: float
    rate: float


@dataclass(frozen=True)
class Breakdown:
    """Steps from the top: the first costs nothing and has the peak's rate, the last has the simulated one."""

    unit: str
    steps: tuple[Step, ...]


def breakdown(result: Result) -> Breakdown:
    """Return the breakdown of a result."""
    unit, work = _work(result)
    steps: list[Step] = []
    total = 0.0
    for cause, cycles in _costs(result):
        total += cycles
        rate = work / total
        steps.append(Step(cause, cycles, steps[-1].rate - rate if steps else 0.0, rate))
    return Breakdown(unit, tuple(steps))


def _work(result: Result) -> tuple[str, float]:
    """Return the unit of rates, and the work that gives a rate when divided by cycles."""
    if result.gflops is not None:
        return "GFLOP/s", result.gflops * result.cycles
    if nearest := _nearest_to_peak(result):
        return "GB/s", nearest.gbs * result.cycles
    return "thread instructions per cycle", result.thread_instructions_per_cycle * result.cycles


def _nearest_to_peak(result: Result) -> MemoryRate | None:
    """Return the rate of the level of memory that is nearest to its peak, None if issue slots are nearer to theirs."""
    nearer = [rate for rate in memory_rates(result) if rate.percent / 100 * result.cycles > _issued(result)]
    return max(nearer, key=lambda rate: rate.percent, default=None)


def _costs(result: Result) -> Iterator[tuple[str, float]]:
    """Yield cause and cycles of each step; the first is the time at peak."""
    levels = list(_levels(result))
    reached = levels[0][1]
    yield levels[0]
    for cause, level in levels[1:]:
        if level > reached * (1 + NEGLIGIBLE):
            yield cause, level - reached
            reached = level
    lost = lost_by_the_last(result.run)
    for reason, slots in lost.items() if result.cycles > reached else ():
        yield f"lost slots: {reason}", (result.cycles - reached) * slots / sum(lost.values())


def _levels(result: Result) -> Iterator[tuple[str, float]]:
    """Yield cause and level of each limit that counts before slots are lost, in cycles of the SM."""
    kernel = result.kernel
    top = _peak(result)
    if top:
        name, peak = top
        yield f"peak, {name}", min(peak, result.cycles)
        fullest = _most_blocks(result) * result.machine.chip.sms / kernel.blocks
        yield _fewer_blocks(result), min(peak * fullest, result.cycles)
    yield _other_instructions(result) if kernel.flops else _all_instructions(top), min(_issued(result), result.cycles)
    if result.bound:
        yield f"bound: {result.bound.limiter}", min(float(result.bound.cycles), result.cycles)


def _issued(result: Result) -> float:
    """Return the cycles of the issue slots that the SM with most work uses."""
    run = result.run
    used = (run.cycles * len(run.lost) - int(run.lost.sum())) / run.warp_instructions  # cycles of slots for each
    mean = result.scaling.blocks_of_sm / run.sms
    return result.warp_instructions * used / len(run.lost) * _most_blocks(result) / mean


def _peak(result: Result) -> tuple[str, float] | None:
    """Return what has the peak, and the cycles of all operations, or else bytes, at that rate; None if unknown."""
    if result.gflops is not None:
        return rates.precision(result.kernel, result.machine), result.cycles * result.gflops / result.peak_gflops
    nearest = _nearest_to_peak(result)
    return (f"bytes of the {nearest.level}", result.cycles * nearest.percent / 100) if nearest else None


def _all_instructions(top: tuple[str, float] | None) -> str:
    return "issue slots of all instructions" if top else "all issue slots used"


def _most_blocks(result: Result) -> int:
    """The least number of blocks that the busiest SM has to take."""
    return -(-result.kernel.blocks // result.machine.chip.sms)


def _fewer_blocks(result: Result) -> str:
    blocks, sms = result.kernel.blocks, result.machine.chip.sms
    waits = ", no_warp" if result.run.sms > 1 else ""
    return f"uneven SMs{waits}: {plural(_most_blocks(result), 'block')}, mean {round(blocks / sms, 2):g}"


def _other_instructions(result: Result) -> str:
    """Name the share of issued instructions that do fewer operations than the best instruction."""
    rows = [i.row for i in result.kernel.program.instructions]
    tensor, unit = rates.tensor_kinds(result.kernel), rates.peak_unit(result.kernel)
    counted = [bool(rates.tensor_kind(row.mnemonic)) if tensor else row.unit is unit for row in rows]
    best = max((row.flops for row, counts in zip(rows, counted, strict=True) if counts), default=0)
    fewer = [not counts or row.flops < best for row, counts in zip(rows, counted, strict=True)]
    issued = result.run.issued[: len(rows)]
    others = issued[fewer].sum() / issued.sum()
    return f"other instructions: {100 * others:.1f} % of slots"
