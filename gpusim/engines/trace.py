"""Write trace records to a file during the simulation, so that memory use does not grow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from gpusim.sm.state.layout import layout
from gpusim.support.whole_file import unfinished

Take = Callable[[Any], None]
PLAIN = np.dtype(layout("trace").descr)  # the same fields without NumPy's record type, which a file would not name


@contextmanager
def to_file(path: Path) -> Iterator[Take]:
    """Give a function that appends records to a .npy file, which appears only after success.

    Raises UserError if the file can't be created, and OSError if writing fails.
    """
    count = 0

    def take(records: Any) -> None:
        nonlocal count
        count += len(records)
        file.write(records.tobytes())  # the error of tofile() does not say why writing failed

    with unfinished(path) as part, part.open("wb") as file:
        _header(file, 0)
        yield take
        file.seek(0)
        _header(file, count)


def _header(file: BinaryIO, count: int) -> None:
    """Write the header for so many records: NumPy leaves room for larger counts, so that its length stays the same."""
    description = {"descr": np.lib.format.dtype_to_descr(PLAIN), "fortran_order": False, "shape": (count,)}
    np.lib.format.write_array_header_1_0(file, description)
