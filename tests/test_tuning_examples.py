"""The tunable kernels of examples/tuning: their points compute what NumPy gives, and can be tuned."""

import json

import numpy as np
import pytest
from draws import few
from read.fenced import ROOT
from space_files import needs_compiler

from examples.tuning import expected
from gpusim.analysis.search.code.code_tuning import Place, checked
from gpusim.analysis.search.space_file import points, read
from gpusim.commands.main import execute
from gpusim.machine.machine import read as machine_file

FOLDER = ROOT / "examples" / "tuning"
NAMES = sorted(expected.RESULTS)
A100 = Place(machine_file("a100"), {})
FEW = {  # values of some parameters that leave two points, which differ much
    "convolution": ("BLOCK_X=32", "BLOCK_Y=4", "THREAD_X=4", "THREAD_Y=4", "VECTOR=4", "PAD=0"),
    "sgemm": ("TILE_M=64", "TILE_N=64", "TILE_K=8", "THREAD_M=8", "THREAD_N=8", "VECTOR=4", "PREFETCH=0", "K=64"),
}


def space(name):
    """Return the search space of an example."""
    return read(FOLDER / f"{name}.toml")


def some(name, number):
    """Return so many points of an example at even distances."""
    found = points(space(name))
    return [found[i * len(found) // number] for i in range(number)]


@pytest.mark.parametrize("name", NAMES)
def test_the_arrays_hold_what_numpy_computes(name):
    """Each .npy file has what `python examples/tuning/expected.py` writes now."""
    files = expected.files(name)
    assert sorted(FOLDER.glob(f"{name}.*.npy")) == sorted(files)
    for path, values in files.items():
        assert np.array_equal(np.load(path), values)


def test_every_space_file_is_tested():
    """Each space file of the folder has its results in NumPy, and a source beside it."""
    assert sorted(path.stem for path in FOLDER.glob("*.toml")) == NAMES
    assert sorted(path.stem for path in FOLDER.glob("*.cu")) == NAMES


@pytest.mark.parametrize(("name", "number"), [("convolution", 108), ("sgemm", 88)])
def test_the_points_are_few_enough_for_a_minute_or_two(name, number):
    """The spaces have about a hundred points."""
    assert len(points(space(name))) == number


@pytest.mark.jit
@needs_compiler
@pytest.mark.parametrize("name", NAMES)
def test_a_point_computes_what_numpy_gives(name):
    """The first point computes the expected values at the sizes of the check."""
    found = checked(space(name), some(name, 1)[0], A100)
    assert (found.wrong, found.verified) == (0, True)


@pytest.mark.jit
@pytest.mark.long
@needs_compiler
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("place", few(range(8), 1))
def test_points_all_over_the_space_compute_what_numpy_gives(name, place):
    """Points at even distances compute the expected values, whatever their parameters."""
    found = checked(space(name), some(name, 8)[place], A100)
    assert (found.wrong, found.verified) == (0, True)


@pytest.mark.jit
@pytest.mark.long
@needs_compiler
@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_tuned_for_two_machines(name, capsys):
    """A few points are ranked on two machines whose code differs, and the winners' values are right."""
    given = [word for value in FEW[name] for word in ("-p", value)]
    machines = "--machine", "rtx3090", "--machine", "a100"
    assert execute(["tune", str(FOLDER / f"{name}.toml"), *given, *machines, "--jobs", "1", "--json"]) == 0
    for one in json.loads(capsys.readouterr().out)["machines"]:
        assert one["simulated"] == one["launches"] == 2
        assert one["check"]["verification"]["wrong"] == 0 < one["check"]["verification"]["values"]
        rates = [each["figures"]["percent_of_peak"] for each in one["ranking"]]
        assert 0 < rates[1] <= rates[0] < 100
