from dataclasses import replace
from math import inf, isnan, nan

import numpy as np
import pytest
from interpreter.interpret import interpret
from read.fenced import ROOT

from gpusim.engines.walks.touched_lines import lines
from gpusim.launch.file.prepare import prepared
from gpusim.machine.machine import load
from gpusim.simulation.simulation import simulate
from gpusim.simulation.verify import UNCHECKED, verify
from isa.generators import constant_fill
from isa.kernel import Buffer, Expectation, Kernel
from isa.memory import bases, image
from isa.program import Program
from isa.text.assembler import assemble
from isa.text.listing import read
from workloads.catalog import make

ONES = read("""
    .grid 3
    .buffer y f32 96
    .expect y = 1
    S2R R0, CTAID.X
    SHL R0, R0, 5
    S2R R1, LANEID
    IADD R0, R0, R1
    SHL R0, R0, 2
    IADD R0, R0, c[y]
    MOV R2, 1.0
    STG [R0], R2
    EXIT
""")
OTHERS_OUTPUT = """
    .grid 3
    .buffer y f32 96
    .expect y = 1
    S2R R3, CTAID.X
    ISETP.EQ P0, R3, {block}
    SHL R0, R3, 5
    S2R R1, LANEID
    IADD R0, R0, R1
    SHL R0, R0, 2
    IADD R0, R0, c[y]
    MOV R2, 1.0
    STG [R0], R2
    MOV R4, {value}
    @P0 STG [R0{offset}], R4
    EXIT
"""
PRODUCT = make("sgemm-lai", {"m": "192", "n": "192", "k": "32"})
LONG = 1e9  # instructions of a block: too many to run in program order


def promise(values: list[float], bound: float = 0.0) -> Kernel:
    """Kernel of one empty block that promises these values at the start of its buffer."""
    expectation = Expectation("y", np.arange(len(values)), np.array(values), np.full(len(values), bound))
    buffers = (Buffer("y", "f4", len(values)),)
    return Kernel("promise", Program(()), (1, 1, 1), (32, 1, 1), buffers=buffers, expected=lambda _: expectation)


def memory(kernel: Kernel, values: list[float]) -> np.ndarray:
    """Global memory with these singles in the kernel's buffer."""
    words = interpret(kernel, []).memory.copy()
    first = bases(kernel.buffers)["y"] // 4
    words[first : first + len(values)] = np.array(values, np.float32).view(np.uint32)
    return words


def test_all_blocks_right_is_complete():
    """When every block ran and every value is right, the check is complete and verified."""
    found = verify(ONES, interpret(ONES).memory, range(3), 9)
    assert (found.scope, found.blocks, found.in_program_order, found.values) == ("complete", 3, 0, 96)
    assert found.verified
    assert (found.max_error, found.wrong) == (0, 0)


def test_the_values_of_a_racy_kernel_are_not_checked():
    """No value of a kernel that races as published is checked, wrong or right."""
    racy = replace(ONES, racy=True)
    for left in (interpret(ONES), interpret(ONES, [])):
        assert verify(racy, left.memory, range(3), 9) == UNCHECKED


def test_blocks_of_other_sms_are_run_in_program_order():
    """If one block ran and the others are short, these run in program order, and all values are checked."""
    found = verify(ONES, interpret(ONES, [1]).memory, [1], 9)
    assert (found.scope, found.blocks, found.in_program_order, found.verified) == ("complete", 3, 2, True)


def test_a_wrong_block_is_found_among_those_in_program_order():
    """The blocks in program order don't hide 32 wrong values of the simulated block."""
    found = verify(ONES, interpret(ONES, []).memory, [1], 9)
    assert (found.wrong, found.verified, found.first_wrong) == (32, False, "y[32] is 0, not 1")


def test_a_wrong_integer_is_shown_with_all_its_digits():
    """4294967295 where 1 is expected is not rounded to six digits."""
    kernel = read(
        ".buffer y u32 32\n.expect y = 1\nS2R R0, LANEID\nSHL R0, R0, 2\nIADD R0, R0, c[y]\nSTG [R0], -1\nEXIT"
    )
    assert verify(kernel, interpret(kernel).memory, [0], 9).first_wrong == "y[0] is 4294967295, not 1"


@pytest.mark.parametrize("value", [5.0, 0.0])
@pytest.mark.parametrize(("block", "offset", "where"), [(0, "+128", 32), (1, "-128", 0)])
def test_a_store_to_the_output_of_another_block_is_wrong(block, offset, where, value):
    """A wrong store of block 0, timed, or of block 1, in program order, to the other's output is found.

    This is also true of 0, the value before the launch.
    """
    kernel = read(OTHERS_OUTPUT.format(block=block, offset=offset, value=value))
    found = verify(kernel, interpret(kernel, [0]).memory, [0], 9)
    assert (found.scope, found.in_program_order, found.verified) == ("complete", 2, False)
    assert (found.wrong, found.first_wrong) == (32, f"y[{where}] is {value:g}, not 1")


def test_the_right_value_may_come_from_any_block():
    """A block that stores the right value to the output of another block leaves nothing wrong."""
    kernel = read(OTHERS_OUTPUT.format(block=0, offset="+128", value=1.0))
    assert verify(kernel, interpret(kernel, [0]).memory, [0], 9).verified


