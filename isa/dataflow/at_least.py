"""How often lanes execute instructions at least, from how often they execute others.

A basic block is executed at least as often as another one if every path from there to the end leads through it, or
every path from the start to there, and every cycle through the other one as well: a loop's body at least once for each
time that lanes come to the loop.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from isa.dataflow.reaching import control_flow
from isa.program import Program

if TYPE_CHECKING:
    import networkx as nx


def at_least(program: Program, wanted: Collection[int], known: Mapping[int, int]) -> dict[int, int]:
    """Return how often lanes execute the wanted instructions at least, all lanes together.

    `known` says so exactly for other instructions, or at least.
    """
    flow = control_flow(program)
    blocks = _basic_blocks(flow, len(program))
    often: dict[int, int] = {}
    for pc, times in known.items():
        block = blocks[pc]
        often[block] = max(times, often.get(block, 0))
    between = _between_blocks(flow, blocks)
    found = {block: _of_block(between, block, often) for block in {blocks[pc] for pc in wanted}}
    return {pc: found[blocks[pc]] for pc in wanted}


def _of_block(flow: nx.DiGraph, block: int, often: Mapping[int, int]) -> int:
    """Return how often a basic block is executed at least."""
    import networkx as nx  # noqa: PLC0415  (start-up time)

    if block in often:
        return often[block]
    start, end, others = 0, max(flow), flow.copy()
    others.remove_node(block)
    leaving = {end} | nx.ancestors(others, end)
    coming = set[int]() if block == start else {start} | nx.descendants(others, start)
    again = {b for some in nx.strongly_connected_components(others) if len(some) > 1 for b in some}
    again |= set(nx.nodes_with_selfloops(others))
    return max((n for b, n in often.items() if b not in again and not (b in leaving and b in coming)), default=0)


def _basic_blocks(flow: nx.DiGraph, length: int) -> list[int]:
    """Return for each pc the first one of its basic block; the end is one of its own."""
    inner = {pc for pc in range(1, length) if list(flow.predecessors(pc)) == [pc - 1] and flow.out_degree(pc - 1) == 1}
    first = [pc for pc in range(length + 1) if pc not in inner]
    return [first[bisect_right(first, pc) - 1] for pc in range(length + 1)]


def _between_blocks(flow: nx.DiGraph, blocks: list[int]) -> nx.DiGraph:
    """Return the control flow between basic blocks, by their first pcs."""
    import networkx as nx  # noqa: PLC0415  (start-up time)

    found = nx.DiGraph()
    found.add_nodes_from(set(blocks))
    found.add_edges_from((blocks[pc], to) for pc, to in flow.edges if blocks[to] == to)
    return found
