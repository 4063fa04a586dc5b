from pathlib import Path

import pytest

from gpusim.machine.machine import load
from gpusim.reproduction.gf100 import WITH_TAGS, WITHOUT_TAGS
from gpusim.reproduction.pages.pages import FOOTNOTES

PAGE = Path(__file__).parents[2] / "docs" / "reproduction.md"
CME213 = ["CM07", "CM08", "CM09", "CM17"]
TAN = [f"TN{number}" for number in range(24, 34)]


def test_the_files_of_the_two_cards_differ_in_caches():
    """As the notes say, the GTX 480 keeps tags, and nothing hits on the C2050."""
    assert [load(key).cache.hits for key in ("gtx480", "c2050")] == ["tags", "none"]


@pytest.mark.parametrize(("note", "names"), [(WITH_TAGS, CME213), (WITHOUT_TAGS, [*TAN, "KZ07"])])
def test_rows_of_rates_have_the_note_of_their_card(note, names):
    """Every row of a rate on the GTX 480 or the C2050 has the mark of its card's footnote, which stands below."""
    (mark,) = (mark for mark, text in FOOTNOTES.items() if text == note)
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    rows = {line[2:6]: line for line in lines}
    assert [name for name in names if mark not in rows[name]] == []
    assert f"{mark.capitalize()}: {note}." in lines
