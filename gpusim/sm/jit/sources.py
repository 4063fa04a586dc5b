"""Find the sources of compiled code: the files that its module imports, the files that those import, and so on."""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

OURS = ("gpusim", "isa", "workloads")  # the packages that pyproject.toml installs
ROOT = Path(__file__).parents[3]
# Reading them with Python's own parser takes 0.15 s at each start. Prose that matches names no module of ours.
IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|.*)|import[ \t]+(.*))", re.MULTILINE)


@dataclass(frozen=True)
class Source:
    """A source file: the SHA-256 of its bytes, and the names that it may import."""

    digest: str
    imports: frozenset[str]


READ: dict[tuple[Path, str], Source | None] = {}  # by root and module; None for a name that is no module of ours


@cache
def key(module: str, root: Path = ROOT) -> str | None:
    """Return a hash of all our sources on which a module depends, or None if the module is not ours.

    The files are those of the first call of `read`.
    """
    below = sources(module, root)
    if module not in below:
        return None
    text = "\n".join(f"{name} {source.digest}" for name, source in sorted(below.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def sources(module: str, root: Path = ROOT) -> dict[str, Source]:
    """Return our sources on which a module depends, including its own, by the names of their modules."""
    read(module, root)
    found: dict[str, Source] = {}
    ahead = [module]
    while ahead:
        name = ahead.pop()
        source = None if name in found else READ[root, name]
        if source:
            found[name] = source
            ahead += _needed(name, source)
    return found


def read(module: str, root: Path = ROOT) -> None:
    """Read our sources on which a module depends, each once: call it when the module is imported, before any edit."""
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
            content = source.read()
            return Source(hashlib.sha256(content).hexdigest(), imported(content.decode()))
    return None


def imported(text: str) -> frozenset[str]:
    """Return our names that a source may import anywhere in it: modules, and names that may be modules in them."""
    names = set()
    for package, members, modules in IMPORT.findall(text):
        names |= {package, *(f"{package}.{member}" for member in re.findall(r"\w+", members))}
        names |= set(re.findall(r"[\w.]+", modules))
    return frozenset(name for name in names if name.partition(".")[0] in OURS)
