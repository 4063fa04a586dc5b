"""Dependences between instructions through registers and predicates, word by word, as networkx graphs.

This is an oracle that knows no machine: the caller's `weight` gives the cost of a dependence. Memory creates no edges.

Edges have `kind` ("RAW", "WAR" or "WAW"), `register` (such as R4 or P0) and `distance`: 0 within an iteration, 1 if
every path from one to the other takes a backward branch. A write under a guard does not end the life of the earlier
value.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from isa.dataflow.flow import overwrites, reads, successors, writes
from isa.program import Program

if TYPE_CHECKING:
    import networkx as nx

Weight = Callable[[int, int, Mapping[str, Any]], int]
Edge = tuple[int, int, int, int]  # from, to, weight, distance


def graph(program: Program) -> nx.MultiDiGraph:
    """Return the dependences of a program; the nodes are the pcs."""
    import networkx as nx  # noqa: PLC0415  (start-up time)

    flow = _flow(program)
    result = nx.MultiDiGraph()
    result.add_nodes_from(range(len(program)))
    for pc in range(len(program)):
        for name in sorted(flow.read[pc] | flow.written[pc]):
            for after, distance in _reached(flow, pc, name):
                for kind in _kinds(flow, pc, after, name):
                    result.add_edge(pc, after, kind=kind, register=name, distance=distance)
    return result


def critical_path(dependences: nx.MultiDiGraph, weight: Weight) -> tuple[int, list[int]]:
    """Return the length of the longest path in the unit of `weight`, and its nodes; loop-carried edges do not count.

    The weight of an edge is weight(from, to, its data). The time of the last node itself is not part of the length.
    """
    import networkx as nx  # noqa: PLC0415  (start-up time)

    forward = nx.MultiDiGraph()
    forward.add_nodes_from(dependences)
    forward.add_weighted_edges_from((u, v, w) for u, v, w, distance in _edges(dependences, weight) if distance == 0)
    length, previous = dict.fromkeys(forward, 0), {}
    for node in nx.topological_sort(forward):
        for _, after, cost in forward.out_edges(node, data="weight"):
            if after not in previous or length[node] + cost > length[after]:
                length[after], previous[after] = length[node] + cost, node
    last = max(length, key=length.__getitem__, default=None)
    return (0, []) if last is None else (length[last], _trail(previous, last))


def slowest_cycle(dependences: nx.MultiDiGraph, weight: Weight) -> tuple[Fraction, list[Edge]]:
    """Return the largest ratio of weights to distances, summed over any cycle, and its edges in order; or (0, []).

    With weights in cycles, it is the least time of an iteration that the dependences allow.

    Method: replace the ratio by that of a better cycle until there is none (Dinkelbach, Management Science 13(7), 1967,
    with Bellman and Ford's relaxation). Raises ValueError for a cycle that no backward branch closes.
    """
    edges = _cyclic(dependences, weight)
    best, found = Fraction(0), list[Edge]()
    while cycle := _better_cycle(edges, best):
        distance = sum(d for _, _, _, d in cycle)
        if distance == 0:
            raise ValueError(f"dependence cycle within one iteration: {[u for u, _, _, _ in cycle]}")
        best, found = Fraction(sum(w for _, _, w, _ in cycle), distance), cycle[::-1]
    return best, found


@dataclass(frozen=True, slots=True)
class _Flow:
    after: list[tuple[int, ...]]
    read: list[set[str]]
    written: list[set[str]]
    certain: list[bool]


def _flow(program: Program) -> _Flow:
    code = program.instructions
    return _Flow(
        successors(program), [reads(i) for i in code], [writes(i) for i in code], [overwrites(i) for i in code]
    )


def _reached(flow: _Flow, pc: int, name: str) -> Iterator[tuple[int, int]]:
    """Yield (pc, distance) of each instruction that the value of `name` after pc can reach, by the shortest path."""
    seen: set[int] = set()
    todo = deque(_onward(flow, pc, 0))
    while todo:
        target, distance = todo.popleft()
        if target in seen:
            continue
        seen.add(target)
        yield target, distance
        if not (name in flow.written[target] and flow.certain[target]):
            for step in _onward(flow, target, distance):
                (todo.append if step[1] else todo.appendleft)(step)


def _onward(flow: _Flow, pc: int, distance: int) -> list[tuple[int, int]]:
    return [(target, 1 if target <= pc else distance) for target in flow.after[pc]]


def _kinds(flow: _Flow, before: int, after: int, name: str) -> list[str]:
    wrote, writes_now = name in flow.written[before], name in flow.written[after]
    still_read = name in flow.read[before] and not (wrote and flow.certain[before])  # else its own write intervenes
    held = {
        "RAW": wrote and name in flow.read[after],
        "WAR": still_read and writes_now,
        "WAW": wrote and writes_now,
    }
    return [kind for kind, holds in held.items() if holds]


def _edges(dependences: nx.MultiDiGraph, weight: Weight) -> list[Edge]:
    """Return the heaviest edge of each group of parallel ones, in order of their nodes."""
    heaviest: dict[tuple[int, int, int], int] = {}
    for u, v, data in dependences.edges(data=True):
        key, cost = (u, v, data["distance"]), weight(u, v, data)
        heaviest[key] = max(heaviest.get(key, cost), cost)
    return [(u, v, w, distance) for (u, v, distance), w in sorted(heaviest.items())]


def _cyclic(dependences: nx.MultiDiGraph, weight: Weight) -> list[Edge]:
    """Return the edges within strongly connected components, since no other edge lies on a cycle."""
    import networkx as nx  # noqa: PLC0415  (start-up time)

    component = {n: k for k, nodes in enumerate(nx.strongly_connected_components(dependences)) for n in nodes}
    return [edge for edge in _edges(dependences, weight) if component[edge[0]] == component[edge[1]]]


def _better_cycle(edges: Sequence[Edge], ratio: Fraction) -> list[Edge]:
    """Return the edges of a cycle of more than `ratio` weight per distance, in reverse; [] if there is none."""
    height: defaultdict[int, int] = defaultdict(int)
    into: dict[int, Edge] = {}
    raised = True
    while raised:
        raised = False
        for edge in edges:
            u, v, w, distance = edge
            top = height[u] + w * ratio.denominator - distance * ratio.numerator
            if top > height[v]:
                height[v], into[v], raised = top, edge, True
        if cycle := _cycle_of(into):
            return cycle
    return []


def _cycle_of(into: Mapping[int, Edge]) -> list[Edge]:
    """Return a cycle of the edges that last raised each node, if they form one."""
    done: set[int] = set()
    for start in into:
        trail: dict[int, int] = {}
        node = start
        while node in into and node not in done and node not in trail:
            trail[node] = len(trail)
            node = into[node][0]
        if node in trail:
            return [into[n] for n in list(trail)[trail[node] :]]
        done |= trail.keys()
    return []


def _trail(previous: Mapping[int, int], last: int) -> list[int]:
    nodes = [last]
    while nodes[-1] in previous:
        nodes.append(previous[nodes[-1]])
    return nodes[::-1]
