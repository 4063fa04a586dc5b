import os
from pathlib import Path

import pytest
from draws import few

from gpusim.reproduction.claims import SEEDS, read, select
from gpusim.reproduction.finding import KINDS
from gpusim.reproduction.ledger import LedgerRow, rows, without_runs
from gpusim.reproduction.pages import line, markdown, totals

PAGE = Path(__file__).parents[2] / "docs" / "reproduction.md"
CLAIMS = {claim.id: claim for claim in read()}


def row(**changes):
    """Return a row of the ledger."""
    about = {"id": "LS24", "seed": "lai", "what": "a | b", "published": "18 / 24", "ours": "18 / 25", "error": 1 / 24}
    more = {"kind": "predicted", "passed": False, "note": "", "seconds": 1.0, "tolerance": "exact"}
    return LedgerRow(**{**about, **more, "machines": ("gt200", "gtx580"), **changes})


def test_the_document_is_up_to_date():
    """Each row that needs no run is in docs/reproduction.md as it is computed now."""
    shown = {text[2:6]: text for text in PAGE.read_text(encoding="utf-8").splitlines() if text[2:6] in CLAIMS}
    assert shown.keys() == CLAIMS.keys()
    for now in without_runs(few(read(), 20), {}):
        assert shown[now.id] == line(now)


@pytest.mark.slow
@pytest.mark.jit
def test_the_document_is_what_the_ledger_computes():
    """docs/reproduction.md is what `make reproduction` writes, every simulated row included."""
    found = list(rows(read(), {}, os.cpu_count() or 1))
    assert PAGE.read_text(encoding="utf-8") == markdown(found, {})


def test_each_document_has_a_table():
    """Each document with rows has a heading, in order, with its rows below; the others have none."""
    text = markdown([row(id="TN01", seed="tan"), row()], {})
    parts = text.split("\n## ")[1:]
    assert [part.splitlines()[0] for part in parts] == [SEEDS["lai"], SEEDS["tan"]]
    assert "| LS24 |" in parts[0]
    assert "| TN01 |" in parts[1]


def test_the_head_states_changed_settings():
    """The head lists settings as they were given; a page of unchanged machines lists none."""
    settings = {"gtx580": {"chip.sms": "4", "chip.core_mhz": "700"}}
    message = "On changed machines: gtx580:chip.sms=4, gtx580:chip.core_mhz=700.\n\n"
    changed, plain = markdown([row()], settings), markdown([row()], {})
    assert message in changed.split("## ")[0]
    assert changed.replace(message, "") == plain


def test_the_legend_has_every_kind():
    """Each of the 7 kinds is explained once."""
    text = markdown([row()], {})
    assert [text.count(f"- {kind}: {meaning}\n") for kind, meaning in KINDS.items()] == [1] * 7


def test_a_line_escapes_bars_in_its_cells():
    """A bar within a cell is escaped, and the error is a percentage or a difference; machines are named."""
    cells = r"| LS24 | a \| b | 18 / 24 | exact | 18 / 25 | +4.2 % | predicted | fail | gt200, gtx580 |  |"
    assert line(row()) == cells
    assert "| 2 points | 18 / 25 | -2.50 |" in line(row(tolerance="2 points", error=-2.5))


@pytest.mark.parametrize(("passed", "first"), [(True, "1 of 1"), (False, "0 of 1"), (None, "0 of 0")])
def test_totals_count_the_claims_that_pass(passed, first):
    """Claims without figures to compare count neither as passed nor as failed."""
    first_line, kind = totals([row(passed=passed)])
    assert first_line.startswith(f"{first} claims pass; {int(passed is None)} ")
    assert kind == f"predicted: {first} pass" + ("; 1 without figures" if passed is None else "")


def test_all_claims_are_of_a_listed_document():
    """The documents of all claims are those of `SEEDS`."""
    assert {claim.seed for claim in select(["all"])} == SEEDS.keys()
