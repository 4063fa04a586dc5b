from fractions import Fraction
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter.interpret import interpret
from strategies.launches import alu_streams
from unrolled import unrolled

from isa.dataflow.dependence import critical_path, graph, slowest_cycle
from isa.kernel import Kernel
from isa.program import Program
from isa.text.assembler import assemble


def edges(dependences):
    return {(u, v, d["kind"], d["register"], d["distance"]) for u, v, d in dependences.edges(data=True)}


def raw(cycles):
    return lambda _u, _v, data: cycles if data["kind"] == "RAW" else 0


def recurrence(dependences, weight):
    ratio, cycle = slowest_cycle(dependences, weight)
    return ratio, [before for before, _, _, _ in cycle]


def test_the_three_kinds_are_distinguished():
    """A use after a write is RAW, a write after a use WAR, a write after a write WAW; each ends at the next write."""
    text = "MOV R0, 1\nFADD R1, R0, R2\nMOV R0, 2\nFADD R3, R0, R2"
    assert edges(graph(assemble(text))) == {
        (0, 1, "RAW", "R0", 0),
        (1, 2, "WAR", "R0", 0),
        (0, 2, "WAW", "R0", 0),
        (2, 3, "RAW", "R0", 0),
    }


def test_wide_operands_depend_word_by_word():
    """Each register of a 64-bit pair has its own edges: the reader needs R4 of the load and R5 of the MOV after it."""
    text = "LDS.64 R4, [RZ]\nMOV R5, 1\nDADD R6, R4, R8"
    assert edges(graph(assemble(text))) == {
        (0, 1, "WAW", "R5", 0),
        (0, 2, "RAW", "R4", 0),
        (1, 2, "RAW", "R5", 0),
    }


def test_predicates_are_registers_too():
    """A guard reads its predicate, a comparison writes it, and RZ and PT depend on nothing."""
    text = "ISETP.LT P0, RZ, 1\n@P0 MOV R0, 1\nISETP.LT P0, RZ, 2"
    assert edges(graph(assemble(text))) == {
        (0, 1, "RAW", "P0", 0),
        (1, 2, "WAR", "P0", 0),
        (0, 2, "WAW", "P0", 0),
    }


def test_a_guarded_write_lets_the_earlier_value_through():
    """A read after a guarded write depends on it and on the write before it."""
    found = edges(graph(assemble("MOV R0, 1\n@P0 MOV R0, 2\nMOV R1, R0")))
    assert {(0, 2, "RAW", "R0", 0), (1, 2, "RAW", "R0", 0), (0, 1, "WAW", "R0", 0)} == found


def test_loop_carried_edges_have_distance_one():
    """An accumulator depends on itself across the back edge, and on its start without it."""
    text = "MOV R0, 0\nl:\nFADD R0, R0, R1\n@P0 BRA l\nMOV R2, R0"
    assert edges(graph(assemble(text))) == {
        (0, 1, "RAW", "R0", 0),
        (0, 1, "WAW", "R0", 0),
        (1, 1, "RAW", "R0", 1),
        (1, 1, "WAW", "R0", 1),
        (1, 3, "RAW", "R0", 0),
    }


def test_a_path_that_leaves_the_program_carries_nothing():
    """No edge leads from before an unguarded EXIT or BRA to the instruction after it."""
    assert edges(graph(assemble("MOV R0, 1\nEXIT\nMOV R1, R0"))) == set()
    assert edges(graph(assemble("MOV R0, 1\nBRA l\nMOV R1, R0\nl:\nEXIT"))) == set()


def test_unrolled_matches_the_graph_of_straight_code():
    """For a program without branches the dynamic stream has the static graph's edges."""
    program = assemble(
        "MOV R0, 1\n@P1 FADD R0, R0, R2\nFFMA R3, R0, R3, R3\nMOV R0, R3\nISETP.LT P1, R0, 3\n@!P1 MOV R2, 4"
    )
    assert edges(unrolled(program.instructions)) == edges(graph(program))


def test_critical_path_of_a_hand_worked_diamond():
    """Two arms of 4 + 4 and 10 cycles join: the longer is the path."""
    program = assemble("MOV R0, 1\nFADD R1, R0, R0\nFADD R2, R1, R1\nFMUL R3, R0, R0\nFADD R4, R2, R3")
    cost = {(0, 1): 4, (1, 2): 4, (2, 4): 1, (0, 3): 10, (3, 4): 1}
    assert critical_path(graph(program), lambda u, v, _: cost[u, v]) == (11, [0, 3, 4])


