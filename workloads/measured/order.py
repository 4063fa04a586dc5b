"""The order into which the compiler of a Hopper chip brings independent chains of operations.

ptxas (CUDA 13.0, sm_90) does list scheduling from the first instruction on, cycle by cycle: of the instructions whose
operands and unit are ready, it takes the one that starts the longest path to the end; of equal ones, the first in the
source. It expects a result of variable latency after a fixed time, so loads from shared memory come in groups, 40
cycles apart. The last loads, with nothing left to do after them, follow each other closely, and the warp waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from isa.instruction import Instruction
from isa.row import MEMORY_UNITS, Unit
from workloads.measured.codes import SLOW, VARIABLE, group_of, interval_of, latency, latency_of_predicate

EXPECTED = {
    **dict.fromkeys(MEMORY_UNITS, 40), **dict.fromkeys(SLOW, 17), Unit.CONVERT: 9, Unit.GLOBAL: 9,
    Unit.SHUFFLE: 24, Unit.REDUCE: 24, Unit.SPECIAL: 24,
}  # fmt: skip

Place = tuple[str, int]  # a register or predicate


@dataclass
class _Node:
    """An instruction: its waiters and delays, the count of its own waits, its earliest time, its longest path."""

    followers: list[tuple[int, int]] = field(default_factory=list)
    missing: int = 0
    ready: int = 0
    height: int = 0


def ordered(steps: Sequence[Instruction]) -> list[Instruction]:
    """Return the steps of a loop body, none of them a branch, in the compiler's order."""
    nodes, units = _nodes(steps), [step.row.unit for step in steps]
    open_nodes = [i for i, node in enumerate(nodes) if node.missing == 0]
    free, now, order = dict[int, int](), 0, list[Instruction]()
    while open_nodes:
        when = {i: max(nodes[i].ready, free.get(group_of(units[i]), 0)) for i in open_nodes}
        now = max(now, min(when.values()))
        chosen = max((i for i in open_nodes if when[i] <= now), key=lambda i: (nodes[i].height, -i))
        open_nodes.remove(chosen)
        order.append(steps[chosen])
        free[group_of(units[chosen])] = now + interval_of(units[chosen])
        for follower, cycles in nodes[chosen].followers:
            node = nodes[follower]
            node.ready, node.missing = max(node.ready, now + cycles), node.missing - 1
            if node.missing == 0:
                open_nodes.append(follower)
        now += 1
    return order


def _nodes(steps: Sequence[Instruction]) -> list[_Node]:
    """Return the graph of waits: for results, and to overwrite values that others read or wrote before."""
    nodes, writer, readers = [_Node() for _ in steps], dict[Place, int](), dict[Place, list[int]]()
    for i, step in enumerate(steps):
        before = dict[int, int]()
        for place in _read(step):
            if place in writer:
                _later(before, writer[place], _latency(steps[writer[place]], step, place))
            readers.setdefault(place, []).append(i)
        for place in _written(step):
            if place in writer:
                _later(before, writer[place], EXPECTED.get(steps[writer[place]].row.unit, 1))
            for reader in readers.pop(place, []):
                _later(before, reader, 1)
            writer[place] = i
        before.pop(i, None)
        nodes[i].missing = len(before)
        for other, cycles in before.items():
            nodes[other].followers.append((i, cycles))
    for node in reversed(nodes):
        node.height = max((cycles + nodes[follower].height for follower, cycles in node.followers), default=0)
    return nodes


def _later(before: dict[int, int], other: int, cycles: int) -> None:
    before[other] = max(before.get(other, 0), cycles)


def _read(step: Instruction) -> list[Place]:
    return [*(("R", r) for r in step.reads()), *(("P", p) for p in step.predicates_read())]


def _written(step: Instruction) -> list[Place]:
    return [*(("R", r) for r in step.writes()), *(("P", p) for p in step.predicates_written())]


def _latency(producer: Instruction, consumer: Instruction, place: Place) -> int:
    unit = producer.row.unit
    if place[0] == "P":
        return latency_of_predicate(unit, consumer, place[1])
    return EXPECTED[unit] if unit in VARIABLE else latency(unit, consumer.row.unit)
