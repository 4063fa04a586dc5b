from collections import namedtuple

import numpy as np
import pytest

from gpusim.reproduction.bench import Bench, Done, Missing
from gpusim.reproduction.claims import select
from gpusim.reproduction.cme213 import cme213
from gpusim.reproduction.cme213.cme213 import CARD, TRUE_LATENCY
from gpusim.reproduction.cme213.cme213_memory import CLAIMS, PLOTS, WORDS, further_misses, lost_lines, steady_rate
from gpusim.reproduction.finding import judge

pytestmark = pytest.mark.long  # a document's claims, each simulated; make check has them

Ran = namedtuple("Ran", "cycles")  # the figure of a run that a gain needs


def computed(name, value):
    """Return the verdict on a claim of whose jobs each gives `value(job)`."""
    bench = Bench()
    with pytest.raises(Missing) as missing:
        CLAIMS[name](bench)
    for job in missing.value.jobs:
        bench.done[job] = Done(value(job), None, 0.0)
    (claim,) = select([name])
    return judge(claim, CLAIMS[name](bench))


@pytest.mark.parametrize(("lost", "passed"), [(51, True), (50, False), (0, False)])
def test_over_half_of_the_lines_must_be_lost(lost, passed):
    """CM24 passes with 51 of 100 lines lost before their last use, and fails with 50."""
    assert computed("CM24", lambda _: (100, lost, lost)).passed is passed


@pytest.mark.parametrize(("fastest", "passed"), [("shared_memory", True), ("pipe", False), ("chip", False)])
def test_shared_memory_must_gain_most(fastest, passed):
    """CM25 passes only if twice the shared memory gains more than twice the FFMAs or twice the bandwidth."""

    def cycles(job):
        changed = "".join(path for path, _ in job.arguments[3])
        return Ran(80 if changed.startswith(fastest) else 95 if changed else 100)

    assert computed("CM25", cycles).passed is passed


def test_misses_after_the_first_use_count():
    """Two warps of two lines: a miss of a line's first word is no loss; two later misses of a line are one line."""
    missed = np.zeros((2, 2 * WORDS), bool)  # [warp, word of its lines]
    missed[:, ::WORDS] = True
    missed[1, [3, 9]] = True
    warps = np.tile([0, 1], 2 * WORDS)  # they take turns
    assert further_misses(np.zeros_like(warps), warps, missed.T.ravel()) == (4, 1, 2)


@pytest.mark.jit
def test_a_cache_for_all_keeps_every_line(monkeypatch):
    """With an L1 of 1 MB no line is lost; with one of 1 KB most are."""
    monkeypatch.setattr("gpusim.reproduction.cme213.cme213_memory.SIZES", {"m": 960, "n": 640, "k": 64})
    large, small = ((("l1.bytes", size), ("l1.ways", "8")) for size in ("1048576", "1024"))
    assert lost_lines(large, 8, 2)[1] == 0
    lines, lost, _ = lost_lines(small, 8, 2)
    assert lost > lines / 2


def test_the_constants_are_those_that_the_program_names(monkeypatch):
    """CM01 counts another program's: three pointers and three integers of the block kernel make 68 bytes, not 64."""
    monkeypatch.setattr(cme213, "NAIVE", "matmul-block")
    assert cme213.CLAIMS["CM01"](Bench()).ours[1] == 68


def test_another_size_does_not_fit_the_printed_times(monkeypatch):
    """CM10 fails for half the k."""
    monkeypatch.setattr(cme213, "SIZES", {"m": 960, "n": 640, "k": 320})
    (claim,) = select(["CM10"])
    assert judge(claim, cme213.CLAIMS["CM10"](Bench())).passed is False


def test_plots_have_what_the_slides_say():
    """The plot of speed has the printed 80 GFLOP/s, that of latency 24 and 6 warps; both have a curve of ours."""
    for name, points in {"cme213-slide-13": {80.0}, "cme213-slide-11": {32.0}}.items():
        drawn = plotted(name)
        assert {y for curve in drawn.curves if curve.published for y in curve.y} == points
        assert any(not curve.published for curve in drawn.curves)
    assert plotted("cme213-slide-11").curves[0].x == (24.0, 6.0)


@pytest.mark.jit
def test_warps_that_are_left_to_the_end_do_not_lower_the_rate():
    """With 24 cycles of latency 12 warps have half the rate of 24; 26 keep it, though two run alone at the end."""
    half, full, more = (steady_rate(Bench().pairs(CARD, TRUE_LATENCY), 1, warps) for warps in (12, 24, 26))
    assert half == pytest.approx(full / 2, rel=0.01)
    assert 31 < full <= 32
    assert more == pytest.approx(full, rel=0.01)


def test_speed_and_occupancy_share_their_axis():
    """Slide 9's plot has occupancies of the calculator and speeds of 32 sizes of block, none above 100 %."""
    occupancy, speed = plotted("cme213-slide-9").curves
    assert occupancy.x == speed.x == tuple(32.0 * rows for rows in range(1, 33))
    assert max(occupancy.y) == max(speed.y) == 100


def plotted(name):
    """Return a plot whose runs all have the same figures."""
    figures = namedtuple("Figures", "gflops warps")(50.0, 48)
    bench = Bench()
    while True:
        try:
            return PLOTS[name](bench)
        except Missing as missing:
            of = {job: 30.0 if job.function is steady_rate else figures for job in missing.jobs}
            bench.done.update((job, Done(value, None, 0.0)) for job, value in of.items())
