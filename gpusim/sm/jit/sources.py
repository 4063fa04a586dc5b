"""Find the sources of compiled code: the files that its module imports, the files that those import, and so on."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from isa.support import cache_folder

OURS = ("gpusim", "isa", "workloads")  # the packages that pyproject.toml installs
ROOT = Path(__file__).parents[3]
# Reading them with Python's own parser takes 0.15 s at each start. Prose that matches names no module of ours.
IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|.*)|import[ \t]+(.*))", re.MULTILINE)


@dataclass(frozen=True)
class Source:
    """A source file: the SHA-256 of its bytes, the names that it may import, and when it was last changed."""

    digest: str
    imports: frozenset[str]
    changed: int  # nanoseconds


READ: dict[tuple[Path, str], Source | None] = {}  # by root and module; None for a name that is no module of ours
READ_INDEX: list[dict[str, dict[str, str | None]]] = []  # the index, once it is read
INDEX = "sources.json"  # keys that are known already, by what `state` returned
MOST = 16  # states in the index
COARSE = 10_000_000  # nanoseconds by which times of files may be late: a system clock's tick


@cache
def key(module: str, root: Path = ROOT) -> str | None:
    """Return a hash of all our sources on which a module depends, or None if the module is not ours.

    Also None if one has been edited since `begin` was called: the code in memory may be older than its source.
    """
    if root != ROOT:
        return _computed(module, root)
    when, now = begin()
    known = _index().get(now, {})
    if module not in known:
        if any(source.changed > when for source in sources(module, root).values()):
            return None
        known[module] = _computed(module, root)
        _keep(module, known[module])
    return known[module]


@cache
def begin() -> tuple[int, str]:
    """Return when this was first called, and the state of our sources then: as rules are imported, before any edit."""
    return time.time_ns() - COARSE, _state()


def _state() -> str:
    """Return what changes with any edit of our sources: places, sizes and times of all files."""
    found = hashlib.sha256()
    ahead = [os.path.join(ROOT, package) for package in OURS]  # noqa: PTH118  (pathlib takes five times as long)
    while ahead:
        with os.scandir(ahead.pop()) as entries:
            for entry in sorted(entries, key=lambda one: one.path):
                if entry.path.endswith(".py"):
                    status = entry.stat()
                    told = status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
                    found.update(f"{entry.path} {told}".encode())
                elif entry.is_dir() and not entry.path.endswith("__pycache__"):
                    ahead.append(entry.path)
    return found.hexdigest()


def _computed(module: str, root: Path) -> str | None:
    """Return the same, read from the sources."""
    below = sources(module, root)
    if module not in below:
        return None
    text = "\n".join(f"{name} {source.digest}" for name, source in sorted(below.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def _place() -> Path | None:
    """Return the file of the index, if code is kept at all."""
    directory = cache_folder.directory(os.environ.get(cache_folder.SETTING, ""))
    return directory and directory / INDEX


def _index() -> dict[str, dict[str, str | None]]:
    """Return the index, as it is now if it has not been read yet."""
    if not READ_INDEX:
        content = cache_folder.read(place) if (place := _place()) else None
        READ_INDEX.append(json.loads(content) if content else {})
    return READ_INDEX[0]


def _keep(module: str, found: str | None) -> None:
    """Add a key to the index, with what other processes have put there."""
    READ_INDEX.clear()
    states, (_, now) = _index(), begin()
    states[now] = {**states.pop(now, {}), module: found}
    if place := _place():
        latest = dict([*states.items()][-MOST:])
        cache_folder.write(place, json.dumps(latest).encode())


def sources(module: str, root: Path = ROOT) -> dict[str, Source]:
    """Return our sources on which a module depends, including its own, by the names of their modules."""
    _read(module, root)
    found: dict[str, Source] = {}
    ahead = [module]
    while ahead:
        name = ahead.pop()
        source = None if name in found else READ[root, name]
        if source:
            found[name] = source
            ahead += _needed(name, source)
    return found


def _read(module: str, root: Path) -> None:
    """Read our sources on which a module depends, each once."""
    ahead = [module]
    while ahead:
        name = ahead.pop()
        if (root, name) not in READ:
            source = READ[root, name] = _source(name, root)
            ahead += _needed(name, source) if source else []


def _needed(name: str, source: Source) -> list[str]:
    return [*source.imports, name.rpartition(".")[0]]  # the last is its package, which is imported first


def _source(module: str, root: Path) -> Source | None:
    if module.partition(".")[0] not in OURS:
        return None
    path = os.path.join(root, *module.split("."))  # noqa: PTH118  (of hundreds of names; pathlib takes five times as long)
    for file in (f"{path}.py", f"{path}/__init__.py"):
        with suppress(FileNotFoundError, NotADirectoryError), open(file, "rb") as source:  # noqa: PTH123  (the same)
            content, changed = source.read(), os.fstat(source.fileno()).st_ctime_ns
            return Source(hashlib.sha256(content).hexdigest(), imported(content.decode()), changed)
    return None


def imported(text: str) -> frozenset[str]:
    """Return our names that a source may import anywhere in it: modules, and names that may be modules in them."""
    names = set()
    for package, members, modules in IMPORT.findall(text):
        names |= {package, *(f"{package}.{member}" for member in re.findall(r"\w+", members))}
        names |= set(re.findall(r"[\w.]+", modules))
    return frozenset(name for name in names if name.partition(".")[0] in OURS)
