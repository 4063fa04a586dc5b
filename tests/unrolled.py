"""Dependences of a straight stream, as isa.dataflow.dependence has them of a program: written a second time."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import networkx as nx

from isa.dataflow.flow import overwrites, reads, writes
from isa.instruction import Instruction


def unrolled(instructions: Sequence[Instruction]) -> nx.MultiDiGraph:
    """Return the dependences of a straight stream of executed instructions; the nodes are their indices."""
    result = nx.MultiDiGraph()
    result.add_nodes_from(range(len(instructions)))
    writers: defaultdict[str, list[int]] = defaultdict(list)  # since the last unguarded write, which is included
    readers: defaultdict[str, list[int]] = defaultdict(list)
    for index, instruction in enumerate(instructions):
        read, written = sorted(reads(instruction)), sorted(writes(instruction))
        _connect(result, index, "RAW", read, writers)
        _connect(result, index, "WAR", written, readers)
        _connect(result, index, "WAW", written, writers)
        for name in read:
            readers[name].append(index)
        for name in written:
            if overwrites(instruction):
                writers[name], readers[name] = [], []
            writers[name].append(index)
    return result


def _connect(
    result: nx.MultiDiGraph, index: int, kind: str, names: Sequence[str], earlier: Mapping[str, Sequence[int]]
) -> None:
    for name in names:
        for node in earlier.get(name, ()):
            result.add_edge(node, index, kind=kind, register=name, distance=0)
