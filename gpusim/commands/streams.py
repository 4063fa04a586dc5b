"""The standard streams of the process, which may be closed from the start, or full."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from isa.support.escaped import escaped

LAST = 2  # the number of stderr, after stdin and stdout
CLOSED = "stdout is closed; send it to a file, or to /dev/null"


def open_closed() -> bool:
    """Open closed streams on /dev/null, and return whether stdout was open.

    Otherwise the next opened file would get the stream's number, and everything written to the stream.
    """
    is_open = sys.stdout is not None
    while (number := os.open(os.devnull, os.O_RDWR)) <= LAST:
        os.set_inheritable(number, True)
    os.close(number)
    nowhere = open(os.devnull, "w", encoding="utf-8") if sys.stdout is None or sys.stderr is None else None  # noqa: SIM115, PTH123
    sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
    return is_open


def tell(line: str, *, anew: bool = False) -> None:
    """Write a line to stderr, if anything can be written there; control characters are shown as escapes.

    `anew`: it overwrites the ^C that a terminal echoes.
    """
    with suppress(OSError):
        sys.stderr.write(("\r" if anew and sys.stderr.isatty() else "") + escaped(line))
        sys.stderr.flush()


def drop_unwritten() -> None:
    """Drop unwritten output, which Python would try to write again at exit, with an error message."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with open(os.devnull, "wb") as nowhere:  # noqa: PTH123
                os.dup2(nowhere.fileno(), stream.fileno())
