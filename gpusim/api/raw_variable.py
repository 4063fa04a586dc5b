"""A variable of a module as bytes of no type, into which arrays are copied byte by byte."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim.support.plural import plural
from isa.errors import UserError


class VariableBytes(np.ndarray[Any, np.dtype[np.uint8]]):
    """The memory of a variable, or a slice of it: what is stored brings its own type, and fits to the byte.

    `name` is the variable's, `whole` its size in bytes. Nothing is converted or repeated: a number has no type here.
    """

    name: str
    whole: int

    def __array_finalize__(self, source: object) -> None:
        """Keep name and size in slices."""
        self.name, self.whole = getattr(source, "name", ""), getattr(source, "whole", 0)

    def __array_wrap__(self, array: NDArray[Any], context: Any = None, return_scalar: bool = False) -> Any:
        """Return what is computed from the bytes as arrays and scalars of NumPy's own."""
        plain = np.asarray(array)
        return plain[()] if return_scalar else plain

    def __setitem__(self, key: Any, value: Any) -> None:
        """Copy an array's bytes, a NumPy scalar's, or `bytes`; raises UserError for a number and for another size."""
        place = self[key]
        data = self._bytes(value, place.size)
        if data.size != place.size:
            raise self._refused(f"{_called(value)} has {plural(data.size, 'byte')}", place.size)
        super().__setitem__(key, data.reshape(np.shape(place)))

    def fill(self, scalar: Any) -> None:
        """Raise UserError, unless the scalar is as long as the variable: a number has no type here."""
        self[...] = scalar

    def view(self, *arguments: Any, **named: Any) -> Any:
        """Return the memory as elements of a type, which take numbers."""
        return np.asarray(self).view(*arguments, **named)

    def _bytes(self, value: Any, room: int) -> NDArray[np.uint8]:
        if isinstance(value, bytes | bytearray | memoryview):
            return np.frombuffer(value, np.uint8)
        if not isinstance(value, np.ndarray | np.generic) or value.dtype.hasobject:
            raise self._refused(f"{_called(value)} has no type", room)
        return np.frombuffer(value.tobytes(), np.uint8)

    def _refused(self, cause: str, room: int) -> UserError:
        place = f"the variable has {self.whole} bytes"
        if room != self.whole:
            place = f"the slice has {room} of the variable's {self.whole} bytes"
        fix = f'give an array of {plural(room, "byte")}, or a type, as in get_global("{self.name}", "float32")'
        return UserError(f"{self.name}: {cause}, and {place}; {fix}")


def of_bytes(name: str, held: NDArray[np.uint8]) -> VariableBytes:
    """Return the bytes of a variable of that name; they stay where they are."""
    made = held.view(VariableBytes)
    made.name, made.whole = name, held.size
    return made


def _called(value: Any) -> str:
    """Return a value in words for messages."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.size} {value.dtype}"
    if isinstance(value, np.generic):
        return f"a numpy.{value.dtype}"
    return repr(value) if isinstance(value, int | float | complex) else f"a {type(value).__name__}"
