import gzip
from pathlib import Path

import pytest

from gpusim.support.whole_file import check, unfinished, write, write_pieces, write_table
from isa.errors import UserError


def test_a_file_is_replaced_only_when_it_is_complete(tmp_path):
    """The old text stays until the new one is complete, and no other file is left."""
    path = tmp_path / "a.txt"
    write(path, "old")
    with unfinished(path) as part:
        part.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_no_file(tmp_path):
    """A write that fails leaves neither the file nor a part of it."""

    def fail():
        with unfinished(tmp_path / "a.txt") as part:
            part.write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "is a directory"),
        ("no/a.txt", "there is no directory"),
        ("/dev/null", "is not a regular file"),
        ("/dev/stdout", "is not a regular file"),
    ],
)
def test_a_place_that_can_not_be_written_is_refused(tmp_path, name, message):
    """A directory, a file in a missing one, and a device, which would be replaced, are each refused."""
    with pytest.raises(UserError, match=message):
        check(tmp_path / name)
    assert not Path("/dev/null").is_file()


def test_the_target_of_a_link_is_replaced(tmp_path):
    """A symbolic link stays a link, and its target gets the text, even if it did not exist."""
    for name in ("there.txt", "new.txt"):
        link, target = tmp_path / f"link-{name}", tmp_path / name
        link.symlink_to(target)
    (tmp_path / "there.txt").write_text("before")
    for name in ("there.txt", "new.txt"):
        write(tmp_path / f"link-{name}", "text")
        assert (tmp_path / f"link-{name}").is_symlink()
        assert (tmp_path / name).read_text() == "text"


def test_stdout_is_no_file():
    """The name - is refused, and no file of that name is made."""
    with pytest.raises(UserError, match=r"^-: output is written as a whole file, which stdout can't be; name a file$"):
        write(Path("-"), "text")
    assert not Path("-").exists()


def test_an_error_names_the_file_asked_for(tmp_path):
    """A file that can't be opened, because of its long name, is reported by its own name, not a temporary one."""
    path = tmp_path / ("x" * 250)
    with pytest.raises(OSError, match="File name too long") as failed:
        write(path, "text")
    assert failed.value.filename == str(path)


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_pieces_come_back_in_their_order(tmp_path, name):
    """Pieces are written in order, compressed for .gz, the same each time, and with the size returned."""
    path, other = tmp_path / name, tmp_path / f"other-{name}"
    assert write_pieces(path, [b"one", b"", b"two"]) == path.stat().st_size
    write_pieces(other, [b"one", b"two"])
    assert path.read_bytes() == other.read_bytes()
    assert (gzip.decompress(path.read_bytes()) if name.endswith(".gz") else path.read_bytes()) == b"onetwo"


def test_pieces_that_fail_leave_nothing(tmp_path):
    """If a piece fails, neither the file nor a part of it is left."""

    def pieces():
        yield b"one"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_pieces(tmp_path / "a.gz", pieces())
    assert list(tmp_path.iterdir()) == []


def test_a_table_is_csv_with_its_header_first(tmp_path):
    """A table has its header, a line for each row, and no carriage return; what can't be written leaves no file."""
    write_table(tmp_path / "t.csv", ["a", "b"], [(1, "x,y"), (2, "")])
    assert (tmp_path / "t.csv").read_bytes() == b'a,b\n1,"x,y"\n2,\n'
    with pytest.raises(UserError, match="there is no directory"):
        write_table(tmp_path / "none" / "t.csv", [], [])
