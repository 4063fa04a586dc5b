"""The content of `gpusim report`: pressure by instruction and region, dependence paths, causes of lost issue slots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

from gpusim.analysis.account import stalls
from gpusim.bounds import bounds
from gpusim.bounds.chain import chain, critical_path
from gpusim.bounds.chain.critical_path import Path
from gpusim.bounds.pressure import Pressure, Work
from gpusim.launch.scalar_registers import place_of
from gpusim.simulation.result import Result
from gpusim.sm.registers.register_file.declaration import register_bank, register_banks
from gpusim.sm.unit.stall import Stall
from gpusim.support.document import doc
from isa.code_region import CodeRegion, code_regions, innermost
from isa.dataflow.dependence import graph
from isa.instruction import Instruction
from isa.text.printer import text_of

ELSEWHERE, WHOLE = "elsewhere", "program"  # instructions outside all regions; the whole program, if none is marked
Paths = tuple[Path, Path]  # critical and loop-carried
NO_PATH = Path(Fraction(0), {})
NO_PATHS = NO_PATH, NO_PATH


@dataclass(frozen=True)
class InstructionPressure:
    """One instruction: how often it issued, and the cycles of each resource that it took in the whole run.

    `shared_passes` and `transactions` are means over its executions in all blocks; `bank_conflicts`: cycles beyond
    the first in which the fullest register bank reads its operands. `critical` and `carried`: cycles that it adds to
    those paths of its innermost region, None if it is not on them. `waits`: warp-cycles spent waiting before it.
    Where the launch has no bound, its blocks can't be profiled: `cycles` are empty, means and paths None.
    """

    pc: int
    text: str
    issued: int
    cycles: Mapping[str, float]
    shared_passes: float | None
    transactions: float | None
    bank_conflicts: int
    critical: int | None
    carried: int | None
    waits: int
    offset: Annotated[int, doc("In machine code, in bytes; -1 if it is none.")]


@dataclass(frozen=True)
class RegionPressure:
    """A code region: sums over its instructions, and the lengths of its paths in cycles.

    `critical` leads through it, `carried` around a loop, for each round; `alone` is the time from the first to the last
    issue of a warp alone on the SM. They are 0 where there is no such path, and for the instructions of no region; None
    where the launch has no bound.
    """

    name: str
    pcs: tuple[int, ...]
    issued: int
    cycles: Mapping[str, float]
    critical: float | None
    carried: float | None
    alone: int | None
    waits: int


@dataclass(frozen=True)
class Bottleneck:
    """A reason for lost issue slots: their cycles, their share of those lost and of all, and where warps mostly waited.

    `pc` is the instruction before which most warp-cycles of that reason were spent, -1 if there are none.
    """

    reason: str
    meaning: str
    cycles: int
    share_of_lost: float
    share_of_slots: float
    pc: int
    text: str
    offset: Annotated[int, doc("Of that instruction in machine code, in bytes; -1 if there is none.")]


@dataclass(frozen=True)
class PressureReport:
    """A simulated launch, cycles of each resource in the whole run, its instructions, regions and bottlenecks."""

    result: Result
    totals: Mapping[str, float]
    instructions: tuple[InstructionPressure, ...]
    regions: tuple[RegionPressure, ...]
    bottlenecks: tuple[Bottleneck, ...]


def pressure_report(result: Result, regions: Sequence[CodeRegion] = (), *, limit: int = bounds.LIMIT) -> PressureReport:
    """Return the report of a launch on one SM, with these regions, or the program's own if none are given.

    Where the launch has no bound, it has what the run itself counts. Raises what `bounds.bound` raises.
    """
    works, found = bounds.pressures(result.kernel, result.machine, limit) if result.bound else ([], {})
    program = result.kernel.program
    whole = (CodeRegion(WHOLE, tuple(range(len(program)))),)
    chosen = regions or code_regions(program, result.kernel.marked) or whole
    paths = _paths(works[0], chosen) if works else dict.fromkeys(chosen, NO_PATHS)
    return PressureReport(
        result=result,
        totals={name: float(one.cycles) for name, one in found.items()},
        instructions=tuple(_instructions(result, works, found, paths)),
        regions=tuple(_regions(result, works[0] if works else None, found, chosen, paths)),
        bottlenecks=tuple(_bottlenecks(result)),
    )


def _paths(work: Work, regions: Sequence[CodeRegion]) -> dict[CodeRegion, Paths]:
    """Return the critical and the loop-carried path of each region."""
    dependences, cost = graph(work.kernel.program), critical_path.weight(work)
    return {
        r: (critical_path.critical(dependences, r.pcs, cost), critical_path.carried(dependences, r.pcs, cost))
        for r in regions
    }


def _instructions(
    result: Result, works: Sequence[Work], found: Mapping[str, Pressure], paths: Mapping[CodeRegion, Paths]
) -> Iterator[InstructionPressure]:
    of_inner = {pc: paths[region] for pc, region in innermost(paths).items()}
    waits = stalls.waits(result.run).sum(axis=1)
    for pc, instruction in enumerate(result.kernel.program.instructions):
        critical, carried = of_inner.get(pc, NO_PATHS)
        yield InstructionPressure(
            pc=pc,
            text=text_of(result.kernel.program, pc),
            issued=int(result.run.issued[pc]),
            cycles=_within(found, (pc,)),
            shared_passes=_mean(works, pc, "passes"),
            transactions=_mean(works, pc, "transactions"),
            bank_conflicts=_bank_conflicts(result, instruction),
            critical=critical.parts.get(pc),
            carried=carried.parts.get(pc),
            waits=int(waits[pc]),
            offset=result.kernel.program.offset(pc),
        )


def _mean(works: Sequence[Work], pc: int, name: str) -> float | None:
    """Return the mean of a cost of the memory instruction at pc over its executions in all blocks; 0 if it has none."""
    if not works:
        return None
    found = [(work.blocks, work.costs[pc]) for work in works if pc in work.costs]
    executions = sum(blocks * cost.executions for blocks, cost in found)
    return sum(blocks * getattr(cost, name) for blocks, cost in found) / executions if executions else 0.0


def _bank_conflicts(result: Result, instruction: Instruction) -> int:
    """Cycles beyond the first in which the fullest register bank reads the operands."""
    places = (place_of(result.kernel.program, register) for register in set(instruction.reads()))
    banks = Counter(register_bank(result.machine, place) for place in places)
    return max(banks.values(), default=1) - 1 if register_banks(result.machine) else 0


def _within(found: Mapping[str, Pressure], pcs: Sequence[int]) -> dict[str, float]:
    return {name: float(cycles) for name, one in found.items() if (cycles := one.within(pcs))}


def _regions(
    result: Result,
    work: Work | None,
    found: Mapping[str, Pressure],
    regions: Sequence[CodeRegion],
    paths: Mapping[CodeRegion, Paths],
) -> Iterator[RegionPressure]:
    """Yield each region, and last the instructions outside all regions."""
    waits, inside = stalls.waits(result.run).sum(axis=1), {pc for region in regions for pc in region.pcs}
    rest = CodeRegion(ELSEWHERE, tuple(pc for pc in range(len(result.kernel.program)) if pc not in inside))
    for region in (*regions, *([rest] if rest.pcs else [])):
        pcs, (critical, carried) = list(region.pcs), paths.get(region, NO_PATHS)
        yield RegionPressure(
            name=region.name,
            pcs=region.pcs,
            issued=int(result.run.issued[pcs].sum()),
            cycles=_within(found, pcs),
            critical=float(critical.cycles) if work else None,
            carried=float(carried.cycles) if work else None,
            alone=(0 if region is rest else _alone(work, region)) if work else None,
            waits=int(waits[pcs].sum()),
        )


def _alone(work: Work, region: CodeRegion) -> int:
    """Cycles from first to last issue in a region of a warp alone on the SM, by the rules of the dependence chain."""
    single = chain.start()
    chain.follow(bounds.code_of(work), single, region.pcs)
    return single.issued


def _bottlenecks(result: Result) -> Iterator[Bottleneck]:
    """Yield the reasons for lost issue slots, the costliest first."""
    run, code = result.run, result.kernel.program.instructions
    lost = stalls.lost_slots(run)
    for reason, cycles in lost.items():
        stall = Stall[reason.upper()]
        waits = run.stalls[: len(code), stall]
        pc = int(waits.argmax()) if waits.any() else -1
        yield Bottleneck(
            reason=reason,
            meaning=stall.meaning,
            cycles=cycles,
            share_of_lost=cycles / sum(lost.values()),
            share_of_slots=cycles / (run.cycles * len(run.lost)),
            pc=pc,
            text=text_of(result.kernel.program, pc) if pc >= 0 else "",
            offset=result.kernel.program.offset(pc) if pc >= 0 else -1,
        )
