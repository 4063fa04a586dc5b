"""From the text of a kernel of CuPy's kind to its launch on the card."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from gpusim.analysis.account.answer import Result
from gpusim.api.card.active import current
from gpusim.api.card.card import Call
from gpusim.api.extent import Size, extent
from gpusim.api.python_words import in_words_of_python
from gpusim.api.raw_module import RawFunction, RawModule
from gpusim.machine.architecture import number
from isa.errors import UserError

KEPT = 128  # modules of generated code
_HEADER = re.compile(r"^\s*#\s*include\s*[<\"](cupy/[^>\"]*)[>\"]", re.M)
_NAME = re.compile(r"[A-Za-z_]\w*")


def checked(source: str) -> str:
    """Return a source; raises UserError for one that includes a header of CuPy's own."""
    if match := _HEADER.search(source):
        raise UserError(
            f"#include <{match[1]}>: a header of CuPy's own; write what the kernel needs of it in the source"
        )
    return source


def check_name(name: str) -> str:
    """Return the name of a kernel; raises UserError for one that C doesn't take."""
    if not _NAME.fullmatch(name):
        raise UserError(f"name {name!r}: give one of letters, digits and _")
    return name


def architecture() -> int:
    """Return what the current card executes: 90 for sm_90."""
    return number(current().machine)


@lru_cache(KEPT)
def module(source: str, options: tuple[str, ...], compiled_for: int) -> RawModule:
    """Return the module of a generated source, which keeps nothing between launches."""
    with in_words_of_python():
        return RawModule(checked(source), options=options, architecture=compiled_for)


def launch(
    function: RawFunction,
    grid: Size,
    block: Size,
    arguments: Sequence[Any],
    shared: int = 0,
    names: Sequence[str] = (),
    *,
    cooperative: bool = False,
) -> Result | None:
    """Run a launch on the current card, and return its result; None of a grid without blocks.

    Messages call the arguments by `names`, if there are any. Blocks of a `cooperative` one may synchronise the grid.
    """
    blocks, threads = extent("grid", grid), extent("block", block)
    if 0 in blocks:
        return None
    call = Call(function, blocks, threads, shared, tuple(arguments), None, tuple(names), cooperative)
    with in_words_of_python():
        return current().launch(call)
