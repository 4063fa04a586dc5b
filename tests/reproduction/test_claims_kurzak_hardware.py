import pytest

from gpusim.reproduction.bench import Bench, Done, Missing
from gpusim.reproduction.claims import select
from gpusim.reproduction.finding import judge
from gpusim.reproduction.kurzak_hardware import CLAIMS, residents
from gpusim.reproduction.kurzak_speed import drawn


class Time:
    """The part of a run's results that these claims need."""

    def __init__(self, cycles):
        self.cycles = cycles


def verdict(name, figure):
    """Return whether the claim passes if `figure` gives the result of each of its jobs."""
    bench, (claim,) = Bench(), select([name])
    while True:
        try:
            return judge(claim, CLAIMS[name](bench)).passed
        except Missing as missing:
            bench.done.update({job: Done(figure(job), None, 0.0) for job in missing.jobs})


@pytest.mark.parametrize(("placed", "passed"), [((8, 8, 8), True), ((8, 8, 7), False), ((7, 8, 8), False)])
def test_the_formulas_must_agree_with_every_launch(placed, passed):
    """One block more or less than a launch places fails the claim; the estimated registers decide nothing."""

    def figure(job):
        return ((0,) * 9,) * 4 if job.function is drawn else (placed,)

    assert verdict("KZ10", figure) is passed
    assert verdict("KZ10", lambda job: figure(job) if job.function is drawn else ((8, 5, 8),)) is True


@pytest.mark.parametrize(("name", "what"), [("KZ23", "stride"), ("KZ24", "stride"), ("KZ26", "ways")])
@pytest.mark.parametrize(("far", "passed"), [(200, True), (100, False), (50, False)])
def test_what_lanes_do_apart_must_be_slower(name, what, far, passed):
    """Loads of many lines, or of one bank, and two branches that take no longer than one fail the claim."""
    assert verdict(name, lambda job: Time(100 if dict(job.arguments[1])[what] == "1" else far)) is passed


@pytest.mark.jit
def test_a_launch_places_what_the_formula_says():
    """MAGMA's tile of 64 threads and 63 registers: the caps leave 8 blocks, in the formula and in the launch."""
    ((formula, estimate, placed),) = residents(((24, 16, 8, 8, 8, 8, 8, 8, 8),), ())
    assert (formula, estimate, placed) == (8, 8, 8)


@pytest.mark.jit
def test_fewer_blocks_on_the_machine_are_fewer_in_both():
    """On a board that holds four blocks, formula and launch have four."""
    ((formula, _, placed),) = residents(((24, 16, 8, 8, 8, 8, 8, 8, 8),), (("limits.blocks", "4"),))
    assert formula == placed == 4
