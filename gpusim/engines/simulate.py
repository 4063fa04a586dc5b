"""Run a kernel on one SM of a machine, or on all, with either engine, and collect the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gpusim.engines import endless_wait, line_share, slice_share
from gpusim.engines.busiest_sm import busiest_sm
from gpusim.engines.chip.store_turns import stop_often
from gpusim.engines.sm_run import ChipRun, SmRun, result, together
from gpusim.engines.trace import Take, to_file
from gpusim.engines.walks.launch_lines import of_launch
from gpusim.engines.walks.told_faults import cluster_deadlock, deadlock_of, fault_of
from gpusim.launch.feed import ADDRESS_ONLY, EXECUTION_DRIVEN, TRACE_DRIVEN, countable, has_requests, recordable
from gpusim.launch.in_turn import CONTESTED, TAGGED, InTurnError, only_share
from gpusim.launch.launch import ChipLaunch, Launch, launch, launch_chip, several_channels
from gpusim.machine.machine import Machine
from gpusim.machine.occupancy import check_cooperative
from gpusim.machine.simulated_sms import blocks_of, clustered, simulated_blocks
from gpusim.sm.memory.cache.declaration import tagged
from gpusim.sm.records import Plain
from gpusim.sm.replay.stream import recorded_requests
from gpusim.sm.state.layout import rows_of
from gpusim.sm.state.recurrence import recurrence
from gpusim.sm.unit.capacities import NEVER
from gpusim.support.plural import plural
from gpusim.support.stages import stage
from isa.errors import LimitError, UserError
from isa.kernel import Kernel
from isa.memory import Held
from isa.nvidia.abi.on_chip import on_chip
from isa.row import Unit

REFERENCE = "the reference engine has one clock"
OWN_SCRIPTS = 16  # blocks that are recorded one by one, where loops are estimated
WINDOW = 4096  # cycles that an SM runs ahead of the last one at most, so that none is alone for long
ENGINES = ("compiled", "reference")
SLICE = 1 << 20  # cycles of all SMs between two reports of progress
Progress = Callable[[int, int], None]
Advance = Callable[[int], int]  # advances to the first time at or after a cycle, and returns it
Count = Callable[[], int]
R = TypeVar("R", bound="SmRun")


def check_engine(name: str) -> None:
    """Raise UserError unless there is an engine of that name."""
    if name not in ENGINES:
        raise UserError(f"--engine {name}: there is no such engine; give one of {', '.join(ENGINES)}")


def run_sm(
    kernel: Kernel,
    machine: Machine,
    *,
    engine: str = "compiled",
    feed: str = EXECUTION_DRIVEN,
    fast_forward: bool = True,
    tolerance: int = 0,
    blocks: int | None = None,
    last: int = 0,
    part: bool = False,
    max_cycles: int = NEVER,
    trace: bool = False,
    take: Take | None = None,
    memory: NDArray[np.uint32] | Held | None = None,
    lines: NDArray[np.bool_] | None = None,
    progress: Progress | None = None,
) -> SmRun:
    """Simulate the SM with most work (gpusim/engines/busiest_sm.py): all its blocks of the grid, or some.

    `blocks`: the SM's first ones that are simulated (default: all), then its final `last`; `part`: bring what these do.
    `feed`: one of gpusim.launch.feed.FEEDS; trace-driven becomes address-only where recording is impossible.
    `fast_forward`: take whole periods at once where the compiled engine is trace-driven; `tolerance`: parts in a
    million by which cycles, stalls and counts may be estimated there, 0: exact. `trace`: keep trace records,
    or pass them to `take` as they come. `memory`: initial global memory; `lines`: the lines of it that are filled, if
    not all. `progress(blocks done, blocks in all)` is called from time to time. Raises UserError where kernel and
    machine don't fit, ExecutionError at a fault, DeadlockError, and LimitError beyond `max_cycles`.
    """
    check_engine(engine)
    start = partial(_alone(kernel, machine), blocks=blocks, last=last, trace=trace, memory=memory, lines=lines)

    def run(feed: str) -> SmRun:
        forward = fast_forward and engine == "compiled"
        prepared = start(feed=feed, fast_forward=forward, tolerance=tolerance, part=part)
        total = min(len(blocks_of(kernel, machine, 1, int(prepared.sm.launch.index))), blocks or kernel.blocks)
        _check_scripts(prepared, total)
        job = _Job(kernel, machine, [prepared], total, engine, feed, max_cycles, progress, take)
        return _run(job, *_engine(engine, prepared, max_cycles))[0]

    return _recorded_or_not(run, kernel, feed, asked=has_requests(kernel, machine))


def _alone(kernel: Kernel, machine: Machine) -> Callable[..., Launch]:
    """Return what prepares the SM with most work; raises UserError where one SM can't stand for all."""
    check_cooperative(kernel, machine)
    endless_wait.check_alone(kernel, machine)
    return partial(launch, kernel, machine, index=busiest_sm(kernel, machine), touched=of_launch(kernel, machine))


