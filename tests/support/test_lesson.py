"""The headers of lessons."""

import pytest

from gpusim.support import lesson
from isa.errors import UserError

TEXT = '''# /// script
# [tool.marimo.opengraph]
# title = "3. Caches"
#
# [tool.gpusim]
# minutes = 12
# ///
"""What a cache holds.

More of it.
"""
'''


def test_a_lesson_is_read_from_its_name_header_and_docstring(tmp_path):
    """Number and file come from the name, title and minutes from the header, the sentence from the docstring."""
    (tmp_path / "lesson03_caches.py").write_text(TEXT)
    assert lesson.listed(tmp_path) == [lesson.Lesson(3, "lesson03_caches.py", "What a cache holds.", "Caches", 12)]


def test_lessons_are_in_the_order_of_their_numbers(tmp_path):
    """Lesson 10 follows lesson 9, with or without a leading zero; other files are none."""
    for name in ("lesson10_b", "lesson9_c", "lesson01_d", "teaching"):
        (tmp_path / f"{name}.py").write_text(TEXT)
    assert [one.number for one in lesson.listed(tmp_path)] == [1, 9, 10]


@pytest.mark.parametrize(
    ("text", "missing"), [("", "marimo"), (TEXT.replace("minutes", "hours"), "minutes"), ("# /// script\n", "marimo")]
)
def test_a_lesson_without_its_header_is_refused(tmp_path, text, missing):
    """The message names the file and what its header lacks."""
    (tmp_path / "lesson1_x.py").write_text(text)
    with pytest.raises(UserError, match=rf"lesson1_x\.py: no '{missing}' in its header"):
        lesson.listed(tmp_path)
