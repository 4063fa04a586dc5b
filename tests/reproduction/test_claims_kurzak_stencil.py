from dataclasses import replace

import pytest
from draws import few

from gpusim.reproduction.bench import Bench, Done, Missing
from gpusim.reproduction.claims import select
from gpusim.reproduction.cme213 import cme213_cublas
from gpusim.reproduction.finding import judge
from gpusim.reproduction.kurzak import kurzak_speed, kurzak_stencil
from gpusim.reproduction.kurzak.kurzak_stencil import CASES, CLAIMS, Skewed, ragged, skewed
from gpusim.reproduction.ledger import rows, without_runs
from gpusim.reproduction.tan import tan_cublas
from workloads.catalog import make

pytestmark = pytest.mark.long  # a document's claims, each simulated; make check has them


def asked(finder, settings=None):
    """Return the jobs that a claim asks for first."""
    with pytest.raises(Missing) as missing:
        finder(Bench(settings or {}))
    return missing.value.jobs


@pytest.mark.jit
def test_counted_claims_are_exact_and_need_no_run():
    """Cases, parameters, thread tiles, structure and the complex multiply-add are as the slides say."""
    found = without_runs(select([f"KZ{n:02}" for n in (1, 2, 9, 16, 18)]), {})
    assert [(row.id, row.kind, row.passed) for row in found] == [
        (f"KZ{n:02}", "counted", True) for n in (1, 2, 9, 16, 18)
    ]


@pytest.mark.jit
def test_only_right_ragged_cases_are_counted(monkeypatch):
    """All 12 cases of single precision are right; a case is not counted if another alpha is expected."""
    assert ragged("s") == sum(case[0] == "s" for case in CASES) == 12

    def other(name, texts):
        return replace(make(name, texts), expected=make(name, texts | {"alpha": "2.5"}).expected)

    monkeypatch.setattr(kurzak_stencil, "make", other)
    monkeypatch.setattr(kurzak_stencil, "CASES", [("s", "nn", "tex1d")])
    assert ragged("s") == 0


def test_the_structure_is_checked_and_not_assumed():
    """The published loop is double-buffered; without its second barrier it is not."""
    kernel = make("gemm-stencil", {})
    assert kurzak_stencil._double_buffered(kernel)
    barriers = [pc for pc, i in enumerate(kernel.program.instructions) if i.row.mnemonic == "BAR.SYNC"]
    code = list(kernel.program.instructions)
    code[barriers[1]] = code[barriers[1] - 1]
    assert not kurzak_stencil._double_buffered(
        replace(kernel, program=replace(kernel.program, instructions=tuple(code)))
    )


def test_what_is_written_beside_c_makes_a_case_wrong(monkeypatch):
    """In row order with leading dimensions a case is right; it is wrong if C is stored with another one."""
    monkeypatch.setattr(kurzak_stencil, "CASES", [("s", "nn", "tex1d")])
    assert ragged("s", "row") == ragged("s", "column") == 1

    def other(name, texts):
        kernel = make(name, texts)
        return replace(kernel, parameters=dict(kernel.parameters) | {"C_pitch": kernel.parameters["C_pitch"] - 1})

    monkeypatch.setattr(kurzak_stencil, "make", other)
    assert ragged("s", "row") == 0


def skewed_as(stores):
    """Return the jobs' results if the published kernels that transpose need so many passes for their stores."""
    return lambda job: (Skewed(job.arguments[0], "nn", (4, 4), (8, 8)), Skewed(job.arguments[0], "tn", stores, (8, 8)))


@pytest.mark.parametrize(("stores", "passed"), [((4, 8), True), ((4, 4), False), ((8, 4), False)])
def test_the_skew_must_save_passes(stores, passed):
    """A kernel that transposes and has no fewer passes with the skew fails; one that does not may be alike."""
    bench, (claim,) = Bench(), select(["KZ15"])
    bench.done.update({job: Done(skewed_as(stores)(job), None, 0.0) for job in asked(CLAIMS["KZ15"])})
    assert judge(claim, CLAIMS["KZ15"](bench)).passed is passed


def test_without_the_skew_stores_conflict():
    """Transposed 16-byte elements of ZGEMM's stores take more passes without the skew, and loads as many or fewer."""
    found = {each.layout: each for each in skewed("z", ())}
    assert set(found) == {"nn", "nt", "tn", "tt"}
    assert found["tt"].stores[0] < found["tt"].stores[1]


def test_settings_of_the_command_line_hold_in_the_runs():
    """A replaced number of a board is in every run on it."""
    for finder, machine in (
        (kurzak_speed.CLAIMS["KZ07"], "c2050"),
        (kurzak_speed.CLAIMS["KZ19"], "c2050"),
        (tan_cublas.CLAIMS["TN26"], "c2050"),
        (cme213_cublas.CLAIMS["CM09"], "gtx480"),
    ):
        for job in asked(finder, {machine: {"unit.fp32.latency": "9"}}):
            assert dict(job.arguments[3])["unit.fp32.latency"] == "9"


@pytest.mark.jit
@pytest.mark.parametrize(
    ("name", "machine", "slow", "module", "sizes"),
    few(
        [
            ("KZ07", "c2050", {"texture.latency": "4000"}, kurzak_speed, {"SIDE": {"z": 96}, "DEPTH": 16}),
            ("TN26", "c2050", {"texture.latency": "4000"}, tan_cublas, {"SIDE": 128}),
            ("CM09", "gtx480", {"cache.hits": "none"}, cme213_cublas, {"SIZE": {"m": 96, "n": 96, "k": 32}}),
        ],
        1,
    ),
)
def test_simulated_rows_move_with_the_machine(name, machine, slow, module, sizes, monkeypatch):
    """Textures of five times the latency, or no caches, slow a small product of each claim's stencil."""
    for attribute, value in sizes.items():
        monkeypatch.setattr(module, attribute, value)
    (before,), (after,) = (list(rows(select([name]), {machine: each}, 1)) for each in ({}, slow))
    assert (before.machines, after.machines) == ((machine,), (machine,))
    first, second = (float(row.ours.split(" / ")[0]) for row in (before, after))
    assert second < first
