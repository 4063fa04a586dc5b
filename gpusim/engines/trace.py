"""Trace records on their way to a file, which grows as the simulation goes on while memory does not."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from gpusim.state import trace_t
from isa.errors import UserError

Take = Callable[[Any], None]
PLAIN = np.dtype(trace_t.descr)  # the same fields without the type of a record, which a file would not name


@contextmanager
def to_file(path: Path) -> Iterator[Take]:
    """Give a function that appends records to a .npy file, which appears when all is well and not before.

    Raises UserError where it can't be, and OSError where writing fails.
    """
    check(path)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
    count = 0

    def take(records: Any) -> None:
        nonlocal count
        count += len(records)
        records.tofile(file)

    try:
        with unfinished.open("wb") as file:
            _header(file, 0)
            yield take
            file.seek(0)
            _header(file, count)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def check(path: Path) -> None:
    """Raise UserError where no file of this name can be written."""
    if path.is_dir() or not path.name:
        raise UserError(f"{path}: is a directory; name a file in it")
    if path.exists() and not path.is_file():
        raise UserError(f"{path}: is no file that can be replaced; name another")
    if not path.parent.is_dir():
        raise UserError(f"{path}: there is no directory {path.parent}; create it, or name another")
    if not os.access(path.parent, os.W_OK):
        raise UserError(f"{path}: the directory {path.parent} can't be written to; name another")


def _header(file: BinaryIO, count: int) -> None:
    """Write the header for so many records: NumPy leaves room for larger counts, so that its length stays."""
    description = {"descr": np.lib.format.dtype_to_descr(PLAIN), "fortran_order": False, "shape": (count,)}
    np.lib.format.write_array_header_1_0(file, description)
