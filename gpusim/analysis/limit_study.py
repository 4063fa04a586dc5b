"""The limit study: a launch run again with limits of the machine lifted, each alone, and one after the other.

A limit is lifted by settings of the machine (`LIMITS`): first what is nearest to a kernel's accesses, last how fast the
SM issues. Alone it tells what the limit costs while all others stay; in order, what it costs once those before it are
gone: these add up, from the real SM to the ideal one. A limit may save cycles too, since warps that come sooner may
come in a worse order (Graham's anomalies: SIAM J. Appl. Math. 17(2), 1969). Times only: no values are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from fnmatch import fnmatchcase

from gpusim import state
from gpusim.assign_codes import has_codes
from gpusim.engines.simulate import run_sm
from gpusim.feed import REPLAY, recordable
from gpusim.machine import Machine, by_codes, facts, load
from gpusim.memory_schema import MOST
from gpusim.processes import cores, processes
from isa.kernel import Kernel
from isa.table import Unit

Value = int | str
Make = Callable[[], Kernel]
Tell = Callable[[int, int], None]
REAL: Mapping[str, Value] = {"what_if.shared_memory": "banks", "what_if.barriers": "wait"}
BARRIERS, ISSUE, PIPES, LATENCY = "barriers", "issue", "pipes", "latency"
WARP_SIZE = "limits.warp_size"

# What lifts each limit: values by pattern of the paths of a machine file. A machine has some of them.
LIMITS: Mapping[str, Mapping[str, Value]] = {
    "bank conflicts": {"what_if.shared_memory": "conflict-free"},
    "shared-memory passes": {
        "what_if.shared_memory": "one-pass",
        "shared_memory.pass_cycles": 1,
        "shared_atomic.*_turns": 1,
    },
    "load/store queue": {
        "load_store.queue": state.QUEUE,
        "issue.refused_wastes_slot": 0,
        "memory_port.held": 0,
        "outstanding.*": state.COUNTED - 1,
        "wait_counters.*": state.COUNTED - 1,
    },
    "load/store unit": {
        "*_memory.request_cycles": 1,
        "constant_cache.request_cycles": 1,
        "instruction_replay.*": 0,
        "memory_port.cycles": 1,
        "memory_port.store_*": 1,
        "memory_port.global_store": 1,
        "memory_paths.shared_*": 1,
        "memory_paths.load_*": 1,
        "memory_paths.store": 1,
        "shared_atomic.port": 1,
    },
    "bandwidth": {"chip.dram_mbs": MOST, "cache.l2_sector_parts": 1, "cache.*_late": 0, "l1.misses": 4096},
    LATENCY: {
        "unit.*.latency": 1,
        "*_memory.latency*": 1,
        "texture.latency": 1,
        "cache.*_latency_*": 1,
        "*_cache.latency": 1,
        "l2_partition.late": 0,
        "memory_port.early_*": 0,
        "memory_port.late_cycles": 1,
        "shared_atomic.*_latency": 1,
        "*_memory.war*": 0,
        "memory_port.war_*": 0,
        "shared_atomic.war": 0,
    },
    BARRIERS: {"what_if.barriers": "pass"},
    "branches": {"branch.latency": 1},
    "instruction fetch": {"fetch.*_latency": 0, "fetch.*_parts": 0},
    "register banks": {"register_file.mapping": "none"},
    "starts of blocks": {"launch.*": 0},
    ISSUE: {
        "schedulers.interval": 1,
        "schedulers.stagger": 0,
        "schedulers.reissue": 1,
        "schedulers.dispatch_ports": state.PORTS,
        "issue.pairing": "different-warp",
        "pairing.*": " ".join(Unit),
        "double.exclusive": "off",
        "dependence.yield_stall": 0,
    },
    PIPES: {"pipe.*.lanes": WARP_SIZE, "pipe.*.schedulers": 1},
}


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


def liftings(machine: str, overrides: Mapping[str, Value]) -> list[Lifting]:
    """Return in order what lifts each limit that the machine with these overrides has.

    Raises UserError where the machine can't be loaded.
    """
    given = {path: fact.value for path, fact in facts(machine, {**REAL, **overrides}).items()}
    found = (_lifting(name, patterns, given) for name, patterns in LIMITS.items())
    return [lifting for lifting in found if lifting.settings]


def limit_study(
    make: Make,
    machine: str,
    overrides: Mapping[str, Value],
    *,
    max_cycles: int = state.NEVER,
    workers: int | None = None,
    tell: Tell | None = None,
) -> LimitStudy:
    """Run the SM with the most blocks once as it is and twice for each limit, in so many processes; None: all cores.

    `make` builds the kernel, in every process. `tell(runs done, runs in all)` is called now and then. Raises UserError
    where kernel and machine don't fit, LimitError beyond `max_cycles`.
    """
    kernel, base = make(), {**REAL, **overrides}
    stay = _stay(kernel)
    chosen = [each for each in liftings(machine, overrides) if not (stay and each.name == BARRIERS)]
    orders: list[Mapping[str, Value]] = [{}]
    for each in chosen:
        orders.append({**orders[-1], **each.settings})
    wanted = [*orders, *(each.settings for each in chosen[1:])]  # the first one alone is the first in order
    machines = [load(machine, {**base, **settings}) for settings in wanted]
    cycles = dict(_runs(make, machines, max_cycles, workers, tell))
    in_order = [cycles[place] for place in range(len(orders))]
    alone = [*in_order[1:2], *(cycles[place] for place in range(len(orders), len(wanted)))]
    rows = (_row(*row) for row in zip(chosen, alone, in_order[1:], in_order, [in_order[0]] * len(chosen), strict=False))
    return LimitStudy(in_order[0], in_order[-1], tuple(rows), dict(_notes(kernel, machines[0], stay)))


def _lifting(name: str, patterns: Mapping[str, Value], given: Mapping[str, Value]) -> Lifting:
    """Return what of the patterns changes a machine that has these values."""
    values = {pattern: given[WARP_SIZE] if value == WARP_SIZE else value for pattern, value in patterns.items()}
    if name == ISSUE and given["issue.pairing"] == "same-warp" and given["schedulers.dispatch_ports"] != 1:
        del values["issue.pairing"]  # a warp by itself would issue less
    changed = {
        pattern: {path: value for path in given if fnmatchcase(path, pattern) and given[path] != value}
        for pattern, value in values.items()
    }
    settings = {path: value for paths in changed.values() for path, value in paths.items()}
    return Lifting(name, {pattern: values[pattern] for pattern, paths in changed.items() if paths}, settings)


def _stay(kernel: Kernel) -> str:
    """Return why barriers can't be lifted, if they can't."""
    if not any(i.row.unit is Unit.BARRIER for i in kernel.program.instructions):
        return "the kernel has none"
    return "" if recordable(kernel) else "where the kernel goes depends on what it loads, which would be wrong without"


def _notes(kernel: Kernel, machine: Machine, stay: str) -> Iterator[tuple[str, str]]:
    if stay:
        yield BARRIERS, f"not lifted: {stay}"
    if by_codes(machine) and has_codes(kernel.program):
        yield LATENCY, "the stall counts of the program's own control codes stay"


def _runs(
    make: Make, machines: Sequence[Machine], max_cycles: int, workers: int | None, tell: Tell | None
) -> Generator[tuple[int, int], None, None]:
    """Yield the place of each machine and its cycles, as they come."""
    yield 0, _cycles(make, machines[0], max_cycles)  # here: the others find what it compiles
    with processes(workers or cores()) as pool:
        places = {pool.submit(_cycles, make, each, max_cycles): i for i, each in enumerate(machines) if i}
        for count, done in enumerate(as_completed(places), 2):
            if tell:
                tell(count, len(machines))
            yield places[done], done.result()


def _cycles(make: Make, machine: Machine, max_cycles: int) -> int:
    return run_sm(make(), machine, feed=REPLAY, max_cycles=max_cycles).cycles


def _row(lifting: Lifting, alone: int, in_order: int, before: int, cycles: int) -> Lifted:
    return Lifted(lifting.name, lifting.patterns, lifting.settings, alone, cycles - alone, in_order, before - in_order)
