"""A directory for what is dear to make anew, which nobody else can write to: compiled code, disassembled text.

Some of what is kept is executed, so anybody who can write to the cache, or replace its directory, can run code as this
user. Like ssh for its keys, the cache uses no directory that others can write to or that lies below such a directory
(except one like /tmp, where nobody can rename the files of others), and none that belongs to anybody but this user and
root. If nothing can be kept, one message says so.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

from isa.errors import UserError, one_line

DIGEST = 32  # bytes of a SHA-256
SETTING = "NUMBA_CACHE_DIR"  # the environment's name of another place; Numba's, whose compiled code is kept here too
SAID: list[str] = []  # reasons already printed for keeping nothing


def directory(given: str) -> Path | None:
    """Return the directory below a given place, or below the user's usual one for an empty text, if it is safe.

    It is created if it is missing. If it can't be used, one line on stderr says why, and this returns None.
    """
    try:
        return _created(_wanted(given))
    except (OSError, RuntimeError, UserError) as error:
        tell(error)
    return None


def folder(below: Path, name: str) -> Path | None:
    """Return a folder of that directory, which is safe as well; else say why on stderr and return None."""
    try:
        return _created(below / name)
    except (OSError, UserError) as error:
        tell(error)
    return None


def read(path: Path) -> bytes | None:
    """Return what a file of the cache holds, or None if it is missing, cut short, or perhaps written by others."""
    try:
        with path.open("rb") as file:
            check(path, os.fstat(file.fileno()))
            content = file.read()
    except (OSError, UserError):
        return None
    digest, kept = content[:DIGEST], content[DIGEST:]
    return kept if hashlib.sha256(kept).digest() == digest else None


def write(path: Path, content: bytes) -> None:
    """Keep bytes in a file, which appears whole or not at all; if it can't be written, say why once on stderr."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        _created(path.parent)
        part.touch(0o600)  # whatever the umask: a file that others can write to is never read
        part.write_bytes(hashlib.sha256(content).digest() + content)
        part.replace(path)
    except (OSError, UserError) as error:
        if isinstance(error, OSError) and error.filename in (None, str(part)):  # None: the disk is full
            error.filename = str(path)
        tell(error)
    finally:
        with suppress(OSError):  # the earlier error is the one to report
            part.unlink()


def check(path: Path, status: os.stat_result, *, shared: bool = False) -> None:
    """Raise UserError if others could change the contents, or, in a `shared` directory, the files that belong to us."""
    if os.name != "posix":
        return
    if status.st_uid not in {0, os.geteuid()}:
        raise UserError(f"{path}: belongs to somebody else")
    others = stat.S_IWOTH if alone_in(status.st_gid) else stat.S_IWOTH | stat.S_IWGRP
    if status.st_mode & others and not (shared and status.st_mode & stat.S_ISVTX):
        raise UserError(f"{path}: others can write to it (chmod go-w forbids it)")


def alone_in(group: int) -> bool:
    """Tell whether we are the only member of the group, as on systems that make a group for each user."""
    import grp  # noqa: PLC0415  (not on Windows)
    import pwd  # noqa: PLC0415

    with suppress(KeyError):  # no such group, or user
        me, members = pwd.getpwuid(os.geteuid()), grp.getgrgid(group).gr_mem
        primary = {user.pw_uid for user in pwd.getpwall() if user.pw_gid == group}
        return primary == {me.pw_uid} and set(members) <= {me.pw_name}
    return False


def tell(error: Exception) -> None:
    """Say once on stderr why nothing is kept."""
    cause = str(error)
    if isinstance(error, OSError) and error.strerror:
        cause = f"{error.filename}: {error.strerror.lower()}"
    if sys.stderr and not SAID:
        remedy = f"{SETTING} may name another directory"
        said = f"compiled code is not kept, so each run compiles it anew: {cause}; {remedy}"
        sys.stderr.write(f"warning: {one_line(said)}\n")
    SAID.append(cause)


def _wanted(setting: str) -> Path:
    """Return the wanted place of the cache, without symbolic links; raises RuntimeError and UserError if no home."""
    given = Path(os.environ.get("XDG_CACHE_HOME") or "")
    if not (given.is_absolute() or setting):  # the XDG standard says to ignore a relative path
        home = Path.home()
        if os.environ.get("HOME") == "" or not home.is_dir():
            raise UserError(f"{os.environ.get('HOME') or 'HOME'}: no such directory")
        given = home / ".cache"
    return Path(os.path.realpath(Path(setting or given) / "gpusim"))


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
