"""A whole program on a card: from its file to its exit code and what the card did for it."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gpusim.programs import spawn
from gpusim.programs.card.answers.requests import serve
from gpusim.programs.card.clock import USUAL, Clock, all_done
from gpusim.programs.card.launches import Runner
from gpusim.programs.card.session import Session, Shown, Tell
from gpusim.programs.places import place_in
from isa.errors import UserError

KILLED = 128  # exit codes of processes that a signal ended begin here, as shells have them
GRACE = 2.0  # seconds for a program that lost its card


@dataclass(frozen=True)
class Executed:
    """The program's exit code, the card's session, and why it was ended, if it was."""

    code: int
    session: Session
    refused: UserError | None


def execute(
    file: Path,
    arguments: Sequence[str],
    runtime: Path,
    runner: Runner,
    tell: Tell,
    shown: Shown | None = None,
    *,
    output: int | None = None,
) -> Executed:
    """Run an executable with the runtime of a folder, to its end; `output` is where its stdout goes (None: ours).

    `tell` gets a line for each fault of a kernel. Raises UserError for a file that can't be executed.
    """
    session = Session(runner, Clock(runner.machine.host_link or USUAL), tell, shown, place_in(file))
    process, connection = spawn.started(file, arguments, runtime, runner.arena, output)
    refused = None
    try:
        serve(session, connection, lambda: process.poll() is None)
    except UserError as error:
        refused = error
    except BaseException:
        _killed(process)
        raise
    finally:
        connection.close()
    all_done(session.clock)
    return Executed(_ended(process, refused), session, refused)


def _ended(process: subprocess.Popen[bytes], refused: UserError | None) -> int:
    """Return the exit code of a program, which is not left running."""
    try:
        code = process.wait(GRACE if refused else None)
    except subprocess.TimeoutExpired:
        code = _killed(process)
    except BaseException:
        _killed(process)
        raise
    return KILLED - code if code < 0 else code


def _killed(process: subprocess.Popen[bytes]) -> int:
    """End a program at once; return its exit code."""
    process.kill()
    return process.wait()
