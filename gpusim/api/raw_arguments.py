"""Arguments of a call, as CuPy's users give them: NumPy arrays are buffers in global memory, scalars are values.

A buffer is the whole memory of an array: of a view, that of the array it is a view of. So arrays given twice, and views
of one array, share a buffer, and a pointer into it keeps its place.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.typing import NDArray

from gpusim.api.struct import Struct
from gpusim.api.tensor_map import TensorMapOfArray
from gpusim.api.texture import Texture
from isa import memory
from isa.errors import UserError
from isa.generators import ArrayFill
from isa.kernel import Buffer
from isa.nvidia import tensor_map
from isa.nvidia.abi.launch import POINTER_BYTES, WINDOW, Value, handle, pointer
from isa.nvidia.abi.load import VARIABLES
from isa.nvidia.file.signature import Type, misread
from isa.support import frozen
from isa.texture import HANDLE_BYTES, TextureObject

Array = NDArray[Any]
_SIMPLE = "biufc"  # kinds of elements that a buffer may have by name; others are bytes
_REALS = 2, 4, 8  # bytes
_NULL = Value(bytes(POINTER_BYTES), POINTER_BYTES)


@frozen.comparable
@dataclass(frozen=True)
class Region:
    """Memory from one byte to before another, which arrays lie in: one buffer of that name."""

    name: str
    start: int
    stop: int
    arrays: tuple[Array, ...] = field(repr=False)

    @property
    def writable(self) -> bool:
        """Whether results may be left in it."""
        return any(array.flags.writeable for array in self.arrays)

    def bytes(self) -> NDArray[np.uint8]:
        """Return its memory itself; valid as long as one of its arrays is."""
        return np.ctypeslib.as_array((ctypes.c_uint8 * (self.stop - self.start)).from_address(self.start))


@frozen.comparable
@dataclass(frozen=True)
class Variables:
    """The memory of a module's `__device__` variables, and of its constants, that views of them are views of."""

    memory: NDArray[np.uint8]
    constants: NDArray[np.uint8]


def regions(arguments: Sequence[Any], variables: Variables, names: Sequence[str] = ()) -> tuple[Region, ...]:
    """Return the memory of all arrays, but that of variables, in the order of the arguments; raises UserError.

    It is called by the `names` of the arguments, else by their numbers; names of arrays are distinct.
    """
    _check_names(arguments, names)
    found: list[Region] = []
    for number, name, argument in _arrays(arguments, names):
        root = _root(argument)
        _check_array(number, argument, root, variables)
        if root is not variables.memory:
            start, stop = byte_bounds(root)
            found = _joined(found, Region(name, start, stop, (argument,)))
    return tuple(found)


def _check_names(arguments: Sequence[Any], names: Sequence[str]) -> None:
    """Raise UserError unless each argument has a name, if any has, and no two arrays, or variables, have the same."""
    if not names:
        return
    if len(names) != len(arguments):
        raise UserError(f"names={names!r}: {len(names)} for {len(arguments)} arguments; give one for each")
    for name, times in Counter([VARIABLES, *(name for _, name, _ in _arrays(arguments, names))]).items():
        if times > 1:
            raise UserError(f"names={names!r}: {name!r} is the name of several arrays; give distinct ones")


def _arrays(arguments: Sequence[Any], names: Sequence[str] = ()) -> Iterator[tuple[int, str, Array]]:
    """Yield the arrays of the arguments, those of textures and structs too: number of the argument, name, array."""
    for number, one in enumerate(arguments, 1):
        name = names[number - 1] if names else f"argument{number}"
        if isinstance(one, Struct):
            places = {offset: f"{name}+{offset}" if offset or not names else name for offset in one.pointers}
            yield from ((number, places[offset], array) for offset, array in one.pointers.items())
            continue
        array = one.array if isinstance(one, Texture | TensorMapOfArray) else one
        if isinstance(array, np.ndarray) and array.size:
            yield number, name, array


def buffers(found: Sequence[Region]) -> tuple[Buffer, ...]:
    """Return a buffer for each region, with a copy of what it holds now; raises UserError for more than 4 GiB."""
    made = tuple(_buffer(region) for region in found)
    try:
        memory.bases(made)
    except ValueError as error:
        raise UserError(f"{error}; give smaller arrays, or copies of views") from None
    return made


