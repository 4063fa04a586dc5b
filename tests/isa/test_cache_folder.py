from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from isa.errors import UserError
from isa.support import cache_folder


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Return the name of a directory of ours, with no message about it yet."""
    monkeypatch.setattr(cache_folder, "SAID", [])
    return tmp_path / "cache"


def refusal(capsys, given):
    """Return the one line that says why there is no cache, printed once for two questions."""
    assert cache_folder.directory(str(given)) is None
    assert cache_folder.directory(str(given)) is None
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("warning: compiled code is not kept, so each run compiles it anew: ")
    return line


def test_the_cache_is_made_for_us_alone(cache, capsys):
    """New cache directories have mode 700, whatever the umask, and nothing is printed."""
    before = os.umask(0)
    try:
        assert cache_folder.directory(str(cache)) == cache / "gpusim"
    finally:
        os.umask(before)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (cache, cache / "gpusim")] == [0o700, 0o700]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("home", ["", "/nonexistent/home"])
@pytest.mark.usefixtures("cache")
def test_no_home_is_made(monkeypatch, home, capsys):
    """If the home directory does not exist, it is not created, and one line says that no code is kept."""
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", home)
    assert "no such directory" in refusal(capsys, "")
    assert not Path("/nonexistent").exists()


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o775, 0o757], ids=oct)
def test_a_cache_that_others_can_write_is_refused(cache, mode, capsys):
    """A cache directory that everybody, a group or others can write to is refused, sticky bit or not."""
    (cache / "gpusim").mkdir(parents=True)
    os.chown(cache / "gpusim", -1, 54321) if os.geteuid() == 0 else None
    (cache / "gpusim").chmod(mode)
    if mode == 0o775 and os.geteuid():
        pytest.skip("only root can give a directory to another group")
    assert f"{cache / 'gpusim'}: others can write to it" in refusal(capsys, cache)


def test_a_parent_that_others_can_write_is_refused(cache, capsys):
    """A cache is refused if others can write to a directory above it: they could replace the cache."""
    cache.mkdir()
    (cache / "gpusim").mkdir(0o700)
    cache.chmod(0o777)
    assert f"{cache}: others can write to it" in refusal(capsys, cache)


def test_below_a_directory_like_tmp_is_ours(cache):
    """In a sticky directory such as /tmp, a cache directory of our own is taken."""
    cache.mkdir()
    cache.chmod(0o1777)
    assert cache_folder.directory(str(cache)) == cache / "gpusim"


def test_a_cache_of_somebody_else_is_refused(cache, monkeypatch, capsys):
    """A directory that belongs to another user is refused, even if nobody else can write to it."""
    cache.mkdir()
    if os.geteuid() == 0:
        os.chown(cache, 12345, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert "belongs to somebody else" in refusal(capsys, cache)


def test_the_target_of_a_link_is_checked(cache, tmp_path, capsys):
    """A symbolic link to a directory that others can write to is refused."""
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    cache.symlink_to(tmp_path / "open")
    assert f"{tmp_path / 'open'}: others can write to it" in refusal(capsys, cache)


@pytest.mark.parametrize(("members", "alone"), [([], True), (["me"], True), (["me", "you"], False)])
def test_a_group_of_our_own_is_nobody_else(tmp_path, monkeypatch, members, alone):
    """A directory that our group can write to is taken if we are its only member, and refused otherwise."""
    me = type("User", (), {"pw_uid": os.geteuid(), "pw_gid": tmp_path.stat().st_gid, "pw_name": "me"})
    monkeypatch.setattr("pwd.getpwuid", lambda _: me)
    monkeypatch.setattr("pwd.getpwall", lambda: [me])
    monkeypatch.setattr("grp.getgrgid", lambda _: type("Group", (), {"gr_mem": members}))
    tmp_path.chmod(0o770)
    if alone:
        cache_folder.check(tmp_path, tmp_path.stat())
    else:
        with pytest.raises(UserError, match="others can write to it"):
            cache_folder.check(tmp_path, tmp_path.stat())
    assert cache_folder.alone_in(tmp_path.stat().st_gid) is alone


@pytest.mark.usefixtures("cache")
def test_without_a_home_there_is_no_cache(monkeypatch, capsys):
    """If no home directory is known, one line says so, and there is no cache."""

    def nowhere():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", nowhere)
    assert "home directory" in refusal(capsys, "")


@pytest.mark.parametrize("given", ["", "relative/folder"])
@pytest.mark.usefixtures("cache")
def test_the_cache_lies_in_the_home_otherwise(monkeypatch, tmp_path, given):
    """An empty or relative XDG_CACHE_HOME is ignored: the cache is ~/.cache/gpusim."""
    monkeypatch.setenv("XDG_CACHE_HOME", given)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    assert cache_folder.directory("") == tmp_path / "home/.cache/gpusim"


def test_what_is_written_is_read(cache):
    """Bytes come back from a file of mode 600, whatever the umask; a file that isn't there gives None."""
    before = os.umask(0)
    try:
        cache_folder.write(cache / "gpusim" / "a", b"text")
    finally:
        os.umask(before)
    assert cache_folder.read(cache / "gpusim" / "a") == b"text"
    assert stat.S_IMODE((cache / "gpusim" / "a").stat().st_mode) == 0o600
    assert cache_folder.read(cache / "gpusim" / "b") is None


@pytest.mark.parametrize(
    "spoilt",
    [
        lambda file: file.write_bytes(file.read_bytes()[:-1]),
        lambda file: file.write_bytes(file.read_bytes()[:-1] + b"T"),
        lambda file: file.chmod(0o666),
    ],
)
def test_a_spoilt_file_is_not_read(cache, spoilt):
    """A file that is cut short, changed, or that others could have written, is as good as missing."""
    cache_folder.write(cache / "a", b"text")
    spoilt(cache / "a")
    assert cache_folder.read(cache / "a") is None


def test_a_place_that_cannot_be_written(cache, capsys):
    """Where a file stands in the way, one line says so once, and no partial file is left."""
    cache.touch()
    for name in ("a", "b"):
        cache_folder.write(cache / name, b"text")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"warning: compiled code is not kept, so each run compiles it anew: {cache}")
    assert list(cache.parent.iterdir()) == [cache]
