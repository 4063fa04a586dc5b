"""Keep compiled code from one process to the next, in the directory that isa/support/cache_folder.py describes.

Each entry has a file for each kind of arguments, named after everything that its code depends on: sources, versions,
processor. If no code can be kept, one message says so, and each process compiles everything again.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from gpusim.sm.jit import sources
from isa.support import cache_folder


class Kept(NamedTuple):
    """Compiled code: the symbol at which it begins, Numba's name of what it returns, and the object file."""

    symbol: str
    returns: str
    code: bytes


def _compiled() -> bool:
    """Tell whether rules are compiled, as Numba reads its settings: from the environment, or from a file here."""
    if Path(".numba_config.yaml").exists():
        import numba  # noqa: PLC0415  (start-up time)

        return not numba.config.DISABLE_JIT
    text = os.environ.get("NUMBA_DISABLE_JIT", "").strip()
    return not (text.isdecimal() and int(text))


COMPILED = _compiled()


def load(function: Callable[..., Any], kinds: str) -> Kept | None:
    """Return the code of a function for these kinds of arguments, or None."""
    path = _path(function, kinds)
    content = path and cache_folder.read(path)
    if not content:
        return None
    head, _, code = content.partition(b"\n")
    return Kept(**json.loads(head), code=code)


def save(function: Callable[..., Any], kinds: str, kept: Kept) -> None:
    """Keep the code of a function for these kinds of arguments."""
    path = _path(function, kinds)
    if path is not None:
        head = json.dumps({"symbol": kept.symbol, "returns": kept.returns})
        cache_folder.write(path, head.encode() + b"\n" + kept.code)


def place(function: Callable[..., Any]) -> Path | None:
    """Return the folder of the files of a function, or None if its code isn't kept."""
    key = sources.key(function.__module__) if identity(function) else None
    return _folder(key) if key else None


def holds(module: str, name: str) -> bool:
    """Tell whether the cache has code of an entry for some arguments."""
    key = sources.key(module)
    folder = _folder(key) if key else None
    return bool(folder and any(folder.glob(f"{_short(module, name)}-*.nbc")))


@cache
def directory() -> Path | None:
    """Return the directory of the cache if it exists and is safe; else say why on stderr and return None."""
    return cache_folder.directory(os.environ.get(cache_folder.SETTING, ""))


def _path(function: Callable[..., Any], kinds: str) -> Path | None:
    folder = place(function)
    if folder is None:
        return None
    made_of = f"{identity(function)} {kinds} {_processor()} {_versions()}"
    short = _short(function.__module__, function.__qualname__)
    return folder / f"{short}-{hashlib.sha256(made_of.encode()).hexdigest()[:16]}.nbc"


@cache
def _folder(key: str) -> Path | None:
    """Return the folder for code of these sources, which is safe as well."""
    place = directory()
    return place and cache_folder.folder(place, key)


def _short(module: str, name: str) -> str:
    """Return the readable part of a file's name, which says whose code it holds."""
    return f"{module.rpartition('.')[2]}.{name}"


def identity(value: Any) -> str:
    """Return what distinguishes an entry, or what it closes over, from others of its module; perhaps empty."""
    function = getattr(value, "py_func", value)
    if isinstance(value, tuple):
        parts = [identity(one) for one in value]
        return f"({', '.join(parts)})" if all(parts) else ""
    if not isinstance(function, FunctionType):
        return repr(value) if isinstance(value, str | int | float) else ""
    cells = [identity(cell.cell_contents) for cell in function.__closure__ or ()]
    return f"{function.__module__}.{function.__qualname__}({', '.join(cells)})" if all(cells) else ""


@cache
def _processor() -> str:
    """Return the processor for which LLVM makes code here."""
    from llvmlite import binding  # noqa: PLC0415  (start-up time)

    features = binding.get_host_cpu_features().flatten()
    return f"{binding.get_process_triple()} {binding.get_host_cpu_name()} {features}"


@cache
def _versions() -> str:
    """Return the versions on which code depends beside sources, arguments and processor."""
    import llvmlite  # noqa: PLC0415  (start-up time)

    settings = {name: value for name, value in os.environ.items() if name.startswith("NUMBA_")}
    settings.pop(cache_folder.SETTING, None)
    return f"{sys.version} {_of_numba()} {llvmlite.__version__} {np.__version__} {sorted(settings.items())}"


def _of_numba() -> str:
    """Return what stands for Numba's version, without its import, which takes 0.2 s, or importlib's metadata."""
    found = find_spec("numba")
    places = found.submodule_search_locations if found else None
    return hashlib.sha256(b"".join((Path(one) / "_version.py").read_bytes() for one in places or ())).hexdigest()
