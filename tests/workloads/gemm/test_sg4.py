from __future__ import annotations

from dataclasses import replace

import fused
import numpy as np
import pytest
from interpreter.interpret import interpret

import gpusim
from gpusim.engines.walks.races import races
from isa.errors import UserError
from workloads.builder import instruction
from workloads.gemm.sg4 import sg4


@pytest.mark.parametrize(("m", "n", "k"), [(128, 128, 8), (256, 128, 16), (128, 256, 40), (256, 256, 24)])
def test_the_result_is_the_fused_reference_to_the_last_bit(check_bits, m, n, k):
    """One tile or several, an even or odd number of them, and every block of a grid: all right bit for bit."""
    check_bits(fused.sg4, sg4(m, n, k))


def test_a_block_of_a_large_product_is_checked_alone(check_bits):
    """One block in the middle of 1024 by 1024 by 16 is right without the others."""
    check_bits(fused.sg4, sg4(1024, 1024, 16), [37])


@pytest.mark.jit
@pytest.mark.parametrize("which", [0, 1])
def test_both_barriers_are_needed(which):
    """Without the barrier before the loop or the one of each tile the kernel races; with both it does not."""
    kernel = sg4(128, 128, 24)
    instructions = list(kernel.program.instructions)
    barriers = [pc for pc, i in enumerate(instructions) if i.row.mnemonic == "BAR.SYNC"]
    instructions[barriers[which]] = instruction("NOP")
    assert len(barriers) == 2
    assert races(kernel) == []
    assert races(replace(kernel, program=replace(kernel.program, instructions=tuple(instructions)))) != []


@pytest.mark.jit
def test_the_simulated_sm_computes_the_product_too():
    """Two resident blocks of 111 registers on the what-if machine leave every value right."""
    result = gpusim.simulate(sg4(256, 128, 16), "wide")
    assert result.verification.verified
    assert (result.run.occupancy.blocks, result.run.warp_slots) == (2, 16)


def banks_of(kernel, mnemonic):
    """Return the banks of each warp's lanes at each execution of the mnemonic, [access, lane]."""
    seen = []

    def observe(pc, _, addresses, active):
        if kernel.program.instructions[pc].row.mnemonic == mnemonic:
            seen.extend(addresses[active.all(axis=1)] // 4 % 32)

    interpret(kernel, [0], observe)
    return np.array(seen)


def test_the_transposing_stores_have_no_bank_conflict():
    """The 32 words of each STS are in 32 different banks."""
    banks = banks_of(sg4(128, 128, 16), "STS")
    assert len(banks) == 2 * 4 * 8
    assert (np.sort(banks) == np.arange(32)).all()


def test_a_half_warp_loads_each_part_of_a_in_one_pass():
    """The distinct addresses of a half-warp's LDS.128 start in different banks: a 64-bit part takes one pass."""
    banks = banks_of(sg4(128, 128, 8), "LDS.128")
    assert len(banks) == 8 * 32
    assert max(len(np.unique(half)) for half in banks.reshape(-1, 16)) == 8
    assert (banks % 4 == 0).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"m": 1000}, "m=1000 is not a positive multiple of 128; the nearest is 1024"),
        ({"n": 0}, "n=0 is not a positive multiple of 128; the nearest is 128"),
        ({"k": 12}, "k=12 is not a positive multiple of 8; the nearest is 16"),
        ({"m": 2**31}, "m=2147483648 is too large"),
        ({"m": 65536, "n": 65536}, "more than a 32-bit address reaches; give smaller sizes"),
    ],
)
def test_a_product_that_does_not_tile_is_refused_in_one_line(arguments, message):
    """The message has the rule and the nearest size."""
    with pytest.raises(UserError, match=rf"^sg4: .*{message}") as caught:
        sg4(**arguments)
    assert "\n" not in str(caught.value)


def test_the_launch_covers_c_and_counts_its_operations():
    """256 by 384 is a grid of 2 by 3 blocks of 256 threads, and counts 2 m n k operations."""
    kernel = sg4(256, 384, 64)
    assert (kernel.grid, kernel.block, kernel.flops) == ((2, 3, 1), (256, 1, 1), 2 * 256 * 384 * 64)
