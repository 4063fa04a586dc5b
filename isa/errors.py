"""Errors of the user's making, told in one line."""

from __future__ import annotations

from typing import Any

LONGEST = 2000  # characters of a message, which may quote a text of any length
_TAIL = 600  # of these, from the end, where the fix stands


class UserError(Exception):
    """What the user wrote can't be run. `str(error)` is one line: place, cause, fix; `exit_code` ends the command."""

    exit_code = 2

    def __init__(self, message: str) -> None:
        """Keep the message on one line, and leave out the middle of one that is too long to read."""
        super().__init__(one_line(message))

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors cross processes, also those that are made from something else than their message."""
        return _remade, (type(self), str(self), self.__dict__)


def one_line(message: str) -> str:
    """Return a message on one line of at most LONGEST characters: its beginning and its end, where it is longer."""
    line = " ".join(message.splitlines())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - _TAIL - 5]} ... {line[-_TAIL:]}"


def _remade(kind: type[UserError], message: str, fields: dict[str, Any]) -> UserError:
    error = kind.__new__(kind, message)
    error.__dict__.update(fields)
    return error


class ExecutionError(UserError):
    """An instruction did what the machine forbids: a bad address, a divergent branch, a name that nothing defines."""


class DeadlockError(UserError):
    """Every warp that still lives waits at a barrier that nobody else will reach."""

    exit_code = 3


class LimitError(UserError):
    """The run went past its limit of instructions or cycles: an endless loop, as far as anyone can tell."""

    exit_code = 3
