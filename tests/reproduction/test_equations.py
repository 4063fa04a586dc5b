"""Worked numbers of RR-7923: GTX 580 with 63 registers per thread, 256 threads per block, tiles 16 deep."""

from __future__ import annotations

import pytest

from gpusim.reproduction.lai import equations as eq

PEAK = 512 * 2 * 1.544  # GFLOP/s, table 1
FIGURE_1 = [  # blocking, then percent of FFMAs: fractional loads of 1, 2, 4 words; whole loads of 2, 4 words
    (1, [33.33, 50.0, 66.67, 33.33, 33.33]),
    (2, [50.0, 66.67, 80.0, 66.67, 66.67]),
    (5, [71.43, 83.33, 90.91, 80.65, 86.21]),
    (6, [75.0, 85.71, 92.31, 85.71, 90.0]),
    (7, [77.78, 87.5, 93.33, 85.96, 92.45]),
    (15, [88.24, 93.75, 96.77, 93.36, 96.57]),
]


@pytest.mark.parametrize(("latency", "warps"), [(18, 18), (24, 24)])
def test_equation_1_asks_for_as_many_warps_as_cycles_of_latency(latency: int, warps: int) -> None:
    """A latency of 18 or 24 cycles at one warp instruction per cycle takes 18 or 24 warps."""
    assert eq.threads_needed(latency, 1) == 32 * warps


def test_equations_2_and_3_allow_512_threads_of_63_registers() -> None:
    """A thread may have at most 63 registers, and 32 K registers hold 512 threads of 63, but not 544."""
    assert eq.registers_fit_thread(63, 63)
    assert not eq.registers_fit_thread(64, 63)
    assert eq.registers_fit_sm(512, 63, 32768)
    assert not eq.registers_fit_sm(544, 63, 32768)


def test_equation_4_allows_blocking_7() -> None:
    """Blocking 7 needs 57 registers, below 63; blocking 8 needs 73."""
    assert [b for b in range(1, 12) if eq.blocking_fits_loosely(b, 63)][-1] == 7


def test_equation_5_makes_the_depth_a_multiple_of_8() -> None:
    """At 256 threads and blocking 6, tiles 8, 16, 24 ... deep divide evenly."""
    assert [d for d in range(1, 33) if eq.tile_divides(256, 6, d)] == [8, 16, 24, 32]


def test_equation_6_counts_words() -> None:
    """Two blocks keep 24,576 bytes of tiles, and four fill the 48 KB of an SM."""
    assert eq.shared_fits(2, 256, 6, 16, 24576)
    assert not eq.shared_fits(2, 256, 6, 16, 24575)
    assert eq.shared_fits(4, 256, 6, 16, 49152)
    assert not eq.shared_fits(5, 256, 6, 16, 49152)


def test_equation_7_allows_blocking_6() -> None:
    """12 registers of prefetch make 62 at blocking 6 with 7 for addresses, and 78 at blocking 7."""
    assert eq.prefetch_registers(256, 6, 16) == 12
    assert eq.registers_needed(6, 256, 16, 7) == 62
    assert eq.registers_needed(7, 256, 16, 7) == 78
    assert [b for b in range(1, 12) if eq.blocking_fits_tightly(b, 256, 16, 7, 63)][-1] == 6


def test_equation_8_gives_the_tile_of_96() -> None:
    """256 threads of 6 by 6 make a block tile of 96 by 96."""
    assert eq.shared_blocking(256, 6) == 96


@pytest.mark.parametrize(("width", "rate"), [(1, 31.3), (2, 30.4), (4, 24.5)])
def test_equation_9_carries_figure_2_into_equation_11(width: int, rate: float) -> None:
    """With the factor, equation 11 is the FFMA share times the mixed rate over the issue rate."""
    bound = eq.sm_bound(6, eq.throughput_factor(6, width, rate), PEAK)
    assert bound == pytest.approx(eq.ffma_share(6, width) * rate / 32 * PEAK)


@pytest.mark.parametrize("width", [1, 2, 4])
def test_equation_9_is_one_load_per_width_words_at_full_rate(width: int) -> None:
    """Without interference a loaded word costs 1 / width issue slots."""
    assert eq.throughput_factor(6, width, 32) == pytest.approx(1 / width)


@pytest.mark.parametrize(("bandwidth", "bound"), [(192.4, 4617.6), (192.26, 4614.24)])
def test_equation_10_counts_words_of_four_bytes(bandwidth: float, bound: float) -> None:
    """The memory of a GTX 580 and of a GK104 feeds some 4600 GFLOP/s through a tile of 96."""
    assert eq.memory_bound(bandwidth, 96) == pytest.approx(bound)


@pytest.mark.parametrize(("rate", "bound"), [(32, 1355), (30.4, 1287)])
def test_equation_11_bounds_lds_64(rate: float, bound: float) -> None:
    """With 64-bit loads the SM can do 1355 GFLOP/s, and 1287 at the mixed rate of figure 2."""
    assert eq.sm_bound(6, eq.throughput_factor(6, 2, rate), PEAK) == pytest.approx(bound, abs=0.5)


def test_equation_12_is_the_sm_bound_at_85_percent() -> None:
    """Memory is not the limit, and the report's potential is about 85 % of the peak."""
    sm = eq.sm_bound(6, eq.throughput_factor(6, 2, 32), PEAK)
    assert eq.potential(eq.memory_bound(192.4, 96), sm) == sm
    assert sm / PEAK == pytest.approx(0.85, abs=0.01)


@pytest.mark.parametrize(("blocking", "percents"), FIGURE_1)
def test_figure_1(blocking: int, percents: list[float]) -> None:
    """Shares of FFMAs by blocking and load width, in percent to two digits."""
    shares = [eq.ffma_share(blocking, width) for width in (1, 2, 4)]
    shares += [eq.ffma_share(blocking, width, whole_loads=True) for width in (2, 4)]
    assert [round(100 * s, 2) for s in shares] == percents
