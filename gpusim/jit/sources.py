"""What compiled code is made of: the source files that its module imports, those that they import, and so on."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

OURS = ("gpusim", "isa", "workloads")  # what pyproject.toml installs
ROOT = Path(__file__).parents[2]
# Reading them with Python's own parser takes 0.15 s at each start. A sentence that begins so names no module of ours.
IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|.*)|import[ \t]+(.*))", re.MULTILINE)


@dataclass(frozen=True)
class Source:
    """A source file: the SHA-256 of its bytes, and what it may import."""

    digest: str
    imports: frozenset[str]


@cache
def key(module: str, root: Path = ROOT) -> str | None:
    """Return a hash of every source of ours that a module is made of, or None where it is none of ours.

    The files are read once, when first asked for: ask as the module is imported, before somebody edits them.
    """
    below = sources(module, root)
    if module not in below:
        return None
    text = "\n".join(f"{name} {source.digest}" for name, source in sorted(below.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def sources(module: str, root: Path = ROOT) -> dict[str, Source]:
    """Return the sources of ours that a module is made of, its own among them, by the names of their modules."""
    found: dict[str, Source] = {}
    ahead = [module]
    while ahead:
        name = ahead.pop()
        source = None if name in found else _source(name, root)
        if source:
            found[name] = source
            ahead += source.imports
            ahead += [name.rpartition(".")[0]]  # its package, which is imported first
    return found


@cache
def _source(module: str, root: Path) -> Source | None:
    path = root.joinpath(*module.split("."))
    for file in (path.with_name(f"{path.name}.py"), path / "__init__.py"):
        if module.partition(".")[0] in OURS and file.is_file():
            content = file.read_bytes()
            return Source(hashlib.sha256(content).hexdigest(), imported(content.decode()))
    return None


def imported(text: str) -> frozenset[str]:
    """Return the names of ours that a source may import, anywhere in it: modules, and what may be modules in them."""
    names = set()
    for package, members, modules in IMPORT.findall(text):
        names |= {package, *(f"{package}.{member}" for member in re.findall(r"\w+", members))}
        names |= set(re.findall(r"[\w.]+", modules))
    return frozenset(name for name in names if name.partition(".")[0] in OURS)
