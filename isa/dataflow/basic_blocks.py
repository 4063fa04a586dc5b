"""The control flow between basic blocks, each known by its first pc; the program's length is the end."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isa.dataflow.reaching import control_flow
from isa.program import Program
from isa.support.once import once

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, eq=False)
class BasicBlocks:
    """`first` has for each pc, and for the end, the first one of its basic block; `flow` leads from block to block."""

    first: Sequence[int]
    flow: nx.DiGraph


@once
def basic_blocks(program: Program) -> BasicBlocks:
    """Return the basic blocks of a program."""
    import networkx as nx  # noqa: PLC0415  (start-up time)

    pcs, end = control_flow(program), len(program)
    inner = {pc for pc in range(1, end) if list(pcs.predecessors(pc)) == [pc - 1] and pcs.out_degree(pc - 1) == 1}
    starts = [pc for pc in range(end + 1) if pc not in inner]
    first = [starts[bisect_right(starts, pc) - 1] for pc in range(end + 1)]
    flow = nx.DiGraph()
    flow.add_nodes_from(starts)
    flow.add_edges_from((first[pc], to) for pc, to in pcs.edges if first[to] == to)
    return BasicBlocks(first, flow)
