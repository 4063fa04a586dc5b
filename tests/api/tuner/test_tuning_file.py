"""Tuning of what a file in Kernel Tuner's format T1 describes."""

import json

import pytest
from space_files import needs_compiler

import gpusim.api.kernel_tuner as ours

pytestmark = [pytest.mark.jit, needs_compiler, pytest.mark.long, pytest.mark.usefixtures("card")]
SOURCE = """
extern "C" __global__ void scaled(float *y, const float *x, float by) {
  int i = blockIdx.x * block_size_x + threadIdx.x;
  y[i] = by * x[i];
}
"""
METHOD = """
class First:
    def __init__(self, points):
        self.points = points
    def __call__(self, cost, space):
        for one in space.sorted_list()[: self.points]:
            cost(one)
"""


def described(folder, search):
    """Write a kernel and a file in T1 that describes its tuning with a method of search; return the file."""
    arguments = [
        {"Name": name, "Type": "float", "MemoryType": "Vector", "FillType": "Constant", "FillValue": 1.0, "Size": 1024}
        for name in "yx"
    ]
    scalar = {"Name": "by", "Type": "float", "MemoryType": "Scalar", "FillValue": 3.0}
    kernel = {
        "Language": "CUDA",
        "KernelName": "scaled",
        "KernelFile": "scaled.cu",
        "GlobalSize": {"X": "1024"},
        "LocalSize": {"X": "block_size_x"},
        "ProblemSize": [1024],
        "Arguments": [*arguments, scalar],
    }
    sizes = {"Name": "block_size_x", "Type": "int", "Values": "[32, 64, 128, 256]"}
    limits = [{"Expression": "block_size_x < 256", "Parameters": ["block_size_x"]}]
    whole = {
        "ConfigurationSpace": {"TuningParameters": [sizes], "Conditions": limits},
        "KernelSpecification": kernel,
        "Search": search,
    }
    (folder / "scaled.cu").write_text(SOURCE)
    (folder / "t1.json").write_text(json.dumps(whole))
    return folder / "t1.json"


def test_a_file_is_tuned_by_its_search(tmp_path):
    """Parameters, conditions and strategy are those of the file; results are in T4, or as `tune_kernel` has them."""
    file = described(tmp_path, {"Name": "brute_force"})
    metadata, results = ours.tune_kernel_T1(file)
    assert "environment" in metadata["metadata"]
    found = {one["configuration"]["block_size_x"] for one in results["results"]}
    assert found == {32, 64, 128}
    plain, environment = ours.tune_kernel_T1(file, output_T4=False, cache_filepath=tmp_path / "kept.json")
    assert [one["block_size_x"] for one in plain] == [32, 64, 128]
    assert environment["best_config"] == min(plain, key=lambda one: one["time"])
    assert len(json.loads((tmp_path / "kept.json").read_text())["cache"]) == 3


def test_a_search_method_in_a_file_of_its_own(tmp_path):
    """A class that the file names searches, with the attributes that the file gives it."""
    (tmp_path / "method.py").write_text(METHOD)
    attributes = {"custom_search_method_path": str(tmp_path / "method.py"), "points": 2}
    listed = [{"Name": name, "Value": value} for name, value in attributes.items()]
    file = described(tmp_path, {"Name": "First", "Attributes": listed})
    results, _ = ours.tune_kernel_T1(file, output_T4=False)
    assert [one["block_size_x"] for one in results] == [32, 64]
