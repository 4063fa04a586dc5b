import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from isa.dataflow.at_least import at_least
from isa.dataflow.basic_blocks import basic_blocks
from isa.dataflow.reaching import control_flow
from isa.text.listing import read

LOOPS = """.block 32
MOV R0, 0
outer:
IADD R1, R1, 1
inner:
IADD R2, R2, 1
@P0 BRA inner
IADD R0, R0, 1
@P1 BRA outer
@P2 BRA past
IADD R3, R3, 1
past:
EXIT
"""


def test_a_loop_is_executed_once_for_each_time_that_lanes_come_to_it():
    """The inner loop of one executed 40 times by 4 lanes executes at least so often; what a branch passes, never."""
    program = read(LOOPS).program
    assert at_least(program, {2, 3, 7}, {0: 4, 1: 40, 8: 4}) == {2: 40, 3: 40, 7: 0}


def test_rounds_are_not_taken_for_entries():
    """What follows a loop executes as often as the instruction before it, not as the loop's body."""
    program = read(LOOPS).program
    assert at_least(program, {8}, {2: 400, 3: 400}) == {8: 0}
    assert at_least(program, {8}, {0: 4, 2: 400, 3: 400}) == {8: 4}


@given(st.data())
def test_any_flow_says_what_paths_and_cycles_say(data):
    """Of random branches: the most of what lies, at each place, only before or behind it, and on no cycle past it."""
    length = data.draw(st.integers(1, 9))
    jumps = data.draw(st.dictionaries(st.integers(0, length - 1), st.tuples(st.booleans(), st.integers(0, length))))
    lines = [f"{'' if jumps[n][0] else '@P0 '}BRA l{jumps[n][1]}" if n in jumps else "NOP" for n in range(length)]
    program = read("\n".join(f"l{n}:\n{line}" for n, line in enumerate([*lines, "EXIT"]))).program
    known = data.draw(st.dictionaries(st.integers(0, length), st.integers(1, 99)))
    pcs = range(len(program))
    assert at_least(program, pcs, known) == {pc: most(program, pc, known) for pc in pcs}


def most(program, pc, known):
    """The definition, one place taken away at a time; a block's instructions are executed alike."""
    flow, blocks = control_flow(program), basic_blocks(program).first
    flow.add_nodes_from(range(len(program) + 1))
    end, of = len(program), {p: max(known[q] for q in known if blocks[q] == blocks[p]) for p in known}
    if blocks[pc] in {blocks[p] for p in known}:
        return max(of[p] for p in known if blocks[p] == blocks[pc])
    come, leave = {0} | nx.descendants(flow, 0), nx.ancestors(flow, end)
    flow.remove_node(pc)
    come -= set() if pc == 0 else {0} | nx.descendants(flow, 0)
    leave -= nx.ancestors(flow, end)
    again = {p for p in flow if any(p in {to} | nx.descendants(flow, to) for to in flow.successors(p))}
    return max((n for p, n in of.items() if p in come | leave and p not in again), default=0)
