"""Where lanes diverge and meet: by hand in small programs, and compared with a graph library."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies.launches import REPEATABLE, kernels

from isa.dataflow.flow import successors
from isa.dataflow.lanes.divergence import post_dominators, reconvergence_points
from isa.text.listing import read

SKIP = "S2R R0, TID.X\nISETP.LT P0, R0, 7\n@P0 BRA past\nNOP\npast:\nEXIT"
WAYS = "S2R R0, TID.X\nISETP.LT P0, R0, 7\n@P0 BRA one\nNOP\nBRA both\none:\nNOP\nboth:\nEXIT"
ENDS = "S2R R0, TID.X\nISETP.LT P0, R0, 7\n@P0 BRA one\nEXIT\none:\nEXIT"
ROUNDS = "S2R R0, TID.X\ntop:\nIADD R0, R0, -1\nISETP.GT P0, R0, 0\n@P0 BRA top\nEXIT"
COUNTED = "MOV R0, 9\ntop:\nIADD R0, R0, -1\nISETP.GT P0, R0, 0\n@P0 BRA top\nEXIT"
WARPS = "S2R R0, WARPID\nISETP.LT P0, R0, 1\n@P0 BRA past\nNOP\npast:\nEXIT"
LOADED = "LDG R0, [c[a]]\nISETP.LT P0, R0, 1\n@P0 EXIT\nNOP\nEXIT"
# All lanes start with the same counter but raise it a different number of times: they leave the loop at other rounds.
LEFT = """S2R R0, TID.X
top:
IADD R1, R1, 1
ISETP.LT P0, R1, R0
@P0 BRA top
ISETP.LT P1, R1, 3
@P1 EXIT
EXIT"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SKIP, {2: 4}), (WAYS, {2: 6}), (ENDS, {2: 5}), (ROUNDS, {3: 4}), (COUNTED, {}), (WARPS, {}),
        (LEFT, {3: 4, 5: 6}),
    ],
    ids=["skip", "two ways", "two ends", "rounds", "counted", "by warps", "what a loop left"],
)  # fmt: skip
def test_lanes_meet_where_all_ways_do(text, expected):
    """By hand: after the part jumped over, after both ways, or at the end; lanes that can't differ have none."""
    assert reconvergence_points(read(text).program) == expected


def test_a_loaded_guard_may_diverge():
    """A guard computed from a loaded word may hold in some lanes only, so its EXIT has a reconvergence point."""
    assert reconvergence_points(read(f".buffer a u32 32\n{LOADED.replace('[c[a]]', '[RZ+0x1000]')}").program) == {2: 3}


@REPEATABLE
@given(st.booleans().flatmap(lambda barriers: kernels(barriers, most_blocks=1)))
def test_post_dominators_are_those_of_a_graph_library(kernel):
    """On random programs they equal networkx's dominators of the reversed graph, the end its root."""
    program, end = kernel.program, len(kernel.program)
    edges = [(pc + 1, pc) for pc in range(end) if end == pc + 1]
    for pc, after in enumerate(successors(program)):
        edges += [(way, pc) for way in after or (end,)]
    expected = nx.immediate_dominators(nx.DiGraph(edges), end)
    assert post_dominators(program) == {pc: way for pc, way in expected.items() if pc != end}
