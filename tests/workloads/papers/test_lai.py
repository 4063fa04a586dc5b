from __future__ import annotations

from dataclasses import replace
from itertools import product

import fused
import pytest
from draws import few

from gpusim.engines.walks.races import races
from isa.errors import UserError
from workloads.builder import instruction
from workloads.papers.lai.lai import LAYOUTS, sgemm_lai
from workloads.papers.lai.lai_program import ORDERS

WIDTHS = (32, 64, 128)


@pytest.mark.parametrize(
    ("layout", "lds", "prefetch", "order"), few(product(LAYOUTS, WIDTHS, (True, False), ORDERS), 13)
)
def test_the_result_is_the_fused_reference_to_the_last_bit(check_bits, layout, lds, prefetch, order):
    """Every layout, width and schedule computes a block of 96 by 96 by 32 bit for bit."""
    check_bits(fused.lai, sgemm_lai(96, 96, 32, layout, lds, prefetch=prefetch, order=order))


@pytest.mark.parametrize(("layout", "lds"), few(product(LAYOUTS, WIDTHS), 5))
def test_alpha_beta_and_several_blocks_keep_the_bits(check_bits, layout, lds):
    """With alpha 1.7 and beta -0.6 all blocks of a grid that is not square are right to the last bit."""
    check_bits(fused.lai, sgemm_lai(192, 96, 16, layout, lds, alpha=1.7, beta=-0.6))
    check_bits(fused.lai, sgemm_lai(96, 192, 16, layout, lds, alpha=1.7, beta=-0.6))


@pytest.mark.parametrize(("layout", "lds", "blocking"), few(product(("nt", "tn"), WIDTHS, (1, 2, 3, 4, 5, 7, 8)), 11))
def test_every_blocking_keeps_the_bits(check_bits, layout, lds, blocking):
    """Blockings that the width does not divide are padded, and right to the last bit."""
    check_bits(fused.lai, sgemm_lai(32 * blocking, 16 * blocking, 32, layout, lds, blocking))


@pytest.mark.parametrize(("layout", "lds"), [("nn", 64), ("tt", 128)])
def test_a_block_of_a_large_product_is_checked_alone(check_bits, layout, lds):
    """One block in the middle of 960 by 960 by 48 is made and checked without the others."""
    check_bits(fused.lai, sgemm_lai(960, 960, 48, layout, lds), [57])


@pytest.mark.jit
@pytest.mark.parametrize(("prefetch", "which"), [(True, 0), (True, 1), (True, 2), (False, 0), (False, 1)])
def test_every_barrier_is_needed(prefetch, which):
    """Without any one of its barriers the kernel races; with all of them it does not."""
    kernel = sgemm_lai(96, 96, 48, prefetch=prefetch)
    instructions = list(kernel.program.instructions)
    barriers = [pc for pc, i in enumerate(instructions) if i.row.mnemonic == "BAR.SYNC"]
    instructions[barriers[which]] = instruction("NOP")
    broken = replace(kernel, program=replace(kernel.program, instructions=tuple(instructions)))
    assert races(kernel) == []
    assert races(broken) != []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"m": 1000}, "m=1000 is not a positive multiple of 96 .16 x blocking 6.; the nearest is 960"),
        ({"n": 64, "blocking": 5}, "n=64 is not a positive multiple of 80 .16 x blocking 5.; the nearest is 80"),
        ({"k": 100}, "k=100 is not a positive multiple of 16; the nearest is 96"),
        ({"k": 0}, "k=0 is not a positive multiple of 16; the nearest is 16"),
        ({"layout": "nx"}, "layout=nx is not allowed; give one of nn, nt, tn, tt"),
        ({"lds": 256}, "lds=256 is not allowed; give one of 32, 64, 128"),
        ({"order": "random"}, "order=random is not allowed; give one of base, addresses, prefetch, interleaved"),
        ({"blocking": 0}, "blocking=0 is too small"),
        ({"m": 256, "n": 256, "blocking": 16}, "needs 313 registers; an instruction names 255"),
        ({"m": 48000, "n": 48000}, "more than a 32-bit address reaches; give smaller sizes"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(arguments, message):
    """Sizes that don't tile come with rule and nearest size, unknown choices with the known ones."""
    with pytest.raises(UserError, match=rf"^sgemm-lai: .*{message}") as caught:
        sgemm_lai(**arguments)
    assert "\n" not in str(caught.value)


def test_the_launch_covers_c():
    """4800 by 9600 is a grid of 50 by 100 blocks of 256 threads, and counts 2 m n k operations."""
    kernel = sgemm_lai(4800, 9600, 4800)
    assert (kernel.grid, kernel.block) == ((50, 100, 1), (256, 1, 1))
    assert kernel.flops == 2 * 4800 * 9600 * 4800


def test_prefetch_is_off_by_default_only_at_128_bits():
    """Prefetch is on by default with loads of 32 and 64 bits, and off with those of 128."""
    assert [sgemm_lai(lds=lds).arguments["prefetch"] for lds in WIDTHS] == [True, True, False]
