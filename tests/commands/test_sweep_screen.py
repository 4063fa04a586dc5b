"""The screen of a sweep with made-up figures."""

import msgspec
from rich.console import Console
from some_figures import FOUND

from gpusim.analysis.search.sweep import Axis, SweepPoint, SweepRow
from gpusim.commands.search.sweep_screen import Swept, plotted, screen

CLOCKS = {"500": (100, 0.2), "1544": (150, 0.0972), "3000": (200, 0.0667)}  # shader MHz: cycles, milliseconds
AXIS = Axis("machine", "chip.shader_mhz", tuple(CLOCKS))
SLOWEST_FIRST = [
    SweepRow(
        SweepPoint({AXIS.name: clock}, {}),
        msgspec.structs.replace(FOUND, gflops=None, percent_of_peak=None, cycles=cycles, milliseconds=time),
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
    start = next(number for number, words in enumerate(lines) if words[:1] == ["ms"])
    assert [(words[0], words[-1]) for words in lines[start + 1 : start + 4]] == [
        ("0.0667", "3000"),
        ("0.0972", "1544"),
        ("0.2", "500"),
    ]


def test_without_operations_the_screen_has_bytes():
    """Beside milliseconds stand GB/s of the DRAM, or of the L2 where only those are known, and percent of the peak."""
    head = next(words for words in shown(UNRATED) if words[:1] == ["ms"])
    assert head[:5] == ["ms", "DRAM", "GB/s", "of", "peak"]
    assert ["0.0667", "100", "60.0", "%"] in [words[:4] for words in shown(UNRATED)]
    cached = [
        msgspec.structs.replace(each, figures=msgspec.structs.replace(each.figures, dram_gbs=None))
        for each in SLOWEST_FIRST
    ]
    lines = shown(Swept("a kernel", "a machine", [AXIS], cached, 0))
    assert ["0.0667", "200", "30.0", "%"] in [words[:4] for words in lines]


def test_a_front_that_no_point_has_says_so():
    """A front of GFLOP/s of a kernel without operations is empty, and the screen says which column is missing."""
    lines = shown(Swept("a kernel", "a machine", [AXIS], SLOWEST_FIRST, 0, ["gflops", "registers"]))
    assert ["Pareto", "front", "of", "gflops", "and", "registers:", "no", "point", "has", "gflops"] in lines


def test_a_picture_without_operations_is_of_time():
    """The picture shows milliseconds without operations, and GFLOP/s with them."""
    assert plotted(UNRATED)[2:4] == ("set.chip.shader_mhz", "milliseconds")
    rated = [SweepRow(each.point, FOUND) for each in SLOWEST_FIRST]
    assert plotted(Swept("a kernel", "a machine", [AXIS], rated, 0))[2:4] == ("set.chip.shader_mhz", "gflops")


def test_small_numbers_of_the_front_keep_their_digits():
    """The front shows 0.0667 milliseconds, not 0.1."""
    front = Swept("a kernel", "a machine", [AXIS], SLOWEST_FIRST, 0, ["milliseconds", "registers"])
    assert ["0.0667", "20", "3000"] in shown(front)