def values(
    arguments: Sequence[Any],
    sizes: Sequence[int] | None,
    types: Sequence[Type | None] | None,
    found: Sequence[Region],
    known: Sequence[Buffer],
    variables: Variables,
) -> list[Value]:
    """Return the bytes of each argument; `sizes` and `types` are those of the parameters, as far as they are known.

    `known` are the buffers of the regions. Raises UserError for an argument that is no array and no scalar, or of
    another kind than its parameter.
    """
    result = []
    for number, argument in enumerate(arguments, 1):
        size = sizes[number - 1] if sizes and number <= len(sizes) else None
        kind = types[number - 1] if types and number <= len(types) else None
        if isinstance(argument, Texture):
            _check_handle(number, size, kind)
            result.append(handle(sum(isinstance(one, Texture) for one in arguments[: number - 1])))
        elif isinstance(argument, TensorMapOfArray):
            result.append(_map(number, argument, size, _address(argument.array, found, known, variables)))
        elif isinstance(argument, np.ndarray):
            _check_pointer(number, kind, argument)
            result.append(_address(argument, found, known, variables))
        elif isinstance(argument, Struct):
            places = {at: _address(array, found, known, variables).data for at, array in argument.pointers.items()}
            result.append(Value(argument.filled(places), 1))
        else:
            result.append(_scalar(number, argument, size, kind))
    return result


def _map(number: int, argument: TensorMapOfArray, size: int | None, address: Value) -> Value:
    """Return the bytes of a tensor map whose array has an address."""
    if size not in (None, tensor_map.BYTES):
        what = f"argument {number}: a tensor map, where the parameter has {size} bytes"
        raise UserError(f"{what}; it must be a const __grid_constant__ CUtensorMap")
    return Value(argument.encode(int.from_bytes(address.data, "little")), tensor_map.ALIGNMENT)


def textures(arguments: Sequence[Any], found: Sequence[Region]) -> tuple[TextureObject, ...]:
    """Return the texture objects of the arguments, in order; `found` are the regions of all arrays."""
    result = []
    for number, one in enumerate(arguments, 1):
        if isinstance(one, Texture):
            place = one.array.__array_interface__["data"][0]
            region = next((r for r in found if r.start <= place < r.stop), None)
            if region is None:
                raise UserError(f"argument {number}: a texture of a module's variable; copy its values")
            result.append(one.described(region.name, place - region.start))
    return tuple(result)


def keep(found: Sequence[Region], left: Mapping[str, NDArray[np.uint8]]) -> None:
    """Leave the bytes of each buffer in the memory of its arrays; raises UserError for a store to a read-only array."""
    for region in found:
        held, now = region.bytes(), left[region.name]
        if region.writable:
            held[:] = now
        elif not np.array_equal(held, now):
            raise UserError(f"{region.name}: the kernel stores to a read-only array; copy it before the call")


