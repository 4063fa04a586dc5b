import json

from hypothesis import given
from hypothesis import strategies as st

from isa.errors import UserError
from isa.support.escaped import escaped


def test_what_a_terminal_obeys_is_shown():
    """Escapes, bells, returns, C1 controls, marks of direction and half pairs are shown; tabs and new lines stay."""
    assert escaped("a\x1b[31m\x07\r\tb\n") == "a\\x1b[31m\\x07\\x0d\tb\n"
    assert escaped("\x7f\x9b\u202e\u2066\u2028\ud800") == "\\u007f\\u009b\\u202e\\u2066\\u2028\\ud800"
    assert escaped("größe 行 😀 \\x1b") == "größe 行 😀 \\x1b"


@given(st.text())
def test_every_text_can_be_printed(text):
    """What comes out can be encoded, has no control character but tab and line feed, and stays the same."""
    found = escaped(text)
    assert all(ord(one) >= 0x20 or one in "\t\n" for one in found)
    assert escaped(found) == found
    found.encode()


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_json_keeps_its_meaning(text):
    """An escaped document of JSON says the same as before."""
    assert json.loads(escaped(json.dumps({text: text}, ensure_ascii=False))) == {text: text}


def test_errors_show_control_characters():
    """A message that quotes an escape code shows it."""
    assert str(UserError("\x1b]0;x\x07.asm: no such\nfile")) == "\\x1b]0;x\\x07.asm: no such file"
