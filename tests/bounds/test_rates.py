"""The peak that a rate is compared with: that of tensor cores by type where a program has matrix instructions."""

from types import SimpleNamespace

import pytest

from gpusim.bounds.rates import peak_gflops, precision, tensor_kind, tensor_kinds
from gpusim.machine.machine import load
from isa.row import Unit

KINDS = {  # as nvdisasm names them
    "HMMA.16816.F32": "f16", "HMMA.1688.F16": "f16_half", "HMMA.16816.F32.BF16": "bf16", "HMMA.1688.F32.TF32": "tf32",
    "HGMMA.64x128x16.F32": "f16", "HGMMA.64x64x16.F16": "f16_half", "HGMMA.64x64x16.F32.BF16": "bf16",
    "HGMMA.64x64x8.F32.TF32": "tf32", "IMMA.16832.S8.S8": "s8", "IGMMA.64x64x32.S8.S8": "s8", "DMMA.8x8x4": "f64",
    "QMMA.16832.F32.E4M3.E4M3": "fp8", "QGMMA.64x64x32.F32.E4M3.E4M3": "fp8",
    "HFMA2.MMA": "", "FFMA": "", "DFMA": "", "BMMA.168256.AND.POPC": "", "IMAD": "", "MOVM.16.MT88": "",
}  # fmt: skip


def kernel(*mnemonics, unit=Unit.FP32):
    """Return what the rates read of a kernel of these instructions."""
    rows = [SimpleNamespace(row=SimpleNamespace(mnemonic=one, unit=unit)) for one in mnemonics]
    return SimpleNamespace(program=SimpleNamespace(instructions=rows))


@pytest.mark.parametrize("mnemonic", KINDS)
def test_a_matrix_instruction_names_the_type_that_it_multiplies(mnemonic):
    """By its name; others have none, and so have products of bits, whose peak no file has."""
    assert tensor_kind(mnemonic) == KINDS[mnemonic]


def test_the_fastest_type_of_a_program_has_its_peak():
    """156 TFLOP/s of tf32 and 312 of halves on an A100: the latter counts."""
    both = kernel("HMMA.1688.F32.TF32", "FFMA", "HMMA.16816.F32")
    assert tensor_kinds(both) == ("tf32", "f16")
    assert peak_gflops(both, load("a100")) == pytest.approx(312_000, rel=1e-3)
    assert precision(both, load("a100")) == "tensor cores, f16"


def test_a_type_that_the_machine_has_no_tensor_cores_for_does_not_count():
    """Forced onto a machine without them, a program has the peak of its other instructions."""
    doubles = kernel("DMMA.8x8x4", unit=Unit.DP)
    assert precision(doubles, load("h200")) == "tensor cores, f64"
    assert precision(doubles, load("rtx3090")) == "double precision"
    assert peak_gflops(doubles, load("rtx3090")) < peak_gflops(doubles, load("h200"))
    assert precision(kernel("HMMA.16816.F32"), load("gtx580")) == "single precision"


def test_a_program_without_matrix_instructions_keeps_its_peak():
    """Single precision: 2 operations of 128 lanes on 132 SMs at 1,980 MHz."""
    assert peak_gflops(kernel("FFMA", "MUFU.EX2"), load("h200")) == pytest.approx(2 * 128 * 132 * 1.980)
    assert precision(kernel("FFMA"), load("h200")) == "single precision"
