from pathlib import Path

import pytest

from gpusim.machine.machine import load
from gpusim.reproduction.gf100 import WITH_TAGS, WITHOUT_TAGS

PAGE = Path(__file__).parents[2] / "docs" / "reproduction.md"
CME213 = ["CM07", "CM08", "CM09", "CM17"]
TAN = [f"TN{number}" for number in range(24, 34)]


def test_the_two_files_have_caches_otherwise():
    """The notes are true: the GTX 480 keeps tags, and nothing hits on the C2050."""
    assert [load(key).cache.hits for key in ("gtx480", "c2050")] == ["tags", "none"]


@pytest.mark.parametrize(("note", "names"), [(WITH_TAGS, CME213), (WITHOUT_TAGS, [*TAN, "KZ07"])])
def test_rows_of_rates_say_so(note, names):
    """Every row of a rate on either card has the note that is its card's."""
    rows = {line[2:6]: line for line in PAGE.read_text(encoding="utf-8").splitlines()}
    assert [name for name in names if note not in rows[name]] == []
