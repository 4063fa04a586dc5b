"""Checks that every kernel's parameters share, each with a one-line error."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from isa.errors import UserError

MOST = 2**31 - 1  # loop counters and sizes are signed 32-bit integers on the machine
MOST_INSTRUCTIONS = 32768  # of a generated program: half a megabyte of machine code
MOST_THREADS = 1024  # of a block, on Fermi and later
LARGEST_FACTOR = 1e30  # eight decades below the overflow of an IEEE single


def counts(kernel: str, minimum: int, **values: int) -> None:
    """Raise UserError if one of the named values is below `minimum` or above MOST."""
    for name, value in values.items():
        if value < minimum:
            raise UserError(f"{kernel}: {name}={value} is too small; give {minimum} or more")
    at_most(kernel, **values)


def at_most(kernel: str, **values: int) -> None:
    """Raise UserError if one of the named values is above MOST."""
    for name, value in values.items():
        if value > MOST:
            raise UserError(f"{kernel}: {name}={value} is too large; give {MOST} or less")


def multiple(kernel: str, name: str, value: int, unit: int, why: str = "") -> None:
    """Raise UserError if `value` is not a positive multiple of `unit`; `why` gives the reason in words."""
    if value < unit or value % unit:
        nearest = max(1, (value + unit // 2) // unit) * unit
        rule = f"{unit} ({why})" if why else f"{unit}"
        raise UserError(f"{kernel}: {name}={value} is not a positive multiple of {rule}; the nearest is {nearest}")


def block_shape(kernel: str, **sides: int) -> None:
    """Raise UserError unless the sides give a block of 1 to MOST_THREADS threads."""
    for name, side in sides.items():
        if side < 1:
            raise UserError(f"{kernel}: {name}={side} is too small; give 1 or more")
    if prod(sides.values()) > MOST_THREADS:
        text = " ".join(f"{name}={side}" for name, side in sides.items())
        raise UserError(f"{kernel}: {text} makes {prod(sides.values())} threads; a block has {MOST_THREADS} at most")


def fits(kernel: str, instructions: int, **values: object) -> None:
    """Raise UserError if a program of so many instructions, caused by the named values, exceeds the limit."""
    if instructions > MOST_INSTRUCTIONS:
        text = " ".join(f"{name}={value}" for name, value in values.items())
        raise UserError(
            f"{kernel}: {text} makes {instructions} instructions; give less, a program holds {MOST_INSTRUCTIONS}"
        )


def factors(kernel: str, **values: float) -> None:
    """Raise UserError if one of the named values is not finite, or above LARGEST_FACTOR in magnitude."""
    for name, value in values.items():
        if not abs(value) <= LARGEST_FACTOR:
            raise UserError(f"{kernel}: {name}={value} is out of range; give {LARGEST_FACTOR:g} or less in magnitude")


def one_of(kernel: str, name: str, value: object, allowed: Iterable[object]) -> None:
    """Raise UserError if `value` is not among those allowed."""
    choices = list(allowed)
    if value not in choices:
        raise UserError(f"{kernel}: {name}={value} is not allowed; give one of {', '.join(map(str, choices))}")
