"""What a tile of a matrix product asks for, worked by hand for tiles that kernels of NVIDIA have."""

from fractions import Fraction

import pytest

from gpusim.bounds.product import limits as resource
from gpusim.bounds.product import tiling as of
from gpusim.bounds.product.limits import held, limits
from gpusim.bounds.product.potential import best, potentials, tilings
from gpusim.bounds.product.tiling import Tiling
from gpusim.machine.machine import load
from isa.errors import UserError

WARPS = Tiling(128, 128, 64, 32, steps=2, stages=3)  # eight warps of 64 x 32: the 128 x 128 of CUTLASS 2
GROUPS = Tiling(128, 256, 64, 256, steps=4, stages=4, group=True)  # two warpgroups of 64 x 256: that of CUTLASS 3
MEASURED = [  # rows, columns, TFLOP/s of whole chips at 4096 x 4096 x 1024: measured on an H200, 2026-11-22
    ("f16", False, 64, 64, 133.7), ("f16", False, 128, 128, 207.41), ("f16", False, 128, 128, 260.24),
    ("bf16", False, 64, 64, 149.32), ("tf32", False, 128, 128, 106.68), ("s8", False, 128, 128, 450.77),
    ("f64", False, 64, 64, 28.95), ("f16", True, 128, 128, 453.06), ("f16", True, 128, 128, 439.52),
]  # fmt: skip


def test_registers_of_a_warps_tile():
    """64 x 32 numbers over 32 lanes are 64 registers; 64 and 32 lines of 32 bytes, 3,072 bytes, are 24 of 128 bytes."""
    assert of.sums(WARPS) == 64
    assert of.fragments(WARPS) == 24
    assert held(WARPS, load("a100")).registers == 64 + 2 * 24 + 14


def test_registers_of_a_warpgroups_tile():
    """64 x 256 numbers over 128 threads are 128 registers; wgmma reads its factors from shared memory."""
    assert of.sums(GROUPS) == 128
    assert of.fragments(GROUPS) == 0
    assert held(GROUPS, load("h200")).registers == 142


def test_sums_of_halves_and_of_doubles_take_half_and_twice_the_registers():
    """Two halves share a register, a double takes two."""
    assert of.sums(Tiling(64, 64, 32, 32, 1, 2, total=2)) == 16
    assert of.sums(Tiling(64, 64, 32, 32, 1, 2, element=8, total=8)) == 64


def test_shared_memory_of_stages():
    """128 + 128 lines of 64 bytes are 16 KB, three stages 48; 128 + 256 lines of 128 bytes are 48 KB, four 192."""
    assert held(WARPS, load("a100")).shared_bytes == 49152
    assert held(GROUPS, load("h200")).shared_bytes == 196608


def test_blocks_that_an_sm_holds():
    """On an A100 126 registers of 256 threads leave room for two blocks; 98 KB and two reserved fit its 164 KB."""
    assert held(WARPS, load("a100")).blocks == 2
    assert held(GROUPS, load("h200")).blocks == 1


def test_a_tile_beyond_255_registers_or_227_kb_is_not_held():
    """128 x 128 numbers of one warp are 512 registers; five stages of 48 KB are 240 KB."""
    assert held(Tiling(128, 128, 128, 128, 1, 2), load("h200")).blocks == 0
    assert held(Tiling(128, 256, 64, 256, 4, 5, group=True), load("h200")).blocks == 0


def test_one_stage_is_enough_where_the_next_waits_in_registers():
    """Volta holds it, with the prefetch of equation 7: 256 lines of 32 bytes over 256 threads, 8 registers each."""
    single = Tiling(128, 128, 64, 32, 1, 1)
    assert held(single, load("v100")).registers == 64 + 48 + 14 + 8
    assert held(single, load("a100")).blocks == 0


def test_a_step_of_an_a100():
    """128 x 128 x 16 products at 1,024 take 256 cycles; 8 warps read 96 lines, and 256 come: 1,024 lines of 32 bytes.

    These are 256 cycles at 128 bytes. 8 x (4 x 4 HMMA + 6 LDSM) + 16 LDGSTS are 192 instructions of four schedulers.
    The L2 gives 32 bytes in 58/64 cycles. 199 cycles pass to two stages of two steps in each of two blocks.
    """
    cycles = limits(WARPS, load("a100"), "f16")
    assert cycles[resource.TENSOR] == 256
    assert cycles[resource.SHARED] == 256
    assert cycles[resource.SLOTS] == 48
    assert cycles[resource.L2] == Fraction(256 * 58, 64)
    assert cycles[resource.COPIES] == Fraction(199, 8)


