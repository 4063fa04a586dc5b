from dataclasses import replace

import pytest

from gpusim.reproduction import bench as module
from gpusim.reproduction.bench import Bench, Done, Job, Missing, Run, perform
from isa.errors import UserError
from workloads.catalog import make


def refuse():
    """Raise the error of bad input."""
    raise UserError("not this")


def test_all_missing_jobs_are_asked_for_at_once():
    """A bench without results names every job that it lacks, each once; with them it returns values in order."""
    bench, jobs = Bench(), [Job(pow, (2, 3)), Job(pow, (2, 4)), Job(pow, (2, 3))]
    with pytest.raises(Missing) as missing:
        bench.results(*jobs)
    assert missing.value.jobs == (jobs[0], jobs[1])
    bench.done.update({job: perform(job) for job in missing.value.jobs})
    assert bench.results(*jobs) == [8, 16, 8]
    assert bench.compute(pow, 2, 4) == 16


def test_a_failed_job_fails_the_claims_that_need_it():
    """An error in a job is kept, and raised when its result is requested."""
    done = perform(Job(refuse, ()))
    assert isinstance(done, Done)
    with pytest.raises(UserError, match="not this"):
        Bench(done={Job(refuse, ()): done}).compute(refuse)


def test_settings_hold_for_a_machine_and_its_runs():
    """The command line's settings hold for their machine only, and those of a run are added for that run."""
    bench = Bench({"gtx580": {"chip.sms": "4"}})
    assert bench.machine("gtx580").chip.sms == 4
    assert bench.machine("gtx580", {"chip.sms": 2}).chip.sms == 2
    assert bench.machine("gtx580-1566").chip.sms == 16
    with pytest.raises(Missing) as missing:
        bench.runs(Run("chain", "gtx580", {"length": 8}), Run("chain", "gtx580", {"length": 8}, {"chip.sms": 3}))
    pairs = [dict(job.arguments[3]) for job in missing.value.jobs]
    assert pairs == [{"chip.sms": "4"}, {"chip.sms": "3"}]


@pytest.mark.jit
def test_a_run_has_the_figures_of_simulate():
    """A short SGEMM has right values, its FFMAs counted, and the rate and lost slots that follow from its cycles."""
    parameters = (("k", "32"), ("m", "192"), ("n", "192"))
    found = module.measured("sgemm-lai", parameters, "gtx580", (), True, 1, None)
    assert found.checked
    assert found.issued["FFMA"] == 8 * 36 * 32
    assert found.gflops == pytest.approx(2 * 192 * 192 * 32 / (found.cycles / 1.544))
    assert 0 < found.limits["issue slots"] < found.cycles
    assert sum(found.lost.values()) + 2 * sum(found.issued.values()) == 2 * found.cycles


@pytest.mark.jit
def test_wrong_values_fail_the_run(monkeypatch):
    """A run whose values are not those promised ends with an error, so that no claim rests on it."""
    kernel = make("sgemm-lai", {"m": "96", "n": "96", "k": "32"})
    other = make("sgemm-lai", {"m": "96", "n": "96", "k": "32", "alpha": "2"})
    monkeypatch.setattr(module, "_kernel", lambda *_: replace(kernel, expected=other.expected))
    with pytest.raises(UserError, match="sgemm-lai on gtx580: wrong values; see `gpusim run sgemm-lai "):
        module.measured("sgemm-lai", (), "gtx580", (), True, 1, None)


def test_parameters_are_those_of_the_command_line():
    """Values become text, and switches on and off, whatever order they come in."""
    bench = Bench()
    assert bench.kernel("sgemm-lai", prefetch=False, m=96) is bench.kernel("sgemm-lai", m=96, prefetch=False)
    assert bench.kernel("sgemm-lai", prefetch=False).arguments["prefetch"] is False


def test_fitted_parameters_are_counted_in_the_machine_file():
    """The GTX 580's file has ten numbers fitted to figure 2; data to which no number was fitted raises ValueError."""
    assert Bench().fitted("gtx580", "RR-7923 figure 2") == "10 parameters on RR-7923 figure 2"
    with pytest.raises(ValueError, match="no parameter of gtx580 was fitted to the moon"):
        Bench().fitted("gtx580", "the moon")


def test_a_bench_knows_the_machines_it_was_asked_for():
    """Each machine asked for is listed once, in order; a separate bench shares the jobs and has its own list."""
    bench = Bench({"gtx580": {"chip.sms": "4"}})
    with pytest.raises(Missing):
        bench.runs(Run("chain", "gt200", {"length": 8}))
    for key in ("gtx580", "gt200"):
        bench.machine(key)
    with pytest.raises(Missing):
        bench.point("c2050", "issue_interval")
    assert list(bench.machines) == ["gt200", "gtx580", "c2050"]
    other = bench.separate()
    assert other.machine("gtx580").chip.sms == 4
    assert (list(other.machines), other.done) == (["gtx580"], bench.done)
    assert other.done is bench.done
