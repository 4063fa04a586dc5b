from types import SimpleNamespace

import pytest

from gpusim.analysis.validate.kernels import CONFIGURATIONS, Compared, Simulated, Timed
from gpusim.analysis.validate.profiler import Profile
from gpusim.commands.trust.validate_kernels_screen import markdown, screen

MACHINE = SimpleNamespace(name="H200")


@pytest.fixture(name="found")
def found_launches():
    """Return two kernels in all configurations, 10 % slow; only `full` was profiled."""
    profile = Profile({"instructions": 100.0, "dram_read_bytes": 7.0}, {"wait": 0.7, "selected": 0.3})
    simulated = Simulated(1100.0, 1, 1, {"instructions": 101.0}, {"wait": 0.2, "drain": 0.6, "selected": 0.2})
    return [
        Compared(Timed(kernel, each, 1000.0, 0.01), simulated, profile if each == "full" else None)
        for each in CONFIGURATIONS
        for kernel in ("one", "two")
    ]


def test_the_page_has_a_row_for_each_kernel_and_each_profile(found):
    """Cycles have a pair of cells for each configuration; stall reasons and counters a row for each profile."""
    text = markdown(MACHINE, found, "x.svg")
    rows = [line for line in text.splitlines() if line.startswith("| one ")]
    assert rows == [
        "| one | 1,000 | +10.0 % | 1,000 | +10.0 % | 1,000 | +10.0 % | 1,000 | +10.0 % |",
        "| one | full | wait | drain | 70.0 | 60.0 | 0.0 | 40.0 | no |",
        "| one | full | +1.0 % |",
    ]
    assert "](x.svg)" in text
    assert "- full: first stall reason agrees in 0 of 2, is the same in 0; shares differ by 40.0 points\n" in text
    assert "- resident: 2, mean error 10.0 %, worst +10.0 % (one)\n" in text


def test_what_is_not_counted_here_has_no_column(found):
    """A counter of the chip that the simulation lacks is left out; without a picture there is no address."""
    text = markdown(MACHINE, found, "")
    assert "| kernel | launch | instructions |\n" in text
    assert "![" not in text


def test_without_profiles_only_cycles_are_shown(found):
    """Of launches that were not profiled there is one table, and totals of cycles alone."""
    solo = [one for one in found if one.timed.configuration == "solo"]
    title, _, table, *rest = screen(MACHINE, solo)
    assert title.startswith("H200")
    assert [column.header for column in table.columns] == ["kernel", "solo", "error"]
    assert rest[-1] == "solo: 2, mean error 10.0 %, worst +10.0 % (one)"
    assert sum(not isinstance(each, str) for each in rest) == 0
