"""Peaks of tensor cores, against the figures that white papers and data sheets print."""

import pytest

from gpusim.machine.machine import every, load
from gpusim.machine.tensor_rates import TYPES, products_per_cycle, tensor_gflops

PRINTED = [  # TFLOP/s or TOPS, dense, at the clock of the machine's file
    ("a100", "f16", 312), ("a100", "bf16", 312), ("a100", "tf32", 156), ("a100", "s8", 624), ("a100", "f64", 19.5),
    ("rtx2080ti", "f16", 53.8), ("rtx2080ti", "f16_half", 107.6), ("rtx2080ti", "s8", 215.2),
    ("titan-rtx", "f16", 130.5), ("titan-rtx", "s8", 261),
    ("rtx3090", "f16", 71), ("rtx3090", "f16_half", 142), ("rtx3090", "tf32", 35.6), ("rtx3090", "s8", 284),
    ("rtx-a6000", "f16", 154.8), ("rtx-a6000", "tf32", 77.4), ("rtx-a4000", "f16", 76.7), ("a10", "f16", 125),
    ("t4", "f16", 65.1), ("t4", "s8", 130), ("l4", "f16", 121), ("l4", "s8", 242), ("jetson-orin", "s8", 85),
    ("rtx4090", "f16", 165.2), ("rtx4090", "f16_half", 330.3), ("rtx4090", "s8", 660.6), ("rtx4090", "fp8", 660.6),
    ("rtx5090", "f16", 209.5), ("rtx5090", "f16_half", 419), ("rtx5090", "tf32", 104.8), ("rtx5090", "s8", 838),
]  # fmt: skip
NONE = [("v100", "bf16"), ("v100", "s8"), ("rtx3090", "f64"), ("a100", "fp8"), ("gtx580", "f16"), ("mi60", "f64")]


@pytest.mark.parametrize(("name", "kind", "printed"), PRINTED)
def test_a_peak_is_what_the_vendor_prints(name, kind, printed):
    """Cycles of a step, SMs and clock of the machine's file give the printed peak, which is rounded."""
    assert tensor_gflops(load(name), kind) / 1000 == pytest.approx(printed, rel=3e-3)


def test_volta_has_640_tensor_cores_of_64_products():
    """At the clock of the file, that of the measured card; the printed 125 TFLOP/s are at 1,530 MHz."""
    assert tensor_gflops(load("v100"), "f16") == 640 * 64 * 2 * 1380 / 1000


@pytest.mark.parametrize(("name", "kind"), NONE)
def test_a_type_that_a_chip_does_not_have_has_no_peak(name, kind):
    """0 stands for none, whether the file has the section or not."""
    assert tensor_gflops(load(name), kind) == 0


def test_an_h200_multiplies_half_as_much_again_by_wgmma():
    """1,365 1/3 and 2,048 products of halves per cycle and SM, measured; wgmma has no double precision."""
    h200 = load("h200")
    assert 3 * products_per_cycle(h200, "f16") == 4096
    assert products_per_cycle(h200, "f16", group=True) == 2048
    assert (products_per_cycle(h200, "f64"), products_per_cycle(h200, "f64", group=True)) == (128, 0)
    assert tensor_gflops(h200, "f16") == 2 * 2048 * 132 * 1.980


def test_a_type_of_half_the_bytes_has_twice_the_rate_on_hopper():
    """Wgmma takes 32 bytes of K of each type in the same cycles."""
    h200 = load("h200")
    assert tensor_gflops(h200, "fp8") == 2 * tensor_gflops(h200, "bf16") == 4 * tensor_gflops(h200, "tf32")


def test_every_machine_with_tensor_cores_sums_halves_in_single_precision():
    """Each has f16, and none is faster with its sums in single precision than with halves."""
    found = [machine for machine in every() if machine.tensor_peak]
    assert {one.key for one in found} >= {"v100", "rtx2080ti", "a100", "rtx3090", "h200"}
    assert all(0 < tensor_gflops(one, "f16") <= tensor_gflops(one, "f16_half") for one in found)
    assert all(tensor_gflops(one, kind) == 0 for one in every() if not one.tensor_peak for kind in TYPES)
