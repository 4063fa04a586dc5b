import pytest

from isa.nvidia.compiler.kept import digest, kept
from isa.support import cache_folder


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Return a cache of ours, which has nothing yet."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "gpusim" / "sass"


def test_what_was_made_once_is_not_made_again(cache):
    """The second call with the same parts gives the first one's bytes; other parts are made of their own."""
    made = []

    def make(content):
        return lambda: made.append(content) or content

    assert [kept(["tool 1", b"x"], make(b"first")), kept(["tool 1", b"x"], make(b"second"))] == [b"first", b"first"]
    assert kept(["tool 2", b"x"], make(b"third")) == b"third"
    assert made == [b"first", b"third"]
    assert len(list(cache.iterdir())) == 2


def test_what_fails_is_not_kept(cache):
    """An error in making goes through, and leaves nothing behind."""

    def fail():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        kept(["a"], fail)
    assert list(cache.iterdir()) == []


def test_the_end_of_a_part_counts():
    """The same bytes, cut elsewhere, are other parts."""
    assert len({digest(parts) for parts in (["ab", "c"], ["a", "bc"], ["abc"], ["ab", "c", ""])}) == 4
    assert digest(["ab", "c"]) == digest([b"ab", b"c"])


def test_without_a_cache_everything_is_made(tmp_path, monkeypatch, capsys):
    """Where nothing can be kept, each call makes its own, and one line says why."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    monkeypatch.setattr(cache_folder, "SAID", [])
    assert [kept(["a"], lambda: b"1"), kept(["a"], lambda: b"2")] == [b"1", b"2"]
    assert capsys.readouterr().err.count("\n") == 1
