"""The facts of a machine file, checked against the schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Literal, cast, get_args, get_origin

import msgspec

from gpusim.machine.file import Fact
from gpusim.machine.schema import DEFAULTED, EXTRAS, MEMBERS, OPTIONAL, leaves
from isa.errors import UserError
from isa.reading.nearest import nearest

STACKS = "chip.stacks"
OF_STACKS = "chip.dram_mbs", "memory_channels.count"  # what each stack of memory has its part of


def _pattern(path: str) -> str:
    """`pipe.sp.lanes` -> `pipe.*.lanes`; a path of a section with fixed keys stays itself."""
    parts = path.split(".")
    return ".".join([parts[0], "*", *parts[2:]]) if parts[0] in MEMBERS and len(parts) > 1 else path


def checked(file: str, given: Mapping[str, Fact], overrides: Mapping[str, int | str]) -> dict[str, Fact]:
    """Facts that all have a place in the schema, a value of its type, and none missing but with a default."""
    schema = _schema()
    found = {path: _typed(path, fact, schema) for path, fact in given.items()}
    found |= {path: _override(path, value, schema, found) for path, value in overrides.items()}
    found |= {path: _override(path, value, schema, found) for path, value in _of_stacks(file, given, found, overrides)}
    wanted = list(_paths(schema, found))
    for path in wanted:
        if path not in found and _pattern(path) not in DEFAULTED:
            raise _missing(file, path, given, overrides)
    return {path: found[path] for path in wanted if path in found}


def _of_stacks(
    file: str, given: Mapping[str, Fact], found: Mapping[str, Fact], overrides: Mapping[str, int | str]
) -> Iterator[tuple[str, int]]:
    """Yield what goes with another number of stacks of memory than the file's, in proportion; raises UserError."""
    if STACKS not in overrides or found[STACKS].value == (before := given[STACKS].value if STACKS in given else 0):
        return
    stacks = found[STACKS].value
    if not before or not stacks:
        cause = "a DRAM has one at least" if before else f"{file} has no stacks of memory"
        raise UserError(f"--set {STACKS}={stacks}: {cause}; set chip.dram_mbs in its place")
    for path in OF_STACKS:
        if path in given and path not in overrides:
            yield path, int(given[path].value) * int(stacks) // int(before)


@cache
def _schema() -> Mapping[str, Any]:
    """The type of each leaf by its path, the same for every machine."""
    return dict(leaves())


def _missing(file: str, path: str, given: Iterable[str], overrides: Iterable[str]) -> UserError:
    """Return what to say of a path without a fact: in the file, or in a section that only `--set` names."""
    section = path.partition(".")[0] + "."
    added = next((key for key in overrides if key.startswith(section)), None)
    if added and not any(key.startswith(section) for key in given):
        cause = f"{file} has no [{section[:-1]}], and {path} is missing"
        return UserError(f"--set {added}: {cause}; set all of the section, or take a machine that has it")
    return UserError(f"{file}: {path} is missing; add it, or let the file extend one that has it")


def _paths(schema: Mapping[str, Any], found: Iterable[str]) -> Iterator[str]:
    """Every path that the machine must have, given the pipes, unit classes and optional sections that it names."""
    named = {s: dict.fromkeys(p.split(".")[1] for p in found if p.startswith(f"{s}.")) for s in MEMBERS}
    members = {s: [m for m in allowed or named[s] if m in named[s]] for s, allowed in MEMBERS.items()}
    left_out = set(OPTIONAL) - {p.split(".", maxsplit=1)[0] for p in found}
    for pattern in schema:
        section = pattern.split(".", maxsplit=1)[0]
        if section in left_out:
            continue
        yield from (pattern.replace("*", member) for member in members.get(section, ("*",)))


def _typed(path: str, fact: Fact, schema: Mapping[str, Any]) -> Fact:
    section, *rest = path.split(".")
    if _pattern(path) not in schema or (MEMBERS.get(section) and rest[0] not in MEMBERS[section]):
        raise UserError(f"{fact.place}: unknown machine key {path}; {_nearest(path, _paths(schema, [path, *EXTRAS]))}")
    for value, lead in ((fact.value, ""), *((each, "plausible ") for each in fact.plausible)):
        try:
            msgspec.convert(value, schema[_pattern(path)])
        except msgspec.ValidationError:
            takes = allowed(schema[_pattern(path)])
            raise UserError(f"{fact.place}: {lead}{path} = {value!r}: it takes {takes}") from None
    return fact


def _override(path: str, value: int | str, schema: Mapping[str, Any], found: Mapping[str, Fact]) -> Fact:
    if path not in found and path not in EXTRAS:
        raise UserError(f"--set {path}: unknown machine key; {_nearest(path, [*found, *EXTRAS])}")
    try:
        converted = msgspec.convert(value, schema[_pattern(path)], strict=False)
    except msgspec.ValidationError:
        raise UserError(f"--set {path}={value}: it takes {allowed(schema[_pattern(path)])}") from None
    return Fact(cast("int | str", converted), "command line", "set", place=f"--set {path}")


def allowed(kind: Any) -> str:
    """Return in words what a key of this type takes."""
    if get_origin(kind) is Literal:
        return f"one of {', '.join(map(str, get_args(kind)))}"
    if kind is str:
        return "a word"
    limits = kind.__metadata__[0]
    multiple = f", a multiple of {limits.multiple_of}" if limits.multiple_of else ""
    return f"a whole number from {limits.ge} to {limits.le}{multiple}"


def _nearest(path: str, known: Iterable[str]) -> str:
    near = nearest(path, known)
    return f"did you mean {near}?" if near else "`gpusim machines NAME` lists the keys of a machine"