def test_critical_path_ignores_loop_carried_edges_and_takes_the_heaviest_of_parallel_ones():
    """One iteration of a loop is acyclic; between two nodes the largest weight counts."""
    program = assemble("l:\nFADD R0, R0, R1\nFADD R0, R0, R1\n@P0 BRA l")
    assert critical_path(graph(program), raw(18)) == (18, [0, 1])


def test_critical_path_of_nothing_is_empty():
    """A program without instructions has length 0 and no nodes."""
    assert critical_path(graph(Program(())), raw(1)) == (0, [])


def test_recurrence_of_a_chain_through_the_back_edge():
    """Three dependent additions per iteration take three latencies; the cycle is those three."""
    program = assemble("l:\nFADD R0, R0, R1\nFADD R0, R0, R1\nFMUL R5, R1, R1\nFADD R0, R0, R1\n@P0 BRA l")
    ratio, nodes = recurrence(graph(program), raw(18))
    assert ratio == 54
    assert sorted(nodes) == [0, 1, 3]


def test_recurrence_over_two_iterations_is_halved():
    """Registers that swap roles each iteration make a cycle over two back edges, here the worst one."""
    program = assemble("l:\nFADD R2, R0, R9\nMOV R0, R1\nMOV R1, R2\n@P0 BRA l")
    cost = {(0, 2): 4, (2, 1): 6, (1, 0): 5}
    ratio, nodes = recurrence(graph(program), lambda u, v, d: cost[u, v] if d["kind"] == "RAW" else 0)
    assert ratio == Fraction(4 + 6 + 5, 2)
    assert sorted(nodes) == [0, 1, 2]


def test_recurrence_without_a_loop_is_zero():
    """Straight code has no cycle."""
    assert recurrence(graph(assemble("MOV R0, 1\nMOV R1, R0")), raw(18)) == (0, [])


def test_a_cycle_within_an_iteration_is_refused():
    """A graph that no program has, a cycle at distance 0, raises ValueError instead of looping."""
    impossible = nx.MultiDiGraph()
    impossible.add_edge(0, 1, kind="RAW", register="R0", distance=0)
    impossible.add_edge(1, 0, kind="RAW", register="R0", distance=0)
    with pytest.raises(ValueError, match="within one iteration"):
        recurrence(impossible, raw(1))


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 20)), min_size=1, max_size=14))
@settings(deadline=None)
def test_recurrence_is_the_best_of_all_simple_cycles(arcs):
    """On small random graphs the ratio equals the maximum over an enumeration of simple cycles."""
    dependences = nx.MultiDiGraph()
    for u, v, cost in arcs:
        dependences.add_edge(u, v, kind="RAW", register="R0", distance=int(v <= u), cost=cost)
    heaviest = {}
    for u, v, cost in arcs:
        heaviest[u, v] = max(heaviest.get((u, v), 0), cost)
    cycles = [[*c, c[0]] for c in nx.simple_cycles(nx.DiGraph(dependences))]
    ratios = [Fraction(sum(heaviest[p] for p in pairwise(c)), sum(v <= u for u, v in pairwise(c))) for c in cycles]
    ratio, nodes = recurrence(dependences, lambda _u, _v, data: data["cost"])
    assert ratio == max(ratios, default=0)
    assert bool(nodes) == (ratio > 0)


def _registers(instructions):
    run = interpret(Kernel("stream", Program(tuple(instructions)), (1, 1, 1), (32, 1, 1)))
    return run.registers, run.predicates


@given(alu_streams(), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=draws(60))
def test_any_topological_order_computes_the_same(stream, random):
    """Executing a straight stream in any order that its dependences allow leaves the same registers."""
    order, ready = [], unrolled(stream)
    while ready:
        node = random.choice([n for n in ready if ready.in_degree(n) == 0])
        order.append(node)
        ready.remove_node(node)
    expected, shuffled = _registers(stream), _registers([stream[n] for n in order])
    assert np.array_equal(expected[0], shuffled[0])
    assert np.array_equal(expected[1], shuffled[1])


@given(alu_streams())
@settings(deadline=None, max_examples=draws(40))
def test_the_static_graph_of_a_stream_is_its_unrolled_graph(stream):
    """Without branches both constructions agree edge by edge, though one walks forward and one keeps live writers."""
    assert edges(graph(Program(tuple(stream)))) == edges(unrolled(stream))
