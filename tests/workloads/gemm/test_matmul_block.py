from __future__ import annotations

from collections import Counter
from dataclasses import replace

import fused
import pytest
from interpreter.interpret import interpret

from gpusim.engines.walks.races import races
from isa.errors import UserError
from workloads.builder import instruction
from workloads.gemm.matmul_block import matmul_block


@pytest.mark.parametrize(
    ("m", "n", "k", "block", "ahead"),
    [(32, 64, 96, 32, 4), (64, 32, 32, 16, 1), (16, 48, 32, 16, 16), (10, 15, 20, 5, 3), (3, 2, 4, 1, 1)],
)
def test_the_result_is_the_fused_reference_to_the_last_bit(check_bits, m, n, k, block, ahead):
    """One tile or several, blocks of whole warps or not, loads one step ahead or all: right bit for bit."""
    check_bits(fused.matmul_block, matmul_block(m, n, k, block, ahead))


def test_a_tile_of_32_takes_106_instructions():
    """A tile has 32 FFMAs, 64 shared loads, two loads, stores, barriers and pointer updates, a compare and a branch."""
    built = matmul_block().program
    counts = Counter(i.row.mnemonic for i in built.instructions[built.labels["loop"] :])
    tail = Counter({"IMAD": 1, "SHL": 1, "IADD": 1, "STG": 1, "EXIT": 1})
    assert counts - tail == {
        **{"FFMA": 32, "LDS": 64, "LDG": 2, "STS": 2, "BAR.SYNC": 2},
        **{"IADD": 2, "ISETP.LT.U32": 1, "BRA": 1},
    }
    assert built.shared_bytes == 2 * 32 * 32 * 4


@pytest.mark.parametrize("ahead", [1, 4, 7, 32])
def test_loads_issue_as_many_steps_ahead_of_their_sums_as_asked_for(ahead):
    """When the sum of step k issues, the loads of the `ahead` steps from k on have issued, and no others."""
    body = [i.row.mnemonic for i in matmul_block(ahead=ahead).program.instructions if i.row.mnemonic in ("LDS", "FFMA")]
    sums = [at for at, name in enumerate(body) if name == "FFMA"]
    assert [body[:at].count("LDS") for at in sums] == [2 * min(32, k + ahead) for k in range(32)]


@pytest.mark.jit
@pytest.mark.parametrize("which", [0, 1])
def test_both_barriers_are_needed(which):
    """Without the barrier after the stores or the one after the sums the kernel races; with both it does not."""
    kernel = matmul_block(32, 32, 64, 16)
    instructions = list(kernel.program.instructions)
    barriers = [pc for pc, i in enumerate(instructions) if i.row.mnemonic == "BAR.SYNC"]
    instructions[barriers[which]] = instruction("NOP")
    assert len(barriers) == 2
    assert races(kernel) == []
    assert races(replace(kernel, program=replace(kernel.program, instructions=tuple(instructions)))) != []


def test_shared_loads_are_broadcasts_of_a_and_neighbours_of_b():
    """In blocks of 32 a warp's load of A is one word, its load of B 32 words in 32 banks."""
    seen = []
    kernel = matmul_block(32, 32, 32)
    interpret(kernel, [0], lambda pc, _, addresses, __: seen.append((pc, addresses)))
    loads = [a for pc, a in seen if kernel.program.instructions[pc].row.mnemonic == "LDS"]
    words = {len(set(lanes.tolist())) for warps in loads for lanes in warps}
    assert words == {1, 32}
    assert all(len(set((lanes // 4 % 32).tolist())) in (1, 32) for warps in loads for lanes in warps)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"m": 100}, r"m=100 is not a positive multiple of 32 \(block\); the nearest is 96"),
        ({"ahead": 33}, r"ahead=33 is not allowed; give 1 to 32 \(block\)"),
        ({"ahead": 0}, r"ahead=0 is not allowed; give 1 to 32 \(block\)"),
        ({"block": 33}, "block=33 makes 1089 threads; give 32 or less"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(arguments, message):
    """The message has the rule and what to give instead."""
    with pytest.raises(UserError, match=rf"^matmul-block: {message}") as caught:
        matmul_block(**arguments)
    assert "\n" not in str(caught.value)
