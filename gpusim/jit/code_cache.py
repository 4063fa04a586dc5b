"""Keep compiled code from one process to the next, in a directory that nobody else can write to.

Loaded code is executed, so anybody who can write to the cache, or replace its directory, can run code as this user.
Like ssh for its keys, the cache uses no directory that others can write to or that lies below such a directory (except
one like /tmp, where nobody can rename the files of others), and none that belongs to anybody but this user and root.

Each entry has a file for each kind of arguments, named after everything that its code depends on: sources, versions,
processor. If no code can be kept, one message says so, and each process compiles everything again.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from gpusim.jit import sources
from gpusim.support import whole_file
from isa.errors import UserError

DIGEST = 32  # bytes of a SHA-256
SAID: list[str] = []  # reasons already printed for not keeping code


class CodeCache(NullCache):
    """The files of one entry, with the interface that Numba expects."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._name = _short(function.__module__, function.__qualname__)
        self._key = sources.key(function.__module__)
        self._identity = _identity(function)

    @property
    def cache_path(self) -> Path | None:
        """Return the folder of the files, or None if there is none."""
        return _folder(self._key) if self._key and self._identity else None

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return the code for these arguments, or None."""
        context.refresh()
        path = self._path(signature, context.codegen())
        content = path and _read(path)
        return CompileResult._rebuild(context, *pickle.loads(content)) if content else None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep the code for these arguments, unless it contains addresses of this process."""
        path = self._path(signature, result.codegen)
        if path is None or result.library.has_dynamic_globals:
            return
        content = dumps(result._reduce())
        try:
            _created(path.parent)
            with whole_file.unfinished(path) as part:
                part.touch(0o600)  # whatever the umask: a file that others can write to is never read
                part.write_bytes(hashlib.sha256(content).digest() + content)
        except (OSError, UserError) as error:
            _tell(error)

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
    try:
        return _created(_wanted())
    except (OSError, RuntimeError, UserError) as error:
        _tell(error)
    return None


@cache
def _folder(key: str) -> Path | None:
    """Return the folder for code of these sources, which is safe as well."""
    place = directory()
    try:
        return place and _created(place / key)
    except (OSError, UserError) as error:
        _tell(error)
    return None


def _wanted() -> Path:
    """Return the wanted place of the cache, without symbolic links; raises RuntimeError and UserError if no home."""
    given = Path(os.environ.get("XDG_CACHE_HOME") or "")
    if not (given.is_absolute() or numba.config.CACHE_DIR):  # the XDG standard says to ignore a relative path
        home = Path.home()
        if os.environ.get("HOME") == "" or not home.is_dir():
            raise UserError(f"{os.environ.get('HOME') or 'HOME'}: no such directory")
        given = home / ".cache"
    return Path(os.path.realpath(Path(numba.config.CACHE_DIR or given) / "gpusim"))


def _created(place: Path) -> Path:
    """Return a directory, created together with its missing parents.

    Raises OSError if it can't be created, and UserError if others could put files into it.
    """
    for one in (*reversed(place.parents), place):
        if not one.is_dir():
            with suppress(FileExistsError):  # another process was first, or it is a file, which `check` finds
                one.mkdir(0o700)
        check(one, one.lstat(), shared=one != place)
    return place


def check(path: Path, status: os.stat_result, *, shared: bool = False) -> None:
    """Raise UserError if others could change the contents, or, in a `shared` directory, the files that belong to us."""
    if os.name != "posix":
        return
    if status.st_uid not in {0, os.geteuid()}:
        raise UserError(f"{path}: belongs to somebody else")
    others = stat.S_IWOTH if _alone_in(status.st_gid) else stat.S_IWOTH | stat.S_IWGRP
    if status.st_mode & others and not (shared and status.st_mode & stat.S_ISVTX):
        raise UserError(f"{path}: others can write to it (chmod go-w forbids it)")


def _alone_in(group: int) -> bool:
    """Tell whether we are the only member of the group, as on systems that make a group for each user."""
    import grp  # noqa: PLC0415  (not on Windows)
    import pwd  # noqa: PLC0415

    with suppress(KeyError):  # no such group, or user
        me, members = pwd.getpwuid(os.geteuid()), grp.getgrgid(group).gr_mem
        primary = {user.pw_uid for user in pwd.getpwall() if user.pw_gid == group}
        return primary == {me.pw_uid} and set(members) <= {me.pw_name}
    return False


def _read(path: Path) -> bytes | None:
    """Return the contents of a file, or None if it is missing, cut short, or perhaps written by others."""
    try:
        with path.open("rb") as file:
            check(path, os.fstat(file.fileno()))
            content = file.read()
    except (OSError, UserError):
        return None
    digest, kept = content[:DIGEST], content[DIGEST:]
    return kept if hashlib.sha256(kept).digest() == digest else None


def _short(module: str, name: str) -> str:
    """Return the readable part of a file's name, which says whose code it holds."""
    return f"{module.rpartition('.')[2]}.{name}"


def _identity(value: Any) -> str:
    """Return what distinguishes an entry, or what it closes over, from others of its module; perhaps empty."""
    function = getattr(value, "py_func", value)
    if not isinstance(function, FunctionType):
        return repr(value) if isinstance(value, str | int | float) else ""
    cells = [_identity(cell.cell_contents) for cell in function.__closure__ or ()]
    return f"{function.__module__}.{function.__qualname__}({', '.join(cells)})" if all(cells) else ""


def _versions() -> str:
    """Return the versions on which code depends beside sources, arguments and processor."""
    settings = {name: value for name, value in os.environ.items() if name.startswith("NUMBA_")}
    settings.pop("NUMBA_CACHE_DIR", None)
    return f"{sys.version} {numba.__version__} {llvmlite.__version__} {np.__version__} {sorted(settings.items())}"


def _tell(error: Exception) -> None:
    """Say once on stderr why compiled code is not kept."""
    cause = f"{error.filename}: {error.strerror.lower()}" if isinstance(error, OSError) and error.strerror else error
    if sys.stderr and not SAID:
        remedy = "NUMBA_CACHE_DIR may name another directory"
        sys.stderr.write(f"warning: compiled code is not kept, so each run compiles it anew: {cause}; {remedy}\n")
    SAID.append(str(cause))