def begun(kernel: Kernel, machine: Machine, engine: str) -> tuple[Launch, Advance]:
    """Return the SM with most work at its start, address-only, and what advances it; both raise as `run_sm`."""
    prepared = _alone(kernel, machine)(feed=ADDRESS_ONLY)
    job = _Job(kernel, machine, [prepared], kernel.blocks, engine, ADDRESS_ONLY, NEVER, None)
    _share(job)
    return prepared, partial(_step, job, _engine(engine, prepared, NEVER)[0], [[]])


def run_noting(
    kernel: Kernel, machine: Machine, *, blocks: int, max_cycles: int = NEVER
) -> tuple[Plain, UserError | None]:
    """Run the SM's first blocks with values; return the hazards (records `hazard`) and the error that ended the run.

    Of a launch with clusters the SMs of one run all their blocks. Hazards are recorded if the kernel has control codes
    and the machine obeys them. Raises UserError if kernel and machine don't fit.
    """
    error = None
    if kernel.cluster_blocks > 1:
        kernel, machine = on_chip(kernel, machine.chip.sms), clustered(kernel, machine)
        together = launch_chip(kernel, machine, sms=kernel.cluster_blocks, touched=of_launch(kernel, machine))
        each, how = together.each, _chip_engine("compiled", together)
    else:
        each = (launch(kernel, machine, blocks=blocks, touched=of_launch(kernel, machine)),)
        how = _engine("compiled", each[0], max_cycles)
    try:
        _run(_Job(kernel, machine, each, blocks, "compiled", EXECUTION_DRIVEN, max_cycles, None), *how)
    except UserError as ended:
        error = ended
    return np.concatenate([np.array(one.sm.hazards[: int(one.sm.hazardous)]) for one in each]), error


def write_trace(kernel: Kernel, machine: Machine, path: Path, **options: Any) -> None:
    """Simulate one SM without values, and write its trace records (`trace`) to a .npy file during the run.

    `options` and errors are those of `run_sm`; raises OSError, and leaves no file, if the file can't be written.
    """
    with to_file(path) as take:
        run_sm(kernel, machine, **options, feed=TRACE_DRIVEN, trace=True, take=take)


def run_chip(
    kernel: Kernel,
    machine: Machine,
    *,
    engine: str = "compiled",
    feed: str = EXECUTION_DRIVEN,
    max_cycles: int = NEVER,
    trace: bool = False,
    memory: NDArray[np.uint32] | Held | None = None,
    progress: Progress | None = None,
    threads: int | None = None,
    window: int = WINDOW,
    sms: int | None = None,
    take: Take | None = None,
) -> ChipRun:
    """Simulate the whole grid on all SMs, which share the memory channel; options and errors are those of `run_sm`.

    `sms`: only so many of them, evenly apart, with their blocks and their share of what all share. `take` gets the
    trace records of the first.

    The compiled engine runs on so many `threads` (None: one for each core, and at most one for each SM), where SMs may
    run ahead of each other, for at most `window` cycles; else they take turns on one thread. The result is the same.
    """
    check_engine(engine)
    check_cooperative(kernel, machine)
    if kernel.cluster_blocks > 1:
        kernel, machine = on_chip(kernel, machine.chip.sms), clustered(kernel, machine)
    touched = of_launch(kernel, machine)
    why = REFERENCE if engine != "compiled" else TAGGED if tagged(machine) and stop_often(kernel, machine) else ""

    def run(feed: str) -> ChipRun:
        start = partial(launch_chip, kernel, machine, feed=feed, trace=trace, memory=memory, sms=sms, touched=touched)
        prepared = start(in_turn=why)
        total = len(simulated_blocks(kernel, machine, len(prepared.each)))
        _check_scripts(prepared.each[0], total)
        job = _Job(kernel, machine, prepared.each, total, engine, feed, max_cycles, progress, take)
        try:
            if prepared.in_turn:
                alone = only_share(kernel, machine, prepared.in_turn)
                how = _stretches_engine(kernel, prepared) if alone else _chip_engine(engine, prepared)
                return together(_run(job, *how), in_turn=prepared.in_turn)
            many = threads_for(len(prepared.each), threads)
            return together(_run(job, *_ahead_engine(prepared, many, window)), many)
        except InTurnError:
            if feed == TRACE_DRIVEN:
                raise _UnrecordedError from None
        prepared = start(in_turn=CONTESTED)
        job = replace(job, launches=prepared.each)
        return together(_run(job, *_chip_engine(engine, prepared)), in_turn=CONTESTED)

    return _recorded_or_not(run, kernel, feed, asked=has_requests(kernel, machine) and not several_channels(machine))


