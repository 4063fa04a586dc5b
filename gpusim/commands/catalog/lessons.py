"""`gpusim lessons`: the notebooks that come with gpusim, in a browser."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
import time
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.document import new_table, right, show
from gpusim.commands.frame.options import CopyTo, Json
from gpusim.support import shipped
from gpusim.support.document import Document, doc
from gpusim.support.lesson import FOLDER, Lesson, listed
from isa.errors import UserError
from isa.reading import extra

HOST = "127.0.0.1"
QUIETLY = "--quiet", "--log-level", "error"  # it warns of the titles in headers, which its list of notebooks shows
PATIENCE, PAUSE = 30, 0.1  # seconds
GRACE = 2  # seconds in which a server may end by itself
HANGS_UP = "SIGHUP", "SIGTERM"  # a closed terminal, a request to end


class LessonsDocument(Document, frozen=True):
    """The notebooks that come with gpusim."""

    folder: Annotated[str, doc("Where they are.")]
    lessons: Annotated[list[Lesson], doc("In the order in which to read them.")]


def lessons(
    number: Annotated[int | None, Argument(help="The lesson to open; without it, all are listed.")] = None,
    *,
    index: Annotated[bool, Option("--open", help="Open the list of all lessons in a browser.")] = False,
    copy: CopyTo = None,
    json: Json = False,
) -> Answer | None:
    """List the lessons: notebooks with sliders and exercises. With a number, open one in a browser until Ctrl-C.

    Opening needs the extra `lessons`. --copy puts them all into a new folder, to edit there with `marimo edit`.

    Example: gpusim lessons --json
    """
    where = shipped.copied(FOLDER, copy) if copy else shipped.folder(FOLDER)
    found = listed(where)
    if not json and (index or number is not None):
        _open(where, None if number is None else _chosen(found, number).file)
        return None
    rows = [(one.number, one.title, one.minutes, one.what) for one in found]
    table = new_table(*right("lesson"), "title", *right("minutes"), "what it shows", rows=rows)
    advice = f"\nin {where}; open one by its number, such as: gpusim lessons 1"
    return Answer(LessonsDocument(str(where), found), [table, advice])


def _chosen(found: Sequence[Lesson], number: int) -> Lesson:
    for one in found:
        if one.number == number:
            return one
    raise UserError(f"lesson {number}: there is none; give {found[0].number} to {found[-1].number}")


def _open(home: Path, file: str | None = None) -> None:
    """Serve all lessons until Ctrl-C, as each links to its neighbours, and open one, or the list, in a browser."""
    extra.module("marimo", "lessons")
    port = _free_port()
    address = f"http://{HOST}:{port}/" + (f"?file={file}" if file else "")
    show(address, "Ctrl-C ends it")
    threading.Thread(target=_browse, args=(address, port), daemon=True).start()
    served = "--headless", "--host", HOST, "--port", str(port)
    command = [sys.executable, "-m", "marimo", *QUIETLY, "run", str(home), *served]
    with _stopped_by(HANGS_UP):
        if code := _served(command, home):
            raise UserError(f"marimo ended with exit code {code}; its own message is above")


def _served(command: Sequence[str], home: Path) -> int:
    """Run a server until it ends, and return its exit code; whatever ends the wait ends the server."""
    # a session of its own: Ctrl-C of the terminal comes here alone, as the server would print where it was
    server = subprocess.Popen(command, cwd=home, start_new_session=True)
    try:
        return server.wait()
    finally:
        server.terminate()
        try:
            server.wait(GRACE)
        except subprocess.TimeoutExpired:  # pages are open: it would wait until they are closed
            server.kill()
            server.wait()


@contextmanager
def _stopped_by(names: Sequence[str]) -> Iterator[None]:
    """Let these signals, where the system has them, end what runs inside like Ctrl-C."""
    known = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {one: signal.signal(one, _interrupt) for one in known}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _interrupt(_: int, __: object) -> None:
    raise KeyboardInterrupt


def _free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server((HOST, 0)) as server:
        return int(server.getsockname()[1])


def _browse(address: str, port: int) -> None:
    """Open a page as soon as its server listens, within PATIENCE seconds."""
    for _ in range(round(PATIENCE / PAUSE)):
        with suppress(OSError), socket.create_connection((HOST, port)):
            webbrowser.open(address)
            return
        time.sleep(PAUSE)
