"""The arguments of a launch file: its buffers, and the bytes of each argument."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import msgspec
import numpy as np

from gpusim.launch.file import addresses, elements
from gpusim.launch.file.document import TYPES, Argument, Contents, Member, Texture
from gpusim.launch.file.source import Source
from isa import memory
from isa.kernel import Buffer
from isa.nvidia.abi.launch import POINTER_BYTES, Value, handle, pointer, struct
from isa.nvidia.file.signature import Type, misread
from isa.nvidia.tensor_map import ALIGNMENT, TensorMap, dense
from isa.reading.source import suggest
from isa.texture import TextureObject

POINTER = "pointer"  # the type of a struct's member that is an address
BYTES = "bytes"  # of one that is given by its bytes
_FORMS = ("buffer", "file", "same", "value", "struct", "bytes")
_FORM = "write buffer, file, same, value, struct or bytes"
_NULL = Value(bytes(POINTER_BYTES), POINTER_BYTES)


def buffers(source: Source) -> tuple[Buffer, ...]:
    """Return the buffers of a launch file, those with places first, then those of arguments; raises UserError."""
    found: dict[str, Buffer] = {}
    described: dict[str, tuple[str, Contents]] = {}
    for key, given, name in _described(source):
        _check_name(source, f"{key}.name", name, found)
        found[name] = replace(elements.buffer(source, key, _with_texels(given), name), place=given.place or None)
        described[name] = key, given
        try:
            memory.bases(tuple(found.values()))
        except ValueError as error:
            raise source.refusal(key, f"{error}; take fewer elements") from None
    ordered = sorted(found.values(), key=lambda one: (one.place is None, one.place))
    _check_places(source, ordered, {name: key for name, (key, _) in described.items()})
    fills = [(described[one.name][0], described[one.name][1].fill) for one in ordered]
    return addresses.filled(source, ordered, fills)


def cold(source: Source) -> frozenset[str]:
    """Return the names of the buffers of a launch file of which no cache holds anything."""
    return frozenset(name for _, given, name in _described(source) if given.cold)


def _check_places(source: Source, ordered: Sequence[Buffer], keys: Mapping[str, str]) -> None:
    """Raise UserError for buffers, by ascending place, that begin where none can."""
    end, unit = 0, memory.PAGE_BYTES
    for one in ordered:
        if one.place is not None:
            if one.place % unit or one.place < end + unit:
                what = f"{one.name} can't begin at {one.place}: it takes a multiple of {unit}, {unit} or more behind"
                raise source.refusal(f"{keys[one.name]}.place", f"{what} {end}; take another place, or leave it out")
            end = one.place + one.nbytes


def values(source: Source, known: Sequence[Buffer]) -> list[Value]:
    """Return the bytes of each argument in order; `known` are the file's buffers. Raises UserError."""
    by_name = {buffer.name: buffer for buffer in known}
    found, textures = list[Value](), 0
    for n, argument in enumerate(source.file.argument):
        if argument.tensor_map is not None:
            found.append(_map(source, f"argument.{n}.tensor_map", argument, _name(argument, n), by_name))
        elif argument.texture is None:
            found.append(_value(source, f"argument.{n}", argument, _name(argument, n), by_name))
        else:
            found.append(handle(textures))
            textures += 1
    return found


def check_types(source: Source, known: Sequence[Buffer], types: Sequence[Type | None] | None) -> None:
    """Raise UserError for an argument that its parameter surely reads wrongly; unknown `types` are None.

    Such are buffers with elements of other types, and real numbers for whole ones or the other way round.
    """
    if types is None or len(types) != len(source.file.argument):
        return
    by_name = {buffer.name: buffer for buffer in known}
    for n, (argument, kind) in enumerate(zip(source.file.argument, types, strict=True)):
        buffer = by_name.get(_name(argument, n)) if argument.buffer or argument.file else None
        if kind and buffer and not (argument.texture or argument.tensor_map) and misread(kind, np.dtype(buffer.dtype)):
            form = "file" if argument.file else "buffer"
            what = f"{buffer.name} has elements of {np.dtype(buffer.dtype)}, its parameter is of type {kind.text}"
            raise source.refusal(f"argument.{n}.{form}", f"{what}; give {kind.element}")
        if kind and kind.element and not kind.pointer and argument.value is not None and argument.type in TYPES:
            _check_number(source, f"argument.{n}.type", argument.type, kind)