def test_a_word_changed_off_the_programs_path_is_seen():
    """A wrong word of the timed run is found even if its block doesn't store there in program order."""
    left = interpret(ONES, [0]).memory
    left[bases(ONES.buffers)["y"] // 4 + 40] = 7
    found = verify(ONES, left, [0], 9)
    assert (found.wrong, found.first_wrong) == (1, "y[40] is 9.80909e-45, not 1")


@pytest.mark.jit
def test_a_store_to_the_output_of_a_block_that_is_not_timed_is_found():
    """On two SMs block 1 is not timed; 32 wrong values that timed block 0 stores to its output are still found."""
    kernel = read(OTHERS_OUTPUT.format(block=0, offset="+128", value=5.0))
    found = simulate(kernel, load("gtx580", {"chip.sms": 2})).verification
    assert (found.scope, found.blocks, found.in_program_order, found.wrong) == ("complete", 3, 1, 32)


def test_long_blocks_are_sampled():
    """If the other blocks would take too long, only the block that ran is checked."""
    found = verify(PRODUCT, interpret(PRODUCT, [2]).memory, [2], LONG)
    assert (found.scope, found.blocks, found.values, found.verified) == ("sampled", 1, 96 * 96, True)
    assert 0 < found.max_error <= found.error_bound
    assert 0 < found.worst_ratio <= 1


def test_a_promise_of_the_whole_grid_needs_the_whole_grid():
    """A kernel that promises only the values after all blocks is not checked on some of them."""
    found = verify(ONES, interpret(ONES, [0]).memory, [0], LONG)
    assert (found.scope, found.values, found.verified) == ("none", 0, False)


def test_a_kernel_without_a_promise_is_not_verified():
    """A kernel without a promise is never verified."""
    found = verify(replace(ONES, outcome=None), interpret(ONES).memory, range(3), 9)
    assert (found.scope, found.verified) == ("none", False)


@pytest.mark.parametrize(
    ("values", "got", "bound", "wrong"),
    [
        ([1, 2], [1, 2], 0, 0),
        ([1, 2], [1, 2.5], 0.5, 0),
        ([1, 2], [1, 2.5], 0.25, 1),
        ([1, 2], [nan, 2], inf, 1),
        ([nan, 2], [nan, 2], inf, 1),
        ([inf, 2], [inf, 2], 0, 0),
        ([-inf, 2], [inf, 2], 1, 1),
        ([0.0, 2], [-0.0, 2], 0, 0),
    ],
)
def test_a_value_is_right_within_its_bound_and_nan_is_wrong(values, got, bound, wrong):
    """Equal values, infinities included, and values within the bound are right; NaN is always wrong."""
    kernel = promise(values, bound)
    found = verify(kernel, memory(kernel, got), [0], 0)
    assert found.wrong == wrong
    assert found.verified is (wrong == 0)


def test_the_largest_error_comes_with_its_own_bound():
    """`max_error` and `error_bound` are of one value; `worst_ratio` is of the value nearest its bound."""
    kernel = promise([1, 2])
    expectation = replace(kernel.expected(0), bound=np.array([1.0, 0.125]))
    kernel = replace(kernel, expected=lambda _: expectation)
    found = verify(kernel, memory(kernel, [1.25, 2.125]), [0], 0)
    assert (found.max_error, found.error_bound, found.worst_ratio) == (0.25, 1.0, 1.0)


def test_nan_is_the_largest_error():
    """NaN outweighs every finite error and has an infinite ratio."""
    kernel = promise([1, 2], 4)
    found = verify(kernel, memory(kernel, [3, nan]), [0], 0)
    assert isnan(found.max_error)
    assert found.worst_ratio == inf
    assert found.first_wrong == "y[1] is nan, not 2"


@pytest.mark.parametrize("visits", [9, LONG])
def test_an_output_without_a_store_has_its_initial_value(visits):
    """If only touched lines are filled, an output without a store is checked with its initial value of 1, not 0."""
    expected = Expectation("y", np.arange(4000), np.zeros(4000), np.zeros(4000))
    buffers = (Buffer("y", "f4", 4000, constant_fill(1.0)),)
    text = "S2R R0, CTAID.X\nSHL R0, R0, 2\nIADD R0, R0, c[y]\nSTG [R0], RZ\nEXIT"
    kernel = Kernel("k", assemble(text), (2, 1, 1), (1, 1, 1), buffers=buffers, expected=lambda _: expected)
    touched = lines(kernel, [0])
    left = image(kernel, lines=touched)
    left[bases(buffers)["y"] // 4] = 0
    found = verify(kernel, left, [0], visits, touched)
    assert (found.wrong, found.blocks) == ((2 * 3998, 2) if visits == 9 else (3999, 1))
    assert found.max_error == 1


@pytest.mark.jit
def test_atomics_of_blocks_in_program_order_add_to_what_the_timed_ones_left():
    """A histogram whose blocks add to the same bins is right, whichever block is timed; a bin of it too many is not."""
    kernel = prepared(str(ROOT / "examples" / "cuda" / "histogram.cubin"))
    for timed in ((0,), (3, 5)):
        left = interpret(kernel, timed).memory
        assert verify(kernel, left, timed, 1.0).verified
        left[bases(kernel.buffers)["bins"] // 4 + 7] += 1
        found = verify(kernel, left, timed, 1.0)
        assert (found.wrong, found.first_wrong[:8]) == (1, "bins[7] ")
