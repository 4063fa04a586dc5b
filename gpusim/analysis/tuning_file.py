"""Results of tuning on disk: a JSON line that says what was tuned, then a line for each trial as it is done.

A run that was interrupted leaves whole lines and perhaps the beginning of one, which the next run cuts off.
"""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO, TypeVar

import msgspec

from gpusim.analysis.tuning import Trial
from gpusim.machine import Machine
from isa.errors import UserError


class Tuned(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything a trial's result depends on beside its point; `facts` is the hash of all the machine's numbers."""

    space: str
    machine: str
    facts: str
    size: tuple[int, int, int]
    waves: int
    parameters: dict[str, str]
    version: str


LABELS = {"facts": "machine numbers with the hash"}
T = TypeVar("T")


def hash_of(machine: Machine) -> str:
    """Return the hash of all numbers of a machine, 16 hexadecimal digits."""
    return sha256(msgspec.json.encode(machine, order="sorted")).hexdigest()[:16]


@contextmanager
def results(path: Path | None, tuned: Tuned) -> Iterator[tuple[list[Trial], Callable[[Trial], None]]]:
    """Give the trials that the file has already, and the function that adds one to it.

    Without a path there are none, and nothing is kept. Raises UserError if the file holds something else, or results
    of other settings; it is left as it is then.
    """
    if path is None:
        yield [], lambda _: None
        return
    with path.open("a+b") as file:
        _hold(path, file)
        known, length = _read(path, tuned)
        file.truncate(length)
        if not length:
            _write(file, tuned)
        yield known, lambda each: _write(file, each)


def _hold(path: Path, file: IO[bytes]) -> None:
    """Keep others from the file until it is closed."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise UserError(f"{path}: another gpusim tune writes it; wait for that, or give another file") from None


def _write(file: IO[bytes], line: msgspec.Struct) -> None:
    file.write(msgspec.json.encode(line) + b"\n")
    file.flush()


def _read(path: Path, tuned: Tuned) -> tuple[list[Trial], int]:
    """The trials of a file, and the bytes of its whole lines: none where it broke off in its first."""
    text = path.read_bytes()
    whole = text[: text.rfind(b"\n") + 1]
    if not whole and msgspec.json.encode(tuned).startswith(text):
        return [], 0
    first, *rest = whole.splitlines() or [b""]
    _check(path, _decoded(path, 1, first, Tuned), tuned)
    return [_decoded(path, number, line, Trial) for number, line in enumerate(rest, 2)], len(whole)


def _decoded(path: Path, number: int, line: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise UserError(f"{path}:{number}: no line of results of gpusim tune; give another file") from None


def _check(path: Path, found: Tuned, wanted: Tuned) -> None:
    for name in Tuned.__struct_fields__:
        have, want = getattr(found, name), getattr(wanted, name)
        if have != want:
            label = LABELS.get(name, name)
            raise UserError(f"{path}: results of {label} {_show(have)}, not {_show(want)}; give another file")


def _show(value: object) -> str:
    return msgspec.json.encode(value).decode().strip('"')
