"""Where a program's output goes: with ours, also where ours is no file."""

from __future__ import annotations

import os
import select
import sys
from codecs import getincrementaldecoder
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

STDERR, CHUNK = 2, 1 << 16
EVERY = 0.05  # seconds after which a silent program is looked after
GRACE = 2.0  # seconds for what it has printed; others that it started may go on printing


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
    """Give the end of a pipe, of which the other is read to our stdout until the program has ended."""
    other, own = os.pipe()
    ended = Event()
    reader = Thread(target=_read, args=(other, ended), daemon=True)
    reader.start()
    try:
        yield own
    finally:
        os.close(own)
        ended.set()
        reader.join(GRACE)


def _read(end: int, ended: Event) -> None:
    decoded = getincrementaldecoder("utf-8")("replace").decode  # a character may lie in two parts
    with os.fdopen(end, "rb", buffering=0) as source:
        while _readable(end, ended) and (part := source.read(CHUNK)):
            sys.stdout.write(decoded(part))
    sys.stdout.write(decoded(b"", final=True))


def _readable(end: int, ended: Event) -> bool:
    """Wait until there is something to read; tell whether there is, or the program has ended."""
    waiting = select.poll()
    waiting.register(end, select.POLLIN)
    last = False
    while not waiting.poll(1000 * EVERY):
        if last:
            return False
        last = ended.is_set()
    return True
