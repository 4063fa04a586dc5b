from xml.etree import ElementTree

import pytest
from hypothesis import given
from msgspec.structs import replace
from strategies.launches import timelines
from strategies.timeline_documents import by_hand

from gpusim.views import source_svg as view
from gpusim.views.picture import palette
from gpusim.views.source import place, sums
from gpusim.views.timeline.document import END, NONE, Issued, Line, SourceFile, Wait

CODE = [
    Line(0, "LDG.E R2, [R2]", "global", file="k.cu", line=3, function="k", offset=0),
    Line(1, "FFMA R1, R2, R2, R1", "fp32", file="k.cu", line=3, function="k", offset=16),
    Line(2, "IADD3 R2, R2, 4, RZ", "int", file="k.cu", line=2, function="k", offset=32),
    Line(3, "STG.E [R4], R1", "global", file="k.cu", line=3, function="k", offset=48),
    Line(4, END, "control"),
]
WAITS = (Wait("wait", 0, 4),), (Wait("long_scoreboard", 5, 45),), (), (Wait("wait", 47, 50),)
ISSUED = [Issued(k, 0, 0, k, 0, at, at, at, NONE, 32, WAITS[k]) for k, at in enumerate((4, 45, 46, 50))]
DOCUMENT = replace(by_hand(CODE, ISSUED, 60), sources=(SourceFile("k.cu", ("k() {", "  i++;", "  y += x;", "}")),))


def drawn(document):
    """Return the elements of the picture."""
    return ElementTree.fromstring(b"".join(view.svg(document)))


def texts(root):
    """Return the texts from left to right in each row, from top to bottom."""
    found = [(float(one.get("y")), float(one.get("x")), one.text or "") for one in root.findall(".//{*}text")]
    return {y: [text for _, _, text in sorted(row for row in found if row[0] == y)] for y, _, _ in sorted(found)}


def test_lines_and_instructions_stand_side_by_side():
    """Rows have number, text and share of the waits; the instruction that waited nothing has no share."""
    rows = [row for row in texts(drawn(DOCUMENT)).values() if row[0] in set("1234")]
    assert rows == [
        ["1", "k() {", "0000", "LDG.E R2, [R2]", "8.5 %"],
        ["2", "  i++;", "0010", "FFMA R1, R2, R2, R1", "85.1 %"],
        ["3", "  y += x;", "100.0 %", "0020", "IADD3 R2, R2, 4, RZ"],
        ["4", "}", "0030", "STG.E [R4], R1", "6.4 %"],
    ]


def test_the_line_of_the_longest_waits_is_marked_with_its_instructions():
    """Line 3 and its three instructions are marked, in two stretches, to each of which a band leads."""
    root, accent = drawn(DOCUMENT), palette()["accent"]
    marks = [one for one in root.findall(".//{*}rect") if one.get("fill") == accent and one.get("opacity") is None]
    assert [(float(one.get("x")) < view.WIDTH / 2, float(one.get("y"))) for one in marks] == [
        (True, view.TOP + 2 * view.LINE),
        *((False, view.TOP + k * view.LINE) for k in (0, 1, 3)),
    ]
    (band,) = [one for one in root.findall(".//{*}path") if one.get("fill") == accent]
    assert band.get("d").count("M") == 2


@given(timelines())
def test_bars_are_as_long_as_the_waits(document):
    """The widths of the bars of each colour, over those of all, are the reasons' shares in both halves."""
    root, code = drawn(document), sums(document, lambda line: line.pc)
    bars = [one for one in root.findall(".//{*}rect") if one.get("height") == "10"]
    longest = max((one.waited for one in code.values()), default=0)
    right = [float(one.get("width")) for one in bars if float(one.get("x")) > view.WIDTH / 2]
    every = sum(one.waited for one in code.values())
    assert sum(right) == pytest.approx(view.BAR * every / max(1, longest), rel=1e-4)


@given(timelines())
def test_every_reason_in_sight_is_explained(document):
    """Each reason for which warps waited is named once, with its meaning, below the rows."""
    waits = set().union(*(one.waits for one in sums(document, place).values() if one.waited))
    names = [row[0] for row in texts(drawn(document)).values()]
    assert {letter.name for letter in document.letters if letter.name in names} == {
        reason for reason in waits if any(one.waits[reason] for one in sums(document, place).values())
    }


def test_a_program_without_lines_has_its_instructions_alone():
    """Without any line there is one half, which begins at the left edge and shows pcs."""
    plain = [Line(one.pc, one.text, one.unit) for one in CODE]
    rows = texts(drawn(replace(DOCUMENT, program=tuple(plain), sources=())))
    assert [row[:2] for row in rows.values()][2:4] == [["0", "LDG.E R2, [R2]"], ["1", "FFMA R1, R2, R2, R1"]]


def test_a_missing_source_leaves_the_numbers_of_its_lines():
    """Where the file was not found, lines with instructions have their numbers and figures, and no text."""
    rows = list(texts(drawn(replace(DOCUMENT, sources=(SourceFile("k.cu"),)))).values())
    assert [row for row in rows if row[0] in set("1234")] == [
        ["2", "0000", "LDG.E R2, [R2]", "8.5 %"],
        ["3", "100.0 %", "0010", "FFMA R1, R2, R2, R1", "85.1 %"],
    ]


def test_of_a_long_program_the_longest_waits_are_shown():
    """Of 300 instructions those with the longest waits stay, in order; the others are counted in their places."""
    program = tuple(Line(pc, f"I{pc}", "int") for pc in range(300))
    waits = {pc: (Wait("wait", 1000 * pc, 1000 * pc + 1 + (pc == 150) + (pc > 200)),) for pc in range(300)}
    some = [Issued(pc, 0, 0, pc, 0, 1000 * pc + 9, NONE, NONE, NONE, 32, waits[pc]) for pc in range(300)]
    rows = texts(drawn(by_hand(program, some, 300_000))).values()
    shown = [row[1] for row in rows if row[1:] and row[1].startswith("I")]
    assert len(shown) == view.MOST
    assert shown[0] == "I150"
    assert shown == sorted(shown, key=lambda text: int(text[1:]))
    left_out = [row[0] for row in rows if row[0].startswith("...")]
    assert sum(int(text.split()[1]) for text in left_out) == 300 - view.MOST
