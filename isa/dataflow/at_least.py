"""How often lanes execute instructions at least, from how often they execute others.

A basic block is executed at least as often as another one if every path from there to the end leads through it, or
every path from the start to there, and every cycle through the other one as well: a loop's body at least once for each
time that lanes come to the loop.

The first is a question of dominators. A cycle through a block that avoids one of its dominators stays below that: it
is there if the block is the first one of a loop, or if its innermost loop's first one is dominated as well
(Georgiadis, Italiano and Parotsidis, Strong connectivity in directed graphs under failures, SODA 2017).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import compress
from typing import TYPE_CHECKING

from isa.dataflow.basic_blocks import basic_blocks
from isa.program import Program

if TYPE_CHECKING:
    import networkx as nx


def at_least(program: Program, wanted: Collection[int], known: Mapping[int, int]) -> dict[int, int]:
    """Return how often lanes execute the wanted instructions at least, all lanes together.

    `known` says so exactly for other instructions, or at least.
    """
    blocks = basic_blocks(program)
    often: dict[int, int] = {}
    for pc, times in known.items():
        block = blocks.first[pc]
        often[block] = max(times, often.get(block, 0))
    found = dict.fromkeys({blocks.first[pc] for pc in wanted}, 0)
    for flow, root in ((blocks.flow, 0), (blocks.flow.reverse(), len(program))):
        for dominator, block in _only_through(flow, root, often):
            if dominator in found:
                found[dominator] = max(found[dominator], often[block])
    found |= {block: often[block] for block in found if block in often}
    return {pc: found[blocks.first[pc]] for pc in wanted}


def _only_through(flow: nx.DiGraph, root: int, blocks: Collection[int]) -> Iterator[tuple[int, int]]:
    """Yield other blocks with each of these that they dominate, if every cycle through that leads through them too."""
    import networkx as nx  # noqa: PLC0415  (start-up time)

    nearest, first = nx.immediate_dominators(flow, root), _loops(flow, root)
    for block in blocks:
        if block not in nearest or first.get(block) == block:
            continue
        above = set(_dominators(nearest, root, first[block])) if block in first else set[int]()
        for dominator in _dominators(nearest, root, block):
            if dominator in above:
                break
            yield dominator, block


def _dominators(nearest: Mapping[int, int], root: int, block: int) -> Iterator[int]:
    """Yield the other blocks through which every path from the root to a block leads, the nearest first."""
    while block != root:
        block = nearest[block]
        yield block


def _loops(flow: nx.DiGraph, root: int) -> dict[int, int]:
    """Return by block within a loop the first one of its innermost loop, in depth-first order from the root.

    The first one belongs to its own loop, which has all that lead back to it through blocks below it. Inner loops are
    found first, and count as their first one from then on (Havlak, TOPLAS 19(4), 1997); so do other entries of them.
    """
    from networkx.utils import UnionFind  # noqa: PLC0415  (start-up time)

    last = _below(flow, root)
    number = {block: n for n, block in enumerate(last)}
    before = {block: [b for b in flow.predecessors(block) if b in number] for block in number}
    found, whole, firsts = dict[int, int](), UnionFind(number), {block: block for block in number}
    for first in reversed(number):
        body, todo = {first}, [b for b in before[first] if number[first] <= number[b] <= last[first]]
        found |= {first: first} if todo else {}
        while todo:
            block = firsts[whole[todo.pop()]]
            if block not in body:
                body.add(block)
                inside = [number[first] <= number[b] <= last[first] for b in before[block]]
                todo += compress(before[block], inside)
                before[first] += [b for b, within in zip(before[block], inside, strict=True) if not within]
        whole.union(*body)
        firsts[whole[first]] = first
        for block in body - {first}:
            found.setdefault(block, first)
    return found


def _below(flow: nx.DiGraph, root: int) -> dict[int, int]:
    """Return in depth-first order each block, with the number in this order of the last one below it."""
    import networkx as nx  # noqa: PLC0415  (start-up time)

    last = {block: n for n, block in enumerate(nx.dfs_preorder_nodes(flow, root))}
    above = nx.dfs_predecessors(flow, root)
    for block in reversed(last):
        if block in above:
            last[above[block]] = max(last[above[block]], last[block])
    return last
