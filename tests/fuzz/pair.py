"""A program and a machine in text, as they are drawn, made smaller, stored and run again."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

from msgspec import structs

from gpusim.machine.machine import File, Machine, build, read
from isa.kernel import Kernel
from isa.text import listing


@dataclass(frozen=True)
class Pair:
    """A listing, and a machine file with settings by path, without some of its optional sections."""

    listing: str
    machine: str
    settings: Mapping[str, int | str] = field(default_factory=lambda: MappingProxyType({}))
    without: Sequence[str] = ()

    def __hash__(self) -> int:
        return hash((self.listing, self.machine, *self.settings.items(), *self.without))


def machine_of(pair: Pair) -> Machine:
    """Return the pair's machine; raises UserError for settings that don't fit together."""
    return structs.replace(build(_file(pair.machine), pair.settings), **dict.fromkeys(pair.without))


@lru_cache(64)
def kernel_of(text: str) -> Kernel:
    """Return the kernel of a listing; raises AssemblyError."""
    return listing.read(text, "pair")


@lru_cache(64)
def _file(name: str) -> File:
    return read(name)


def as_text(pair: Pair, head: Mapping[str, str]) -> str:
    """Return the TOML text that `from_text` reads, with some lines of text in front."""
    lines = [f"{key} = {json.dumps(text)}" for key, text in head.items()]
    lines += [f"machine = {json.dumps(pair.machine)}", f"without = {json.dumps(list(pair.without))}"]
    lines += [f"listing = '''\n{pair.listing}'''", "", "[settings]"]
    return "".join(
        f"{line}\n" for line in [*lines, *(f"{json.dumps(p)} = {json.dumps(v)}" for p, v in pair.settings.items())]
    )


def from_text(text: str) -> Pair:
    """Return the pair of a text that `as_text` has written."""
    table = tomllib.loads(text)
    return Pair(table["listing"], table["machine"], table["settings"], tuple(table["without"]))
