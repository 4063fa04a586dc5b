"""Errors that the user can fix, each described in one line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from isa.support.escaped import escaped

LONGEST = 2000  # characters of a message, which may quote a text of any length
_TAIL = 600  # of these, from the end, where the fix is


class UserError(Exception):
    """The user's input can't be run. `str(error)` is one line: place, cause, fix; `exit_code` ends the command.

    `further` are lines of the same kind, where several things are wrong at once.
    """

    exit_code = 2
    further: tuple[str, ...] = ()

    def __init__(self, message: str, further: Iterable[str] = ()) -> None:
        """Keep each message on one line, and leave out the middle of a very long one."""
        super().__init__(one_line(message))
        self.further = tuple(map(one_line, further))

    def __reduce__(self) -> tuple[Any, ...]:
        """Support pickling, also for errors that are made from other arguments than their message."""
        return _remade, (type(self), str(self), self.__dict__)


def one_line(message: str) -> str:
    """Return a message on one line of at most LONGEST characters: of a longer one, the beginning and the end.

    Control characters are shown as escapes.
    """
    line = escaped(" ".join(message.splitlines()))
    return line if len(line) <= LONGEST else f"{line[: LONGEST - _TAIL - 5]} ... {line[-_TAIL:]}"


def _remade(kind: type[UserError], message: str, fields: dict[str, Any]) -> UserError:
    error = kind.__new__(kind, message)
    error.__dict__.update(fields)
    return error


class ExecutionError(UserError):
    """An instruction did something forbidden: a bad address, a divergent branch, an undefined name.

    `cuda_error` is the number that CUDA has for it (cudaError_t), `printed` what the kernel had printed till then, and
    `asserted` the lines of assertions that failed, which CUDA writes to the standard error.
    """

    cuda_error = 719  # cudaErrorLaunchFailure
    printed = ""
    asserted = ""


class DeadlockError(UserError):
    """Every live warp waits at a barrier that no other warp will reach."""

    exit_code = 3
    cuda_error = 702  # cudaErrorLaunchTimeout: on a chip the host ends it, or nobody


class BlockWaitsError(DeadlockError):
    """A block that is run by itself waits for what only other blocks would store."""


class LimitError(UserError):
    """The run exceeded its limit of instructions or cycles, so it is probably an endless loop."""

    exit_code = 3
    cuda_error = 702
