"""The timeline document, built from trace records: what each warp instruction did, when, and what it waited for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from msgspec.structs import replace

from gpusim.engines.simulate import Progress, run_chip, run_sm
from gpusim.engines.sm_run import SmRun
from gpusim.launch.codes.assign_codes import sharing
from gpusim.launch.feed import ADDRESS_ONLY, TRACE_DRIVEN
from gpusim.launch.launch import launch
from gpusim.machine.machine import Machine
from gpusim.simulation.timeline import background, blockers
from gpusim.simulation.timeline.background import Background
from gpusim.simulation.timeline.late import late
from gpusim.sm.account.record.declaration import (
    AWAIT,
    COPY,
    HOLD,
    ISSUE,
    PHASE,
    PLACE,
    PRODUCT,
    REFUSE,
    RELEASE,
    REPLAY,
    RETIRE,
    SELECT,
    SERVE,
    WRITE,
)
from gpusim.sm.memory.account.declaration import LEVELS
from gpusim.sm.unit.capacities import NEVER
from gpusim.sm.unit.stall import Stall, label
from gpusim.support.document import plain
from gpusim.views.timeline.dependence import born, over
from gpusim.views.timeline.document import END, NONE, Issued, Letter, Line, Lost, Resident, Timeline, Wait, seen
from isa.code_region import code_regions, innermost
from isa.errors import DeadlockError, LimitError, UserError
from isa.kernel import Kernel
from isa.nvidia.abi.on_chip import synchronises
from isa.row import Unit
from isa.text.printer import text_of

STATES = (  # of an instruction that has issued
    Letter("queued", "q", "has issued, and waits in the queue of the load/store unit"),
    Letter("occupies", "=", "occupies its pipe, the load/store unit or the copy engine"),
    Letter("under_way", "-", "its result or access, or a phase of a barrier, is under way"),
    Letter("done", "D", "its result is there, or its access has left the SM"),
)
NO_SETTINGS: Mapping[str, int | str] = {}


class Record(NamedTuple):
    """A trace record, in the order of its declaration."""

    cycle: int
    kind: int
    agent: int
    warp: int
    block: int
    pc: int
    detail: int
    unit: int
    lanes: int
    end: int
    read: int
    done: int
    back: int
    access: int
    level: int
    release_at: Sequence[int]


class _EnoughError(Exception):
    """All requested cycles have been followed."""


@dataclass(slots=True)
class _Kept:
    """The content of the document so far, for the warp slots `shown` and the cycles from `start` up to `end`."""

    sm: blockers.Sm
    background: Background
    warps: int  # of a block
    slots: int  # of warps
    shown: frozenset[int]
    start: int
    end: int
    issued: dict[int, Issued] = field(default_factory=dict)
    unserved: set[int] = field(default_factory=set)  # those that are in a queue, or whose result is not written
    lost: list[Lost] = field(default_factory=list)
    refused: dict[int, list[Lost]] = field(default_factory=dict)  # by warp slot, until its instruction issues
    resident: dict[int, Resident] = field(default_factory=dict)  # by block slot
    left: list[Resident] = field(default_factory=list)
    last_left: int = 0  # when the last block so far left

    def take(self, records: Any) -> None:
        """Follow more records; raises _EnoughError after the last one that matters."""
        for record in map(Record._make, zip(*(records[name].tolist() for name in Record._fields), strict=True)):
            _FOLLOW[record.kind](self, record)
        if len(records) and records["cycle"][-1] > self.end and _complete(self):
            raise _EnoughError


def timeline(
    kernel: Kernel,
    machine: Machine,
    *,
    warps: Sequence[int] | None = None,
    start: int = 0,
    end: int | None = None,
    blocks: int | None = None,
    max_cycles: int = NEVER,
    settings: Mapping[str, int | str] = NO_SETTINGS,
    progress: Progress | None = None,
) -> Timeline:
    """Simulate one SM and return its timeline: of all warp slots or some, from cycle `start` up to `end` or the last.

    Up to `end` the SM is followed instruction by instruction; the cycles of the whole run are then found without a
    trace. `settings` are the numbers of the machine that were replaced. Other options and errors are those of `run_sm`;
    also raises UserError for warp slots or cycles that don't exist.
    """
    run = partial(_run_of(kernel, blocks), kernel, machine, feed=TRACE_DRIVEN, max_cycles=max_cycles, progress=progress)
    launched = launch(kernel, machine, feed=ADDRESS_ONLY, blocks=blocks)
    slots = int(launched.sm.warp_slots)
    shown = range(slots) if warps is None else sorted(set(warps))
    _check(slots, shown, start, end)
    followed, last = blockers.begin(launched), NEVER if end is None else end
    aside = Background(followed, max(1, int(launched.sm.launch.shared_words)))
    kept = _Kept(followed, aside, kernel.warps, slots, frozenset(shown), start, last)
    try:
        cycles = run(trace=True, take=kept.take).cycles
    except _EnoughError:
        cycles = _cycles(run)
    if start >= cycles != NONE:
        raise UserError(f"--cycles {start}: the run ends at cycle {cycles}; give an earlier first cycle")
    _close(kept, kept.end if cycles == NONE else cycles)
    return _document(kernel, machine, kept, settings, cycles)


def letters() -> tuple[Letter, ...]:
    """Return the letters of stall reasons, in their order, and of the states of an instruction after its issue."""
    return (*(Letter(label(reason), reason.letter, reason.meaning) for reason in Stall), *STATES)


def _check(slots: int, shown: Sequence[int], start: int, end: int | None) -> None:
    wrong = [g for g in shown if not 0 <= g < slots]
    if wrong:
        raise UserError(
            f"--warps {wrong[0]}: the launch fills warp slots 0 to {slots - 1} of an SM; choose among these"
        )
    if start < 0 or (end is not None and end <= start):
        raise UserError(f"--cycles {start}:{'' if end is None else end}: give a first cycle from 0 on and a later end")


def _run_of(kernel: Kernel, blocks: int | None) -> Callable[..., SmRun]:
    """Return what runs an SM, or those of one cluster, or all for a grid that is synchronised; the first is shown."""
    if synchronises(kernel):
        return run_chip
    if kernel.cluster_blocks > 1:
        return partial(run_chip, sms=kernel.cluster_blocks)
    return partial(run_sm, blocks=blocks)


def _cycles(run: Callable[..., SmRun]) -> int:
    """Return the cycles of the whole run; NONE if it does not end by itself."""
    try:
        return run().cycles
    except (DeadlockError, LimitError):
        return NONE


# --- records ----------------------------------------------------------------------------------------------------------


def _place(kept: _Kept, record: Record) -> None:
    slots = range(record.detail * kept.warps, (record.detail + 1) * kept.warps)
    blockers.place(kept.sm, slots, record.cycle)
    background.place(kept.background, record.detail, record.cycle)
    kept.resident[record.detail] = Resident(record.block, record.detail, tuple(slots), record.cycle, NONE)


def _retire(kept: _Kept, record: Record) -> None:
    resident = kept.resident.pop(record.detail)
    kept.last_left = record.cycle
    background.leave(kept.background, record.detail, record.cycle)
    for g in resident.warps:
        del kept.sm.warps[g]
    if record.cycle > kept.start:
        kept.left.append(replace(resident, retired=record.cycle))


def _issue(kept: _Kept, record: Record) -> None:
    warp, k = kept.sm.warps[record.warp], blockers.scheduler_of(record)
    waits = blockers.waits(kept.sm, record)
    unused = [*kept.refused.pop(record.warp, ()), *_unused(kept.sm, record, waits)]
    before, warp.refusals = warp.refusals, []
    number = blockers.issue(kept.sm, record)
    background.issued(kept.background, record, number)
    _lose(kept, (replace(lost, ended_by=number) for lost in unused))
    begin = record.cycle if record.done != NONE else NONE
    of = record.warp, record.block, record.pc, k, record.cycle
    made = Issued(number, *of, begin, record.end, record.done, record.lanes, blockers.merged((*before, *waits)))
    if record.warp in kept.shown and born(made) < kept.end:
        kept.issued[number] = made
        row = kept.sm.facts.rows[record.pc]
        if (record.lanes or row.idles) and (row.columns or (record.done == NONE and row.queued)):
            kept.unserved.add(number)
        else:
            _drop(kept, made)


def _refuse(kept: _Kept, record: Record) -> None:
    k, waits = blockers.scheduler_of(record), blockers.waits(kept.sm, record)
    wasted = Lost(k, label(Stall.MIO_THROTTLE), record.cycle, record.cycle + kept.sm.facts.machine.interval)
    kept.refused.setdefault(record.warp, []).extend([*_unused(kept.sm, record, waits), wasted])
    blockers.refuse(kept.sm, record, waits)


def _serve(kept: _Kept, record: Record) -> None:
    number = blockers.serve(kept.sm, record)
    background.served(kept.background, record, number)
    if number in kept.unserved:
        times = {"begin": record.cycle, "end": record.end, "done": record.done}
        conflicts = blockers.conflicts(kept.sm, record)
        level = LEVELS[record.level] if record.level >= 0 else ""
        kept.issued[number] = replace(kept.issued[number], **times, conflicts=conflicts, level=level)
        if record.done != NONE:
            _finish(kept, number)


def _write(kept: _Kept, record: Record) -> None:
    number = blockers.write(kept.sm, record)
    if number in kept.unserved:
        kept.issued[number] = replace(kept.issued[number], done=record.done)
        _finish(kept, number)


def _finish(kept: _Kept, number: int) -> None:
    """An instruction of the load/store unit needs no further record."""
    kept.unserved.remove(number)
    made = replace(kept.issued[number], late=late(kept.sm.facts, kept.issued[number]))
    kept.issued[number] = made
    _drop(kept, made)


def _hold(kept: _Kept, record: Record) -> None:
    blockers.hold(kept.sm, blockers.scheduler_of(record), record.unit, record.detail, record.cycle)


def _select(kept: _Kept, record: Record) -> None:
    blockers.select(kept.sm, blockers.scheduler_of(record), record.pc, record.cycle)


def _replay(kept: _Kept, record: Record) -> None:
    k = blockers.scheduler_of(record)
    begin = kept.sm.schedulers[k].used_until
    blockers.replay(kept.sm, k, record.warp, record.detail)
    _lose(kept, [Lost(k, label(Stall.INSTRUCTION_REPLAY), begin, record.detail, kept.sm.schedulers[k].replayed)])


def _release(kept: _Kept, record: Record) -> None:
    blockers.release(kept.sm, record)


def _copy(kept: _Kept, record: Record) -> None:
    background.copied(kept.background, record)


def _await(kept: _Kept, record: Record) -> None:
    background.awaits(kept.background, record)


def _phase(kept: _Kept, record: Record) -> None:
    background.ended(kept.background, record)


def _product(kept: _Kept, record: Record) -> None:
    for number in background.multiplied(kept.background, record):
        if number in kept.unserved:
            times = {"begin": record.detail, "end": record.end, "done": record.done}
            kept.issued[number] = replace(kept.issued[number], **times)
            _finish(kept, number)


_FOLLOW: dict[int, Callable[[_Kept, Record], None]] = {
    PLACE: _place,
    ISSUE: _issue,
    REFUSE: _refuse,
    SERVE: _serve,
    RELEASE: _release,
    RETIRE: _retire,
    HOLD: _hold,
    SELECT: _select,
    REPLAY: _replay,
    WRITE: _write,
    COPY: _copy,
    AWAIT: _await,
    PHASE: _phase,
    PRODUCT: _product,
}


def _unused(sm: blockers.Sm, record: Record, waits: Sequence[Wait]) -> Iterator[Lost]:
    """The scheduler's unused slots that this record ends, as `stall_accounting` charges them."""
    k, since = blockers.scheduler_of(record), sm.warps[record.warp].since
    reached = sm.schedulers[k].used_until
    if reached < since <= record.cycle:
        yield Lost(k, label(Stall.NO_WARP), reached, since)
    for wait in waits:
        begin = max(wait.start, reached)
        if wait.end > begin and wait.reason != label(Stall.INSTRUCTION_REPLAY):  # a replay uses its slot
            yield Lost(k, wait.reason, begin, wait.end)


