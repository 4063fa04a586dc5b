"""Errors of the user's making, told in one line."""

from __future__ import annotations


class UserError(Exception):
    """What the user wrote can't be run. `str(error)` is one line: place, cause, fix; `exit_code` ends the command."""

    exit_code = 2


class ExecutionError(UserError):
    """An instruction did what the machine forbids: a bad address, a divergent branch, a name that nothing defines."""


class DeadlockError(UserError):
    """Every warp that still lives waits at a barrier that nobody else will reach."""

    exit_code = 3


class LimitError(UserError):
    """The run went past its limit of instructions or cycles: an endless loop, as far as anyone can tell."""

    exit_code = 3
