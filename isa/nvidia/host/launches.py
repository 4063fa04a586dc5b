"""The launches `kernel<<<grid, block, shared, stream>>>(arguments)` of CUDA C, as far as their numbers can be read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from isa.nvidia.file.names import plain
from isa.nvidia.file.signature import instance
from isa.nvidia.host.expression import Dim, Number, UnknownError, dim, number
from isa.nvidia.host.names import Names, names
from isa.nvidia.host.text import bare, parts

_NAME = re.compile(r"([A-Za-z_]\w*)\s*$")
_OPEN, _END = "<<<", ">>>"
MOST = 1000  # launches that are looked at
MOST_SIZE = (1 << 31) - 1  # blocks or threads along an axis: what CUDA allows of a grid in x
_LONGEST = 400  # letters of a template's arguments


@dataclass(frozen=True)
class Written:
    """A launch in a source: its line, its text up to the arguments, how many others of the kernel follow.

    Where a number can't be read it is None, and `unread` says the part that isn't known.
    """

    line: int
    text: str
    others: int
    grid: Dim | None
    block: Dim | None
    shared: int | None
    arguments: tuple[Number | None, ...]
    unread: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Found:
    """A launch's place, the arguments of its template, and where its brackets begin."""

    at: int
    template: str
    inside: int


def written(source: str, mangled: str) -> Written | None:
    """Return the first launch of a kernel in a source, of this instance if one is written so; None if it has none.

    The time that it takes is in proportion to the text, which may be anybody's.
    """
    text = bare(source)
    every = list(_launches(text, plain(mangled)))
    if not every:
        return None
    known = names(text)
    own = [one for one in every if _is_of(known, one, mangled)] or every
    return _read(source, text, known, own[0], len(own) - 1)


def _launches(text: str, kernel: str) -> Iterator[_Found]:
    """Yield each launch of a kernel, given by its plain name."""
    at = -1
    for _ in range(MOST):
        if (at := text.find(_OPEN, at + 1)) < 0:
            return
        end, template, first = at, "", max(0, at - 2 * _LONGEST)
        before = text[first:at].rstrip()
        if before.endswith(">") and (begin := _opening(before)) >= 0:
            end, template = first + begin, before[begin + 1 : -1]
        match = _NAME.search(text, max(0, end - _LONGEST), end)
        if match and match[1] == kernel:
            yield _Found(match.start(), template, at + len(_OPEN))


def _opening(text: str) -> int:
    """Return where the bracket `<` stands that the last letter of a text closes; -1 where it isn't found."""
    depth = 0
    for place in range(len(text) - 1, max(-1, len(text) - _LONGEST), -1):
        depth += (text[place] == ">") - (text[place] == "<")
        if depth == 0:
            return place
    return -1


def _is_of(known: Names, one: _Found, mangled: str) -> bool:
    """Tell whether a launch is of just this instance of a template."""
    wanted = instance(mangled).partition("<")[2].removesuffix(">")
    words = [_word(known, each, one.at) for each in parts(one.template, 0)[0]]
    return bool(wanted) and [each.strip() for each in wanted.split(",")] == words


def _word(known: Names, text: str, at: int) -> str:
    """Return an argument of a template as the demangler has it: a number, or the words of a type."""
    try:
        return str(known.value(text, at))
    except UnknownError:
        return " ".join(text.replace("unsigned int", "unsigned").split())


def _read(source: str, text: str, known: Names, one: _Found, others: int) -> Written:
    end = text.find(_END, one.inside)
    end = len(text) if end < 0 else end
    given, unread = parts(text[one.inside : end], 0)[0], list[str]()
    grid, block, shared = (_dim(known, given, index, one.at, unread) for index in range(3))
    behind = text.find("(", end)
    arguments = parts(text, behind + 1)[0] if behind >= 0 else []
    return Written(
        line=source.count("\n", 0, one.at) + 1,
        text=" ".join(source[one.at : end + len(_END)].split()),
        others=others,
        grid=grid,
        block=block,
        shared=shared[0] if shared else 0 if len(given) < 3 else None,
        arguments=tuple(_number(known, each, one.at) for each in arguments),
        unread=tuple(dict.fromkeys(unread)),
    )


def _dim(known: Names, given: list[str], index: int, at: int, unread: list[str]) -> Dim | None:
    if index >= len(given):
        return None
    try:
        found = dim([known.value(given[index], at)])
        if index < 2 and not all(0 < one <= MOST_SIZE for one in found):
            raise UnknownError(f"{given[index]}, which is no size")
        return found
    except UnknownError as error:
        unread.append(str(error))
        return None


def _number(known: Names, text: str, at: int) -> Number | None:
    try:
        return number(known.value(text, at))
    except UnknownError:
        return None
