"""The limit study: a launch run again with limits of the machine lifted, each alone, and one after the other.

A limit is lifted by settings of the machine (`LIMITS`): first what is nearest to a kernel's accesses, last how fast the
SM issues. Alone it tells what the limit costs while all others stay; in order, what it costs once those before it are
gone: these add up, from the real SM to the ideal one. A limit may save cycles too, since warps that come sooner may
come in a worse order (Graham's anomalies: SIAM J. Appl. Math. 17(2), 1969). Times only: no values are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from fnmatch import fnmatchcase

from gpusim.engines.simulate import run_sm
from gpusim.launch.codes.assign_codes import has_codes
from gpusim.launch.feed import TRACE_DRIVEN, foreseeable
from gpusim.machine.machine import Machine, facts, load
from gpusim.machine.occupancy import occupancy
from gpusim.sm.memory.cache.declaration import HITS, TAGS
from gpusim.sm.memory.what_if import may_part
from gpusim.sm.registers.control_code.declaration import by_codes
from gpusim.sm.state.every import EVERY
from gpusim.sm.unit.capacities import NEVER
from gpusim.support.parallel.processes import cores, processes
from isa.kernel import Kernel
from isa.row import Bulk, Row, Unit

Value = int | str
Make = Callable[[], Kernel]
Tell = Callable[[int, int], None]
Run = tuple[str, str]  # how, and the limit that is lifted, alone or after those before it
AS_IS: Run = ("as it is", "")
ALONE, IN_ORDER = "alone", "in order"
IDEAL_BANKS = "what_if.shared_memory"
REAL: Mapping[str, Value] = {
    IDEAL_BANKS: "banks",
    "what_if.barriers": "wait",
    "what_if.copies": "wait",
    "what_if.lanes": "apart",
    "what_if.l1": "tags",
    "what_if.l2": "tags",
    "what_if.atomics": "in-turn",
    "what_if.divergence": "serial",
}
DIVERGENCE, COALESCED, CONTENTION = "no divergence", "coalesced", "no contention"
PERFECT_L1, PERFECT_L2 = "perfect L1", "perfect L2"
UNIT = "load/store unit"
CONFLICTS, BARRIERS, ISSUE, PIPES, LATENCY = "bank conflicts", "barriers", "issue", "pipes", "latency"
SIGNALS, ENGINE, IN_FLIGHT = "barriers in shared memory", "copy engine", "copy latency"
COPIES, TENSOR = "waits for copies", "tensor cores"
WARP_SIZE = "limits.warp_size"

# From what is nearest to a kernel's accesses to how fast the SM issues.
ORDER = (
    COALESCED,
    CONTENTION,
    CONFLICTS,
    "shared-memory passes",
    "load/store queue",
    UNIT,
    SIGNALS,
    "constant unit",
    ENGINE,
    PERFECT_L1,
    PERFECT_L2,
    "bandwidth",
    IN_FLIGHT,
    COPIES,
    LATENCY,
    BARRIERS,
    DIVERGENCE,
    "branches",
    "instruction fetch",
    "register banks",
    "starts of blocks",
    ISSUE,
    TENSOR,
    PIPES,
)
NEEDS: Mapping[str, Callable[[Row], bool]] = {  # limits that only kernels with such instructions have
    SIGNALS: lambda row: bool(row.signal),
    ENGINE: lambda row: bool(row.bulk),
    IN_FLIGHT: lambda row: bool(row.bulk),
    COPIES: lambda row: row.copies,
    COALESCED: lambda row: row.unit is Unit.GLOBAL and row.update is None,
    CONTENTION: lambda row: row.update is not None,
    PERFECT_L1: lambda row: row.unit in (Unit.GLOBAL, Unit.LOCAL) and row.is_load,
    PERFECT_L2: lambda row: row.unit in (Unit.GLOBAL, Unit.LOCAL, Unit.TEXTURE) or bool(row.bulk),
    TENSOR: lambda row: row.unit in (Unit.TENSOR, Unit.WARPGROUP),
}
FOLLOWS = "where the kernel goes depends on what it loads, which would be wrong without"
STAGES = "stages"
# What lifts each limit, as the units say: values, or a path that has the value, by pattern of paths.
LIMITS: Mapping[str, Mapping[str, Value]] = {
    limit: {path: value for unit in EVERY for path, value in unit.limits.get(limit, {}).items()} for limit in ORDER
}
assert {limit for unit in EVERY for limit in unit.limits} == set(ORDER), "a unit names a limit that has no place"


@dataclass(frozen=True)
class Lifting:
    """How a limit is lifted on a machine: values by pattern, those that change something, and by path."""

    name: str
    patterns: Mapping[str, Value]
    settings: Mapping[str, Value]


@dataclass(frozen=True)
class Lifted:
    """A lifted limit: by which settings, and shader cycles with it alone, or all before it too, and what that saves."""

    name: str
    patterns: Mapping[str, Value]
    settings: Mapping[str, Value]
    alone: int
    saves_alone: int
    in_order: int
    saves_in_order: int


@dataclass(frozen=True)
class LimitStudy:
    """Cycles as the machine is, and each limit lifted, in order; `ideal` with all. `notes` say what is not lifted."""

    cycles: int
    ideal: int
    limits: tuple[Lifted, ...]
    notes: Mapping[str, str]

    @property
    def least(self) -> int:
        """The fewest cycles on the way: a lifted limit may cost some, as warps come in another order."""
        return min([self.cycles, *(each.in_order for each in self.limits)])


def liftings(machine: str, overrides: Mapping[str, Value]) -> list[Lifting]:
    """Return in order what lifts each limit that the machine with these overrides has.

    Raises UserError where the machine can't be loaded.
    """
    given = {path: fact.value for path, fact in facts(machine, {**REAL, **overrides}).items()}
    found = (_lifting(name, patterns, given) for name, patterns in LIMITS.items())
    without = () if given.get("cache.hits") == HITS[TAGS] else (PERFECT_L1, PERFECT_L2)
    return [lifting for lifting in found if lifting.settings and lifting.name not in without]


def limit_study(
    make: Make,
    machine: str,
    overrides: Mapping[str, Value],
    *,
    max_cycles: int = NEVER,
    workers: int | None = None,
    tell: Tell | None = None,
) -> LimitStudy:
    """Run the SM with most work once as it is and twice for each limit, in so many processes; None: all cores.

    `make` builds the kernel, in every process. `tell(runs done, runs in all)` is called now and then. Raises UserError
    where kernel and machine don't fit, LimitError beyond `max_cycles`.
    """
    kernel, so_far = make(), dict[str, Value]()
    stay = dict(_stay(kernel))
    chosen = [each for each in liftings(machine, overrides) if each.name not in stay]
    wanted: dict[Run, Mapping[str, Value]] = {AS_IS: {}}
    for each in chosen:
        so_far |= each.settings
        wanted |= {(ALONE, each.name): each.settings, (IN_ORDER, each.name): dict(so_far)}
    machines = {run: load(machine, {**REAL, **overrides, **settings}) for run, settings in wanted.items()}
    cycles = dict(_runs(make, machines, max_cycles, workers, tell))
    limits = tuple(_lifted(chosen, cycles))
    ideal = limits[-1].in_order if limits else cycles[AS_IS]
    notes = dict(_notes(kernel, machines[AS_IS], stay)) | dict(_elsewhere(limits))
    return LimitStudy(cycles[AS_IS], ideal, limits, notes)


def _lifting(name: str, patterns: Mapping[str, Value], given: Mapping[str, Value]) -> Lifting:
    """Return what of the patterns changes a machine that has these values."""
    values = {pattern: given[WARP_SIZE] if value == WARP_SIZE else value for pattern, value in patterns.items()}
    if name == ISSUE and given["issue.pairing"] == "same-warp" and given["schedulers.dispatch_ports"] != 1:
        del values["issue.pairing"]  # a warp by itself would issue less
    if name == CONFLICTS and given[IDEAL_BANKS] != "banks":
        del values[IDEAL_BANKS]  # accesses of one pass would take more
    changed = {
        pattern: {path: value for path in given if fnmatchcase(path, pattern) and given[path] != value}
        for pattern, value in values.items()
    }
    settings = {path: value for paths in changed.values() for path, value in paths.items()}
    return Lifting(name, {pattern: values[pattern] for pattern, paths in changed.items() if paths}, settings)


def _stay(kernel: Kernel) -> Iterator[tuple[str, str]]:
    """Yield the limits that can't be lifted, or that the kernel does not have, and why; nothing is said of some."""
    rows = _rows(kernel)
    yield from ((name, "") for name, needs in NEEDS.items() if not any(map(needs, rows)))
    if not may_part(kernel):
        yield DIVERGENCE, ""
    if not any(row.unit is Unit.BARRIER for row in rows):
        yield BARRIERS, "the kernel has none"
    elif not foreseeable(kernel):
        yield BARRIERS, FOLLOWS
    if any(row.copies for row in rows) and not foreseeable(kernel):
        yield COPIES, FOLLOWS