def _recorded_or_not(run: Callable[[str], R], kernel: Kernel, feed: str, *, asked: bool) -> R:
    """Run on the feed, or on the address-only feed if nothing can be recorded.

    `asked`: streams hold all requests to caches and channels. Several channels need each access's own, which they lack.
    """
    if feed == TRACE_DRIVEN and recordable(kernel) and asked:
        try:
            return run(feed)
        except _UnrecordedError:
            pass
    return run(ADDRESS_ONLY if feed == TRACE_DRIVEN else feed)


def _check_scripts(prepared: Launch, blocks: int) -> None:
    """Raise _UnrecordedError if streams hold requests, and each of so many blocks would need a script of its own.

    A few may, where loops are estimated, as what is recorded is then more than what is simulated.
    """
    sm = prepared.sm
    few = OWN_SCRIPTS if sm.tolerance else 1
    if sm.trace_driven and recorded_requests.kept(sm) and not sm.provable and blocks > few:
        raise _UnrecordedError


class _UnrecordedError(Exception):
    """The SM reached something that it could not record; if it is a fault, the address-only run raises it."""


@dataclass(frozen=True)
class _Job:
    """A launch on each simulated SM, `total` blocks in all, and how to run them."""

    kernel: Kernel
    machine: Machine
    launches: Sequence[Launch]
    total: int
    engine: str
    feed: str
    max_cycles: int
    progress: Progress | None
    take: Take | None = None


