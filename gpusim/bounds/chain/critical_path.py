"""Paths of dependences from instruction to instruction: the longest through a code region, and around a loop.

A dependence costs a result's latency (RAW, WAW), or the time in which a memory instruction reads its sources (WAR). An
access counts with its fewest passes and requests, and as if no other accessed memory. The time of a path's last
instruction is not part of its length.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from gpusim.bounds.pressure import Work
from isa.dataflow.dependence import Weight, critical_path, slowest_cycle

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True)
class Path:
    """A path's length in cycles, for a loop per round, and the cycles that each of its instructions adds, by pc."""

    cycles: Fraction
    parts: Mapping[int, int]


def weight(work: Work) -> Weight:
    """Return the cost of dependences, as a function: the least cycles from one instruction's issue to the next's."""

    def cycles(before: int, _after: int, edge: Mapping[str, Any]) -> int:
        cost = work.costs.get(before)
        if edge["kind"] == "WAR":
            return cost.hold if cost else 0
        return cost.delay if cost else int(work.program["latency"][before])

    return cycles


def critical(dependences: nx.MultiDiGraph, pcs: Iterable[int], weight: Weight) -> Path:
    """Return the longest path through some instructions, within one round of any loop."""
    part = dependences.subgraph(pcs)
    length, nodes = critical_path(part, weight)
    return Path(Fraction(length), {before: _heaviest(part, before, after, weight) for before, after in pairwise(nodes)})


def carried(dependences: nx.MultiDiGraph, pcs: Iterable[int], weight: Weight) -> Path:
    """Return the loop-carried path of some instructions: the cycle of dependences that takes longest for each round."""
    length, cycle = slowest_cycle(dependences.subgraph(pcs), weight)
    return Path(length, {before: cost for before, _, cost, _ in cycle})


def _heaviest(dependences: nx.MultiDiGraph, before: int, after: int, weight: Weight) -> int:
    """Return the cost of the dependences from one instruction to another within a round."""
    edges = dependences.get_edge_data(before, after).values()
    return max(weight(before, after, edge) for edge in edges if edge["distance"] == 0)
