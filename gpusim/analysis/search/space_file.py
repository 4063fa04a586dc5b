"""The search space of a CUDA kernel: read from a space file, its points listed, the launch of each evaluated."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from pathlib import Path
from textwrap import shorten
from typing import Any

import msgspec

from gpusim.analysis.search.bounded_expression import Ask, Budget, Names, Value, built
from gpusim.analysis.search.space_document import (
    PointArgument,
    PointBuffer,
    PointExpect,
    PointLaunch,
    PointTexture,
    SpaceFile,
)
from gpusim.launch.file import source
from gpusim.launch.file.arguments import POINTER
from gpusim.launch.file.document import Initial, LaunchFile
from gpusim.launch.file.source import Source
from gpusim.support import toml
from isa.errors import UserError
from isa.nvidia.compiler.file_options import inert
from isa.reading import input_file
from isa.reading.nearest import nearest

ENDING = ".toml"
FIX = "give the path of a space file; gpusim schema space-file lists its keys"
MOST = 1_000_000  # points of the product
MOST_SHOWN = 40  # characters of a value in an error
_NAME = re.compile(r"[A-Za-z_]\w*")
_TABLES: Mapping[str, type[msgspec.Struct]] = {
    "argument": PointArgument,
    "buffer": PointBuffer,
    "expect": PointExpect,
    "constants": Initial,
    "globals": Initial,
}
_NUMBERS = frozenset(("grid", "block", "size", "shared", "stack", "flops", "bytes", "elements", "offset"))
_BY_TABLE = {("argument", "value"), ("expect", "within"), ("expect", "relative")}
Point = dict[str, Value]


@dataclass(frozen=True)
class CodeSpace:
    """A space file with the values of its parameters, its sizes, and file:line:column of each key by dotted path.

    `flags` are the compiler's options, those of the file first; all its expressions share the `budget`.
    """

    path: Path
    file: SpaceFile
    lines: tuple[str, ...]
    places: Mapping[str, str]
    values: Mapping[str, tuple[Value, ...]]
    sizes: Mapping[str, int | float]
    flags: tuple[str, ...] = ()
    budget: Budget = field(default_factory=Budget, compare=False)

    @property
    def source(self) -> Path:
        """The path of the CUDA source."""
        return self.path.parent / self.file.source

    @property
    def known(self) -> tuple[str, ...]:
        """The names that expressions may use."""
        return (*self.values, *self.sizes)

    def refusal(self, key: str, message: str) -> UserError:
        """Return the error for a key, which the caller raises; its place comes first."""
        return UserError(f"{toml.place(key, self.places, self.path)}: {message}")

    def ask(self, key: str, text: str, known: Sequence[str]) -> Ask:
        """Return an expression at a key as a function of names; raises UserError with its place."""
        try:
            return built(text, known, self.budget)
        except ValueError as error:
            raise self.refusal(key, f"{text}: {error}") from None

    def answer(self, key: str, text: str, names: Names) -> Any:
        """Return the value of an expression at a key; raises UserError with its place."""
        return self.computed(key, text, self.ask(key, text, tuple(names)), names)

    def computed(self, key: str, text: str, ask: Ask, names: Names) -> Any:
        """Return what an expression comes to; raises UserError with its place."""
        try:
            return ask(names)
        except (ArithmeticError, TypeError, ValueError) as error:
            raise self.refusal(key, f"{text}: {error}; correct the expression") from None


def read(path: Path) -> CodeSpace:
    """Return the search space of a file; raises UserError with file:line:column for what a space file can't say."""
    text = input_file.text(path, FIX)
    table, places = toml.parse(text, path), toml.places(text, path)
    if "parameters" not in table:
        raise UserError(f"{path}:1:1: no [parameters], so no space file; {FIX}")
    try:
        file = msgspec.convert(table, SpaceFile)
    except msgspec.ValidationError as error:
        raise source.refused(str(error), places, path, _table, "space-file") from None
    flags = Source(path, LaunchFile(), (), places).options("flags", file.flags)
    space = CodeSpace(path, file, tuple(text.splitlines()), places, {}, {}, flags)
    space = replace(space, values={name: _values(space, name, given) for name, given in file.parameters.items()})
    if not space.values:
        raise space.refusal("parameters", "no tunable parameter; write one with its values: TILE = [16, 32]")
    return _checked(_sized(space, file.sizes))