def _close(kept: _Kept, cycles: int) -> None:
    """Keep the unused slots at the end of the run, which no record ends: the last may be behind the last block."""
    left = cycles if kept.resident else min(cycles, kept.last_left)
    for k, scheduler in enumerate(kept.sm.schedulers):
        reason = Stall.WARP_EXITED if k < kept.slots else Stall.NO_WARP
        behind = max(scheduler.used_until, left)
        ends = [(reason, scheduler.used_until, left), (Stall.NO_WARP, behind, cycles)]
        _lose(kept, [Lost(k, label(why), start, end) for why, start, end in ends if start < end])


def _lose(kept: _Kept, unused: Iterable[Lost]) -> None:
    """Keep the slots that overlap the cycles shown."""
    kept.lost += [lost for lost in unused if lost.start < kept.end and lost.end > kept.start]


# --- the document -----------------------------------------------------------------------------------------------------


def _drop(kept: _Kept, made: Issued) -> None:
    """Drop an instruction that was over before the first cycle shown."""
    if over(made) <= kept.start:
        del kept.issued[made.id]


def _complete(kept: _Kept) -> bool:
    """Whether no later record can concern the cycles shown, for any warp or block."""
    warps = (warp for g, warp in kept.sm.warps.items() if g in kept.shown)
    schedulers = kept.sm.schedulers[: kept.slots]
    waiting = any(warp.since < kept.end for warp in warps) or any(one.used_until < kept.end for one in schedulers)
    waiting = waiting or any(lost.start < kept.end for some in kept.refused.values() for lost in some)
    return not waiting and not kept.unserved and kept.background.copied_before(kept.end)


