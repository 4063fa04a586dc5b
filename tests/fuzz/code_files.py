"""Files of machine code, and those that launch it: real ones to change, and their readers."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from read.fenced import ROOT
from space_files import SPACE

from gpusim.analysis.search import space_file
from gpusim.bounds.bounds import bound
from gpusim.launch.file import elements, prepare
from gpusim.launch.file.document import LaunchFile
from gpusim.launch.file.draft import template
from gpusim.launch.file.source import Source
from gpusim.machine.machine import load
from isa.nvidia.compiler import kept, tools
from isa.nvidia.file import code

DATA = ROOT / "tests" / "isa" / "sass" / "data"
INSTRUCTIONS = 2_000  # of a block that the bound looks at
KERNELS = 2  # of a file that are launched
_LAUNCHED, _KEPT = DATA / "sm_90.cubin", DATA / "masks_90.cubin"
LAUNCH = """\
kernel = "flip"
grid = [2, 1, 1]
block = [32]
shared = 0
stack = 1024
caches = "cold"
flops = 64
[[argument]]
name = "x"
buffer = "float32"
elements = 64
fill = "hash 1 0 1"
[[argument]]
value = 7
type = "int32"
[[argument]]
value = 1
type = "int8"
[[argument]]
bytes = "0000000000000440"
[[buffer]]
name = "y"
buffer = "int32"
fill = "values 1 2 3"
[[expect]]
buffer = "x"
value = "2 * x + 1"
relative = 1e-6
"""


def read_code(data: bytes, folder: Path, name: str = "a.cubin") -> None:
    """Read a binary, and bound a guessed launch of its first kernels."""
    path = folder / name
    path.write_bytes(data)
    found = code.read(path)
    for kernel in found.cubin.kernels[:KERNELS] if found.cubin else ():
        launch = Source(path, template.launch_file(found, kernel), (), {})
        bound(prepare.kernel(launch, found, str(path), force=True), load("h200"), limit=INSTRUCTIONS)


def read_fat_binary(data: bytes, folder: Path) -> None:
    """Read a fat binary in the same way."""
    read_code(data, folder, "a.fatbin")


def read_launch(text: bytes, folder: Path) -> None:
    """Read a launch file, and bound its launch."""
    path = folder / "a.toml"
    path.write_bytes(text)
    (folder / "a.cubin").write_bytes(_LAUNCHED.read_bytes())
    bound(prepare.prepared(str(path), force=True), load("h200"), limit=INSTRUCTIONS)


def read_space(text: bytes, folder: Path) -> None:
    """Read a space file, list its points, and evaluate the launch of the first."""
    path = folder / "a.toml"
    path.write_bytes(text)
    space = space_file.read(path)
    first = space_file.points(space)[0]
    space_file.launch(space, first)
    space_file.moved(space, first)


def read_npy(data: bytes, folder: Path) -> None:
    """Read the numbers of an array."""
    (folder / "a.npy").write_bytes(data)
    elements.array(Source(folder / "a.toml", LaunchFile(), (), {}), "argument.0.file", "a.npy")


def read_cache_entry(data: bytes, folder: Path) -> None:
    """Read machine code whose text the cache has, damaged; it must be the text of the tool all the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept, "_folder", lambda _: folder)
        name = kept.digest(["nvdisasm", tools.version("nvdisasm"), *code.OPTIONS, _KEPT.read_bytes()])
        (folder / name).write_bytes(data)
        found = code.read(_KEPT)
        (folder / name).rename(folder / "a.entry")
    if found.sections != _true().sections:
        raise AssertionError("another text than the tool's")


@cache
def _true() -> code.Code:
    return code.read(_KEPT)


def _cubins() -> Iterator[bytes]:
    yield from (path.read_bytes() for path in sorted(DATA.glob("*.cubin")))
    yield from (path.read_bytes() for path in sorted((ROOT / "examples" / "cuda").glob("*.cubin")))


def _launches() -> Iterator[bytes]:
    yield LAUNCH.encode()
    for path in sorted((ROOT / "examples" / "cuda").glob("*.toml")):
        text = path.read_text(encoding="utf-8").replace('file = "', f'file = "{path.parent}/')
        yield f'code = "{path.with_suffix(".cubin")}"\n{text}'.encode()


def _spaces() -> Iterator[bytes]:
    yield SPACE.encode()
    yield from (path.read_bytes() for path in sorted((ROOT / "examples" / "tuning").glob("*.toml")))


def _arrays() -> Iterator[bytes]:
    for array in (
        np.arange(6.0).reshape(2, 3),
        np.zeros(3, "f2"),
        np.ones((2, 2), np.complex64),
        np.asfortranarray([[1]]),
    ):
        file = io.BytesIO()
        np.save(file, array)
        yield file.getvalue()
    np.savez(file := io.BytesIO(), array)
    yield file.getvalue()


def _entries() -> Iterator[bytes]:
    """Yield what the cache keeps of a cubin's text."""
    with pytest.MonkeyPatch.context() as patch:
        held: list[bytes] = []
        patch.setattr(code, "kept", lambda _, make: held.append(make()) or held[-1])
        code.read(_KEPT)
    yield sha256(held[0]).digest() + held[0]


READERS: Mapping[str, Callable[[bytes, Path], None]] = MappingProxyType(
    {
        "machine code": read_code,
        "fat binary": read_fat_binary,
        "launch file": read_launch,
        "space file": read_space,
        "npy": read_npy,
        "cache entry": read_cache_entry,
    }
)
SEEDS: Mapping[str, Callable[[], Iterator[bytes]]] = MappingProxyType(
    {
        "machine code": _cubins,
        "fat binary": lambda: iter([(DATA / "both.fatbin").read_bytes()]),
        "launch file": _launches,
        "space file": _spaces,
        "npy": _arrays,
        "cache entry": _entries,
    }
)