def with_given(space: CodeSpace, given: Mapping[str, str]) -> CodeSpace:
    """Return the space with other sizes, and with fewer values of parameters: `4,8` for two of them.

    Raises UserError for a name or a value that the file does not have.
    """
    values, sizes = dict(space.values), dict(space.file.sizes)
    for name, text in given.items():
        if name in values:
            values[name] = tuple(_chosen(name, one, values[name]) for one in text.split(","))
        elif name in sizes:
            sizes[name] = _number(name, text)
        else:
            raise UserError(f"-p {name}={text}: {space.path} has no {name}; {_near(name, space.known)}")
    return _sized(replace(space, values=values), sizes)


def at_check(space: CodeSpace) -> CodeSpace:
    """Return the space at the sizes at which values are checked."""
    return _sized(space, {**space.file.sizes, **space.file.check}) if space.file.check else space


def points(space: CodeSpace) -> list[Point]:
    """Return the points that meet the restrictions, the last parameter varying fastest.

    Raises UserError where there are too many, none is left, or a restriction can't be computed.
    """
    found: list[Point] = []
    for text, found in restricted(space):
        if not found:
            total = prod(map(len, space.values.values()))
            cause = f"none of {total:,} points is left by {text}"
            raise space.refusal("restrictions", f"{cause}; loosen it, or give other values or sizes")
    return found


def restricted(space: CodeSpace) -> Iterator[tuple[str, list[Point]]]:
    """Yield all points, the last parameter varying fastest, then what each restriction leaves of them, with its text.

    Raises UserError where there are too many, and for a restriction that can't be computed.
    """
    if (total := prod(map(len, space.values.values()))) > MOST:
        raise space.refusal("parameters", f"{total:,} points; leave {MOST:,} at most")
    _spend(space, total * len(space.values))
    left = [dict(zip(space.values, chosen, strict=True)) for chosen in product(*space.values.values())]
    yield "", left
    for number, text in enumerate(space.file.restrictions):
        key = f"restrictions.{number}"
        ask = space.ask(key, text, space.known)
        left = [point for point in left if space.computed(key, text, ask, {**point, **space.sizes})]
        yield text, left


def _spend(space: CodeSpace, steps: int) -> None:
    """Take steps of the budget for what is listed; raises UserError if too few are left."""
    try:
        space.budget.spend(steps)
    except ValueError as error:
        raise space.refusal("parameters", f"the list of points {error}") from None


def defines(point: Point) -> list[str]:
    """Return the options that tell the compiler a point: -DNAME=VALUE."""
    return [f"-D{name}={int(value) if isinstance(value, bool) else value}" for name, value in point.items()]


def launch(space: CodeSpace, point: Point) -> Source:
    """Return the launch file of a point; raises UserError with the place in the space file."""
    names = {**point, **space.sizes}
    tree = {key: value for key, value in msgspec.to_builtins(space.file.launch).items() if key != "bytes"}
    table = _evaluated(space, ("launch",), tree, names)
    table["kernel"] = space.file.kernel
    places = launch_places(space)
    try:
        file = msgspec.convert(table, LaunchFile)
    except msgspec.ValidationError as error:
        raise source.refused(f"{error}", places, space.path, computed=_computed(space, tree, names)) from None
    return Source(space.path, file, space.lines, places)


def _computed(space: CodeSpace, tree: Any, names: Names) -> dict[str, str]:
    """Return each expression of a launch with its value, by its key in a launch file: `M // TILE is 0`."""
    found = {key: (text, str(space.answer(key, text, names))) for key, text in _texts(("launch",), tree)}
    return {
        key.removeprefix("launch."): f"{text} is {shorten(value, MOST_SHOWN, placeholder=' ...')}"
        for key, (text, value) in found.items()
        if text != value
    }


def launch_places(space: CodeSpace) -> dict[str, str]:
    """Return file:line:column of the keys of the launch, by their paths in a launch file."""
    return {key.removeprefix("launch."): place for key, place in space.places.items() if key.startswith("launch")}


def moved(space: CodeSpace, point: Point) -> float:
    """Return the bytes that a point's launch has to move, 0 where the file doesn't say."""
    found = _whole(space, "launch.bytes", space.file.launch.bytes, {**point, **space.sizes})
    if not isinstance(found, int | float) or found < 0:
        raise space.refusal("launch.bytes", f"bytes: {found}; give a number from 0 up")
    return float(found)


def _table(key: str) -> type[msgspec.Struct]:
    """Return the struct of the table at a path in a space file."""
    first, _, rest = key.partition(".")
    if first != "launch":
        return SpaceFile
    return PointTexture if ".texture" in rest else _TABLES.get(rest.partition(".")[0], PointLaunch)


