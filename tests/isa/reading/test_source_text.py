import os
import pickle

import pytest

from isa.reading.source_text import FIX, MOST, Sources, find


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in an empty folder beside one that has a source file."""
    (tmp_path / "build").mkdir()
    (tmp_path / "here").mkdir()
    (tmp_path / "build" / "k.cu").write_bytes(b"one\r\n\ttwo\x0c\nthree\n")
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


def test_the_lines_of_a_file(folder):
    """Lines end where compilers end them, and tabs are blanks."""
    name = str(folder / "build" / "k.cu")
    found = find([name], str(folder / "build" / "k.cubin"))
    assert found.lines == {name: ("one", "    two\x0c", "three")}
    assert (found.missing, found.note) == ((), "")


@pytest.mark.parametrize("name", ["/elsewhere/k.cu", "k.cu", r"C:\elsewhere\k.cu", "../build/k.cu", "./build/../k.cu"])
def test_a_file_is_found_beside_the_one_that_was_loaded(folder, name):
    """A file whose path is of another machine, or of another folder, is found beside the loaded file by its name."""
    assert find([name], str(folder / "build" / "k.cubin")).text(name, 3) == "three"


def test_a_file_is_found_below_by_the_end_of_its_path(folder):
    """Of two files of a name the one is taken whose path ends as the code says."""
    for part in ("a", "b"):
        (folder / "build" / part).mkdir()
        (folder / "build" / part / "x.h").write_text(part)
    names = ["/elsewhere/b/x.h", "/elsewhere/a/x.h"]
    assert [find(names, str(folder / "build" / "k.cubin")).text(name, 1) for name in names] == ["b", "a"]


def outside(folder):
    """Return names by which machine code may mean a file that lies in none of its folders."""
    secret = folder / "here" / "secret"
    secret.write_text("secret")
    (folder / "build" / "link").symlink_to(secret)
    (folder / "build" / "up").symlink_to("..")
    return str(secret), "../here/secret", f"{folder}/build/../here/secret", "link", "up/here/secret", "secret"


def test_no_file_outside_is_read(folder):
    """A path to a file outside the loaded file's folder, by dots, links or from the root, is missing."""
    names = outside(folder)
    found = find(names, str(folder / "build" / "k.cubin"))
    assert (found.lines, found.missing) == ({}, names)
    assert find(names).missing == names


def test_folders_that_are_given_are_read_too(folder):
    """A folder that is given has its files, those below it too, as the loaded file's has."""
    names = outside(folder)
    roots = [folder / "nowhere", folder / "here"]
    assert find(names, str(folder / "build" / "k.cubin"), roots=roots).missing == ("link",)
    (folder / "src").symlink_to(folder / "here")
    assert find(["secret"], roots=[folder / "src"]).text("secret", 1) == "secret"


@pytest.mark.usefixtures("folder")
def test_a_text_that_is_given_needs_no_file():
    """A text given by its base name is taken wherever the code says that it was; other files are found as ever."""
    found = find(["/elsewhere/source.cu", "missing.cu"], given={"source.cu": "one\ntwo"})
    assert (found.text("/elsewhere/source.cu", 2), found.missing) == ("two", ("missing.cu",))


def test_missing_files_are_noted_once():
    """Files that are not there are named in one note, the first three of them, without their folders."""
    names = ["/a/one.cu", "/a/two.cuh", "/a/one.cu", "3.h", "4.h", "5.h", ""]
    found = find(names)
    assert (found.lines, found.missing) == ({}, ("/a/one.cu", "/a/two.cuh", "3.h", "4.h", "5.h"))
    assert found.note == f"source not found: one.cu, two.cuh, 3.h and 2 more; {FIX}"


def test_what_is_no_source_file_is_missing(folder):
    """A folder, a pipe without an end, an impossible path, and a file that is too large are missing, not errors."""
    os.mkfifo(folder / "here" / "pipe.cu")
    (folder / "here" / "large.cu").write_bytes(b"\n" * (MOST + 1))
    names = ["/", "pipe.cu", "a\0b", "x" * 5000, "large.cu"]
    assert find(names, "k.cubin").missing == tuple(names)


def test_a_file_that_is_not_utf_8_is_shown_all_the_same(folder):
    """Bytes of another encoding become replacement characters, so that the lines keep their numbers."""
    (folder / "here" / "old.cu").write_bytes(b"// gr\xfc\xdfe\nint x;\n")
    assert find(["old.cu"], "k.cubin").lines["old.cu"] == ("// gr\ufffd\ufffde", "int x;")


def test_the_text_of_a_line():
    """A line's text has no blanks around it; beyond a file's lines, and without a file, it is empty."""
    found = Sources({"a": ("  x = 1;  ",)})
    assert [found.text(*place) for place in (("a", 1), ("a", 2), ("a", 0), ("b", 1))] == ["x = 1;", "", "", ""]
    assert pickle.loads(pickle.dumps(found)) == found
