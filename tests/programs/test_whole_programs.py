"""The whole programs of examples/programs: each runs on the simulated card, and its own check finds its results right.

Each is compiled and started as users do it, by `gpusim exec`, in a process of its own.
"""

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from functools import cache

import pytest
from read.fenced import ROOT

from isa.nvidia.compiler import tools

FOLDER = ROOT / "examples" / "programs"
LAUNCHES = {  # of each kernel, as main() has them
    "attention": {"normalise": 1, "attend": 1},
    "columns": {"levels": 1, "contrast": 1},
    "gradient": {"solve": 1},
    "graph": {"scale": 25, "rotate": 25, "add": 25},
    "histogram": {"count": 1},
    "jacobi": {"step": 32},
    "list": {"show": 2, "square": 1},
    "picture": {"enlarge": 1},
    "product": {"product": 1},
    "rows": {"levels": 1, "contrast": 1},
    "saxpy": {"saxpy": 4},
    "sort": {"DeviceRadixSortSingleTileKernel": 1, "DeviceScanKernel": 1},  # among those that Thrust chooses
    "sums": {"by_tree": 1, "by_shuffles": 1, "by_groups": 1},
}
LIBRARY = "sort"
LINES = [f"{name}: {number}" for number, name in enumerate(("one", "two", "three", "four", "five"), 1)]
SQUARES = [f"{name}: {number**2}" for number, name in enumerate(("one", "two", "three", "four", "five"), 1)]
pytestmark = [
    pytest.mark.jit,
    pytest.mark.long,
    pytest.mark.skipif(
        not (tools.installed("nvcc") and shutil.which("g++")), reason="nvcc (extra cuda) or g++ is not installed"
    ),
]


@cache
def ran(name, *options):
    """Run a program; return its exit code, the lines of its output, and the document of the card that it had."""
    command = sys.executable, "-m", "gpusim", "exec", f"{FOLDER / name}.cu", "--json", *options
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    (card,) = json.loads(done.stdout)["machines"]
    return done.returncode, done.stderr.splitlines(), card


def test_every_program_is_here():
    """Each program of the folder has its launches in this test."""
    assert sorted(LAUNCHES) == sorted(path.stem for path in FOLDER.glob("*.cu"))


@pytest.mark.parametrize("name", LAUNCHES)
def test_a_program_finds_its_own_results_right(name):
    """Each program checks what the card computed, says that it is right, and ends with 0."""
    code, lines, document = ran(name)
    assert (code, document["exit_code"], lines[-1]) == (0, 0, "PASSED")


@pytest.mark.parametrize("name", LAUNCHES)
def test_a_program_has_the_launches_of_its_main(name):
    """Each launch of main() is there, and has a time."""
    launches = ran(name)[2]["launches"]
    counted = Counter(one["kernel"] for one in launches)
    assert LAUNCHES[name].items() <= counted.items()
    assert name == LIBRARY or counted == LAUNCHES[name]
    assert all(one["milliseconds"] > 0 for one in launches)


def times(name):
    """Return the milliseconds of each kernel of a program that launches each once."""
    return {one["kernel"]: one["milliseconds"] for one in ran(name)[2]["launches"]}


def test_the_planted_flaw_is_in_the_table():
    """Of two kernels that move the same bytes, that whose threads are a row apart takes over three times as long.

    With its x and y as the other has them it takes no longer than that one, which reads first what the host wrote.
    """
    slow, mended = times("columns"), times("rows")
    assert slow["contrast"] > 3 * slow["levels"]
    assert mended["levels"] / 2 < mended["contrast"] <= mended["levels"]


def test_what_kernels_print_is_in_order_with_the_program():
    """The lines of list's three kernels are before what main() prints after them."""
    lines = [line for line in ran("list")[1] if not line.startswith("gpusim")]
    assert lines == [*LINES, *SQUARES, "5 items, 10 lines: 0 wrong", "PASSED"]


def test_the_time_between_events_holds_the_launches_between_them():
    """What cudaEventElapsedTime gives is no less than the launches took, and no more than the card was there for."""
    _, lines, document = ran("saxpy")
    (printed,) = re.findall(r"in ([\d.]+) ms", lines[-2])
    assert document["kernel_milliseconds"] < float(printed) < document["card_milliseconds"]


def test_arguments_reach_the_program_and_values_need_no_time():
    """What stands behind -- is the program's: saxpy takes so many elements; its values are right without a time too."""
    code, (line, verdict), document = ran("saxpy", "--time", "none", "--", "1000")
    assert (code, verdict) == (0, "PASSED")
    assert line.startswith("4 launches of 1000 elements in ")
    assert {one["milliseconds"] for one in document["launches"]} == {None}
