import pytest
from msgspec import structs

from gpusim.machine.machine import load
from gpusim.reproduction.bench import Bench, Done, Missing
from gpusim.reproduction.claims import select
from gpusim.reproduction.finding import judge
from gpusim.reproduction.kurzak.kurzak_hardware import CLAIMS, residents
from gpusim.reproduction.kurzak.kurzak_speed import drawn

pytestmark = pytest.mark.long  # a document's claims, each simulated; make check has them


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


@pytest.mark.parametrize(("name", "what"), [("KZ22", "pad"), ("KZ23", "stride"), ("KZ24", "stride"), ("KZ26", "ways")])
@pytest.mark.parametrize(("far", "passed"), [(200, True), (100, False), (50, False)])
def test_what_lanes_do_apart_must_be_slower(name, what, far, passed):
    """Stores to one channel, loads of many lines or one bank, and two branches fail if they take no longer."""
    near = "64" if what == "pad" else "1"
    assert verdict(name, lambda job: Time(100 if dict(job.arguments[1])[what] == near else far)) is passed


@pytest.mark.parametrize("name", ["KZ22", "KZ23", "KZ24", "KZ26"])
def test_what_a_rule_says_outright_is_an_input(name):
    """Channels, lines, banks and branches that take turns put the result in, and the note names the rule."""
    bench = Bench()
    with pytest.raises(Missing) as missing:
        CLAIMS[name](bench)
    bench.done.update({job: Done(Time(100), None, 0.0) for job in missing.value.jobs})
    finding = CLAIMS[name](bench)
    assert finding.kind == "input"
    assert "; put in, by the rule that " in finding.note


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


def test_without_channels_nothing_camps():
    """A machine with one channel can't show it: the claim says so, and has no verdict."""
    machine = load("gt200")
    bench = Bench()
    object.__setattr__(bench, "machine", lambda _: structs.replace(machine, memory_channels=None))
    finding = CLAIMS["KZ22"](bench)
    assert finding.kind == "not reproducible: gt200 has one channel to its memory"
    assert judge(select(["KZ22"])[0], finding).passed is None


def test_all_sms_run_the_transpose():
    """Both runs are of all SMs, with rows of eight channels of 256 bytes, one with a pad of a channel's bytes."""
    with pytest.raises(Missing) as missing:
        CLAIMS["KZ22"](Bench())
    found = [(dict(job.arguments[1]), job.arguments[5]) for job in missing.value.jobs]
    assert [(p["rows"], p["pad"], sms) for p, sms in found] == [("512", "64", "all"), ("512", "0", "all")]


@pytest.mark.jit
def test_the_formula_leaves_out_the_unit_of_registers():
    """51 registers of 128 threads are allocated as 52: the launch places 4 blocks, the formula says 5."""
    assert residents(((16, 32, 8, 8, 16, 16, 8, 4, 32),), ()) == ((5, 5, 4),)
