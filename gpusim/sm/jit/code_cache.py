"""Keep compiled code from one process to the next, in the directory that isa/support/cache_folder.py describes.

Each entry has a file for each kind of arguments, named after everything that its code depends on: sources, versions,
processor. If no code can be kept, one message says so, and each process compiles everything again.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from gpusim.sm.jit import sources
from isa.support import cache_folder


class CodeCache(NullCache):
    """The files of one entry, with the interface that Numba expects."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._name = _short(function.__module__, function.__qualname__)
        self._module = function.__module__
        sources.read(self._module)
        self._identity = _identity(function)

    @property
    def cache_path(self) -> Path | None:
        """Return the folder of the files, or None if there is none."""
        key = sources.key(self._module) if self._identity else None
        return _folder(key) if key else None

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return the code for these arguments, or None."""
        rtsys.initialize(context)  # what loaded code calls; a compilation does the rest of `context.refresh()` itself
        path = self._path(signature, context.codegen())
        content = path and cache_folder.read(path)
        return CompileResult._rebuild(context, *pickle.loads(content)) if content else None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep the code for these arguments, unless it contains addresses of this process."""
        path = self._path(signature, result.codegen)
        if path is None or result.library.has_dynamic_globals:
            return
        cache_folder.write(path, dumps(result._reduce()))

    def _path(self, signature: Any, codegen: Any) -> Path | None:
        folder = self.cache_path
        if folder is None:
            return None
        made_of = f"{self._identity} {signature} {codegen.magic_tuple()} {_versions()}"
        return folder / f"{self._name}-{hashlib.sha256(made_of.encode()).hexdigest()[:16]}.nbc"


def holds(module: str, name: str) -> bool:
    """Tell whether the cache has code of an entry for some arguments."""
    key = sources.key(module)
    folder = _folder(key) if key else None
    return bool(folder and any(folder.glob(f"{_short(module, name)}-*.nbc")))


@cache
def directory() -> Path | None:
    """Return the directory of the cache if it exists and is safe; else say why on stderr and return None."""
    return cache_folder.directory(numba.config.CACHE_DIR)


@cache
def _folder(key: str) -> Path | None:
    """Return the folder for code of these sources, which is safe as well."""
    place = directory()
    return place and cache_folder.folder(place, key)


def _short(module: str, name: str) -> str:
    """Return the readable part of a file's name, which says whose code it holds."""
    return f"{module.rpartition('.')[2]}.{name}"


def _identity(value: Any) -> str:
    """Return what distinguishes an entry, or what it closes over, from others of its module; perhaps empty."""
    function = getattr(value, "py_func", value)
    if isinstance(value, tuple):
        parts = [_identity(one) for one in value]
        return f"({', '.join(parts)})" if all(parts) else ""
    if not isinstance(function, FunctionType):
        return repr(value) if isinstance(value, str | int | float) else ""
    cells = [_identity(cell.cell_contents) for cell in function.__closure__ or ()]
    return f"{function.__module__}.{function.__qualname__}({', '.join(cells)})" if all(cells) else ""


def _versions() -> str:
    """Return the versions on which code depends beside sources, arguments and processor."""
    settings = {name: value for name, value in os.environ.items() if name.startswith("NUMBA_")}
    settings.pop("NUMBA_CACHE_DIR", None)
    return f"{sys.version} {numba.__version__} {llvmlite.__version__} {np.__version__} {sorted(settings.items())}"