def _check_number(source: Source, key: str, given: str, kind: Type) -> None:
    """Raise UserError for the type of a number whose parameter is a real one where it is not, or the reverse."""
    if given.startswith("float") != kind.element.startswith("float"):
        raise source.refusal(key, f"{given}, where the parameter is of type {kind.text}; give {kind.element}")


def textures(source: Source, known: Sequence[Buffer]) -> tuple[TextureObject, ...]:
    """Return the texture objects of a launch file in the order of its arguments; raises UserError."""
    by_name = {buffer.name: buffer for buffer in known}
    return tuple(
        _texture(source, f"argument.{n}.texture", argument.texture, by_name[_name(argument, n)])
        for n, argument in enumerate(source.file.argument)
        if argument.texture is not None
    )


def _texture(source: Source, key: str, given: Texture, buffer: Buffer) -> TextureObject:
    x, y, z = (*given.size, 1, 1)[:3]
    needed = x * y * z * given.channels
    if needed != buffer.elements:
        raise source.refusal(key, f"{buffer.name} has {buffer.elements} elements, the texture {needed}; give as many")
    modes = [given.address] * 3 if isinstance(given.address, str) else given.address
    first, second, third = (*modes, "clamp", "clamp", "clamp")[:3]
    red, green, blue, alpha = (*given.border, 0.0, 0.0, 0.0, 0.0)[:4]
    try:
        return TextureObject(
            buffer=buffer.name,
            size=(x, y, z),
            dtype=buffer.dtype,
            channels=given.channels,
            pitch=x * given.channels * np.dtype(buffer.dtype).itemsize,
            address=(first, second, third),
            sampling=given.filter,
            normalized=given.normalized,
            reads=given.read,
            border=(red, green, blue, alpha),
            axes=len(given.size),
        )
    except ValueError as error:
        raise source.refusal(key, str(error)) from None


def _map(source: Source, key: str, argument: Argument, name: str, known: Mapping[str, Buffer]) -> Value:
    """Return the bytes of a tensor map of a buffer, or of another one by its name."""
    given, address = argument.tensor_map, _pointer(source, key, argument.same or name, argument.offset, known)
    assert given is not None
    buffer = known[argument.same or name]
    kind = given.type or str(np.dtype(buffer.dtype))
    try:
        made = TensorMap(
            dtype=kind,
            sizes=tuple(given.size),
            strides=tuple(given.strides or dense(given.size, kind)),
            box=tuple(given.box),
            steps=tuple(given.steps),
            interleave=given.interleave,
            swizzle=given.swizzle,
            promotion=given.promotion,
            fill=given.fill,
        )
        data = made.encode(int.from_bytes(address.data, "little"))
    except ValueError as error:
        raise source.refusal(key, str(error)) from None
    if argument.offset + made.nbytes > buffer.nbytes:
        what = f"{buffer.name} has {buffer.nbytes} bytes, the tensor {argument.offset + made.nbytes}"
        raise source.refusal(key, f"{what}; give as many, or smaller sizes and strides")
    return Value(data, ALIGNMENT)


def _described(source: Source) -> Iterator[tuple[str, Contents, str]]:
    """Yield key, contents and name of each buffer."""
    for n, argument in enumerate(source.file.argument):
        _check_form(source, f"argument.{n}", argument)
        if argument.buffer or argument.file:
            yield f"argument.{n}", argument, _name(argument, n)
    for n, one in enumerate(source.file.buffer):
        if not one.name:
            raise source.refusal(f"buffer.{n}", 'a [[buffer]] has no name; add name = "..."')
        yield f"buffer.{n}", one, one.name


