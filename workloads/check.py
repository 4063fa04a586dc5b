"""Refusals that every kernel's parameters share, in one line each."""

from __future__ import annotations

from collections.abc import Iterable

from isa.errors import UserError


def at_least(kernel: str, minimum: int, **values: int) -> None:
    """Raise UserError if one of the named values is below `minimum`."""
    for name, value in values.items():
        if value < minimum:
            raise UserError(f"{kernel}: {name}={value} is too small; give {minimum} or more")


def one_of(kernel: str, name: str, value: object, allowed: Iterable[object]) -> None:
    """Raise UserError if `value` is not among those allowed."""
    choices = list(allowed)
    if value not in choices:
        raise UserError(f"{kernel}: {name}={value} is not known; give one of {', '.join(map(str, choices))}")