def _values(space: CodeSpace, name: str, given: list[Value] | str) -> tuple[Value, ...]:
    key = f"parameters.{name}"
    _check_name(space, key, name)
    found = space.answer(key, given, {}) if isinstance(given, str) else given
    if not isinstance(found, list | range) or not all(isinstance(one, int | float | str) for one in found) or not found:
        raise space.refusal(key, f"{name}: {given} is no list of numbers or words; write [1, 2, 4]")
    if odd := next((one for one in found if isinstance(one, str) and not inert(one)), None):
        raise space.refusal(key, f"{name}: {odd!r} is no value of -D that a file may give; leave out , \" ' $ ` and \\")
    if len(set(found)) < len(found):
        raise space.refusal(key, f"{name}: a value is given twice; leave one out")
    return tuple(found)


def _check_name(space: CodeSpace, key: str, name: str) -> None:
    if not _NAME.fullmatch(name):
        raise space.refusal(key, f"{name} is no name of C; write letters, digits and _")


def _sized(space: CodeSpace, given: Mapping[str, int | float | str]) -> CodeSpace:
    """Return the space with the sizes that are given; each may be an expression of those before it."""
    found: dict[str, int | float] = {}
    for name, text in given.items():
        key = f"sizes.{name}"
        _check_name(space, key, name)
        if name in space.values:
            raise space.refusal(key, f"{name} is a tunable parameter too; rename one")
        value = space.answer(key, text, found) if isinstance(text, str) else text
        if not isinstance(value, int | float):
            raise space.refusal(key, f"{name}: {value!r} is no number; write one")
        found[name] = value
    return replace(space, sizes=found)


def _checked(space: CodeSpace) -> CodeSpace:
    """Return the space; raises UserError for sizes of a check that are none, and for expressions with a mistake."""
    for name in space.file.check:
        if name not in space.sizes:
            raise space.refusal(f"check.{name}", f"{name} is no size; {_near(name, tuple(space.sizes))}")
    for n, text in enumerate(space.file.restrictions):
        space.ask(f"restrictions.{n}", text, space.known)
    for key, text in _texts(("launch",), msgspec.to_builtins(space.file.launch)):
        space.ask(key, text, space.known)
    return space


def _near(name: str, known: Sequence[str]) -> str:
    near = nearest(name, known)
    return f"did you mean {near}?" if near else f"it has {', '.join(known) or 'none'}"


def _chosen(name: str, text: str, values: Sequence[Value]) -> Value:
    for value in values:
        if str(value) == text.strip():
            return value
    raise UserError(f"-p {name}={text}: no value of {name}; choose from {', '.join(map(str, values))}")


def _number(name: str, text: str) -> int | float:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise UserError(f"-p {name}={text}: is no number; give a size such as {name}=1024")


def _is_expression(path: Sequence[str]) -> bool:
    """Tell whether a text at a path below [launch] is an expression: `argument.0.value`, `grid.1`."""
    names = [part for part in path[1:] if not part.isdecimal()]
    return (names[-1] in _NUMBERS and names[0] not in ("constants", "globals")) or (names[0], names[-1]) in _BY_TABLE


def _texts(path: tuple[str, ...], tree: Any) -> Iterator[tuple[str, str]]:
    """Yield key and text of each expression of a launch."""
    for key, value in _entries(tree):
        inner = (*path, key)
        if isinstance(value, dict | list | tuple):
            if not _is_pointer(value):
                yield from _texts(inner, value)
        elif isinstance(value, str) and (_is_expression(inner) or _is_member(inner)):
            yield ".".join(inner), value


def _entries(tree: Any) -> Iterator[tuple[str, Any]]:
    yield from tree.items() if isinstance(tree, dict) else ((str(n), one) for n, one in enumerate(tree))


def _is_pointer(value: Any) -> bool:
    """Tell whether a list is a member of a struct that holds an address, whose text is the name of a buffer."""
    return isinstance(value, list | tuple) and value[:1] in ([POINTER], (POINTER,))


def _is_member(path: Sequence[str]) -> bool:
    """Tell whether a path is that of the number of a struct's member: `argument.0.struct.2.1`."""
    return len(path) > 3 and path[-3] == "struct" and path[-1] == "1"


def _evaluated(space: CodeSpace, path: tuple[str, ...], tree: Any, names: Names) -> Any:
    """Return a launch with the values of its expressions."""
    if isinstance(tree, dict):
        return {key: _evaluated(space, (*path, key), value, names) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        if _is_pointer(tree):
            return tree
        return [_evaluated(space, (*path, str(n)), one, names) for n, one in enumerate(tree)]
    if isinstance(tree, str) and (_is_expression(path) or _is_member(path)):
        return _whole(space, ".".join(path), tree, names)
    return tree


def _whole(space: CodeSpace, key: str, given: Value, names: Names) -> Any:
    return space.answer(key, given, names) if isinstance(given, str) else given
