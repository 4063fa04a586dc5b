import os
from pathlib import Path

import pytest
from draws import few

from gpusim.reproduction import sensitivity, unclaimed
from gpusim.reproduction.claims import SEEDS, read, select
from gpusim.reproduction.finding import KINDS
from gpusim.reproduction.gf100 import WITHOUT_TAGS
from gpusim.reproduction.ledger import PLOTS, LedgerRow, rows, without_runs
from gpusim.reproduction.pages import drawing
from gpusim.reproduction.pages.drawing import Picture
from gpusim.reproduction.pages.pages import TURNS, line, markdown, totals
from gpusim.reproduction.pages.plot import Plot
from gpusim.reproduction.unclaimed import Unclaimed

DOCS = Path(__file__).parents[2] / "docs"
PAGE, TRIED = DOCS / "reproduction.md", DOCS / "sensitivity.csv"
PICTURES = "pictures/reproduction"
CLAIMS = {claim.id: claim for claim in read()}


def row(**changes):
    """Return a row of the ledger."""
    about = {"id": "LS24", "seed": "lai", "what": "a | b", "published": "18 / 24", "ours": "18 / 25", "error": 1 / 24}
    more = {"kind": "predicted", "passed": False, "note": "", "seconds": 1.0, "tolerance": "exact"}
    return LedgerRow(**{**about, **more, "machines": ("gt200", "gtx580"), **changes})


def test_the_document_is_up_to_date():
    """Each row that needs no run is in docs/reproduction.md as it is computed now."""
    text = PAGE.read_text(encoding="utf-8")
    shown = {text[2:6]: text for text in text.splitlines() if text[2:6] in CLAIMS}
    assert shown.keys() == CLAIMS.keys()
    for now in without_runs(few(read(), 20), {}):
        assert shown[now.id] == line(now, turns=f"| {TURNS} |" in text)


@pytest.mark.slow
@pytest.mark.jit
def test_the_document_is_what_the_ledger_computes():
    """docs/reproduction.md is what `make reproduction` writes, every simulated row included."""
    done, workers = {}, os.cpu_count() or 1
    found = list(rows(read(), {}, workers, done=done))
    found = sensitivity.turned(found, {}, sensitivity.current(found, sensitivity.load(TRIED)))
    drawn = {one.name: one for one in drawing.computed(PLOTS, {}, workers, done=done)}
    pictures = {f"{PICTURES}/{name}.svg": drawn[name] for name in PLOTS}
    assert PAGE.read_text(encoding="utf-8") == markdown(found, {}, unclaimed.read(), pictures, turns=True)


@pytest.mark.slow
def test_the_pictures_are_those_of_the_page():
    """The page shows each picture of its folder once, and the folder has those of all plots."""
    shown = [text.partition("](")[2].rstrip(")") for text in PAGE.read_text().splitlines() if text.startswith("![")]
    assert sorted(shown) == sorted(f"{PICTURES}/{name}.svg" for name in PLOTS)
    assert sorted(path.stem for path in (DOCS / PICTURES).iterdir()) == sorted(PLOTS)


def test_a_document_has_its_pictures_and_what_is_not_claimed():
    """Below the table of a document stand its pictures with their notes, then what is not claimed; none of others."""
    pictures = {
        f"p/{seed}-1.svg": Picture(f"{seed}-1", seed, Plot(seed, "", "", (), "Note.")) for seed in ("lai", "tan")
    }
    missing = [Unclaimed(seed, "1", "a | b", "why") for seed in ("tan", "lai")]
    text = markdown([row()], {}, missing, pictures)
    table, rest = text.split("| gt200, gtx580 |  |\n\n")
    heading = "### Not claimed, because\n\n| place | what | because |\n|---|---|---|\n"
    assert rest == f"![lai](p/lai-1.svg)\n\nNote.\n\n{heading}| 1 | a \\| b | why |\n"
    assert "- 1 sentence of the documents is not claimed\n" in table
    assert "hollow markers are published" in table
    assert "hollow" not in markdown([row()], {})