def _with_texels(given: Contents) -> Contents:
    """Return a buffer with as many elements as its texture has, if nothing says how many."""
    if isinstance(given, Argument) and given.texture and not (given.elements or given.file):
        return msgspec.structs.replace(given, elements=prod(given.texture.size) * given.texture.channels)
    return given


def _check_name(source: Source, key: str, name: str, taken: Container[str]) -> None:
    if not name.isidentifier():
        raise source.refusal(key, f"{name!r} is no name; write letters, digits and _")
    if name in taken:
        raise source.refusal(key, f'{name} defined twice; rename one, or write same = "{name}" for the same buffer')


def _name(argument: Argument, number: int) -> str:
    return argument.name or f"argument{number + 1}"


def _check_form(source: Source, key: str, argument: Argument) -> None:
    """Raise UserError unless an argument says in one way what it is."""
    given = [form for form in _FORMS if getattr(argument, form) not in ("", None, [])]
    if given == ["buffer", "file"]:
        given = given[:1]
    if argument.tensor_map is not None and given not in (["buffer"], ["file"], ["same"]):
        raise source.refusal(f"{key}.tensor_map", "a tensor map without a buffer; write buffer, file or same beside it")
    if argument.texture is not None and given not in (["buffer"], ["file"]):
        raise source.refusal(f"{key}.texture", "a texture without a buffer; write buffer or file beside it")
    if not given:
        raise source.refusal(key, f"an argument without a value; {_FORM}")
    if len(given) > 1:
        raise source.refusal(f"{key}.{given[1]}", f"an argument with {' and '.join(given)}; give one of these")


def _value(source: Source, key: str, argument: Argument, name: str, known: Mapping[str, Buffer]) -> Value:
    if argument.value is not None:
        if not argument.type:
            raise source.refusal(f"{key}.value", f'{argument.value} has no type; add type = "int32", or what it is')
        return _scalar(elements.number(source, f"{key}.value", argument.value, argument.type))
    if argument.struct:
        return struct(_member(source, f"{key}.struct", one, known) for one in argument.struct)
    if argument.bytes:
        return _bytes(source, f"{key}.bytes", argument.bytes)
    form = "same" if argument.same else "buffer"
    return _pointer(source, f"{key}.{form}", argument.same or name, argument.offset, known)


def _scalar(number: Any) -> Value:
    return Value(number.tobytes(), number.dtype.alignment)


def _bytes(source: Source, key: str, text: str) -> Value:
    try:
        return Value(bytes.fromhex(text), 1)
    except ValueError:
        raise source.refusal(key, "no hexadecimal digits in pairs; write two for each byte") from None


def _member(source: Source, key: str, member: Member, known: Mapping[str, Buffer]) -> Value:
    """Return a struct's member: a number, several of one type, an address, or bytes."""
    kind, value = member
    if kind == BYTES and isinstance(value, str):
        return _bytes(source, key, value)
    if kind == POINTER:
        return _pointer(source, key, value, 0, known) if isinstance(value, str) else _null(source, key, value)
    if isinstance(value, str):
        raise source.refusal(key, f'{value!r} is no number; write ["{POINTER}", "{value}"] for an address')
    numbers = value if isinstance(value, list) else [value]
    if not numbers:
        raise source.refusal(key, f"a member of type {kind} without a number; write one at least")
    found = elements.listed(source, key, numbers, kind)
    return Value(found.tobytes(), np.dtype(kind).alignment)


def _null(source: Source, key: str, value: object) -> Value:
    if value != 0:
        raise source.refusal(key, f"{value} is no address; write the name of a buffer, or 0")
    return _NULL


def _pointer(source: Source, key: str, name: str, offset: int, known: Mapping[str, Buffer]) -> Value:
    if name not in known:
        raise source.refusal(key, f"unknown buffer {name}; {suggest(name, known)}")
    if offset > known[name].nbytes:
        raise source.refusal(key, f"offset {offset}: {name} has {known[name].nbytes} bytes; take a smaller one")
    return pointer(tuple(known.values()), name, offset)
