import gzip
import os
import threading

import pytest

from isa.errors import UserError
from isa.reading import input_file


def test_a_file_is_read_unchanged(tmp_path):
    """Bytes come back as they are; text comes back with newlines at the ends of its lines."""
    (path := tmp_path / "a").write_bytes(b"one\r\ntwo\rthree\n")
    assert input_file.read(path, "fix") == b"one\r\ntwo\rthree\n"
    assert input_file.text(path, "fix") == "one\ntwo\nthree\n"


def test_no_more_is_read_than_a_file_may_have(monkeypatch):
    """A device that never ends is refused after the most bytes that a file may have, here 1 MiB."""
    monkeypatch.setattr(input_file, "MOST", 1 << 20)
    with pytest.raises(UserError, match=r"^/dev/zero: more than 1 MiB; fix$"):
        input_file.read("/dev/zero", "fix", input_file.MOST)


def test_a_pipe_is_read(tmp_path):
    """A named pipe, which has no size beforehand, is read to its end."""
    os.mkfifo(path := tmp_path / "pipe")
    writer = threading.Thread(target=lambda: path.write_bytes(b"text"))
    writer.start()
    assert input_file.text(path, "fix") == "text"
    writer.join()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (gzip.compress(bytes(input_file.LEAST_UNPACKED + 1), mtime=0), "unpacks to more than 16 MiB; fix"),
        (gzip.compress(b"text", mtime=0)[:-3], "can't be unpacked: "),
        (b"text", "can't be unpacked: "),
    ],
)
def test_a_file_that_unpacks_to_too_much_is_refused(data, message, tmp_path):
    """A file that unpacks to over 16 MiB, a packed file cut short and a file not packed at all are refused."""
    (path := tmp_path / "a.gz").write_bytes(data)
    with pytest.raises(UserError, match=message):
        input_file.unpacked(path, "fix")


def test_a_file_that_unpacks_to_little_is_given(tmp_path):
    """A file that unpacks to LEAST_UNPACKED bytes is unpacked, whatever the ratio."""
    (path := tmp_path / "a.gz").write_bytes(gzip.compress(bytes(input_file.LEAST_UNPACKED)))
    assert len(input_file.unpacked(path, "fix")) == input_file.LEAST_UNPACKED


@pytest.mark.parametrize("name", ["none", "."])
def test_an_unreadable_path_is_reported(name, tmp_path):
    """A missing file and a directory are reported with the system's reason and the fix."""
    with pytest.raises(UserError, match=r"(No such file or directory|Is a directory); fix$"):
        input_file.read(tmp_path / name, "fix")
