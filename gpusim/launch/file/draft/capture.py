"""A launch as it was, written as a launch file with its memory in .npy files beside it, so that it can be run again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim.launch.file.document import Argument, Caches, Contents, Expect, Initial, LaunchFile
from gpusim.launch.file.draft.toml_text import key, keys, lines
from gpusim.support import whole_file
from isa import memory
from isa.errors import UserError
from isa.generators import ArrayFill
from isa.kernel import Buffer
from isa.nvidia.abi import load
from isa.nvidia.abi.declaration import declared, known_types
from isa.nvidia.abi.launch import POINTER_BYTES, WINDOW, LaunchState
from isa.nvidia.file.code import Code
from isa.nvidia.file.cubin import Cubin, Parameter
from isa.nvidia.file.names import named, plain
from isa.nvidia.file.signature import Type

NOTHING: Mapping[str, NDArray[Any]] = MappingProxyType({})
_PLAIN = ("kernel", "code", "architecture", "grid", "block", "cluster", "cooperative", "shared", "stack", "caches")


@dataclass(frozen=True, eq=False)
class _Piece:
    """A buffer of the launch: its name in the file, where it begins, and its bytes."""

    name: str
    place: int
    data: NDArray[np.uint8]


def capture(
    path: Path,
    code: Code,
    state: LaunchState,
    *,
    image: bytes = b"",
    source: str = "",
    caches: Caches = "warm",
    after: Mapping[str, NDArray[Any]] = NOTHING,
    cold: frozenset[str] = frozenset(),
) -> LaunchFile:
    """Write a launch of machine code to `path`, its memory to .npy files beside; return what the launch file says.

    `image` are the bytes of a cubin, written beside it; `source` is the text of its CUDA C, which says names. Each
    buffer keeps its place, so that addresses in it stay true, and those are left out to which nothing leads. `after` is
    what buffers, by name, hold after the launch, as bytes, which then is expected; `cold` are those of which no cache
    holds anything. Raises UserError for what a launch file can't say, and for files that can't be written.
    """
    whole_file.check(path)
    if state.textures:
        raise UserError(f"{plain(state.kernel)}: a launch with textures can't be captured; take one without")
    pieces = _pieces(state)
    arguments, names, types = _arguments(code, state, pieces, source)
    made = LaunchFile(
        kernel=state.kernel,
        code=path.with_suffix(".cubin").name if image else "",
        architecture=code.architecture,
        grid=list(state.grid),
        block=list(state.block),
        cluster=list(state.cluster or ()),
        cooperative=state.cooperative,
        shared=state.dynamic_shared,
        stack=state.stack,
        caches=caches,
        argument=arguments,
        buffer=[_contents(path, one, names[one.name], types.get(one.name), one.name in cold) for one in pieces],
        expect=[
            _expect(path, names[one.name], after[one.name], _element(one, types.get(one.name)))
            for one in pieces
            if one.name in after
        ],
        constants=_variables(path, code.cubin, state, constant=True),
        globals=_variables(path, code.cubin, state, constant=False),
    )
    if image:
        whole_file.write_pieces(path.with_suffix(".cubin"), [image])
    whole_file.write(path, text(made))
    return made


def text(file: LaunchFile) -> str:
    """Return a launch file as TOML."""
    return "".join(f"{line}\n" for line in _lines(file))


def _lines(file: LaunchFile) -> Iterator[str]:
    yield f"# A launch of {file.kernel} as it was; gpusim schema launch lists all keys."
    for name in _PLAIN:
        if value := getattr(file, name):
            yield from lines(name, value)
    for table, rows in (("argument", file.argument), ("buffer", file.buffer), ("expect", file.expect)):
        for one in rows:
            yield from ("", f"[[{table}]]", *keys(one))
    for table, values in (("constants", file.constants), ("globals", file.globals)):
        for name, initial in values.items():
            yield from ("", f"[{table}.{key(name)}]", *keys(initial))


def _pieces(state: LaunchState) -> list[_Piece]:
    """Return the buffers to which the arguments lead, by themselves or by addresses in others, by ascending place."""
    where = memory.bases(state.buffers)
    own = {load.VARIABLES, *(load.bank_name(number) for number in range(load.ADDRESSES + 1))}
    every = sorted((where[one.name], one) for one in state.buffers if one.name not in own and one.nbytes)
    starts = np.array([place for place, _ in every], np.int64)
    ends = starts + np.array([one.nbytes for _, one in every], np.int64)
    variables = [_data(one) for one in state.buffers if one.name == load.VARIABLES]
    first = [np.frombuffer(state.arguments, np.uint8), *variables]
    reached, found = set[int](), [at for data in first for at in _leads(data, starts, ends)]
    while found:
        at = found.pop()
        if at not in reached:
            reached.add(at)
            found += _leads(_data(every[at][1]), starts, ends)
    return [_Piece(one.name, place, _data(one)) for at, (place, one) in enumerate(every) if at in reached]


def _leads(data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> list[int]:
    """Return the numbers of the buffers whose addresses are among some bytes, at multiples of four."""
    found = set[int]()
    for begin in (0, 4):
        count = (len(data) - begin) // POINTER_BYTES
        if count <= 0 or not len(starts):
            continue
        words = data[begin : begin + POINTER_BYTES * count].view(np.uint64)
        places = words[(words >= WINDOW) & (words < WINDOW + (1 << 32))].astype(np.int64) - WINDOW
        at = np.searchsorted(starts, places, "right") - 1
        found |= set(at[(at >= 0) & (places <= ends[at])].tolist())
    return sorted(found)


def _data(one: Buffer) -> NDArray[np.uint8]:
    if one.fill is None:
        return np.zeros(one.nbytes, np.uint8)
    values = one.fill.values if isinstance(one.fill, ArrayFill) else None
    if values is None:
        values = memory.elements(one.fill, np.arange(one.elements, dtype=np.int64), one.dtype)
    return np.ascontiguousarray(values).view(np.uint8).reshape(-1)


def _arguments(
    code: Code, state: LaunchState, pieces: Sequence[_Piece], source: str
) -> tuple[list[Argument], dict[str, str], dict[str, Type]]:
    """Return the arguments, the names of buffers in the file, and the types of what they hold, as far as known."""
    launch = code.cubin.functions[state.kernel].launch if code.cubin else None
    if launch is None:
        raise UserError(f"{plain(state.kernel)}: a text has no table of parameters; capture launches of a cubin")
    types = known_types(state.kernel, source, launch.parameters) or [None] * len(launch.parameters)
    written = declared(source, plain(state.kernel)) if source else None
    words = [one.name for one in written] if written and len(written) == len(types) else []
    names = {one.name: f"memory_{number}" for number, one in enumerate(pieces, 1)}
    found, kinds = list[Argument](), dict[str, Type]()
    for number, (parameter, kind) in enumerate(zip(launch.parameters, types, strict=True)):
        data = state.arguments[parameter.offset : parameter.offset + parameter.size]
        name = words[number] if words else f"a{number + 1}"
        piece = _pointed(pieces, data, parameter, kind)
        if piece is None:
            found.append(_by_value(name, data, kind))
            continue
        if kind and kind.pointer and kind.element:
            kinds.setdefault(piece.name, kind)
        offset = int.from_bytes(data, "little") - WINDOW - piece.place
        if names[piece.name].startswith("memory_") and name not in names.values() and offset == 0:
            names[piece.name] = name
        found.append(Argument(name=f"{name}_pointer", same=piece.name, offset=offset))
    renamed = [Argument(name=one.name, same=names[one.same], offset=one.offset) if one.same else one for one in found]
    return renamed, names, kinds


def _pointed(pieces: Sequence[_Piece], data: bytes, parameter: Parameter, kind: Type | None) -> _Piece | None:
    """Return the buffer to which an argument points; None if it is none that points to one."""
    if parameter.size != POINTER_BYTES or (kind and not kind.pointer and kind.element):
        return None
    place = int.from_bytes(data, "little") - WINDOW
    return next((one for one in pieces if one.place <= place <= one.place + len(one.data)), None)


def _by_value(name: str, data: bytes, kind: Type | None) -> Argument:
    """Return an argument that is a number, if its type is known and it is finite, else its bytes."""
    if kind and not kind.pointer and kind.element and np.dtype(kind.element).itemsize == len(data):
        value = np.frombuffer(data, kind.element)[0]
        if np.isfinite(value) and not (value == 0 and np.signbit(value)):
            return Argument(name=name, value=value.item(), type=kind.element)
    return Argument(name=name, bytes=data.hex())


def _contents(path: Path, one: _Piece, name: str, kind: Type | None, cold: bool) -> Contents:
    """Return the description of a buffer, and write what it holds unless it is zeros."""
    element = _element(one, kind)
    if not one.data.any():
        return Contents(name=name, buffer=element, elements=len(one.data.view(element)), place=one.place, cold=cold)
    return Contents(name=name, file=_saved(path, name, one.data, element), place=one.place, cold=cold)


def _element(one: _Piece, kind: Type | None) -> str:
    """Return the type as whose elements a buffer is written."""
    element = kind.element if kind and kind.element != "bool" else "uint8"
    return element if len(one.data) % np.dtype(element).itemsize == 0 else "uint8"


def _expect(path: Path, name: str, data: NDArray[Any], element: str) -> Expect:
    return Expect(buffer=name, file=_saved(path, f"{name}.after", data.view(np.uint8).reshape(-1), element))


def _saved(path: Path, name: str, data: NDArray[np.uint8], element: str) -> str:
    """Write bytes as elements of a type to a file beside the launch file, and return the file's name."""
    file = path.with_name(f"{path.stem}.{name}.npy")
    with whole_file.unfinished(file) as part, part.open("wb") as target:
        np.save(target, data.view(element))
    return file.name


def _variables(path: Path, cubin: Cubin | None, state: LaunchState, *, constant: bool) -> dict[str, Initial]:
    """Return the values of variables that are not those of the code, by name."""
    buffer = load.bank_name(load.CONSTANTS) if constant else load.VARIABLES
    held = next((_data(one) for one in state.buffers if one.name == buffer), None)
    if cubin is None or held is None:
        return {}
    found, first = dict[str, Initial](), np.frombuffer(cubin.constants if constant else cubin.memory, np.uint8)
    for name, one in cubin.variables.items():
        part = slice(one.offset, one.offset + one.size)
        if one.constant == constant and not np.array_equal(held[part], first[part]):
            short = plain(name) if len(named(plain(name), tuple(cubin.variables))) == 1 else name
            found[short] = Initial(file=_saved(path, short, held[part], "uint8"))
    return found
