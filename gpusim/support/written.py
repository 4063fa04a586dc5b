"""What a kernel has printed is written as CUDA's host does: text to the standard output, assertions to the error."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from isa.errors import ExecutionError


def written(error: ExecutionError) -> None:
    """Write what a kernel had printed till its fault, and the assertions that failed."""
    sys.stdout.write(error.printed)
    sys.stdout.flush()
    sys.stderr.write(error.asserted)


@contextmanager
def written_at_faults() -> Iterator[None]:
    """Write this at each fault."""
    try:
        yield
    except ExecutionError as error:
        written(error)
        raise
