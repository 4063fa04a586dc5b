"""What a kernel has printed is written as CUDA's host does: text to the standard output, assertions to the error.

Control characters but tab and line feed are shown as escapes: a terminal obeys them, and kernels may be a stranger's.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from isa.errors import ExecutionError
from isa.support.escaped import escaped


def write_text(text: str) -> None:
    """Write what a kernel had printed."""
    sys.stdout.write(escaped(text))
    sys.stdout.flush()


def written(error: ExecutionError) -> None:
    """Write what a kernel had printed till its fault, and the assertions that failed."""
    write_text(error.printed)
    sys.stderr.write(escaped(error.asserted))


@contextmanager
def written_at_faults() -> Iterator[None]:
    """Write this at each fault."""
    try:
        yield
    except ExecutionError as error:
        written(error)
        raise
