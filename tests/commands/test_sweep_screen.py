"""The screen of a sweep with made-up figures."""

import msgspec
from rich.console import Console
from some_figures import FOUND

from gpusim.analysis.search.sweep import Axis, SweepPoint, SweepRow
from gpusim.commands.sweep_screen import Swept, plotted, screen

CLOCKS = {"500": (100, 0.2), "1544": (150, 0.0972), "3000": (200, 0.0667)}  # shader MHz: cycles, milliseconds
AXIS = Axis("machine", "chip.shader_mhz", tuple(CLOCKS))
SLOWEST_FIRST = [
    SweepRow(
        SweepPoint({AXIS.name: clock}, {}),
        msgspec.structs.replace(FOUND, gflops=0.0, percent_of_peak=0.0, cycles=cycles, milliseconds=time),
    )
    for clock, (cycles, time) in CLOCKS.items()
]
UNRATED = Swept("a kernel", "a machine", [AXIS], SLOWEST_FIRST, 0)


def shown(swept):
    """Return the words of each line of the screen."""
    console = Console(width=80)
    with console.capture() as captured:
        console.print(*screen(swept, 10), sep="\n")
    return [line.split() for line in captured.get().splitlines()]


def test_without_operations_the_least_time_is_fastest():
    """Without operations the order is that of milliseconds, not cycles, over different clocks."""
    assert [figures.milliseconds for figures, _ in UNRATED.simulated] == [0.0667, 0.0972, 0.2]
    lines = shown(UNRATED)
    start = next(number for number, words in enumerate(lines) if words[:2] == ["milliseconds", "cycles"])
    assert [(words[0], words[-1]) for words in lines[start + 1 : start + 4]] == [
        ("0.0667", "3000"),
        ("0.0972", "1544"),
        ("0.2", "500"),
    ]


def test_a_picture_without_operations_is_of_time():
    """The picture shows milliseconds without operations, and GFLOP/s with them."""
    assert plotted(UNRATED)[2:4] == ("set.chip.shader_mhz", "milliseconds")
    rated = [SweepRow(each.point, FOUND) for each in SLOWEST_FIRST]
    assert plotted(Swept("a kernel", "a machine", [AXIS], rated, 0))[2:4] == ("set.chip.shader_mhz", "gflops")


def test_small_numbers_of_the_front_keep_their_digits():
    """The front shows 0.0667 milliseconds, not 0.1."""
    front = Swept("a kernel", "a machine", [AXIS], SLOWEST_FIRST, 0, ["milliseconds", "registers"])
    assert ["0.0667", "20", "3000"] in shown(front)
