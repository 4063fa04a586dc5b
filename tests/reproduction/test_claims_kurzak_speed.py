import pytest

from gpusim.machine.machine import load
from gpusim.reproduction.bench import Bench, Done, Missing
from gpusim.reproduction.claims import select
from gpusim.reproduction.finding import judge
from gpusim.reproduction.kurzak import kurzak_speed
from gpusim.reproduction.kurzak.kurzak_speed import CLAIMS, PLOTS, SAMPLE, SIZES, drawn, rates_of, shape
from workloads.papers.kurzak.stencil_space import stencil_space
from workloads.space import as_points

pytestmark = pytest.mark.long  # a document's claims, each simulated; make check has them


class Rate:
    """The part of a run's results that these claims need."""

    def __init__(self, gflops):
        self.gflops = gflops


def answered(finder, figure):
    """Return what a function finds if `figure` gives the result of each of its jobs."""
    bench = Bench()
    while True:
        try:
            return finder(bench)
        except Missing as missing:
            bench.done.update({job: Done(figure(job), None, 0.0) for job in missing.jobs})


def verdict(name, figure):
    """Return whether the claim passes with these results of its jobs."""
    (claim,) = select([name])
    return judge(claim, answered(CLAIMS[name], figure)).passed


@pytest.mark.parametrize(("gflops", "passed"), [(340, True), (373, True), (375, False), (300, False)])
def test_the_tuned_rate_has_to_be_within_its_tolerance(gflops, passed):
    """340 GFLOP/s within 10 %: 373 passes, 375 does not."""
    assert verdict("KZ07", lambda _: Rate(gflops)) is passed


def test_textures_were_chosen_with_the_rate_in_view():
    """The kind of KZ07 names the choice to read through textures, so the rate is no prediction."""
    kind = answered(CLAIMS["KZ07"], lambda _: Rate(340)).kind
    assert kind.startswith("in sight: reading through textures")


def test_the_kernel_before_tuning_has_no_verdict():
    """Whatever its guesses come to, KZ20 neither passes nor fails."""
    assert verdict("KZ20", lambda _: Rate(300.0)) is None


def sweep(without, kept):
    """Return the results of a sweep's jobs: points by number, and the rates of those numbers."""
    return lambda job: (
        ((int(job.arguments[1]),) * 9,) * 4 if job.function is drawn else (kept if job.arguments[0][0][0] else without,)
    )


@pytest.mark.parametrize(
    ("without", "kept", "passed"), [(100.0, 300.0, True), (300.0, 300.0, False), (301.0, 300.0, False)]
)
def test_a_sweep_without_pruning_must_be_slower(without, kept, passed):
    """Equal or higher rates without pruning fail the claim."""
    assert verdict("KZ25", sweep(without, kept)) is passed


def test_points_that_can_not_run_have_no_rate():
    """A refused point counts apart and is not a rate of 0."""
    (rates, refused), _ = answered(kurzak_speed._sweeps, sweep(0.0, 300.0))
    assert (rates, refused) == ([], 4)


def test_the_sample_is_drawn_from_the_hard_constraints_points():
    """60 points, always the same, that fit an SM; those that all constraints leave are 60 others."""
    limits = load("c2050").limits
    without, kept = drawn(limits, False), drawn(limits, True)
    assert len(set(without)) == len(without) == SAMPLE
    assert len(set(kept)) == 60
    assert drawn(limits, False) == without
    for point in as_points(stencil_space("z"), kurzak_speed.np.array(without)):
        shared = 16 * (point["blk_k"] * (point["blk_m"] + 1) + point["blk_n"] * (point["blk_k"] + 1))
        assert shared <= limits.shared_bytes
        assert point["dim_x"] * point["dim_y"] % 32 == 0


@pytest.mark.jit
def test_a_refused_point_has_the_rate_0(monkeypatch):
    """MAGMA's tile has a rate; a thread tile of 16 by 16 complex numbers needs more registers than there are."""
    monkeypatch.setattr(kurzak_speed, "LENGTH", 48)
    magma, large = (24, 16, 8, 8, 8, 8, 8, 8, 8), (128, 128, 8, 8, 8, 8, 8, 8, 8)
    found = rates_of((magma, large), ())
    assert found[0] > 0
    assert found[1] == 0


@pytest.mark.parametrize(
    ("rates", "words"),
    [
        ((100, 200, 299, 300), "rises to a level"),
        ((100, 200, 250, 300), "rises"),
        ((100, 200, 150, 300), "rises with dips"),
        ((100, 200, 300, 290), "rises to a level"),
    ],
)
def test_the_shape_is_told_in_words(rates, words):
    """A rate 5 % below the one before is a dip; last rates within 5 % are a level."""
    assert shape(rates) == words


def test_captions_count_the_points_that_are_drawn():
    """Of 8 points, one of each two refused, the caption says 4 and 4; the note of KZ19 has the sizes of its rates."""

    def half(job):
        return ((0,) * 9,) * 8 if job.function is drawn else (100.0, 0.0)

    plot = answered(PLOTS["kurzak-sweep-unpruned"], half)
    assert len(plot.curves[0].x) == 4
    assert plot.note.startswith("4 points that meet")
    assert plot.note.endswith("refuses the other 4.")
    assert ": 4, where" in answered(PLOTS["kurzak-sweep-pruned"], half).note
    note = answered(CLAIMS["KZ19"], lambda _: Rate(300.0)).note
    assert "sgemm 300 at 1344, dgemm 300 at 896, cgemm 300 at 896, zgemm 300 at 672 rows and columns, 672 deep" in note


def test_plots_have_a_point_for_each_size_and_kernel():
    """Four curves over the sizes; the sweeps are sorted, beside the published rates before and after tuning."""
    precisions = answered(PLOTS["kurzak-precisions"], lambda job: Rate(float(dict(job.arguments[1])["m"])))
    assert [curve.x for curve in precisions.curves] == [SIZES] * 4
    assert all(curve.y == curve.x for curve in precisions.curves)
    for name in ("kurzak-sweep-pruned", "kurzak-sweep-unpruned"):
        points, *levels = answered(PLOTS[name], sweep(100.0, 300.0)).curves
        assert (len(points.x), points.published) == (4, False)
        assert list(points.y) == sorted(points.y)
        assert [(curve.y[0], curve.published) for curve in levels] == [(300, True), (340, True)]
