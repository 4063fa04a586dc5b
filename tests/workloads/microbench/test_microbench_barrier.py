from __future__ import annotations

from dataclasses import replace

import pytest

from gpusim.engines.walks.races import races
from isa.errors import UserError
from workloads.builder import instruction
from workloads.microbench.barrier import barrier


@pytest.mark.parametrize(("warps", "rounds"), [(1, 1), (1, 5), (2, 1), (3, 4), (8, 3), (8, 8), (64, 2)])
def test_each_word_goes_round_the_block(check, warps, rounds):
    """After n rounds a thread has the index of the thread n warps on, whatever the number of warps."""
    check(barrier(warps, rounds))


def test_barriers_alone(check):
    """Words stay with their threads, and the program has 5 barriers and no shared load or store."""
    kernel = barrier(3, 4, alone=5)
    check(kernel)
    mnemonics = [i.row.mnemonic for i in kernel.program.instructions]
    assert (mnemonics.count("BAR.SYNC"), mnemonics.count("STS"), mnemonics.count("LDS")) == (5, 0, 0)


@pytest.mark.jit
@pytest.mark.parametrize("which", [0, 1])
def test_both_barriers_of_a_round_are_needed(which):
    """Without either of the two barriers the words race; with both they don't."""
    kernel = barrier(3, 4)
    instructions = list(kernel.program.instructions)
    places = [pc for pc, i in enumerate(instructions) if i.row.mnemonic == "BAR.SYNC"]
    instructions[places[which]] = instruction("NOP")
    assert len(places) == 2
    assert races(kernel) == []
    assert races(replace(kernel, program=replace(kernel.program, instructions=tuple(instructions)))) != []


@pytest.mark.parametrize("bad", [{"warps": 0}, {"rounds": 0}, {"rounds": 2**31}, {"alone": -1}, {"alone": 33000}])
def test_numbers_out_of_range_are_refused(bad):
    """No warps, no rounds, more rounds than a counter holds, and bad numbers of barriers alone raise UserError."""
    with pytest.raises(UserError, match=r"^barrier: "):
        barrier(**bad)
