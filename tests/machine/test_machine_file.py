from pathlib import Path

import pytest

from gpusim.machine import file as machine_file
from isa.errors import UserError


def write(folder: Path, text: str) -> Path:
    """Write a machine file that holds `text`."""
    path = folder / "mine.toml"
    path.write_text(text)
    return path


def refusal(path: Path) -> str:
    """Return the message with which a file is refused, without its folder."""
    with pytest.raises(UserError) as caught:
        machine_file.read(path)
    return str(caught.value).removeprefix(f"{path.parent}/")


def test_a_leaf_becomes_a_fact_with_its_place(tmp_path):
    """A number keeps value, source, method, note and the data it was fitted to, with its line and column."""
    leaf = '{ value = 2, source = "s", method = "fitted", to = "figure 2", note = "n" }'
    path = write(tmp_path, f"# comment\n[load_store]\n  queue = {leaf}\n")
    strings, facts = machine_file.read(path)
    assert strings == {}
    assert facts == {"load_store.queue": machine_file.Fact(2, "s", "fitted", "n", "figure 2")}
    assert facts["load_store.queue"].place == f"{path}:3:3"


@pytest.mark.parametrize(
    ("leaf", "message"),
    [
        ("16", '[chip].sms = 16 has no source; write { value = 16, source = "...", method = "guess" } or better'),
        ('{ value = 16, method = "vendor" }', 'chip.sms has no source; add source = "..."'),
        ('{ value = 16, source = "s" }', 'chip.sms has no method; add method = "..."'),
        ('{ source = "s", method = "vendor" }', 'chip.sms has no value; add value = "..."'),
        (
            '{ value = 16, source = "s", method = "vendor", sorce = "t" }',
            "chip.sms has an unknown key sorce; did you mean source?",
        ),
        (
            '{ value = 16, source = "s", method = "rumour" }',
            "chip.sms has method 'rumour'; choose one of vendor, measured, paper, derived, fitted, guess",
        ),
        (
            '{ value = 16, source = " ", method = "vendor" }',
            "chip.sms has source = ' '; it must say something in words",
        ),
        ('{ value = 16, source = "s", method = "fitted" }', 'chip.sms is fitted, but to what? add to = "..."'),
        ('{ value = 16, source = "s", method = "guess" }', 'chip.sms is a guess without a reason; add note = "..."'),
    ],
)
def test_a_leaf_without_provenance_is_refused(tmp_path, leaf, message):
    """A number needs value, source and a known method; a fit names its data and a guess its reason."""
    text = refusal(write(tmp_path, f"[chip]\nsms = {leaf}\n"))
    assert text == f"mine.toml:2:1: {message.replace('[chip].', 'chip.')}"


def test_bad_toml_is_refused_with_line_and_column(tmp_path):
    """A syntax error is reported with its line and column."""
    assert refusal(write(tmp_path, "name = \n")).startswith("mine.toml:1:8: not TOML: ")


def test_a_name_that_is_not_text_is_refused(tmp_path):
    """A number for the machine's name is refused with its place."""
    assert refusal(write(tmp_path, "name = 3\n")) == 'mine.toml:1:1: name must be plain text; write name = "..."'


def test_extends_finds_a_file_beside_it(tmp_path):
    """`extends` finds a file in the same folder; the extending file's value wins."""
    leaf = '{ value = VALUE, source = "s", method = "vendor" }'
    (tmp_path / "base.toml").write_text(f"[a]\nx = {leaf}\ny = {leaf}\n".replace("VALUE", "1"))
    path = write(tmp_path, f'extends = "base.toml"\n[a]\ny = {leaf}\n'.replace("VALUE", "2"))
    _, facts = machine_file.read(path)
    assert {key: fact.value for key, fact in facts.items()} == {"a.x": 1, "a.y": 2}


def test_circular_extends_is_refused(tmp_path):
    """Two files that extend each other are refused rather than followed for ever."""
    write(tmp_path, 'extends = "other.toml"\n')
    other = tmp_path / "other.toml"
    other.write_text('extends = "mine.toml"\n')
    assert refusal(other) == "other.toml:1:1: `extends` leads back to this file; remove it from one of them"


