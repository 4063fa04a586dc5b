import pytest

from gpusim.engines.walks.traffic import Level
from gpusim.reproduction.bench import Bench, Missing, perform
from gpusim.reproduction.claims import read
from gpusim.reproduction.finding import judge
from gpusim.reproduction.vega.vega_energy import CLAIMS, LEVELS, PLOTS

pytestmark = pytest.mark.long  # a document's claims, each simulated; make check has them

CLAIM = {claim.id: claim for claim in read()}


@pytest.fixture(scope="module")
def done():
    """Return the jobs that these claims need, done once, since they count and depend on no machine."""
    bench = Bench()
    for finder in CLAIMS.values():
        try:
            finder(bench)
        except Missing as missing:
            bench.done.update({job: perform(job) for job in missing.jobs})
    return bench.done


def outcome(done, name, **settings):
    """Return the finding and the verdict of a claim on an MI60 with these energies."""
    bench = Bench({"mi60": {f"energy.{key}": str(value) for key, value in settings.items()}}, done)
    finding = CLAIMS[name](bench)
    return finding, judge(CLAIM[name], finding)


def test_the_powers_at_1700_mhz_are_those_fitted(done):
    """Two parameters are fitted to 265 W and 284 W; the row says so, and the powers are met within 0.1 W."""
    finding, verdict = outcome(done, "VG31")
    assert finding.kind == "fitted: 2 parameters on 265 W at 9.5 TFLOPS and 284 W at 9.18 at 1700 MHz"
    assert finding.ours == pytest.approx((42, 265, 284), abs=0.1)
    assert verdict.passed is True


def test_the_powers_at_1500_mhz_are_met_within_5_percent(done):
    """With one parameter, the voltage, fitted to the idle power, the powers of the loads follow within 5 %."""
    finding, verdict = outcome(done, "VG32")
    assert finding.kind.startswith("fitted: 1 parameter")
    assert verdict.passed is True
    assert abs(verdict.error) < 0.05


def test_powers_move_with_the_energies(done):
    """Without energy of registers the orders differ by their rates only; at one voltage 1500 MHz misses its powers."""
    _, handed, stored = outcome(done, "VG31", register=0)[0].ours
    assert (handed - 42) / 9.5 == pytest.approx((stored - 42) / 9.18)
    found, verdict = outcome(done, "VG32", voltage_slope=0)
    assert found.ours[1] > 1.1 * outcome(done, "VG32")[0].ours[1]
    assert verdict.passed is False


def test_forwarding_saves_the_published_share(done):
    """Forwarding saves 11 % at 1700 MHz, and at 1500 MHz within 2 points of 10 %."""
    finding, verdict = outcome(done, "VG33")
    assert finding.ours[0] == pytest.approx(10.96, abs=0.05)
    assert verdict.passed is True


def test_the_share_of_registers_and_lds_fails_and_its_note_says_what_would_pass(done):
    """The row fails; with either of the energies in its note the share is 53 or 50 %."""
    finding, verdict = outcome(done, "VG35")
    assert verdict.passed is False
    assert finding.kind.startswith("fitted: 2 parameters on 265 W")
    assert "measured no part" in finding.note
    assert "53 % if a multiply-add took 10 pJ" in finding.note
    assert outcome(done, "VG35", single=10_000)[0].ours[0] == pytest.approx(53, abs=0.5)
    picojoules = float(finding.note.split("LDS took ")[1].split(" pJ")[0])
    assert outcome(done, "VG35", shared=round(1000 * picojoules))[0].ours[0] == pytest.approx(50, abs=0.3)


def test_memories_take_no_very_high_share_and_the_note_says_what_would_pass(done):
    """All levels take more than registers and LDS alone, yet no half; with the energy in the note they do."""
    finding, verdict = outcome(done, "VG48")
    assert verdict.passed is False
    assert outcome(done, "VG35")[0].ours[0] < float(finding.ours.rstrip(" %")) < 50
    budgeted, changed = outcome(done, "VG48", single=10_000)
    assert changed.passed is True
    assert f"{budgeted.ours} if a multiply-add took 10 pJ" in finding.note


def test_the_plot_has_all_energy_of_each_kernel(done):
    """The levels of a curve sum up to the launch's joules; the usual SGEMM alone uses the LDS."""
    plot = PLOTS["vega-energy"](Bench({}, done))
    usual, handed, stored = plot.curves
    lds = 1 + LEVELS.index(Level.SHARED)
    assert usual.y[lds] > 0 == handed.y[lds] == stored.y[lds]
    assert sum(stored.y) == pytest.approx((284 - 42) / 9.18e12 * 2 * 4096**2 * 640 * 1000, rel=0.01)
