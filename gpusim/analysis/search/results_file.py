"""Results on disk: a JSON line with the settings that they depend on, then a line for each result once it is known.

An interrupted run leaves whole lines and perhaps a partial one, which the next run cuts off.
"""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO, TypeVar

import msgspec

from gpusim.machine.machine import Machine
from gpusim.support import whole_file
from isa.errors import UserError
from isa.reading import input_file

LABELS = {
    "facts": "machine numbers with the hash",
    "listing": "a listing with the hash",
    "file": "a space file with the hash",
    "source": "a source with the hash",
}
NUMBERS = "facts"  # by machine, where there are several: their keys say more than their hashes
S = TypeVar("S", bound=msgspec.Struct)
T = TypeVar("T", bound=msgspec.Struct)


def hash_of(machine: Machine) -> str:
    """Return the hash of all numbers of a machine, 16 hexadecimal digits."""
    return sha256(msgspec.json.encode(machine, order="sorted")).hexdigest()[:16]


@contextmanager
def results(
    path: Path | None, settings: msgspec.Struct, kind: type[T]
) -> Iterator[tuple[list[T], Callable[[T], None]]]:
    """Give the results of that kind that the file already has, and the function that adds one to it.

    Without a path there are none, and nothing is kept. Raises UserError if the file holds something else, or results
    of other settings; the file is then left unchanged.
    """
    if path is None:
        yield [], lambda _: None
        return
    whole_file.check(path)
    try:
        with path.open("a+b") as file:
            _hold(path, file)
            known, length = _read(path, settings, kind)
            file.truncate(length)
            if not length:
                _write(file, settings)
            yield known, lambda each: _write(file, each)
    except OSError as error:  # of an open file, if the disk is full
        error.filename = error.filename or str(path)
        raise


def _hold(path: Path, file: IO[bytes]) -> None:
    """Lock the file against other processes until it is closed."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise UserError(f"{path}: another gpusim writes it; wait for that, or give another file") from None


def _write(file: IO[bytes], line: msgspec.Struct) -> None:
    file.write(msgspec.json.encode(line) + b"\n")
    file.flush()


def _read(path: Path, settings: msgspec.Struct, kind: type[T]) -> tuple[list[T], int]:
    """The results of a file, and the bytes of its whole lines: 0 if its first line is partial."""
    text = input_file.read(path, "give another file", input_file.MOST_GENERATED)
    whole = text[: text.rfind(b"\n") + 1]
    if not whole and msgspec.json.encode(settings).startswith(text):
        return [], 0
    first, *rest = whole.splitlines() or [b""]
    _check(path, _decoded(path, 1, first, type(settings)), settings)
    return [_decoded(path, number, line, kind) for number, line in enumerate(rest, 2)], len(whole)


def _decoded(path: Path, number: int, line: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise UserError(f"{path}:{number}: no line of such results; give another file") from None


def _check(path: Path, found: S, wanted: S) -> None:
    for name in wanted.__struct_fields__:
        have, want = getattr(found, name), getattr(wanted, name)
        if have != want:
            raise UserError(f"{path}: results of {_difference(name, have, want)}; give another file")


def _difference(name: str, have: object, want: object) -> str:
    """Return whose results a file has, and whose it should have."""
    if name != NUMBERS or not (isinstance(have, dict) and isinstance(want, dict)):
        return f"{LABELS.get(name, name)} {_show(have)}, not {_show(want)}"
    if have.keys() != want.keys():
        return f"{' and '.join(have)}, not of {' and '.join(want)}"
    return f"other numbers of {', '.join(key for key in have if have[key] != want[key])}"


def _show(value: object) -> str:
    return msgspec.json.encode(value).decode().strip('"')
