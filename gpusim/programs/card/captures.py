"""Launches of a program that are written as launch files, with what memory holds before and after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpusim.launch.file.document import Caches
from gpusim.launch.file.draft.capture import capture
from isa.errors import UserError
from isa.generators import ArrayFill
from isa.kernel import Buffer
from isa.nvidia.abi.launch import LaunchState
from isa.nvidia.file.code import Code
from isa.nvidia.file.names import plain


@dataclass(eq=False)
class Captures:
    """The folder, which launches by number (none: the first of alike ones), and the files so far by number.

    `source` is the text of the program, which says types and names of parameters.
    """

    folder: Path
    numbers: frozenset[int]
    source: str
    caches: Caches
    tell: Callable[[str], None]
    files: dict[int, Path] = field(default_factory=dict)


def is_wanted(captures: Captures | None, number: int, *, first: bool) -> bool:
    """Tell whether a launch is to be written; `first`: none before was like it."""
    return captures is not None and (number in captures.numbers if captures.numbers else first)


def kept(state: LaunchState) -> LaunchState:
    """Return a launch on a copy of its memory."""
    return replace(state, buffers=tuple(_copied(one) for one in state.buffers))


def write(
    captures: Captures,
    number: int,
    code: Code,
    image: bytes,
    before: LaunchState,
    after: LaunchState,
    cold: frozenset[str],
) -> None:
    """Write a launch, and what of its memory it has changed as what is expected; tell where it can't be written.

    `cold` are its buffers of which no cache holds anything.
    """
    path = captures.folder / f"{number}-{plain(before.kernel)}.toml"
    changed = {
        one.name: _values(then)
        for one, then in zip(before.buffers, after.buffers, strict=True)
        if not np.array_equal(_values(one), _values(then))
    }
    try:
        source, caches = captures.source, captures.caches
        capture(path, code, before, image=image, source=source, caches=caches, after=changed, cold=cold)
        captures.files[number] = path
    except UserError as error:
        captures.tell(f"launch {number} is not captured: {error}")


def _copied(one: Buffer) -> Buffer:
    return replace(one, fill=ArrayFill(_values(one).copy()))


def _values(one: Buffer) -> NDArray[np.uint8]:
    assert isinstance(one.fill, ArrayFill)
    return one.fill.values.view(np.uint8)