@pytest.mark.parametrize(
    ("name", "advice"),
    [("gtx58", "did you mean gtx580?"), ("vega", f"choose one of {', '.join(machine_file.names())}, or a file")],
)
def test_an_unknown_machine_names_the_nearest(name, advice):
    """An unknown machine is refused with the nearest name, or the list."""
    with pytest.raises(UserError, match=r"no such machine; ") as caught:
        machine_file.locate(name)
    assert advice in str(caught.value)


def test_a_file_that_is_no_text_is_refused(tmp_path):
    """A file that is not UTF-8 is refused in one line."""
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xff\xfe")
    assert refusal(path) == "mine.toml: not UTF-8 text; give the path of a machine file"


def test_a_path_without_a_machine_file_is_reported_as_such(tmp_path):
    """A missing file or a directory is reported as such, not as an unknown machine."""
    for name in (f"{tmp_path}/mine", "nope.toml"):
        with pytest.raises(UserError, match=f"machine {name}: no such file; give the path of a machine file"):
            machine_file.locate(name)
    with pytest.raises(UserError, match=f"machine {tmp_path}: is a directory; give a file ending in .toml"):
        machine_file.locate(str(tmp_path))


@pytest.mark.parametrize(("base", "cause"), [("gtx5800", "no such machine; did you"), ("base.toml", "no such file; ")])
def test_a_base_that_does_not_exist_is_reported_with_its_place(tmp_path, base, cause):
    """A missing base is refused with the line and column of `extends`."""
    text = refusal(write(tmp_path, f'name = "Mine"\n extends = "{base}"\n'))
    assert text.startswith(f"mine.toml:2:2: machine {base}: {cause}")


def plausible(folder: Path, value: str, ends: str, note: str = ', note = "n"') -> Path:
    """Write a machine file of one guess with a plausible range."""
    leaf = f'{{ value = {value}, source = "s", method = "guess", plausible = {ends}{note} }}'
    return write(folder, f"[schedulers]\nkey = {leaf}\n")


@pytest.mark.parametrize(
    ("value", "ends"), [("3", (1, 4)), ("1", (1, 4)), ("4", (1, 4)), ('"lrr"', ("gto",)), ('"lrr"', ("gto", "oldest"))]
)
def test_a_number_may_have_a_plausible_range(tmp_path, value, ends):
    """A number has its least and most, itself between or at an end; a word has one or several others."""
    _, facts = machine_file.read(plausible(tmp_path, value, str(list(ends)).replace("'", '"')))
    assert facts["schedulers.key"].plausible == ends


@pytest.mark.parametrize(
    ("value", "ends", "message"),
    [
        ("3", "[4, 5]", "[4, 5]; write [least, most] around 3"),
        ("3", "[3, 3]", "[3, 3]; write [least, most] around 3"),
        ("3", "[1]", "[1]; write [least, most] around 3"),
        ("3", "[1, 2, 4]", "[1, 2, 4]; write [least, most] around 3"),
        ("3", "[true, 4]", "[True, 4]; write [least, most] around 3"),
        ("3", "4", "4; write [least, most] around 3"),
        ("3", '["a", "b"]', "['a', 'b']; write [least, most] around 3"),
        ("[3]", "[1, 4]", "[1, 4]; write [least, most] around [3]"),
        ('"lrr"', "[]", "[]; write other words than lrr, each once"),
        ('"lrr"', '["lrr"]', "['lrr']; write other words than lrr, each once"),
        ('"lrr"', '["gto", "gto"]', "['gto', 'gto']; write other words than lrr, each once"),
        ('"lrr"', "[1, 2]", "[1, 2]; write other words than lrr, each once"),
    ],
)
def test_a_range_without_the_number_is_refused(tmp_path, value, ends, message):
    """A range that is none, or leaves out the value, and words that repeat it or each other end in one line."""
    assert refusal(plausible(tmp_path, value, ends)) == f"mine.toml:2:1: schedulers.key has plausible = {message}"


def test_a_range_needs_a_ground(tmp_path):
    """A plausible range without a note is refused, whatever the method."""
    path = write(tmp_path, '[chip]\nsms = { value = 3, source = "s", method = "paper", plausible = [1, 4] }\n')
    assert refusal(path) == 'mine.toml:2:1: chip.sms has a plausible range without a ground; add note = "..."'
