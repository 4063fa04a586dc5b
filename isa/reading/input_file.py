"""Read files that a user names, which may be anything: never more than a file of their kind can have."""

from __future__ import annotations

import gzip
import zlib
from io import BytesIO
from pathlib import Path

from isa.errors import UserError

MOST = 1 << 26  # bytes of a file that people write
MOST_GENERATED = 1 << 30  # of one that programs write
RATIO = 100  # most unpacked bytes per packed byte; timelines have 10
LEAST_UNPACKED = 1 << 24  # up to this size RATIO does not apply


def present(path: Path) -> bool:
    """Tell whether something exists at a path; false for a name that no file can have."""
    try:
        return path.exists()
    except OSError:  # too long
        return False


def beginning(path: Path | str, count: int) -> bytes:
    """Return so many bytes of a file's beginning; none of one that can't be read."""
    try:
        with Path(path).open("rb") as file:
            return file.read(count)
    except (OSError, ValueError):
        return b""


def read(path: Path | str, fix: str, most: int = MOST) -> bytes:
    """Return the bytes of a file; raises UserError, which ends with `fix`, if it is unreadable or larger."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; {fix}") from None
    if len(data) > most:
        raise UserError(f"{path}: more than {most >> 20} MiB; {fix}")
    return data


def text(path: Path | str, fix: str, encoding: str = "utf-8") -> str:
    """Return the text of a file with newline line ends; raises UserError as `read` does, and for other bytes."""
    try:
        return read(path, fix).decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise UserError(f"{path}: not UTF-8 text; {fix}") from None


def unpacked(path: Path | str, fix: str) -> bytes:
    """Return the contents of a gzipped file; raises UserError as `read` does, and for implausible contents."""
    data = read(path, fix, MOST_GENERATED)
    most = min(max(LEAST_UNPACKED, RATIO * len(data)), MOST_GENERATED)
    try:
        with gzip.GzipFile(fileobj=BytesIO(data)) as file:
            found = file.read(most + 1)
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise UserError(f"{path}: can't be unpacked: {error}; {fix}") from None
    if len(found) > most:
        raise UserError(f"{path}: unpacks to more than {most >> 20} MiB; {fix}")
    return found
