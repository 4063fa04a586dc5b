"""Files that appear whole or not at all."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from gzip import GzipFile
from pathlib import Path
from typing import BinaryIO

from isa.errors import UserError
from isa.support.escaped import escaped

COMPRESSION = 6  # of gzip: with 9, Python's default, timelines take 4 to 10 times as long and are 1 to 8 % smaller
DEVICES = Path("/dev"), Path("/dev/fd"), Path("/proc/self/fd")  # a name there may refer to another file


def check(path: Path) -> None:
    """Raise UserError where no file of this name can be written."""
    if str(path) == "-":
        raise UserError("-: output is written as a whole file, which stdout can't be; name a file")
    if path.is_dir() or not path.name:
        raise UserError(f"{path}: is a directory; name a file in it")
    if (path.exists() and not path.is_file()) or path.absolute().parent in DEVICES:
        raise UserError(f"{path}: is not a regular file; name another")
    if not path.parent.is_dir():
        raise UserError(f"{path}: there is no directory {path.parent}; create it, or name another")
    if not os.access(path.parent, os.W_OK):
        raise UserError(f"{path}: the directory {path.parent} can't be written to; name another")


@contextmanager
def unfinished(path: Path) -> Iterator[Path]:
    """Give the name of a temporary file beside it, which replaces it on success and is removed on failure.

    Raises UserError if it can't be written, see `check`, and OSError with the file's own name.
    """
    check(path)
    asked, path = path, Path(os.path.realpath(path))  # the target of a link is replaced, and the link stays
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(path)
    except OSError as error:
        if error.filename is None or str(error.filename) == str(part):  # None: of an open file, whose disk is full
            error.filename = str(asked)
        raise
    finally:
        with suppress(OSError):  # the earlier error is the one to report
            part.unlink()


def write(path: Path, text: str) -> None:
    """Write a text, control characters as escapes; raises UserError for a bad name, and OSError if writing fails."""
    with unfinished(path) as part:
        part.write_text(escaped(text), encoding="utf-8")


def write_table(path: Path, header: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Write a table as CSV, control characters as escapes; raises UserError as `check`."""
    with unfinished(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        for row in (header, *rows):
            writer.writerow(map(shown, row))


def shown(cell: object) -> object:
    """Return a cell of a table, a text with control characters as escapes."""
    return escaped(cell) if isinstance(cell, str) else cell


def write_pieces(path: Path, pieces: Iterable[bytes]) -> int:
    """Write pieces one after the other, gzipped if the name ends in .gz, and return the size of the file in bytes.

    The same pieces give the same file. Raises UserError if it can't be written, and OSError if writing fails.
    """
    with unfinished(path) as part:
        with part.open("wb") as file, _packed(path, file) as target:
            for piece in pieces:
                target.write(piece)
        return part.stat().st_size


def _packed(path: Path, file: BinaryIO) -> AbstractContextManager[BinaryIO | GzipFile]:
    return GzipFile("", "wb", COMPRESSION, file, mtime=0) if path.suffix == ".gz" else nullcontext(file)
