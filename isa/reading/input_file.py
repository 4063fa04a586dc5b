"""Reading what a user names, which may be anything: never more of it than a file of its kind can have."""

from __future__ import annotations

import gzip
import zlib
from io import BytesIO
from pathlib import Path

from isa.errors import UserError

MOST = 1 << 26  # bytes of a file that people write
MOST_GENERATED = 1 << 30  # of one that programs write
RATIO = 100  # bytes from each packed one; timelines have 10
LEAST_UNPACKED = 1 << 24  # which need not be as rare as that


def present(path: Path) -> bool:
    """Tell whether something lies at a path; nothing does at a name that no file can have."""
    try:
        return path.exists()
    except OSError:  # too long
        return False


def read(path: Path | str, fix: str, most: int = MOST) -> bytes:
    """Return the bytes of a file; raises UserError, which ends with `fix`, where it can't be read or has more."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; {fix}") from None
    if len(data) > most:
        raise UserError(f"{path}: more than {most >> 20} MiB; {fix}")
    return data


def text(path: Path | str, fix: str, encoding: str = "utf-8") -> str:
    """Return the text of a file, its lines ended by newlines; raises UserError as `read` does, and for other bytes."""
    try:
        return read(path, fix).decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise UserError(f"{path}: not UTF-8 text; {fix}") from None


def unpacked(path: Path | str, fix: str) -> bytes:
    """Return what a gzipped file unpacks to; raises UserError as `read` does, and for what no such file unpacks to."""
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