def _rows(kernel: Kernel) -> set[Row]:
    return {i.row for i in kernel.program.instructions}


def _notes(kernel: Kernel, machine: Machine, stay: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    yield from ((name, f"not lifted: {why}") for name, why in stay.items() if why)
    if by_codes(machine) and has_codes(kernel.program):
        yield LATENCY, "the stall counts of the program's own control codes stay"
    if any(i.row.copies or i.row.bulk is Bulk.LOAD for i in kernel.program.instructions):
        yield STAGES, _stages(kernel, machine)


def _elsewhere(limits: Sequence[Lifted]) -> Iterator[tuple[str, str]]:
    """Yield where the passes of the load/store unit are lifted that accesses cause by where their lanes lie."""
    felt = [each.name for each in limits if each.name in (COALESCED, CONFLICTS) and each.saves_alone > 0]
    if felt and any(each.name == UNIT for each in limits):
        yield UNIT, f"the passes that it takes as lanes lie apart stay: their limit is {' and '.join(map(repr, felt))}"


def _stages(kernel: Kernel, machine: Machine) -> str:
    """Return what the study says of copying further ahead, and the room for it."""
    resident = min(occupancy(kernel, machine).blocks, -(-kernel.blocks // machine.chip.sms))
    most = min(machine.limits.shared_per_block, machine.limits.shared_bytes // resident)
    room = max(0, most - kernel.program.shared_bytes)
    ways = (COPIES, "LDGSTS"), (IN_FLIGHT, "bulk copies")
    saves = " and ".join(f"{name!r} ({of})" for name, of in ways if any(NEEDS[name](row) for row in _rows(kernel)))
    what = f"copying further ahead saves no more than {saves} alone"
    return f"{what}; a block may take {room:,} bytes more of shared memory with {resident} resident"


def _runs(
    make: Make, machines: Mapping[Run, Machine], max_cycles: int, workers: int | None, tell: Tell | None
) -> Generator[tuple[Run, int], None, None]:
    """Yield each run with its cycles, as they come."""
    if tell:
        tell(0, len(machines))
    yield AS_IS, _cycles(make, machines[AS_IS], max_cycles)  # here: the others find what it compiles
    with processes(workers or cores()) as pool:
        others = (run for run in machines if run != AS_IS)
        runs = {pool.submit(_cycles, make, machines[run], max_cycles): run for run in others}
        for count, done in enumerate(as_completed(runs), 2):
            yield runs[done], done.result()
            if tell:
                tell(count, len(machines))


def _cycles(make: Make, machine: Machine, max_cycles: int) -> int:
    return run_sm(make(), machine, feed=TRACE_DRIVEN, max_cycles=max_cycles).cycles


def _lifted(chosen: Iterable[Lifting], cycles: Mapping[Run, int]) -> Iterator[Lifted]:
    before = cycles[AS_IS]
    for each in chosen:
        alone, in_order = cycles[ALONE, each.name], cycles[IN_ORDER, each.name]
        saved = cycles[AS_IS] - alone, before - in_order
        yield Lifted(each.name, each.patterns, each.settings, alone, saved[0], in_order, saved[1])
        before = in_order
