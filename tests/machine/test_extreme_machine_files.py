import pytest

from gpusim.machine.file import read
from gpusim.support.toml import DEEPEST, LONGEST_LINE
from isa.errors import UserError

TEXTS = {
    "a key of many parts": "a." * 60_000,
    "many parts that fit a line": "a." * 1_500 + "a = 1",
    "parts apart": "a . " * 20 + "a = 1",
    "a header of many parts": f"[{'a.' * 1_500}a]",
    "quoted parts": '"a".' * 900 + "a = 1",
    "brackets": "x = " + "[" * 1_900 + "]" * 1_900,
    "tables in tables": "x = " + "{ a = " * 600 + "1" + " }" * 600,
    "digits": "x = " + "9" * 3_999,
    "a long name": "a" * 60_000,
    "blanks": " " * 60_000 + "=",
    "a NUL": "a\0 = 1",
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_line_of_any_kind_is_one_error(name, tmp_path):
    """A line of any of these kinds gives one error with its place, of at most 2,000 letters."""
    (path := tmp_path / "m.toml").write_text(f'name = "m"\n{TEXTS[name]}\n')
    with pytest.raises(UserError, match=rf"^{path}:\d+:\d+: ") as raised:
        read(path)
    assert len(str(raised.value)) <= 2000


def test_long_lines_never_reach_the_parser(tmp_path, monkeypatch):
    """Long lines and keys of many parts, quadratic in TOML's parser, are refused before it runs."""
    monkeypatch.setattr("tomllib.loads", lambda _: pytest.fail("parsed"))
    for line, message in (
        ("a." * 60_000, f"lines of {LONGEST_LINE} at most"),
        ("a." * 9 + "a = 1", f"more than {DEEPEST} parts"),
    ):
        (path := tmp_path / "m.toml").write_text(f'name = "m"\n{line}\n')
        with pytest.raises(UserError, match=message):
            read(path)
