"""A program's process: it has its own input and output, the card's memory, and a socket to it."""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from gpusim.programs.card.arena import Arena
from isa.errors import UserError

SOCKET, MEMORY, LIBRARIES = "GPUSIM_EXEC_SOCKET", "GPUSIM_EXEC_MEMORY", "LD_LIBRARY_PATH"
ADDR_NO_RANDOMIZE = 0x0040000  # sys/personality.h: libraries lie where they always do, above the card's addresses
CURRENT = 0xFFFFFFFF


def started(
    program: Path, arguments: Sequence[str], runtime: Path, arena: Arena, output: int | None = None
) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start a program with the runtime of a folder; return its process and the card's end of their socket.

    `output` is where its stdout goes (None: where ours goes). Raises UserError for a file that can't be executed.
    """
    own, other = socket.socketpair()
    before = os.environ.get(LIBRARIES, "")
    libraries = f"{runtime}:{before}" if before else str(runtime)
    environment = {**os.environ, SOCKET: str(other.fileno()), MEMORY: str(arena.file), LIBRARIES: libraries}
    try:
        with _in_place():
            process = subprocess.Popen(
                [str(program.absolute()), *arguments],
                env=environment,
                stdout=output,
                pass_fds=[other.fileno(), arena.file],
            )
    except OSError as error:
        own.close()
        raise UserError(f"{program}: {(error.strerror or str(error)).lower()}; give an executable, or CUDA C") from None
    finally:
        other.close()
    return process, own


@contextmanager
def _in_place() -> Iterator[None]:
    """Let addresses of processes that start be the same at each run; where that is not allowed they are as they come.

    What a process has of this counts where it starts another one: its own addresses stay.
    """
    libc = ctypes.CDLL(None)
    before = libc.personality(CURRENT)
    libc.personality(before | ADDR_NO_RANDOMIZE)
    try:
        yield
    finally:
        libc.personality(before)
