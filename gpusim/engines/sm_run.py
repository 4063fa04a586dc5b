"""The results of a run: of one SM, or of several of a chip."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim.launch.launch import Launch
from gpusim.launch.scalar_registers import by_index, places
from gpusim.machine.machine import Machine
from gpusim.machine.occupancy import Occupancy
from gpusim.sm.memory.account.declaration import DRAM_READ, DRAM_WRITTEN, L2_READ, L2_UPDATED, L2_WRITTEN
from gpusim.sm.memory.cache.declaration import SHARE_PARTS
from gpusim.sm.records import Sm
from gpusim.sm.state.layout import rows_of
from gpusim.sm.unit.capacities import UNITS_OF_MEMORY
from gpusim.sm.unit.stall import Stall
from isa.executing.beyond import Beyond, joined
from isa.kernel import Kernel
from isa.support import brief, frozen

END = np.dtype([("cycle", np.int64), ("issued", np.int64)])  # when a block left, warp instructions issued by then


@frozen.comparable
@dataclass(frozen=True, repr=False)
class SmRun:
    """The results of one SM. Cycles are of the machine's fastest clock; arrays are indexed by pc unless said otherwise.

    `stalls[pc, reason]` counts warp-cycles, `lost[scheduler, reason]` cycles of unused issue slots; with `empty`, the
    warp-cycles of slots without a block, `stalls` adds up to `cycles * warp_slots`. `registers` has a row for each
    warp slot, and none if the run is trace-driven, which computes no values.
    """

    cycles: int
    blocks: int
    ends: Any  # [block] of END, in the order in which the last ENDS blocks left; none if waves were estimated
    warp_slots: int
    interval: int
    issued: NDArray[np.int64]
    active: NDArray[np.int64]
    load_store_cycles: NDArray[np.int64]
    held: NDArray[np.int64]  # [unit, pc] cycles for which its load/store units were kept, waits for others included
    updating: NDArray[np.int64]  # [slice of the L2] cycles of atomics, also of SMs that these stand for
    l2_asked: NDArray[np.int64]  # loads, stores, answers: 1/64 cycles of its share of the L2; 0 where no SM has one
    copied: NDArray[np.int64]  # bytes that the copy engine has asked for, or sent
    awaited: NDArray[np.int64]  # [pc, 2] warp-cycles waited for phases of barriers that arrivals end, and copies
    stages: NDArray[np.int64]  # [pc] mask of the barriers of a block at whose phases the instruction waits
    stalls: NDArray[np.int64]
    empty: int
    behind: int  # cycles at the end for which the L2 still does atomics, behind the exit of the last warp of any SM
    lost: NDArray[np.int64]
    pipe_cycles: dict[str, int]
    memory: NDArray[np.uint32]
    registers: NDArray[np.uint32]
    trace: Any
    occupancy: Occupancy
    engine: str
    feed: str
    skipped: int  # cycles skipped by fast-forward
    estimated: int  # cycles estimated, not simulated
    doubt: int  # cycles by which those may be wrong
    account: NDArray[np.int64]  # [number of the instruction, place, kind] (gpusim.sm.memory.account.declaration)
    accounted: NDArray[np.int64]  # by pc the number of the instruction there; 0: it moves nothing
    events: int
    threads: int  # of this computer that simulated
    first_sm: int  # the number of the SM, or of the first of several
    beyond: Beyond | None  # loads behind buffers, of the blocks whose addresses were computed
    in_turn: str  # why SMs took turns on one thread; empty if they ran ahead of each other, or there is one

    __repr__ = brief.brief

    @property
    def warp_instructions(self) -> int:
        """Warp instructions issued, including those whose guard was false."""
        return int(self.issued.sum())

    @property
    def sectors(self) -> dict[str, int]:
        """Sectors that moved between SM and L2 ("loaded", "stored"), L2 and DRAM ("read", "written")."""
        found = self.account.sum(axis=(0, 1)).tolist()
        stored = found[L2_WRITTEN] + found[L2_UPDATED]
        return {"loaded": found[L2_READ], "stored": stored, "read": found[DRAM_READ], "written": found[DRAM_WRITTEN]}

    @property
    def sms(self) -> int:
        """SMs that were simulated."""
        return 1


@frozen.comparable
@dataclass(frozen=True, repr=False)
class ChipRun(SmRun):
    """The results of several SMs: `cycles` until the last is done, sums for the rest, and in `each` the run of each.

    `lost` has a row for each scheduler of each SM, `registers` one for each warp slot; `trace` is empty, as each SM
    keeps its own. An SM that is done counts empty warp slots and empty schedulers (`no_warp`) until all are done.
    """

    each: tuple[SmRun, ...]

    @property
    def sms(self) -> int:
        """SMs that were simulated."""
        return len(self.each)


def result(
    kernel: Kernel, machine: Machine, how: Mapping[str, str], prepared: Launch, trace: Any, events: int
) -> SmRun:
    """Return the results of a launch that has come to its end; `how` names the engine and the feed."""
    sm, program = prepared.sm, prepared.program
    return SmRun(
        cycles=int(sm.cycles),
        blocks=int(sm.placed),
        ends=_ends(sm),
        warp_slots=int(sm.warp_slots),
        interval=machine.schedulers.interval,
        issued=np.array(program.issued),
        active=np.array(program.active),
        load_store_cycles=np.array(program.passes),
        held=np.where(program.path == np.arange(UNITS_OF_MEMORY)[:, None], program.held, 0),
        updating=np.array(sm.load_store.updating) // SHARE_PARTS,
        l2_asked=np.array(sm.load_store.asked),
        copied=np.array(program.copied),
        awaited=np.array(program.awaited),
        stages=np.array(program.stages),
        stalls=np.array(program.stall),
        empty=int(sm.empty),
        behind=int(sm.cycles) - int(max(sm.empty_since[: sm.warp_slots], default=0)),
        lost=np.array(sm.schedulers["lost"][: machine.schedulers.count]),
        pipe_cycles={name: int(sm.pipes["busy"][:, i].sum()) for i, name in enumerate(machine.pipe)},
        memory=prepared.memory[: prepared.global_words],
        registers=_registers(sm, kernel),
        trace=trace.view(np.recarray),
        occupancy=prepared.occupancy,
        engine=how["engine"],
        feed=how["feed"],
        skipped=int(sm.skipped),
        estimated=int(sm.estimated),
        doubt=int(sm.doubt),
        account=np.array(sm.account),
        accounted=np.array(program.accounted, np.int64),
        events=events,
        threads=1,
        first_sm=int(sm.launch.index),
        beyond=beyond_of(sm),
        in_turn="",
    )


def beyond_of(sm: Sm) -> Beyond | None:
    """Return the loads behind buffers that the SM's blocks made, or None."""
    found = sm.beyond
    numbers = (int(getattr(found, name)) for name in Beyond.__dataclass_fields__)
    return Beyond(*numbers) if found.loads else None