def _root(array: Array) -> Array:
    """Return the array that this one is a view of, or itself."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _check_array(number: int, array: Array, root: Array, variables: Variables) -> None:
    if array.dtype.hasobject:
        raise UserError(f"argument {number}: an array of Python objects; give one of numbers")
    if root is variables.constants:
        raise UserError(f"argument {number}: a __constant__ variable has no address in global memory; pass its values")


def _joined(found: list[Region], new: Region) -> list[Region]:
    """Return the regions with one more, joined with those that it overlaps, under the name of the first of these."""
    touched = [one for one in found if one.start < new.stop and new.start < one.stop]
    if not touched:
        return [*found, new]
    start, stop = min(one.start for one in (*touched, new)), max(one.stop for one in (*touched, new))
    arrays = tuple(array for one in (*touched, new) for array in one.arrays)
    joined = Region(touched[0].name, start, stop, arrays)
    return [joined if one is touched[0] else one for one in found if one not in touched[1:]]


def _buffer(region: Region) -> Buffer:
    """Return the buffer of a region, of the type of its first array if this is a plain one."""
    held, kind = region.bytes().copy(), region.arrays[0].dtype
    plain = kind.kind in _SIMPLE and kind.isnative and kind.itemsize <= 16 and held.nbytes % kind.itemsize == 0
    elements = held.view(kind) if plain else held
    return Buffer(region.name, elements.dtype.str[1:], elements.size, ArrayFill(elements))


def _check_pointer(number: int, kind: Type | None, array: Array) -> None:
    if kind is not None and not kind.pointer:
        fix = "a number" if kind.element else "a scalar, as array[0] is"
        raise UserError(f"argument {number}: an array, where the parameter is of type {kind.text}; give {fix}")
    if kind and misread(kind, array.dtype):
        what = f"argument {number}: an array of {array.dtype}, where the parameter is of type {kind.text}"
        raise UserError(f"{what}; give one of {kind.element}, or a view as numpy.{kind.element} to pass its bits")


def _check_handle(number: int, size: int | None, kind: Type | None) -> None:
    """Raise UserError unless a parameter may be a cudaTextureObject_t, an unsigned integer of 64 bits."""
    if size not in (None, HANDLE_BYTES) or (kind and (kind.pointer or kind.element not in ("", "uint64"))):
        what = kind.text if kind else f"{size} bytes"
        raise UserError(
            f"argument {number}: a texture, where the parameter is {what}; it must be a cudaTextureObject_t"
        )


def _address(array: Array, found: Sequence[Region], known: Sequence[Buffer], variables: Variables) -> Value:
    """Return the address that stands for an array's first element: in the buffer of its region, or of variables."""
    if not array.size:
        return _NULL
    place = array.__array_interface__["data"][0]
    if _root(array) is variables.memory:
        first = memory.bases((*known, Buffer(VARIABLES, "u1", variables.memory.size)))[VARIABLES]
        offset = place - variables.memory.__array_interface__["data"][0]
        return Value((WINDOW + first + offset).to_bytes(POINTER_BYTES, "little"), POINTER_BYTES)
    region = next(one for one in found if one.start <= place < one.stop)
    return pointer(known, region.name, place - region.start)


def _scalar(number: int, argument: Any, size: int | None, kind: Type | None) -> Value:
    """Return the bytes of a number: NumPy's has its own type, Python's gets the size of the parameter; None is null."""
    if argument is None and (kind is None or kind.pointer):
        return _NULL
    if isinstance(argument, np.generic):
        _check_kind(number, argument.dtype.kind, f"numpy.{argument.dtype}", kind)
        return Value(argument.tobytes(), max(1, argument.dtype.alignment))
    if isinstance(argument, bool):
        _check_kind(number, "b", "a bool", kind)
        return Value(bytes([argument]), 1)
    if isinstance(argument, bytes):
        return Value(argument, 1)
    if not isinstance(argument, int | float):
        raise UserError(f"argument {number}: {type(argument).__name__}; give a NumPy array, a scalar or a number")
    if size is None:
        raise UserError(f"argument {number}: {argument} of no known size; give numpy.int32({argument}), or what it is")
    if isinstance(argument, float) or (kind and not kind.pointer and kind.element.startswith("float")):
        return _real(number, argument, size, kind)
    return _whole(number, argument, size)


def _real(number: int, argument: float, size: int, kind: Type | None) -> Value:
    _check_kind(number, "f", f"{argument}", kind)
    if size not in _REALS:
        raise _no_number(number, argument, size)
    with np.errstate(over="ignore"):
        return Value(np.array(argument, f"f{size}").tobytes(), size)


def _whole(number: int, argument: int, size: int) -> Value:
    if size not in (1, 2, 4, 8):
        raise _no_number(number, argument, size)
    least, most = -(1 << (8 * size - 1)), (1 << 8 * size) - 1
    if not least <= argument <= most:
        raise UserError(f"argument {number}: {argument} does not fit {size} bytes; give {least} to {most}")
    return Value((argument % (1 << 8 * size)).to_bytes(size, "little"), size)


def _no_number(number: int, argument: float, size: int) -> UserError:
    cause = f"argument {number}: {argument}, where the parameter has {size} bytes"
    return UserError(f"{cause}; give a structured scalar, or bytes")


def _check_kind(number: int, given: str, what: str, kind: Type | None) -> None:
    """Raise UserError for a real number where the parameter is a whole one or a pointer, or the other way round."""
    if kind is None or not (kind.element or kind.pointer) or given == "V":
        return
    real = kind.element.startswith("float") and not kind.pointer
    if real != (given in "fc"):
        fix = "an array" if kind.pointer else f"numpy.{kind.element}"
        raise UserError(f"argument {number}: {what}, where the parameter is of type {kind.text}; give {fix}")
