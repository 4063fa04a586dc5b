from collections import namedtuple
from dataclasses import replace

import pytest

from gpusim.reproduction import tan, tan_cublas, tan_runs
from gpusim.reproduction.bench import Bench, Done, Missing
from gpusim.reproduction.claims import select
from gpusim.reproduction.finding import judge
from gpusim.reproduction.ledger import rows, without_runs

Rate = namedtuple("Rate", "gflops")
ELSEWHERE = {"TN19", "TN26", "TN36", "TN37", "TN38"}  # the static scheduler, and the kernels in place of CUBLAS
MACHINE = "c2050"


def ours(name, **settings):
    """Return the figures of a claim that needs no run, on a changed C2050."""
    changed = {path.replace("__", "."): value for path, value in settings.items()}
    return tan.CLAIMS[name](Bench({MACHINE: changed})).ours


def test_every_claim_has_a_function_here_or_elsewhere():
    """The modules of this document have all claims but those of the static scheduler and of CUBLAS."""
    claims = {claim.id for claim in select(["tan"])}
    assert claims - tan.CLAIMS.keys() - tan_runs.CLAIMS.keys() == ELSEWHERE


def test_claims_that_need_no_run_pass():
    """All rows that need no run pass, except TN42, which has nothing to compare."""
    found = without_runs(select([*tan.CLAIMS, "TN12"]), {})
    assert {row.id: row.passed for row in found if not row.passed} == {"TN42": None}
    assert {row.kind.split(":")[0] for row in found} == {"counted", "analytic", "input", "not reproducible"}


def test_the_model_follows_the_machine():
    """Twice the bandwidth feeds tiles of half the columns; twice the registers allow twice the threads."""
    assert ours("TN04", chip__dram_mbs="288000") == pytest.approx((28.6222 / 2,), rel=1e-4)
    assert ours("TN09", limits__registers="65536") == pytest.approx((65536 / 96, 256))
    assert ours("TN06", shared_memory__pass_cycles="4") == pytest.approx((8,))


def test_mixes_follow_the_program(monkeypatch):
    """Version 1 has the instructions of table 3 except four integer ones, since it has no second buffer to turn to."""
    kernel = Bench.kernel
    monkeypatch.setattr(Bench, "kernel", lambda bench, name, **_: kernel(bench, name, variant="v1"))
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


def test_copies_follow_the_lines_of_the_machine():
    """If transactions are sectors of 32 bytes, starts at doubles 0, 4 and 8 are equally fast, and the claim fails."""
    found = tan_runs.CLAIMS["TN12"](Bench({MACHINE: {"global_memory.rule": "sectors"}}))
    assert not found.passed
    assert found.note.startswith("doubles: fastest 0 and 4 and 8")


@pytest.mark.jit
@pytest.mark.slow
def test_the_simulated_claims_are_met():
    """All simulated claims pass on one setting of the machine."""
    found = list(rows(select(list(tan_runs.CLAIMS)), {}, 2))
    assert [row.id for row in found if not row.passed] == []


@pytest.mark.jit
def test_a_setting_moves_a_simulated_claim():
    """Without the rule for double precision a DFMA takes one scheduler's slot."""
    (row,) = rows(select(["TN41"]), {MACHINE: {"double.exclusive": "off"}}, 1)
    assert (row.ours, row.passed) == ("1", False)
