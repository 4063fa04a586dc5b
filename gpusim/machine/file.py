"""Machine files: TOML in which every number says where it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path

from gpusim.support import toml
from gpusim.support.toml import DEEPEST
from isa.errors import UserError
from isa.reading import input_file
from isa.reading.nearest import nearest

DIRECTORY = Path(__file__).parents[1] / "machines"
METHODS = ("vendor", "measured", "paper", "derived", "fitted", "guess")
STRINGS = ("name", "generation", "architecture", "extends")
_LEAF_KEYS = ("value", "source", "method", "note", "to", "plausible")


@dataclass(frozen=True, slots=True)
class Fact:
    """One number or word of a machine, where it comes from, and by what method.

    `method`: vendor (the maker says so), measured (the source measured it), paper (the source states it), derived
    (worked out from other facts), fitted (chosen to meet the data named in `to`), guess (nobody knows; `note` says
    why this value), set (the command line). `plausible` has least and most of what the number could be as well, or the
    other words, on the ground that `note` gives. `place` is the `file:line:column` that states it.
    """

    value: int | str
    source: str
    method: str
    note: str = ""
    to: str = ""
    plausible: tuple[int | str, ...] = ()
    place: str = field(default="", compare=False)


def names() -> list[str]:
    """Machines that come with the package, sorted."""
    return sorted(file.stem for file in DIRECTORY.glob("*.toml"))


def locate(name_or_path: str, referrer: Path | None = None, place: str = "") -> Path:
    """Find the file of a machine given by name, or by a path ending in .toml (relative to the file `referrer`, if any).

    Raises UserError when there is none, with the nearest name; `place`, a `file:line:column`, goes in front if given.
    """
    shipped = DIRECTORY / f"{name_or_path}.toml"
    path = shipped if name_or_path in names() else (referrer.parent if referrer else Path()) / name_or_path
    exists = input_file.present(path)
    if exists and path.suffix == ".toml" and path.is_file():
        return path
    lead = f"{place}: " if place else ""
    if exists and path.is_dir() and _is_path(name_or_path):
        raise UserError(f"{lead}machine {name_or_path}: is a directory; give a file ending in .toml")
    if not exists and _is_path(name_or_path):
        raise UserError(f"{lead}machine {name_or_path}: no such file; give the path of a machine file")
    near = nearest(name_or_path, names())
    advice = f"did you mean {near}?" if near else f"choose one of {', '.join(names())}, or a file ending in .toml"
    raise UserError(f"{lead}machine {name_or_path}: no such machine; {advice}")


def _is_path(text: str) -> bool:
    return text.endswith(".toml") or "/" in text


def read(path: Path) -> tuple[dict[str, str], dict[str, Fact]]:
    """Return the plain strings and the facts of a machine file, by dotted path, merged over the file it extends.

    Raises UserError with `file:line:column` for bad TOML, a number without source or method, and circular `extends`.
    """
    return _read(path, ())


@cache
def extended(name: str) -> int:
    """Return how many others the file of a machine of the package extends, directly or through one of them."""
    base = toml.parse(input_file.text(DIRECTORY / f"{name}.toml", ""), DIRECTORY, "").get("extends")
    return 1 + extended(base) if isinstance(base, str) else 0


def _read(path: Path, children: tuple[Path, ...]) -> tuple[dict[str, str], dict[str, Fact]]:
    if path.resolve() in children:
        raise UserError(f"{path}:1:1: `extends` leads back to this file; remove it from one of them")
    own, facts, place = _parsed(path, input_file.text(path, "give the path of a machine file"))
    strings = {**own}
    if "extends" not in strings:
        return strings, {**facts}
    base = locate(strings.pop("extends"), referrer=path, place=place)
    base_strings, base_facts = _read(base, (*children, path.resolve()))
    return {**base_strings, **strings}, {**base_facts, **facts}


@lru_cache(maxsize=64)
def _parsed(path: Path, text: str) -> tuple[Mapping[str, str], Mapping[str, Fact], str]:
    """Return the strings and facts of one file, and the place of `extends`; parsing takes some 10 ms."""
    table = toml.parse(text, path, "write each number as a table of its own")
    places = toml.places(text, path)
    strings, facts = {}, {}
    for key, value in _leaves(table):
        if key in STRINGS:
            strings[key] = _string(key, value, places)
        else:
            facts[key] = _fact(key, value, toml.place(key, places, path))
    return strings, facts, places.get("extends", "")


def _leaves(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, value in table.items():
        nested = isinstance(value, dict) and value.keys().isdisjoint(_LEAF_KEYS)
        if isinstance(value, dict) and nested and prefix.count(".") < DEEPEST:
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _string(key: str, value: object, places: Mapping[str, str]) -> str:
    if isinstance(value, str):
        return value
    raise UserError(f'{places[key]}: {key} must be plain text; write {key} = "..."')


def _fact(key: str, leaf: object, place: str) -> Fact:
    if not isinstance(leaf, dict):
        raise UserError(
            f"{place}: {key} = {leaf!r} has no source; "
            f'write {{ value = {leaf!r}, source = "...", method = "guess" }} or better'
        )
    for known in ("value", "source", "method"):
        if known not in leaf:
            raise UserError(f'{place}: {key} has no {known}; add {known} = "..."')
    for found in leaf:
        if found not in _LEAF_KEYS:
            near = nearest(found, _LEAF_KEYS)
            advice = f"did you mean {near}?" if near else f"keep to {', '.join(_LEAF_KEYS)}"
            raise UserError(f"{place}: {key} has an unknown key {found}; {advice}")
    _check_provenance(key, leaf, place)
    return Fact(**{**leaf, "plausible": _plausible(key, leaf, place)}, place=place)


def _check_provenance(key: str, leaf: Mapping[str, object], place: str) -> None:
    for word in ("source", "method", "note", "to"):
        text = leaf.get(word, "-")
        if not isinstance(text, str) or not text.strip():
            raise UserError(f"{place}: {key} has {word} = {text!r}; it must say something in words")
    if leaf["method"] not in METHODS:
        raise UserError(f"{place}: {key} has method {leaf['method']!r}; choose one of {', '.join(METHODS)}")
    if leaf["method"] == "fitted" and "to" not in leaf:
        raise UserError(f'{place}: {key} is fitted, but to what? add to = "..."')
    if leaf["method"] == "guess" and "note" not in leaf:
        raise UserError(f'{place}: {key} is a guess without a reason; add note = "..."')


def _plausible(key: str, leaf: Mapping[str, object], place: str) -> tuple[int | str, ...]:
    """Return the ends of the plausible range, or the other plausible words; nothing if the leaf has none."""
    value, given = leaf["value"], leaf.get("plausible")
    if "plausible" not in leaf:
        return ()
    if "note" not in leaf:
        raise UserError(f'{place}: {key} has a plausible range without a ground; add note = "..."')
    form = f"other words than {value}, each once" if isinstance(value, str) else f"[least, most] around {value}"
    if not isinstance(given, list) or not (_are_words if isinstance(value, str) else _is_range)(given, value):
        raise UserError(f"{place}: {key} has plausible = {given!r}; write {form}")
    return tuple(given)


def _are_words(given: list[object], value: object) -> bool:
    words = {word for word in given if isinstance(word, str)} - {value}
    return 0 < len(given) == len(words)


def _is_range(given: list[object], value: object) -> bool:
    numbers = [each for each in (*given, value) if type(each) is int]  # no bool
    return len(given) == 2 and len(numbers) == 3 and numbers[0] < numbers[1] and numbers[0] <= numbers[2] <= numbers[1]