def _run(job: _Job, advance: Advance, events: Count) -> list[SmRun]:
    """Run the launches to their end."""
    _report(job)
    _share(job)
    chunks: list[list[Plain]] = [[np.asanyarray(prepared.sm.records[:0])] for prepared in job.launches]
    now, looked = 0, endless_wait.Looked()
    step = partial(_step, job, advance, chunks)
    while now < NEVER:
        now = step(now + min(looked.quiet, max(1, SLICE // len(job.launches))))
        _report(job)
        now, looked = _look(job, looked, step, now)
    for prepared in job.launches:
        _close(prepared)
    traces = map(np.concatenate, chunks)
    how = {"engine": job.engine, "feed": job.feed}
    return [
        result(job.kernel, job.machine, how, prepared, trace, events())
        for prepared, trace in zip(job.launches, traces, strict=True)
    ]


def _share(job: _Job) -> None:
    """Store what SMs that are not simulated do in the L2."""
    if job.kernel.cluster_blocks == 1:
        slice_share.prepare(job.kernel, job.machine, job.launches)
        line_share.prepare(job.kernel, job.machine, job.launches)


def _report(job: _Job) -> None:
    """Tell how many blocks are done."""
    if job.progress:
        job.progress(sum(map(_done, job.launches)), job.total)


@stage("engine")
def _step(job: _Job, advance: Advance, chunks: Sequence[list[Plain]], until: int) -> int:
    """Advance to a cycle and keep what was recorded; return the cycle. Raises the error of what went wrong."""
    now = advance(min(until, job.max_cycles + 1))
    for kept, prepared in zip(chunks, job.launches, strict=True):
        if prepared.sm.tracing:
            found = _drain(prepared)
            if job.take is None:
                kept.append(found)
            elif prepared is job.launches[0]:
                job.take(found)
    _check(job, now)
    return now


def _look(job: _Job, looked: endless_wait.Looked, step: Advance, now: int) -> tuple[int, endless_wait.Looked]:
    """Look whether blocks wait without end, if none has left since; return the cycle, and when to look next.

    Only warps whose branches depend on memory can. The compared states do not include results in flight.
    """
    sm = job.launches[0].sm
    if sm.trace_driven or sm.defers or recordable(job.kernel) or countable(job.kernel):
        return now, endless_wait.Looked(quiet=NEVER)
    return endless_wait.look(job.kernel, job.launches, step, now, looked, job.max_cycles)


def _engine(name: str, prepared: Launch, max_cycles: int) -> tuple[Advance, Count]:
    """Return a function that advances one SM to a cycle, and one that counts the events so far."""
    if name == "reference":
        from gpusim.engines import reference  # noqa: PLC0415  (heavy imports only when simulating)

        return _by_reference(reference.start(prepared))
    from gpusim.engines import compiled  # noqa: PLC0415
    from gpusim.sm.jit.on_demand import uninterrupted  # noqa: PLC0415

    roles = recurrence(rows_of(prepared.sms), prepared.sizes)
    limit = min(max_cycles, NEVER) + 1
    run = partial(compiled.run, prepared.sms, prepared.memory, roles)
    return uninterrupted(lambda until: int(run(until, limit))), lambda: 0


def threads_for(sms: int, asked: int | None) -> int:
    """Return on how many threads so many SMs, or blocks, run; in one of several processes, on one if none is asked for.

    One where rules are not compiled: threads would only wait for each other.
    """
    from multiprocessing import parent_process  # noqa: PLC0415  (start-up time)

    from gpusim.sm.jit.rule import COMPILED  # noqa: PLC0415
    from gpusim.support.parallel.processes import cores  # noqa: PLC0415

    many = asked or (1 if parent_process() else cores())
    return min(many, sms) if COMPILED else 1


def _ahead_engine(prepared: ChipLaunch, threads: int, window: int) -> tuple[Advance, Count]:
    """Return the same two functions for SMs that run ahead of each other."""
    from gpusim.engines.chip import chip_ahead  # noqa: PLC0415

    return chip_ahead.start(prepared, threads, window), lambda: 0


def _stretches_engine(kernel: Kernel, prepared: ChipLaunch) -> tuple[Advance, Count]:
    """Return the same two functions for SMs that act alone between turns."""
    from gpusim.engines.chip import chip_stretches  # noqa: PLC0415

    scalars = any(one.row.unit is Unit.SMEM for one in kernel.program.instructions)
    return chip_stretches.start(prepared, scalars=scalars), lambda: 0


def _chip_engine(name: str, prepared: ChipLaunch) -> tuple[Advance, Count]:
    """Return the same two functions for all SMs of a chip."""
    if name == "reference":
        from gpusim.engines import reference  # noqa: PLC0415

        return _by_reference(reference.start_chip(prepared))
    from gpusim.engines.chip import chip  # noqa: PLC0415
    from gpusim.sm.jit.on_demand import uninterrupted  # noqa: PLC0415

    times, memory = np.zeros(len(prepared.each), np.int64), prepared.each[0].memory
    run = partial(chip.run, prepared.sms, prepared.chips, times, memory)
    return uninterrupted(lambda until: int(run(until))), lambda: 0


def _by_reference(every: Sequence[Any]) -> tuple[Advance, Count]:
    from gpusim.engines import reference  # noqa: PLC0415

    return lambda until: reference.run(every, until), lambda: sum(agents.events for agents in every)


def _done(prepared: Launch) -> int:
    """Return the number of blocks that have left the SM."""
    return int(prepared.sm.placed) - sum(bool(block.state) for block in prepared.sm.blocks)


def _drain(prepared: Launch) -> Plain:
    """Take the trace records collected so far out of the SM."""
    count = int(prepared.sm.traced)
    prepared.sm.traced = 0
    return np.array(prepared.sm.records[:count], subok=True)


def _close(prepared: Launch) -> None:
    from gpusim.engines.compiled import close  # noqa: PLC0415

    close(prepared.sms)


def _check(job: _Job, now: int) -> None:
    kernel, max_cycles = job.kernel, job.max_cycles
    for prepared in job.launches:
        sm = prepared.sm
        if sm.fault.code and sm.trace_driven:
            raise _UnrecordedError
        if sm.fault.code:
            raise fault_of(kernel, prepared)
        if now >= NEVER and any(block.state for block in sm.blocks):
            raise cluster_deadlock(kernel, job.launches) or deadlock_of(kernel, prepared)
    if max_cycles < now < NEVER:
        placed = sum(int(prepared.sm.placed) for prepared in job.launches)
        raise LimitError(
            f"{kernel.name}: still running after {max_cycles} cycles with {plural(placed, 'block')} placed; "
            "check its loops' end conditions, or raise --max-cycles"
        )
