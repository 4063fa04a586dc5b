"""Ctrl-C where nothing may be interrupted: held back, and obeyed as soon as it can be."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread


@contextmanager
def held_back() -> Iterator[None]:
    """Hold Ctrl-C back to the end, and obey it there; in a thread other than the main one it never arrives."""
    if current_thread() is not main_thread():
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        signal.raise_signal(came[0])