def test_a_step_of_an_h200_by_wgmma():
    """128 x 256 x 16 products at 2,048 take 256 cycles; two wgmmas read 64 + 256 lines each, 640 of 32 bytes.

    Copy engines load 10,700 bytes per cycle: 12,288 bytes of each of 132 take 151.6 cycles, 101.1 with a multicast.
    """
    cycles = limits(GROUPS, load("h200"), "f16")
    assert cycles[resource.TENSOR] == 256
    assert cycles[resource.SHARED] == 160
    assert cycles[resource.SLOTS] == 2
    assert cycles[resource.L2] == Fraction(12288 * 132, 10700)
    shared = Tiling(128, 256, 64, 256, 4, 4, group=True, sharers=2)
    assert limits(shared, load("h200"), "f16")[resource.L2] == Fraction(8192 * 132, 10700)


def test_a_wgmma_takes_the_longer_of_its_products_and_its_reads():
    """Measured: N / 2 cycles, or 16 + N / 4 where that is more."""
    for columns in (64, 128, 256):
        one = Tiling(64, columns, 64, columns, 1, 2, group=True)
        cycles = limits(one, load("h200"), "f16")
        assert cycles[resource.TENSOR] == columns / 2
        assert cycles[resource.SHARED] == 16 + columns / 4


def test_turing_needs_twice_the_instructions_and_has_half_the_shared_memory_bandwidth():
    """m16n8k8 is half a step; 64 bytes per cycle of shared memory."""
    assert of.instructions(WARPS, 2) - of.instructions(WARPS, 1) == 8 * 16
    assert resource.shared_bytes(load("rtx2080ti")) == 64
    assert limits(WARPS, load("rtx2080ti"), "f16")[resource.SLOTS] == (192 + 128) / 4


def test_the_dram_of_a_wave():
    """216 tiles of 128 x 128 lie as a square of 1,881 lines a side: 2 x 1,881 x 32 bytes for 216 steps."""
    side = (216 * 128 * 128) ** 0.5
    assert of.wave_bytes(WARPS, 216) == pytest.approx(2 * side * 32)
    cycles = float(limits(WARPS, load("a100"), "f16")[resource.DRAM])
    assert cycles == pytest.approx(64 * side / float(resource.dram_bytes(load("a100"))) / 2)


def test_a_deeper_pipeline_hides_more_latency():
    """Each further stage gives copies the time of one more."""
    h200 = load("h200")
    found = [
        limits(Tiling(128, 128, 64, 128, 2, stages, group=True), h200, "f16")[resource.COPIES]
        * held(Tiling(128, 128, 64, 128, 2, stages, group=True), h200).blocks
        for stages in (2, 3, 4)
    ]
    assert found == [Fraction(303, 2), Fraction(303, 4), Fraction(303, 6)]


def test_the_h200_needs_wgmma_and_its_copy_engines_for_its_peak():
    """Without them mma.sync reaches two thirds; with tiles of 32 x 128 for each warp it waits for shared memory."""
    h200 = load("h200")
    warps, alone, together = potentials(h200, "f16")
    assert {one.limiter for one in (warps, alone, together)} == {resource.TENSOR}
    peak = 2 * 2048 * 132 * 1.980
    assert warps.gflops(h200) == pytest.approx(peak * 2 / 3)
    assert alone.gflops(h200) == together.gflops(h200) == pytest.approx(peak)
    square = limits(Tiling(128, 128, 32, 128, 4, 2), h200, "f16")
    assert max(square, key=square.__getitem__) == resource.SHARED


@pytest.mark.parametrize("name", ["v100", "rtx2080ti", "titan-rtx", "a100", "rtx3090", "rtx-a6000"])
def test_chips_before_hopper_reach_their_peak(name):
    """Some tiling has every other resource wait for the tensor pipe."""
    (found,) = potentials(load(name), "f16")
    assert found.limiter == resource.TENSOR
    assert found.cycles == found.limits[resource.TENSOR]


@pytest.mark.parametrize(("kind", "group", "rows", "columns", "tflops"), MEASURED)
def test_no_measured_kernel_is_faster_than_the_best_tiling_of_its_tile(kind, group, rows, columns, tflops):
    """What an H200 reached with a block's tile lies below the bound of that tile."""
    h200 = load("h200")
    found = best(h200, kind, group=group, tile=(rows, columns))
    assert found is not None
    assert tflops * 1000 < found.gflops(h200)


def test_the_best_is_the_best_of_all():
    """No tiling that fits takes fewer cycles for each product."""
    a100 = load("a100")
    found = best(a100, "tf32", group=False)
    assert found is not None
    each = [one for one in tilings("tf32", group=False, sharers=1) if held(one, a100).blocks]
    least = min(max(limits(one, a100, "tf32").values()) / one.products for one in each)
    assert found.cycles / found.tiling.products == least


def test_what_a_machine_does_not_have_is_said():
    """A chip without tensor cores, a type that they don't take, a tile of no tiling."""
    with pytest.raises(UserError, match="gtx580 has no tensor cores"):
        potentials(load("gtx580"))
    with pytest.raises(UserError, match="rtx3090 has no tensor cores for f64"):
        potentials(load("rtx3090"), "f64")
    with pytest.raises(UserError, match="holds no tile of 100x100"):
        potentials(load("a100"), "f16", (100, 100))
