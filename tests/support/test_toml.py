from pathlib import Path

import pytest

from gpusim.support import toml
from isa.errors import UserError

PATH = Path("k.toml")
TEXT = """\
kernel = "k"

[[argument]]
name = "x"
  fill = "iota"
[[argument]]
 value = 2
[constants]
table.type = "f"
"""


def test_keys_have_their_places():
    """A key is found by its dotted path, tables of a kind by their number, with line and column from 1 on."""
    found = toml.places(TEXT, PATH)
    assert found["kernel"] == "k.toml:1:1"
    assert found["argument.0.fill"] == "k.toml:5:3"
    assert found["argument.1.value"] == "k.toml:7:2"
    assert found["constants.table.type"] == "k.toml:9:1"


@pytest.mark.parametrize(
    ("key", "expected"),
    [("argument.1.value", "7:2"), ("argument.1.type", "6:3"), ("argument.2", "1:1"), ("constants.x.y", "8:2")],
)
def test_what_has_no_place_is_in_the_nearest_table(key, expected):
    """A key that the text does not have is placed at the table around it, or at the beginning of the file."""
    assert toml.place(key, toml.places(TEXT, PATH), PATH) == f"k.toml:{expected}"


@pytest.mark.parametrize(
    ("text", "message"),
    [("a = \n", "k.toml:1:5: not TOML: "), ("[a]\n[a]\n", "k.toml:2:3: not TOML: ")],
)
def test_what_is_no_toml_is_refused_at_its_place(text, message):
    """The message begins with file, line and column."""
    with pytest.raises(UserError) as caught:
        toml.parse(text, PATH)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = 1\nb = 2\na = 3\n", "k.toml:3:1: a is given before, in line 1; leave out one of the two"),
        ("[[argument]]\nx = 1\n[[argument]]\nx = 2\n x = 3\n", "k.toml:5:2: argument.1.x is given before, in line 4"),
        ("a = 1\na = [\n 2,\n]\n", "k.toml:2:1: a is given before, in line 1"),
        ('a = 1\n"a" = 2\n', "k.toml:2:8: not TOML: Cannot overwrite a value; correct the line"),
    ],
)
def test_a_key_that_is_given_twice_has_its_name(text, message):
    """The message has key and line of both; a key in quotes, which has no place, has the parser's words."""
    with pytest.raises(UserError) as caught:
        toml.parse(text, PATH)
    assert str(caught.value).startswith(message)
