"""Launches of Triton kernels, as an H200 ran them: inputs, arguments, and the bytes of their results."""

import hashlib

import numpy as np
import pytest

from benchmarks.tensor import triton_launches as launches

FOLDER, FURTHER = launches.FOLDER, launches.FURTHER
CYCLES = {  # percent by which the cycles of a launch may be off: as reached in November 2026, rounded up
    "axpy_M": 10,
    "softmax_S": 2,
    "layernorm_M": 6,
    "gemv_M": 4,
    "transpose_M": 23,
    "flash_d64_128x64_w4_S": 4,
    "mm_bf16_64x64x32_w4s2_S": 6,
    "mm_i8_128x64x64_w4s3_S": 3,
    "mm_f16_128x128x64_w4s3_S": 7,
    "mm_tma_S": 3,
    "mm_tf32_64x64x32_w4s3_S": 3,
}
QUICK = "axpy_M", "softmax_S", "layernorm_M", "transpose_M"  # without tensor cores


def of(name: str) -> launches.Case:
    """Return the launch of that name."""
    (found,) = launches.wanted(launches.cases(FOLDER), f"^{name}$")
    return found


def logical(argument, array):
    """Return an array by rows of its shape: a transposed one the other way round."""
    if argument["made"] and argument["made"][0] == "transposed":
        return np.ascontiguousarray(array.reshape(argument["shape"][::-1]).T)
    return array


def test_every_launch_is_there():
    """There are 17 launches of ten kernels, each with its machine code and a result."""
    found = launches.cases(FOLDER)
    assert len(found) == 17
    assert len({case["kernel"] for case in found}) == 10
    assert all(launches.cubin(FOLDER, case)[:4] == b"\x7fELF" and case["outputs_sha256"] for case in found)


def test_every_further_launch_is_there():
    """There are 41 further launches of the ten kernels, of other shapes, each with a result."""
    found = launches.cases(FURTHER)
    assert len(found) == 41
    assert {case["kernel"] for case in found} == {case["kernel"] for case in launches.cases(FOLDER)}
    assert all(launches.cubin(FURTHER, case)[:4] == b"\x7fELF" and case["outputs_sha256"] for case in found)


@pytest.mark.parametrize("name", ["softmax_S", "mm_bf16_64x64x32_w4s2_S", "mm_i8_128x64x64_w4s3_S", "layernorm_M"])
def test_inputs_are_those_of_the_chip(name):
    """The bytes of each input are those that the chip got."""
    case = of(name)
    for place, (argument, wanted) in enumerate(zip(case["args"], case["inputs_sha256"], strict=True)):
        if wanted:
            array = launches.made(argument)
            assert launches.sha256(logical(argument, array)) == wanted, place
            assert array.nbytes == argument["bytes"]


def test_a_number_is_rounded_to_bfloat16_as_by_hand():
    """1 + 2^-8 lies between two and goes to the even one, 1; a little more goes up; -2 stays."""
    given = np.array([1 + 2.0**-8, 1 + 2.0**-8 + 2.0**-20, -2], np.float32)
    assert launches.bf16(given).tolist() == [0x3F80, 0x3F81, 0xC000]


def test_constants_are_not_passed():
    """A product of matrices gets three arrays, M, N, K and two strides; those of 1 are constants; two nulls follow."""
    passed, arrays = launches.arguments(of("mm_bf16_64x64x32_w4s2_S"))
    assert list(arrays) == [0, 1, 2]
    assert [int(one) for one in passed[3:8]] == [128, 128, 1024, 1024, 128]
    assert passed[8:] == [None, None]


def test_another_byte_is_told():
    """Outputs are compared to the bit."""
    array = np.arange(4, dtype=np.int32)
    case = {"outputs_sha256": {"1": hashlib.sha256(array.tobytes()).hexdigest()}, "active_max": 200}
    assert launches.Outcome(case, None, {1: array}).equal == {1: True}
    assert launches.Outcome(case, None, {1: array + 1}).equal == {1: False}


@pytest.mark.jit
@pytest.mark.every
@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.long) for name in CYCLES]
)
def test_results_are_those_of_the_chip(name):
    """Outputs of all blocks are the chip's to the bit; the grid issues as many instructions; cycles are near."""
    done = launches.simulated(FOLDER, of(name))
    assert done.equal
    assert all(done.equal.values())
    mine, chip = next(launches.counters(done)).split()[1:]
    assert mine == chip
    assert abs(done.error) <= CYCLES[name]


@pytest.mark.jit
@pytest.mark.long
@pytest.mark.parametrize(("name", "sm"), [("flash_d64_64x64_w4_causal_S", 7), ("flash_d64_64x64_w4_M", 0)])
def test_further_results_are_those_of_the_chip(name, sm):
    """Blocks that differ, of which the last takes longest, and two blocks on an SM: right to the bit, within 6 %."""
    (case,) = launches.wanted(launches.cases(FURTHER), f"^{name}$")
    done = launches.simulated(FURTHER, case)
    assert all(done.equal.values())
    assert done.result.run.first_sm == sm
    assert abs(done.error) <= 6


@pytest.mark.jit
@pytest.mark.long
def test_a_copy_beyond_the_l2_takes_as_long_as_on_the_chip():
    """A transposition of 67 MB: within 4 % of the chip; all it stores goes to the DRAM in its time, as ncu has it."""
    (case,) = launches.wanted(launches.cases(FURTHER), "^transpose_B64_w4_L$")
    done = launches.simulated(FURTHER, case, complete=False)
    written, stored = done.result.run.sectors["written"], done.result.run.sectors["stored"]
    assert written == stored
    assert abs(done.error) <= 4


@pytest.mark.jit
@pytest.mark.long
def test_sums_by_atomics_are_near():
    """Sums of 2112 floats by atomics, whose order is not the chip's, are within 2e-5 of those in double precision.

    Cycles are within 5 %: a fence before each atomic waits for loads, and blocks of one column meet in a slice.
    """
    done = launches.simulated(FOLDER, of("colsum_M"))
    wanted = done.arrays[0].reshape(2112, 1024).sum(axis=0, dtype=np.float64)
    assert np.abs(done.arrays[1] - wanted).max() < 2e-5
    assert abs(done.error) <= 5