def _ends(sm: Sm) -> Any:
    """Return when the last blocks left, in that order; none where waves were taken at their mean cost."""
    known = 0 if sm.waves_estimated else min(int(sm.retired), len(sm.ended))
    places = np.arange(int(sm.retired) - known, int(sm.retired)) % max(1, len(sm.ended))
    ends = np.zeros(known, END)
    ends["cycle"], ends["issued"] = sm.ended[places], sm.ended_after[places]
    return ends.view(np.recarray)


def _registers(sm: Sm, kernel: Kernel) -> NDArray[np.uint32]:
    """Return [warp slot, register, lane] by the program's indices, without warp slots if no values were computed."""
    groups = int(sm.machine.groups)
    computed = 0 if sm.trace_driven else int(sm.warp_slots)
    program = kernel.program
    held = rows_of(sm.lanes).registers[: computed * groups, : places(program)]
    split = held.reshape(computed, groups, *held.shape[1:])
    return by_index(np.concatenate([split[:, group] for group in range(groups)], axis=-1), program)


def together(each: Sequence[SmRun], threads: int = 1, in_turn: str = "") -> ChipRun:
    """Return the sums over several SMs; an SM counts as empty from its own last cycle to the last of all.

    `threads` simulated them, or one, on which they took turns for the given reason.
    """
    first, cycles = each[0], max(run.cycles for run in each)
    rest = np.array([cycles - run.cycles for run in each])
    lost = np.stack([run.lost for run in each])
    lost[:, :, Stall.NO_WARP] += rest[:, None]
    return ChipRun(
        cycles=cycles,
        blocks=sum(run.blocks for run in each),
        ends=first.ends[:0],
        warp_slots=sum(run.warp_slots for run in each),
        interval=first.interval,
        issued=_sum(run.issued for run in each),
        active=_sum(run.active for run in each),
        load_store_cycles=_sum(run.load_store_cycles for run in each),
        held=_sum(run.held for run in each),
        updating=_sum(run.updating for run in each),
        l2_asked=_sum(run.l2_asked for run in each),
        copied=_sum(run.copied for run in each),
        awaited=_sum(run.awaited for run in each),
        stages=np.bitwise_or.reduce([run.stages for run in each]),
        account=_sum(run.account for run in each),
        accounted=first.accounted,
        stalls=_sum(run.stalls for run in each),
        empty=sum(run.empty for run in each) + int(rest.sum()) * first.warp_slots,
        behind=cycles - max(run.cycles - run.behind for run in each),
        lost=lost.reshape(-1, lost.shape[-1]),
        pipe_cycles={name: sum(run.pipe_cycles[name] for run in each) for name in first.pipe_cycles},
        memory=first.memory,
        registers=np.concatenate([run.registers for run in each]),
        trace=first.trace[:0],
        occupancy=first.occupancy,
        engine=first.engine,
        feed=first.feed,
        skipped=0,
        estimated=0,
        doubt=0,
        events=first.events,
        each=tuple(each),
        threads=threads,
        first_sm=first.first_sm,
        beyond=joined(run.beyond for run in each),
        in_turn=in_turn,
    )


def _sum(arrays: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.asarray(np.sum(list(arrays), axis=0))
