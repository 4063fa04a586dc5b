import pytest
from draws import few

from gpusim.reproduction import ledger
from gpusim.reproduction.bench import Bench
from gpusim.reproduction.claims import SEEDS, read, select
from gpusim.reproduction.finding import arithmetic, counted, given, not_reproducible
from gpusim.reproduction.ledger import FINDERS, PLOTS, rows, summary, without_runs
from isa.errors import UserError


def stumble(_):
    """Fail as a mistake in a claim's function does."""
    raise ZeroDivisionError("by nought")


def refuse(_):
    """Fail as bad input does."""
    raise UserError("there is no such kernel")


def double(number):
    """Return twice a number, in another process."""
    return 2 * number


def test_every_claim_has_a_function_in_a_module_of_its_document():
    """Each claim has a function, in a module of its document, and there are no others."""
    seeds = {claim.id: claim.seed for claim in read()}
    assert FINDERS.keys() == seeds.keys()
    for name, function in FINDERS.items():
        assert function.__module__.startswith(f"gpusim.reproduction.{seeds[name]}"), name


def test_an_error_is_a_failed_row(monkeypatch):
    """Bad input or a mistake in a claim gives a failed row whose kind is `not computed` and names the error."""
    monkeypatch.setattr(ledger, "FINDERS", {"LS01": stumble, "LS02": refuse, "LS03": lambda _: counted(1)})
    found = without_runs(select(["LS01", "LS02", "LS03"]), {})
    assert [row.passed for row in found] == [False] * 3
    notes = "ZeroDivisionError: by nought", "there is no such kernel", "ValueError: 1 figures for 3 published ones"
    assert [row.kind for row in found] == [f"not computed: {note}" for note in notes]
    assert summary(found) == {"not computed": {"n": 3, "passed": 0, "failed": 3, "without": 0}}


def test_jobs_in_common_are_done_once_and_rows_come_in_order(monkeypatch):
    """Two claims that need the same two jobs are called three times each, and rows come in the order of the claims."""
    calls = []

    def asks(bench):
        calls.append(1)
        first, second = bench.compute(double, 301), bench.compute(double, 648)
        return counted(first, second, 141.7)

    monkeypatch.setattr(ledger, "FINDERS", {"LS01": asks, "LS02": asks, "LS03": lambda _: counted("words")})
    reported = []
    found = list(rows(select(["LS01", "LS02", "LS03"]), {}, 2, lambda *counts: reported.append(counts)))
    assert reported == [(1, 3), (2, 3), (3, 3)]
    assert [(row.id, row.passed) for row in found] == [("LS01", True), ("LS02", False), ("LS03", False)]
    assert len(calls) == 6
    assert [row.runs for row in found] == [2, 2, 0]


def test_a_row_names_the_machines_it_was_computed_on():
    """A row names its machines in the order of table 1, and none if its claim is counted in a program."""
    found = {row.id: row.machines for row in without_runs(select(["LS01", "LS13", "LS16", "LS23"]), {})}
    assert found == {
        "LS01": ("gt200",),
        "LS13": ("gt200", "gtx580", "gtx680-speculated"),
        "LS16": ("gtx580-1566",),
        "LS23": (),
    }


def test_arithmetic_requests_nothing_and_an_input_a_machine(monkeypatch):
    """Arithmetic that asks for a machine or a run is no arithmetic, and an input without a machine is no input."""
    finders = {
        "LS01": lambda bench: arithmetic(bench.machine("gt200").chip.sms),
        "LS02": lambda bench: arithmetic(bench.compute(double, 4)),
        "LS05": lambda _: given(1, 2, 4),
        "LS06": lambda _: arithmetic(1, 2, 4),
        "LS07": lambda bench: given(*[bench.machine("gt200").chip.sms] * 3),
    }
    monkeypatch.setattr(ledger, "FINDERS", finders)
    found = list(rows(select(finders), {}, 1))
    assert [row.kind.partition(": ")[0] for row in found] == ["not computed"] * 3 + ["arithmetic", "input"]
    assert "requests nothing" in found[0].kind
    assert "none was requested" in found[2].kind


@pytest.mark.long
def test_no_claim_of_the_ledger_is_vacuous():
    """No claim is computed with the error above, and none that needs no run is of a kind that says nothing."""
    found = without_runs(few(read(), 20), {})
    assert [row.id for row in found if row.kind.startswith("not computed")] == []
    assert [row.id for row in found if row.kind == "arithmetic" and (row.machines or row.runs)] == []
    assert [row.id for row in found if row.kind == "input" and not row.machines] == []


def test_every_plot_belongs_to_a_document():
    """The name of a plot begins with the key of its document, as its module's does."""
    assert {name.partition("-")[0] for name in PLOTS} <= SEEDS.keys()
    for name, plotter in PLOTS.items():
        assert plotter.__module__.startswith(f"gpusim.reproduction.{name.partition('-')[0]}"), name


def test_rows_that_need_no_run_leave_out_the_others():
    """Only claims that are computed from machines and programs come back."""
    assert [row.id for row in without_runs(select(["LS30", "LS37"]), {})] == ["LS30"]


@pytest.mark.long
@pytest.mark.jit
def test_a_setting_moves_the_rows_that_depend_on_it():
    """Of the rows that need no run, another clock of the GTX 580 moves only the one that states it."""
    before, after = (without_runs(read(), {"gtx580": s}) for s in ({}, {"chip.core_mhz": "700"}))
    moved = {row.id for row, changed in zip(before, after, strict=True) if row.ours != changed.ours}
    assert moved == {"LS02"}


@pytest.mark.jit
def test_a_setting_moves_simulated_rows():
    """A longer load/store queue of the GTX 580 moves the mix of figure 2, not the SGEMM of the faster card."""
    claims = select(["LS37", "LS30"])
    before, after = (list(rows(claims, {"gtx580": s}, 1)) for s in ({}, {"load_store.queue": "4"}))
    assert [row.ours == changed.ours for row, changed in zip(before, after, strict=True)] == [True, False]


def test_the_summary_counts_each_kind(monkeypatch):
    """Rows are counted by kind, as passed, failed, and without figures; details after a colon don't matter."""
    counts = dict.fromkeys(("LS05", "LS06"), lambda _: counted(1, 2, 4))
    monkeypatch.setattr(ledger, "FINDERS", {**counts, "LS07": lambda _: not_reproducible("lost")})
    found = without_runs(select(["LS05", "LS06", "LS07"]), {})
    assert summary(found) == {
        "counted": {"n": 2, "passed": 1, "failed": 1, "without": 0},
        "not reproducible": {"n": 1, "passed": 0, "failed": 0, "without": 1},
    }


def test_a_claim_may_look_at_the_machine():
    """A claim's bench gives machines with the settings of the command line."""
    assert Bench({"gt200": {"chip.sms": "10"}}).machine("gt200").chip.sms == 10
