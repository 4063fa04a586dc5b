from collections import namedtuple
from dataclasses import replace

import pytest

from gpusim.reproduction.bench import Bench, Done, Missing
from gpusim.reproduction.claims import select
from gpusim.reproduction.finding import judge
from gpusim.reproduction.ledger import rows, without_runs
from gpusim.reproduction.tan import tan, tan_cublas, tan_figures, tan_runs, tan_schedule, tan_whatif

pytestmark = pytest.mark.long  # a document's claims, each simulated; make check has them

Rate = namedtuple("Rate", "gflops")
MACHINE = "c2050"


def ours(name, **settings):
    """Return the figures of a claim that needs no run, on a changed C2050."""
    changed = {path.replace("__", "."): value for path, value in settings.items()}
    return tan.CLAIMS[name](Bench({MACHINE: changed})).ours


def test_every_claim_has_a_function_in_one_module():
    """The six modules of this document have all of its claims, each once."""
    modules = tan, tan_cublas, tan_figures, tan_runs, tan_schedule, tan_whatif
    names = [name for module in modules for name in module.CLAIMS]
    assert sorted(names) == [claim.id for claim in select(["tan"])]


@pytest.mark.jit
def test_claims_that_need_no_run_pass():
    """Rows that need no run pass, but the stencil's local accesses, the ratio of latencies, and remarks on others."""
    found = without_runs(select([*tan.CLAIMS, "TN58", "TN65"]), {})
    assert {row.id: row.passed for row in found if not row.passed} == {"TN35": False, "TN42": None, "TN46": False}
    kinds = {row.kind.split(":")[0] for row in found}
    assert kinds == {"counted", "analytic", "arithmetic", "input", "not reproducible"}


def test_the_model_follows_the_machine():
    """Twice the bandwidth feeds tiles of half the columns; twice the registers allow twice the threads."""
    assert ours("TN04", chip__dram_mbs="288000") == pytest.approx((28.6222 / 2,), rel=1e-4)
    assert ours("TN09", limits__registers="65536") == pytest.approx((65536 / 96, 256))
    assert ours("TN06", shared_memory__pass_cycles="4") == pytest.approx((8,))


def test_mixes_follow_the_program(monkeypatch):
    """Version 1 has the instructions of table 3 except four integer ones, since it has no second buffer to turn to."""
    kernel = Bench.kernel
    monkeypatch.setattr(Bench, "kernel", lambda bench, name, **_: kernel(bench, name, variant="v1", read="plain"))
    assert ours("TN15") == (4, 64, 256, 9, 4, 337)


@pytest.mark.parametrize(("most", "passed"), [("0.015 points", True), ("0.005 points", False)])
def test_shares_are_held_to_the_claims_tolerance(most, passed):
    """18.77 and 3.81 are 18.76 and 3.80 in print: only the tolerance of the claim lets them pass."""
    (claim,) = select(["TN16"])
    assert claim.tolerance == "0.015 points"
    assert judge(replace(claim, tolerance=most), tan.CLAIMS["TN16"](Bench())).passed is passed


def test_versions_are_compared_with_cublas_at_one_size():
    """The kernel in place of CUBLAS and the version over it compute products of the same size."""
    for name in ("TN28", "TN29"):
        bench, sizes = Bench(), []
        with pytest.raises(Missing) as missing:
            tan_runs.CLAIMS[name](bench)
        bench.done.update({job: Done(Rate(300.0), None, 0.0) for job in missing.value.jobs})
        sizes += [dict(job.arguments[1])["m"] for job in missing.value.jobs]
        with pytest.raises(Missing) as missing:
            tan_runs.CLAIMS[name](bench)
        sizes += [dict(job.arguments[1])["m"] for job in missing.value.jobs]
        assert sizes == [str(tan_cublas.SIDE)] * 2


def test_local_accesses_follow_the_program(monkeypatch):
    """An algorithm 2 that spills nothing has no local accesses: TN43 fails; a stencil without any would pass TN35."""
    kernel = Bench.kernel
    monkeypatch.setattr(Bench, "kernel", lambda bench, *_, **__: kernel(bench, "dgemm-tan", variant="alg2", spilled=0))
    assert [judge(select([name])[0], tan.CLAIMS[name](Bench())).passed for name in ("TN35", "TN43")] == [True, False]


def test_strict_barriers_are_not_the_published_ones(monkeypatch):
    """With every barrier, algorithms 1 and 2 and version 1 have two, and TN50 fails."""
    kernel = Bench.kernel
    monkeypatch.setattr(
        Bench, "kernel", lambda bench, name, **given: kernel(bench, name, **{**given, "barriers": "strict"})
    )
    assert tan.CLAIMS["TN50"](Bench()).ours == (2, 2, 2, 2)


@pytest.mark.jit
def test_a_setting_moves_a_simulated_claim():
    """Without the rule for double precision a DFMA takes one scheduler's slot."""
    (row,) = rows(select(["TN41"]), {MACHINE: {"double.exclusive": "off"}}, 1)
    assert (row.ours, row.passed) == ("1", False)
