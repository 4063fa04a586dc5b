"""Parameters with their arguments: how a generated kernel declares them, and what its launch passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpusim.api.cupy import layout
from gpusim.api.cupy.array import checked, ndarray
from gpusim.api.cupy.layout import Laid, Shape, own
from gpusim.api.cupy.parameters import Parameter, c_type
from gpusim.api.struct import Struct
from isa.errors import UserError


@dataclass(frozen=True)
class Bound:
    """A parameter with its type and its argument: a number, or an array as the kernel finds it."""

    parameter: Parameter
    dtype: np.dtype[Any]
    argument: Any

    @property
    def looped(self) -> bool:
        """Whether the kernel gives its element the parameter's name."""
        return isinstance(self.argument, Laid) and not self.parameter.raw

    @property
    def declared(self) -> str:
        """Its declaration as a parameter in CUDA C."""
        name, kind = self.parameter.name, c_type(self.dtype)
        if not isinstance(self.argument, Laid):
            return f"const {kind} {name}"
        return f"const gpusim::Array<{kind}, {self.argument.c_type}> {f'_raw_{name}' if self.looped else name}"

    def element(self, index: str, *, output: bool) -> str:
        """Return the statement that gives its element at an index the parameter's name; empty where there is none."""
        if not self.looped:
            return ""
        name, kind = self.parameter.name, c_type(self.dtype)
        return f"{kind} &{name} = _raw_{name}[{index}];" if output else f"const {kind} {name} = _raw_{name}[{index}];"

    def along(self, shape: Shape, order: Sequence[int] = ()) -> Laid:
        """Return its array along the axes of a shape that it is broadcast to, then of these in another order."""
        return layout.along(self.argument.array, shape, order)

    @property
    def passed(self) -> Struct | np.generic:
        """What a launch passes for it."""
        found: Struct | np.generic = self.argument.argument() if isinstance(self.argument, Laid) else self.argument
        return found


def bound(one: Parameter, dtype: np.dtype[Any], value: Any) -> Bound:
    """Return a parameter with an array along its own axes, or a number of its type; raises UserError for another."""
    plain = checked(value, one.name)
    return Bound(one, dtype, own(plain) if isinstance(plain, np.ndarray) else _number(one.name, dtype, plain))


def _number(name: str, dtype: np.dtype[Any], value: Any) -> np.generic:
    """Return a number of a type; raises UserError for one that it does not hold."""
    given = value.item() if isinstance(value, np.generic) else value  # NumPy's own would wrap around
    try:
        found: np.generic = dtype.type(given)
    except (OverflowError, TypeError, ValueError) as error:
        raise UserError(f"{name}: {given!r}, where it is {dtype}: {str(error).lower()}; give another number") from None
    return found


def whole(name: str, value: Any, least: int) -> int:
    """Return what a parameter of a call is; raises UserError unless it is a whole number, not below the least."""
    if not isinstance(value, int | np.integer) or value < least:
        raise UserError(f"{name}={value!r}: give a whole number, {least} or more")
    return int(value)


def along(
    each: Sequence[Bound], shape: Shape, order: Sequence[int] = (), *, join: bool = True
) -> tuple[Shape, list[Bound]]:
    """Return the shape of a loop, and parameters whose elements it takes with their arrays along its axes.

    They are broadcast to a shape, and its axes put in an order, and then joined where that can be.
    """
    found, places = list(each), [place for place, one in enumerate(each) if one.looped]
    laid = [each[place].along(shape, order) for place in places]
    if not laid:
        return shape, found
    loop, laid = layout.merged(laid) if join and laid[0].shape else (laid[0].shape or (1,), laid)
    for place, one in zip(places, laid, strict=True):
        found[place] = Bound(found[place].parameter, found[place].dtype, one)
    return loop, found


def broadcast(arrays: Sequence[Any], name: str) -> Shape:
    """Return the shape to which arrays are broadcast; raises UserError if they can't be."""
    shapes = [one.shape for one in arrays]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise UserError(f"{name}: shapes {', '.join(map(str, shapes))} can't be broadcast together") from None


def output(one: Parameter, dtype: np.dtype[Any], value: Any, shape: Shape) -> Any:
    """Return an output of a shape: the one given, or a new one; raises UserError for one of another shape."""
    if value is None:
        return np.zeros(shape, dtype).view(ndarray)
    if not isinstance(value, np.ndarray):
        raise UserError(f"{one.name}: {type(value).__name__}; an output is an array")
    if not one.raw and value.shape != shape:
        raise UserError(f"{one.name}: an output of shape {value.shape}, where the arrays have {shape}")
    return value
