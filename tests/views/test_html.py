import gzip
import json
import re
from base64 import b64decode
from itertools import accumulate

import pytest
from hypothesis import given
from msgspec.structs import replace
from strategies.launches import timelines
from strategies.timeline_documents import by_hand

from gpusim.views.html import FOLDER, SCRIPTS, STATES, STYLES, pack, page
from gpusim.views.palette import contrast
from gpusim.views.timeline.document import NONE, Issued, Line, Lost, Wait

STYLE = page(()).split("<style>")[1].split("</style>")[0]
DARK = "".join(re.findall(r"@media \(prefers-color-scheme: dark\) \{.*?\n\}", STYLE, re.DOTALL))
COLOURS = re.sub(r"@media.*?\n\}", "", STYLE, flags=re.DOTALL), DARK  # light, dark


def restored(packed):
    """Return instructions and lost slots of packed data, read by the rules that `pack` states."""
    names, waits = [letter.name for letter in packed["letters"]], iter(zip(*packed["waits"].values(), strict=True))
    assert list(packed["waits"]) == ["reason", "start", "end", "blocker"]
    columns = packed["instructions"]
    ids, issues = accumulate(columns["id"]), accumulate(columns["issue"])
    made = []
    for at, (own, issue) in enumerate(zip(ids, issues, strict=True)):
        of = {name: column[at] for name, column in columns.items()}
        times = {name: NONE if of[name] == NONE else issue + of[name] for name in ("begin", "end", "done")}
        spans = [next(waits) for _ in range(of["waited"])]
        found = tuple(
            Wait(names[reason], issue - start, issue - start + length, own - back if back else NONE)
            for reason, start, length, back in spans
        )
        plain = {name: of[name] for name in ("warp", "block", "pc", "scheduler", "lanes", "conflicts", "late")}
        made.append(Issued(id=own, issue=issue, waits=found, **plain, **times))
    slots = zip(*(packed["lost"][name] for name in ("scheduler", "reason", "start", "end", "ended_by")), strict=True)
    lost = [Lost(k, names[reason], start, start + length, by) for k, reason, start, length, by in slots]
    return made, lost


@given(timelines())
def test_the_columns_hold_every_instruction_and_lost_slot(document):
    """Reading the columns back by the rules that they are written by gives the document's instructions and slots."""
    assert restored(pack(document)) == (list(document.instructions), list(document.lost))


@given(timelines())
def test_the_data_in_the_page_is_the_packed_document(document):
    """The page's one run is base64 of gzip of JSON of what `pack` gives."""
    (found,) = re.findall(r'<script type="text/plain" class="run">([^<]*)</script>', page([document]))
    assert restored_json(found)["instructions"] == pack(document)["instructions"]


def restored_json(text):
    return json.loads(gzip.decompress(b64decode(text)))


def document_with(text):
    """Return a document of one instruction with this text, which waits for a reason that has no letter."""
    waits = (Wait("sleeping", 0, 3),)
    return by_hand([Line(0, text, "fp32")], [Issued(0, 0, 0, 0, 0, 3, NONE, NONE, NONE, 32, waits)], 9)


def test_a_reason_without_a_letter_gets_one():
    """A reason that the document has no letter for gets the letter `?`, and every state has one."""
    letters = {letter.name: letter.letter for letter in pack(document_with("NOP"))["letters"]}
    assert letters["sleeping"] == "?"
    assert set(STATES) <= set(letters)


def test_names_are_text_and_not_markup():
    """A kernel's name or an instruction that looks like HTML stays text."""
    text = page([replace(document_with("</script><b>"), kernel="</script><b>bold</b>")])
    assert "<b>" not in text
    assert "&lt;/script&gt;&lt;b&gt;bold" in text


def test_the_page_names_no_address():
    """The page loads nothing from an address, and contains every style and script."""
    text = page([document_with("NOP")])
    without = text.replace("http://www.w3.org/2000/svg", "")
    assert re.findall(r"https?://|//cdn|@import|url\(|\bsrc=", without) == []
    assert all((FOLDER / name).read_text(encoding="utf-8").strip() in text for name in (*STYLES, *SCRIPTS))


def test_every_part_of_the_page_is_used():
    """Every file of the folder is part of the page; the head is that of pages with charts, too."""
    assert {entry.name for entry in FOLDER.iterdir()} == {*STYLES, *SCRIPTS, "page.html", "head.html"}


def test_every_script_is_short():
    """No script is longer than 150 lines."""
    assert {name for name in SCRIPTS if len((FOLDER / name).read_text(encoding="utf-8").splitlines()) > 150} == set()


@pytest.mark.parametrize("ground", ["background", "panel"])
@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_is_readable(scheme, ground):
    """Text, remarks and links have a contrast of 4.5 to 1, as WCAG 2.1 asks, on page and panel."""
    found = dict(re.findall(r"--(\w+): (#\w{6});", COLOURS[scheme]))
    assert {name for name in ("text", "faint", "accent") if contrast(found[name], found[ground]) < 4.5} == set()
