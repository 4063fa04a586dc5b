"""How busy each resource was: the part of a launch's time in which it could do nothing else, from 0 to 1.

Busy is what the run counted, or what the bound says at least, whichever is more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gpusim.analysis.account.rates.memory_rates import DRAM, L2, dram_busy, l2_busy
from gpusim.bounds.bounds import CONSTANTS, MATCH, SHARED
from gpusim.bounds.memory import use
from gpusim.machine.machine import Machine
from gpusim.simulation.result import Result
from gpusim.sm.memory.cache.declaration import tagged
from gpusim.sm.pipes.pipe.declaration import choices, instances, pipe_names
from gpusim.sm.unit.asks import through_port
from gpusim.sm.unit.opcodes import MATCHES
from isa.row import Unit

ISSUE, BANKS, CHAIN, PIPE = "issue slots", "register banks", "dependence chain", "pipe "
ATOMICS, CHANNEL = "atomics of the L2", "memory bandwidth"
WAY = "way to the caches"  # the load/store unit, with its waits for tags, misses under way, and stores ahead
COMPUTING = Unit.FP32, Unit.FP16, Unit.FP16M, Unit.DP, Unit.TENSOR  # whose pipes do what a launch is for
UNSHOWN = frozenset({CHAIN, ISSUE, *use.LEVELS})  # what the run counts, and chains, which leave room
BYTES = frozenset({DRAM, L2, CHANNEL})  # resources that move the same bytes
OF_LEVELS = {  # of levels of memory, which the bound names otherwise
    use.DEVICE: DRAM,
    use.L2_ATOMICS: ATOMICS,
    **dict.fromkeys((use.CHANNEL, use.L2_LOADS, use.L2_STORES, use.L2_ANSWERS), L2),
}
Parts = Mapping[str, float]


def utilisation(result: Result) -> Parts:
    """Return by resource the part of the time in which it was busy, the busiest first.

    Chains of dependences are none: they take time, and leave room. Issue slots that accesses take again are lost.
    """
    least = result.bound.limits if result.bound else {}
    found = {name: cycles / result.cycles for name, cycles in least.items() if name not in UNSHOWN}
    for name, part in _counted(result):
        found[name] = max(found.get(name, 0.0), part)
    return {name: min(1.0, found[name]) for name in sorted(found, key=lambda name: -found[name]) if found[name]}


def limiter(result: Result) -> str:
    """Return the resource that sets the bound, or the bound's name of what is none; empty where there is no bound."""
    name = result.bound.limiter if result.bound else ""
    return OF_LEVELS.get(name, name)


def roofs(result: Result) -> frozenset[str]:
    """Return the resources that do what launches are for: they compute, or move bytes of the DRAM or the L2."""
    return BYTES | {pipe_of(result.machine, unit) for unit in COMPUTING}


def pipe_of(machine: Machine, unit: Unit) -> str:
    """Return the resource that executes a unit class: a pipe, or several that do it together."""
    return f"{PIPE}{' '.join(sorted(choices(machine, unit), key=pipe_names(machine).index))}"


def _counted(result: Result) -> Iterator[tuple[str, float]]:
    """Yield what the run counted; of pipes where there is no bound, which knows what only one of them can do."""
    run, machine = result.run, result.machine
    time = run.cycles * run.sms
    yield ISSUE, 1 - float(run.lost.sum()) / (run.cycles * len(run.lost))
    if result.bound is None or result.bound.order_dependent:
        for name in _direct(machine):
            yield f"{PIPE}{name}", run.pipe_cycles.get(name, 0) / (time * instances(machine, name))
    yield CONSTANTS if machine.constant_path else SHARED, float(run.held[1].sum()) / time
    yield MATCH, float(run.held[MATCHES].sum()) / time
    yield WAY, float(run.held[0].sum()) / time
    yield ATOMICS, float(run.updating.max(initial=0)) / run.cycles
    if tagged(machine):
        yield DRAM, dram_busy(result)
        yield L2, l2_busy(result)


def _direct(machine: Machine) -> set[str]:
    """Return the pipes that do not lie behind the load/store unit."""
    units = [Unit(name) for name in machine.unit]
    behind = {name for unit in units if through_port(machine, unit) for name in choices(machine, unit)}
    return set(machine.pipe) - behind
