"""Trace records on their way to a file, which grows as the simulation goes on while memory does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from gpusim.state.sm import trace_t
from gpusim.support.whole_file import unfinished

Take = Callable[[Any], None]
PLAIN = np.dtype(trace_t.descr)  # the same fields without the type of a record, which a file would not name


@contextmanager
def to_file(path: Path) -> Iterator[Take]:
    """Give a function that appends records to a .npy file, which appears when all is well and not before.

    Raises UserError where it can't be, and OSError where writing fails.
    """
    count = 0

    def take(records: Any) -> None:
        nonlocal count
        count += len(records)
        file.write(records.tobytes())  # tofile() forgets why it could not write

    with unfinished(path) as part, part.open("wb") as file:
        _header(file, 0)
        yield take
        file.seek(0)
        _header(file, count)


def _header(file: BinaryIO, count: int) -> None:
    """Write the header for so many records: NumPy leaves room for larger counts, so that its length stays."""
    description = {"descr": np.lib.format.dtype_to_descr(PLAIN), "fortran_order": False, "shape": (count,)}
    np.lib.format.write_array_header_1_0(file, description)
