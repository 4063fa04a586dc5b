from dataclasses import dataclass

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusim.analysis.search.code.code_tuning import CodeTuned
from gpusim.analysis.search.results_file import hash_of, results
from gpusim.analysis.search.tuning import Trial, Tuned
from gpusim.machine.machine import load
from isa.errors import UserError

SETTINGS = Tuned("zgemm", "c2050", "00ff", (96, 96, 32), 3, {"alpha": "2"}, "0.1.0")
TRIALS = [Trial({"a": i}, 1.5 * i, 100 * i, 2, 1, 10) for i in range(3)] + [Trial({"a": 9}, reason="too large")]


def written(path, trials, settings=SETTINGS):
    """Add trials to a file and return those that it had."""
    with results(path, settings, Trial) as (known, add):
        for each in trials:
            add(each)
    return known


@pytest.fixture(scope="module", name="whole")
def whole_file(tmp_path_factory):
    """Give the bytes of a file with all trials, and where its first line ends."""
    written(path := tmp_path_factory.mktemp("tuning") / "whole.jsonl", TRIALS)
    text = path.read_bytes()
    return text, text.index(b"\n") + 1


@given(data=st.data())
def test_a_run_goes_on_wherever_it_was_interrupted(whole, tmp_path_factory, data):
    """Cut off anywhere, within its first line too, a file has its whole lines' trials, and ends as if uncut."""
    text, first = whole
    cut = data.draw(st.integers(0, first) | st.integers(first, len(text)))
    (path := tmp_path_factory.mktemp("cut") / "cut.jsonl").write_bytes(text[:cut])
    done = text[first:cut].count(b"\n")
    assert written(path, TRIALS[done:]) == TRIALS[:done]
    assert path.read_bytes() == text


@dataclass
class Change:
    """Another value of a setting, and the words of the refusal for both."""

    name: str
    value: object
    reported: str


@pytest.mark.parametrize(
    "change",
    [
        Change("space", "dgemm", "space zgemm, not dgemm"),
        Change("machine", "gtx580", "machine c2050, not gtx580"),
        Change("facts", "0000", "machine numbers with the hash 00ff, not 0000"),
        Change("size", (96, 96, 64), "size [96,96,32], not [96,96,64]"),
        Change("waves", 4, "waves 3, not 4"),
        Change("parameters", {}, 'parameters {"alpha":"2"}, not {}'),
        Change("version", "0.2.0", "version 0.1.0, not 0.2.0"),
    ],
    ids=lambda change: change.name,
)
def test_results_of_other_settings_are_refused(change, whole, tmp_path):
    """Each setting that differs is reported in one line, and the file stays as it is."""
    (path := tmp_path / "old.jsonl").write_bytes(whole[0])
    with pytest.raises(UserError) as refused:
        written(path, TRIALS, msgspec.structs.replace(SETTINGS, **{change.name: change.value}))
    assert str(refused.value) == f"{path}: results of {change.reported}; give another file"
    assert path.read_bytes() == whole[0]


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"a100": "1", "h200": "2"}, "rtx3090 and a100, not of a100 and h200"),
        ({"rtx3090": "0", "a100": "2"}, "other numbers of a100"),
    ],
)
def test_results_of_other_machines_name_them(facts, told, tmp_path):
    """Where results are of several machines, a refusal names those, or the one whose numbers have changed."""
    settings = CodeTuned("f", "s", {"N": 64}, {"rtx3090": "0", "a100": "1"}, "None", "1", False, "0.1.0")
    written(path := tmp_path / "old.jsonl", [], settings)
    with pytest.raises(UserError) as refused:
        written(path, [], msgspec.structs.replace(settings, facts=facts))
    assert str(refused.value) == f"{path}: results of {told}; give another file"


@pytest.mark.parametrize("text", [b"hello\n", b"{}\n", b"\xff\n", b"no newline"])
def test_a_file_of_something_else_is_refused(text, tmp_path):
    """A file that does not begin with settings is refused with its line number, and stays unchanged."""
    (path := tmp_path / "other.txt").write_bytes(text)
    with pytest.raises(UserError, match=r"other.txt:1: no line of such results; give another file$"):
        written(path, TRIALS)
    assert path.read_bytes() == text


def test_a_broken_line_is_reported_by_its_number(whole, tmp_path):
    """A line in the middle that is no trial is reported, and nothing is added."""
    lines = whole[0].splitlines(keepends=True)
    (path := tmp_path / "broken.jsonl").write_bytes(b"".join([*lines[:2], b'{"points": 1}\n', *lines[3:]]))
    with pytest.raises(UserError, match=r"broken.jsonl:3: no line of such results"):
        written(path, TRIALS)


def test_a_result_is_in_the_file_as_soon_as_it_is_added(whole, tmp_path):
    """A reader of the file finds each added result at once, while the writer still has the file open."""
    with results(path := tmp_path / "now.jsonl", SETTINGS, Trial) as (_, add):
        for number, each in enumerate(TRIALS):
            assert path.read_bytes().count(b"\n") == 1 + number
            add(each)
        assert path.read_bytes() == whole[0]


def test_an_empty_file_is_a_new_one(whole, tmp_path):
    """An empty file is filled like a new one."""
    (path := tmp_path / "empty.jsonl").touch()
    assert written(path, TRIALS) == []
    assert path.read_bytes() == whole[0]


def test_a_second_writer_is_refused(whole, tmp_path):
    """While one run writes a file another one is refused; afterwards it continues with the results in the file."""
    path = tmp_path / "one.jsonl"
    with results(path, SETTINGS, Trial) as (_, add):
        add(TRIALS[0])
        with pytest.raises(UserError, match=r"one.jsonl: another gpusim writes"):
            written(path, TRIALS)
    assert written(path, TRIALS[1:]) == TRIALS[:1]
    assert path.read_bytes() == whole[0]


def test_without_a_file_nothing_is_known_or_kept(tmp_path):
    """Without a path there are no trials, and adding writes no file."""
    assert written(None, TRIALS) == []
    assert list(tmp_path.iterdir()) == []


def test_the_hash_tells_machines_apart():
    """One changed number changes the hash; the same numbers have the same one."""
    one, other = load("c2050"), load("c2050", {"load_store.queue": 2})
    assert hash_of(one) == hash_of(load("c2050")) != hash_of(other)
