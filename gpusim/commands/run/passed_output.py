"""Where a program's output goes: with ours, also where ours is no file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

STDERR, CHUNK = 2, 1 << 16


@contextmanager
def passed_output(*, hidden: bool, errors: bool) -> Iterator[int | None]:
    """Give the descriptor for a program's stdout: None for ours, stderr's if `errors`, one of nowhere if `hidden`.

    Where ours is a stream without a descriptor, as in a notebook, what the program prints is written to that.
    """
    if hidden:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            yield nowhere
        finally:
            os.close(nowhere)
    elif errors:
        yield STDERR
    elif _has_descriptor():
        sys.stdout.flush()
        yield None
    else:
        yield from _copied()


def _has_descriptor() -> bool:
    try:
        return sys.stdout.fileno() == sys.__stdout__.fileno() if sys.__stdout__ else False
    except (OSError, ValueError):  # no descriptor
        return False


def _copied() -> Iterator[int]:
    """Give the end of a pipe, of which the other is read to our stdout until nobody writes any more."""
    other, own = os.pipe()
    reader = Thread(target=_read, args=(other,), daemon=True)
    reader.start()
    try:
        yield own
    finally:
        os.close(own)
        reader.join()


def _read(end: int) -> None:
    with os.fdopen(end, "rb", buffering=0) as source:
        while part := source.read(CHUNK):
            sys.stdout.write(part.decode(errors="replace"))