def test_the_column_of_what_turns_a_verdict_is_there_if_asked_for():
    """With it a row has the settings and how many were tried, none if none turns it, and says if none was tried.

    Settings with which a claim can't be computed are listed.
    A row without settings to try, such as values that are right or wrong on any machine, says nothing.
    """
    turned = row(turned_by=("gtx580:a.b=1", "gt200:a.b=2", "gt200:a.b=3"), tried=40)
    part = row(turned_by=(), tried=24, untried=38, impossible=("gtx580:a.b=1", "gtx580:a.b=2"))
    others = row(turned_by=(), tried=40, untried=0), part, row(turned_by=(), tried=0, runs=2), row(runs=2), row()
    cells = [line(each, turns=True).split(" | ")[-1] for each in (turned, *others)]
    assert cells == [
        "gtx580:a.b=1; gt200:a.b=2 or 3 of 40 |",
        "none of 40 |",
        "none of 24, 38 not tried; impossible: gtx580:a.b=1 or 2 |",
        "not tried |",
        " |",
        " |",
    ]
    text = markdown([turned], {}, turns=True)
    assert "| note | turned by |\n|---|---|---|---|---|---|---|---|---|---|---|\n" in text
    assert "Turned by: the settings" in text
    assert [part for part in ("Turned by", "| turned by |") if part in markdown([turned], {})] == []


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
    """Each of the 9 kinds is explained once."""
    text = markdown([row()], {})
    assert [text.count(f"- {kind}: {meaning}\n") for kind, meaning in KINDS.items()] == [1] * 9


def test_a_line_escapes_bars_in_its_cells():
    """A bar within a cell is escaped, and the error is a percentage or a difference; machines are named."""
    cells = r"| LS24 | a \| b | 18 / 24 | exact | 18 / 25 | +4.2 % | predicted | fail | gt200, gtx580 |  |"
    assert line(row()) == cells
    assert "| 2 points | 18 / 25 | -2.50 |" in line(row(tolerance="2 points", error=-2.5))


def test_what_many_notes_say_is_a_footnote():
    """Two rows with the same sentence have a mark in its place, and the sentence stands once, below their table."""
    rows_with = [row(note=f"slow; {WITHOUT_TAGS}"), row(note=WITHOUT_TAGS), row(id="TN01", seed="tan", note="fast")]
    text = markdown(rows_with, {})
    assert text.count("| slow; note 1 |") == text.count("| note 1 |") == 1
    assert text.count(WITHOUT_TAGS) == text.count(f"|\n\nNote 1: {WITHOUT_TAGS}.\n\n## ") == 1
    assert "ote 2" not in text


@pytest.mark.parametrize(("passed", "first"), [(True, "1 of 1"), (False, "0 of 1"), (None, "0 of 0")])
def test_totals_count_the_claims_that_pass(passed, first):
    """Claims without figures to compare count neither as passed nor as failed."""
    first_line, kind = totals([row(passed=passed)])
    assert first_line.startswith(f"{first} claims pass; {int(passed is None)} ")
    assert kind == f"predicted: {first} pass" + ("; 1 without figures" if passed is None else "")


def test_totals_count_the_claims_that_nothing_turns():
    """Of the claims with settings those that were tried are counted, and those that keep their verdict, if any was."""
    tried = [row(turned_by=(), tried=9), row(turned_by=("gtx580:a.b=1",), tried=9), row(turned_by=(), tried=0), row()]
    text = "sensitivity: 2 of 3 simulated claims tried; 1 keep their verdict in what was tried"
    assert totals(tried)[-1] == text
    tried[0] = row(turned_by=(), tried=9, untried=1)
    assert totals(tried)[-1] == text.replace(";", ", 1 of them in part;")
    assert totals([row()])[-1].startswith("predicted")


def test_all_claims_are_of_a_listed_document():
    """The documents of all claims are those of `SEEDS`."""
    assert {claim.seed for claim in select(["all"])} == SEEDS.keys()
