from isa.dataflow.at_least import at_least
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
