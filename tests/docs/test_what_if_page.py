import re
import shlex
from pathlib import Path

import pytest

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from workloads.catalog import make

PAGE = Path(__file__).parents[2] / "docs" / "what-if.md"
ROW = re.compile(
    r"^\| (?P<question>[^|]+) \| (?P<machine>\w+) \| `(?P<kernel>[^`]+)` \| `(?P<set>[^`]+)` \| (?P<time>\S+) \|$"
)
ROWS = [found for line in PAGE.read_text(encoding="utf-8").splitlines() if (found := ROW.match(line))]
WITHOUT = {  # what the text below the table says of settings that do nothing
    "lanes": ("gtx580", "throughput", "pipe.sp.lanes=32"),
    "ports": ("h200", "throughput", "schedulers.dispatch_ports=2"),
}


def ratio(machine, kernel, settings):
    """Return the cycles of a kernel with the settings over those without."""
    name, *rest = shlex.split(kernel)
    launched = make(name, dict(each.split("=", 1) for each in rest if each != "-p"))
    given = dict(each.split("=", 1) for each in settings.split())
    return run_sm(launched, load(machine, given)).cycles / run_sm(launched, load(machine)).cycles


def test_the_table_was_read():
    """Each row of the page's table is one of these tests."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert len(ROWS) == len(lines) - 1 > 15


@pytest.mark.jit
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["question"])
def test_the_time_is_what_the_settings_give(row):
    """The cycles with a row's settings over those without are the page's, to two places."""
    assert f"{ratio(row['machine'], row['kernel'], row['set']):.2f}" == row["time"]


@pytest.mark.jit
@pytest.mark.parametrize("name", WITHOUT)
def test_what_changes_nothing(name):
    """Lanes without schedulers, and ports without pipes, leave the cycles as they are."""
    assert ratio(*WITHOUT[name]) == pytest.approx(1, abs=0.001)
