from __future__ import annotations

from collections import Counter

import fused
import numpy as np
import pytest
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter.interpret import interpret
from strategies.launches import REPEATABLE

from isa.errors import UserError
from workloads.gemm.matmul_naive import matmul_naive, program

SIZE = st.integers(1, 4)


@settings(REPEATABLE, max_examples=draws(25))
@given(m=SIZE, n=SIZE, k=st.integers(1, 20), block_x=st.integers(1, 40), block_y=st.integers(1, 5))
def test_the_result_is_the_fused_reference_to_the_last_bit(check_bits, m, n, k, block_x, block_y):
    """Whatever the sizes and the block's shape, whole warps or not, every element is right bit for bit."""
    check_bits(fused.matmul_naive, matmul_naive(m * block_y, n * block_x, k, block_x, block_y))


def test_the_matrices_are_row_major(run):
    """C[1][2] of a 2 by 3 product is the second row of A times the third column of B, as memory holds them."""
    kernel = matmul_naive(2, 3, 4, block_x=3, block_y=2)
    a, b, _ = (buffer.fill(np.arange(buffer.elements)) for buffer in kernel.buffers)
    expected = a.reshape(2, 4)[1].astype(np.float64) @ b.reshape(4, 3)[:, 2].astype(np.float64)
    ((promise, got),) = run(kernel)
    assert got[promise.index.tolist().index(1 * 3 + 2)] == pytest.approx(expected, abs=1e-6)


def test_a_round_takes_ten_instructions():
    """A round has two loads, one FFMA, updates of two pointers of two words, an index, a comparison and the branch."""
    built = program()
    loop = built.instructions[built.labels["loop"] :]
    body = loop[: 1 + next(pc for pc, i in enumerate(loop) if i.row.mnemonic == "BRA")]
    assert Counter(i.row.mnemonic for i in body) == {
        **{"LDG": 2, "FFMA": 1, "IADD": 5},
        **{"ISETP.LE": 1, "BRA": 1},
    }


def test_its_registers_are_within_two_of_the_documents():
    """It needs 16 to 20 registers, where the document's compiler printed 18, and no shared memory, as there."""
    assert abs(program().registers - 18) <= 2
    assert program().shared_bytes == 0


def test_a_warp_reads_one_word_of_a_and_one_line_of_b():
    """In blocks 32 wide the first load of a warp is a broadcast, the second 32 neighbours on a line of 128 bytes."""
    seen = []
    interpret(kernel := matmul_naive(8, 64, 2), [1], lambda pc, _, addresses, __: seen.append((pc, addresses)))
    loads = [a for pc, a in seen if kernel.program.instructions[pc].row.mnemonic == "LDG"]
    of_a, of_b = loads[0][0], loads[1][0]
    assert len(set(of_a.tolist())) == 1
    assert np.diff(np.sort(of_b)).tolist() == [4] * 31
    assert len(set((of_b // 128).tolist())) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"m": 12}, r"m=12 is not a positive multiple of 8 \(block_y\); the nearest is 16"),
        ({"n": 0}, r"n=0 is not a positive multiple of 32 \(block_x\); the nearest is 32"),
        ({"k": 0}, "k=0 is too small; give 1 or more"),
        ({"block_x": 0}, "block_x=0 is too small; give 1 or more"),
        ({"block_y": 64}, "block_x=32 block_y=64 makes 2048 threads; a block has 1024 at most"),
        ({"m": 65536, "n": 65536}, "m=65536 n=65536 k=64: .*more than a 32-bit address reaches; give smaller sizes"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(arguments, message):
    """The message has the rule and what to give instead."""
    with pytest.raises(UserError, match=rf"^matmul-naive: {message}") as caught:
        matmul_naive(**arguments)
    assert "\n" not in str(caught.value)
