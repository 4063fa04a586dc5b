import os
import re
import shlex
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

import pytest
from draws import draws, few
from hypothesis import given, settings
from read.fenced import ROOT
from strategies.launches import timelines
from strategies.timeline_documents import by_hand

from gpusim.commands.main import execute
from gpusim.views import svg as view
from gpusim.views.html import page
from gpusim.views.timeline.document import NONE, Issued, Line, Wait

SOME = settings(max_examples=draws(30))
PIECE = re.compile(r"M([\d.]+) (\d+)h([\d.e-]+)v\d+H[\d.]+z")
ADD = Issued(0, 0, 0, 0, 0, 4, 4, 6, NONE, 32, (Wait("barrier", 0, 4),))


def drawn(document):
    """Return the elements of the picture."""
    return ElementTree.fromstring(b"".join(view.svg(document)))


def texts(root):
    return [one.text for one in root.findall(".//{*}text")]


NAME = re.compile(r"((warp|scheduler|tensor) \d+|copy engine|mbar \S+)$")


def rows(root):
    """Return the names of the rows by the upper edge of their bars."""
    names = [one for one in root.findall(".//{*}text") if NAME.match(one.text)]
    return {int(one.get("y")) - view.ROW + 2: one.text for one in names}


def cycles(root, document):
    """Return the cycles that each row shows in each colour, computed from the pixels of the paths."""
    scale = (document.end - document.start) / (view.WIDTH - view.LEFT - view.RIGHT)
    found, names = defaultdict(set), rows(root)
    for path in [one for one in root.findall(".//{*}path") if one.get("fill")]:
        for x, y, width in PIECE.findall(path.get("d")):
            first = document.start + round((float(x) - view.LEFT) * scale)
            found[names[int(y)], path.get("fill")] |= set(range(first, first + round(float(width) * scale)))
    return dict(found)


def colour(reason):
    """Return the colour of a reason, or of a part of the picture, in the HTML view's light scheme."""
    light = re.sub(r"@media.*?\n\}", "", page(()), flags=re.DOTALL)
    return re.search(rf"--{reason}: (#\w+);", light)[1]


def expected(document):
    """Return the cycles in sight by row and colour, computed cycle by cycle from the document."""
    found = defaultdict(set)
    for one in document.instructions:
        issue = set(range(one.issue, one.issue + document.interval))
        found[f"scheduler {one.scheduler}", colour("selected")] |= issue
        found[f"warp {one.warp}", colour("selected")] |= issue
        for wait in one.waits:
            found[f"warp {one.warp}", colour(wait.reason)] |= set(range(wait.start, wait.end))
    for lost in document.lost:
        found[f"scheduler {lost.scheduler}", colour(lost.reason)] |= set(range(lost.start, lost.end))
    for one in document.instructions:
        if document.program[one.pc].unit == "tensor" and one.begin != NONE:
            found[f"tensor {one.scheduler}", colour("occupies")] |= set(range(one.begin, one.end))
    for copy in document.copies:
        found["copy engine", colour("occupies")] |= set(range(copy.start, copy.end))
        found["copy engine", colour("under_way")] |= set(range(copy.end, copy.landed))
    several = len({phase.slot for phase in document.phases}) > 1
    for phase in document.phases:
        name = f"mbar {phase.slot}:{phase.barrier:#x}" if several else f"mbar {phase.barrier:#x}"
        end = document.end if phase.end == NONE else phase.end
        waits = min((one.since for one in phase.waiting), default=end)
        found[name, colour("under_way")] |= set(range(phase.start, waits))
        found[name, colour("long_scoreboard")] |= set(range(waits, end))
    sight = set(range(document.start, document.end))
    return {key: cells & sight for key, cells in found.items() if cells & sight}


@given(timelines())
@SOME
def test_each_row_shows_its_cycles(document):
    """Pixels turned back into cycles are the waits, issues and lost slots of the document, in each row and colour."""
    assert cycles(drawn(document), document) == expected(document)


@given(timelines())
@SOME
def test_the_picture_says_what_it_shows(document):
    """Kernel, machine, settings, policy and cycles stand above, each warp and scheduler beside its row."""
    root = drawn(document)
    reported = " ".join(texts(root))
    for part in (document.kernel, document.machine_name, document.policy, *document.settings):
        assert part in reported
    assert f"cycles {document.start:,} to {document.end:,} of {document.cycles:,}" in reported
    shown = [f"scheduler {k}" for k in range(document.schedulers)] + [f"warp {slot}" for slot in document.shown]
    assert list(rows(root).values())[: len(shown)] == shown
    units = set(list(rows(root).values())[len(shown) :])
    assert units >= {row for row, _ in expected(document)} - set(shown)


@given(timelines())
@SOME
def test_the_legend_explains_each_colour(document):
    """Each reason and state in sight has its colour and name below the rows, a reason its meaning; no other has."""
    root = drawn(document)
    meanings = {letter.name: letter.meaning for letter in document.letters}
    painted = {fill for _, fill in expected(document)}
    named = {name: texts(root).count(name) for name in (*meanings, "occupies", "under_way")}
    assert {colour(name) for name, times in named.items() if times} == painted
    assert all(texts(root).count(meanings[name]) == named[name] <= 1 for name in meanings)


def test_shares_are_of_warps_and_of_slots():
    """A warp that waits 4 cycles and issues in a fifth has 80 % and 20 %; a used slot of ten is 10 %."""
    root = drawn(by_hand([Line(0, "IADD R1, R1, R1", "int")], [ADD], 10))
    percent = [one for one in texts(root) if one.endswith(" %")]
    assert percent == ["20.0 %", "10.0 %", "80.0 %", "0.0 %"]


def test_a_reason_from_elsewhere_has_a_colour():
    """A reason that gpusim does not know is drawn in grey, with its name."""
    odd = Issued(0, 0, 0, 0, 0, 4, 4, 6, NONE, 32, (Wait("moonlight", 0, 4),))
    root = drawn(by_hand([Line(0, "IADD R1, R1, R1", "int")], [odd], 10))
    assert ("warp 0", colour("other")) in cycles(root, by_hand([], [odd], 10))
    assert texts(root).count("moonlight") == 2  # its name stands for its meaning too


@pytest.mark.jit
@pytest.mark.parametrize(("number", "page"), few([(1, "docs/why-slow.md"), (0, "README.md")], 1))
def test_a_picture_of_a_document_is_up_to_date(number, page, tmp_path, monkeypatch):
    """Each picture in the repository is the output of `make pictures`, byte for byte, and its page shows it."""
    recipe = (ROOT / "Makefile").read_text().split("\npictures:")[1].split("\n\n")[0].replace("\\\n", " ")
    made = re.findall(r"gpusim (.*)", recipe)
    *arguments, file = shlex.split(made[number])
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    assert len(made) == 2
    assert execute([*arguments, "out.svg"]) == 0
    assert (tmp_path / "out.svg").read_bytes() == (ROOT / file).read_bytes()
    assert f"]({os.path.relpath(file, Path(page).parent)})" in (ROOT / page).read_text(encoding="utf-8")