def _document(
    kernel: Kernel, machine: Machine, kept: _Kept, settings: Mapping[str, int | str], cycles: int
) -> Timeline:
    end = kept.end if cycles == NONE else min(kept.end, cycles)
    blocks = [seen(one, end) for one in (*kept.left, *kept.resident.values()) if one.placed < end]
    return Timeline(
        kernel=kernel.name,
        parameters=plain(kernel.arguments),
        machine=machine.key,
        machine_name=machine.name,
        settings=dict(settings),
        policy=machine.schedulers.policy,
        clock_mhz=float(machine.chip.shader_mhz),
        interval=machine.schedulers.interval,
        schedulers=machine.schedulers.count,
        warp_slots=kept.slots,
        cycles=cycles,
        start=kept.start,
        end=end,
        shown=tuple(sorted(kept.shown)),
        letters=letters(),
        program=_program(kernel, machine, kept.sm),
        blocks=tuple(sorted(blocks, key=lambda one: (one.placed, one.id))),
        instructions=tuple(kept.issued[number] for number in sorted(kept.issued)),
        lost=tuple(sorted(kept.lost, key=lambda lost: (lost.start, lost.scheduler))),
        copies=kept.background.copies_in(kept.start, end),
        phases=kept.background.phases_in(kept.start, end),
    )


def _program(kernel: Kernel, machine: Machine, sm: blockers.Sm) -> tuple[Line, ...]:
    """The program's lines, and the row after its end, where a warp exits too."""
    units, code = tuple(Unit), kernel.program.instructions
    inner = innermost(code_regions(kernel.program, kernel.marked))
    regions = {pc: region.name for pc, region in inner.items()}
    texts = [*(text_of(kernel.program, pc) for pc in range(len(code))), END]
    shared = sharing(kernel.program, machine)
    of = enumerate(zip(texts, sm.facts.rows, strict=True))
    return tuple(
        Line(pc, text, units[row.unit].value, regions.get(pc, ""), shared.get(pc, ())) for pc, (text, row) in of
    )
