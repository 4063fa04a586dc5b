"""`gpusim bound --gemm`: the most of a tiled matrix product, as a screen and as a document; wrong uses in one line."""

import json

import pytest

from gpusim.commands import main

WRONG = {  # by what is given to `gpusim bound`
    "": "no kernel; name one, or bound a matrix product with --gemm f16",
    "examples/saxpy.asm --tile 64x64": "--tile 64x64 is of --gemm; add it, such as --gemm f16",
    "--gemm f16 --tile 64": "--tile 64: no rows and columns of a block's tile; write them as 128x256",
    "saxpy --gemm f16": "KERNEL: --gemm bounds all tiled matrix products, of no kernel; leave out one of the two",
    "--gemm f64 --machine rtx3090": "rtx3090 has no tensor cores for f64; take another machine, such as h200",
}


def document(capsys, *arguments):
    """Return the document that the command prints."""
    assert main.execute(["bound", "--gemm", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_document_has_the_longest_cycles_as_its_limit(capsys):
    """The rate is two operations for each product of a step over the cycles of the limiter."""
    found = document(capsys, "f16", "--machine", "a100")
    (one,) = found["products"]
    assert one["cycles"][one["limiter"]] == max(one["cycles"].values()) == 256
    assert one["tile"] == [128, 128]
    assert one["gflops"] == pytest.approx(2 * 128 * 128 * 16 / 256 * 108 * 1.410)
    assert found["peak_gflops"] == {"f16": pytest.approx(one["gflops"])}


def test_all_types_of_a_machine(capsys):
    """An A100 has six, each by mma.sync; an H200 has 8-bit floats by wgmma alone."""
    found = document(capsys, "all", "--machine", "a100")["products"]
    assert [one["type"] for one in found] == ["f16", "f16_half", "bf16", "tf32", "s8", "f64"]
    assert {one["by"] for one in document(capsys, "fp8")["products"]} == {"wgmma", "wgmma, multicast to 2 blocks"}


def test_a_setting_of_the_machine_is_felt(capsys):
    """Twice the cycles of a step are half the peak; the document names the setting."""
    found = document(capsys, "f16", "--machine", "a100", "--set", "tensor_peak.f16=16")
    assert found["settings"] == {"tensor_peak.f16": 16}
    assert found["peak_gflops"]["f16"] == pytest.approx(2 * 512 * 108 * 1.410)


def test_the_screen_names_tile_rate_and_limit(capsys):
    """A line for each way to multiply, and how busy each resource is at the bound."""
    assert main.execute(["bound", "--gemm", "f16", "--tile", "128x128"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("a tiled matrix product on h200 (H200)\n")
    assert shown.count("128x128") == 3
    assert shown.count("busy at the") == 1


@pytest.mark.parametrize("given", WRONG)
def test_what_is_wrong_is_said_in_one_line(capsys, given):
    """Exit code 2, and the line says what to do."""
    assert main.execute(["bound", *given.split()]) == 2
    assert capsys.readouterr().err.splitlines() == [f"error: {WRONG[given]}"]
