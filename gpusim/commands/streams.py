"""The standard streams of the process, which whoever starts it may have closed, and which may be full."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

LAST = 2  # the number of stderr, behind stdin and stdout
CLOSED = "stdout is closed; send it to a file, or to /dev/null"


def open_closed() -> bool:
    """Let the streams that are closed lead nowhere, and return whether stdout was open.

    Else the next file that is opened would have the number of the stream, and get what is written to that.
    """
    told = sys.stdout is not None
    while (number := os.open(os.devnull, os.O_RDWR)) <= LAST:
        os.set_inheritable(number, True)
    os.close(number)
    nowhere = open(os.devnull, "w", encoding="utf-8") if sys.stdout is None or sys.stderr is None else None  # noqa: SIM115, PTH123
    sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
    return told


def tell(line: str) -> None:
    """Write a line to stderr, if anything can be written there."""
    with suppress(OSError):
        sys.stderr.write(line)
        sys.stderr.flush()


def drop_unwritten() -> None:
    """Forget what could not be written, which Python would try again, and complain of, at its end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with open(os.devnull, "wb") as nowhere:  # noqa: PTH123
                os.dup2(nowhere.fileno(), stream.fileno())
