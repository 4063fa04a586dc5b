"""A failing pair or text made smaller, as long as the same check still fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from time import monotonic
from typing import TypeVar

from strategies.drawing import PROLOGUE

from fuzz.pair import Pair

T = TypeVar("T")
SECONDS = 120.0
KEPT = frozenset(line.strip() for line in PROLOGUE.splitlines())  # lines that give threads slots of their own


def smaller_pair(pair: Pair, fails: Callable[[Pair], bool], seconds: float = SECONDS) -> Pair:
    """Return a pair of fewer settings and lines that still fails."""
    until, before = monotonic() + seconds, None
    while pair != before and monotonic() < until:
        before = pair
        pair = _of_fewer_lines(_of_fewer_settings(pair, fails, until), fails, until)
    return pair


def _of_fewer_settings(pair: Pair, fails: Callable[[Pair], bool], until: float) -> Pair:
    def made(some: Sequence[tuple[str, int | str]]) -> Pair:
        return replace(pair, settings=dict(some))

    return made(fewer(list(pair.settings.items()), lambda some: fails(made(some)), until))


def _of_fewer_lines(pair: Pair, fails: Callable[[Pair], bool], until: float) -> Pair:
    def made(some: Sequence[str]) -> Pair:
        return replace(pair, listing="".join(some))

    return made(fewer(pair.listing.splitlines(keepends=True), lambda some: fails(made(some)), until, _loose))


def smaller_text(text: bytes, fails: Callable[[bytes], bool], seconds: float = SECONDS) -> bytes:
    """Return a shorter text that still fails: of fewer lines, then of fewer bytes."""
    until = monotonic() + seconds
    lines = fewer(text.splitlines(keepends=True), lambda some: fails(b"".join(some)), until)
    return bytes(fewer(list(b"".join(lines)), lambda some: fails(bytes(some)), until))


def _loose(line: str) -> bool:
    """Whether a line may be left out without making races."""
    return not line.startswith((".", "[")) and line.strip() not in KEPT and "BAR" not in line


def fewer(
    items: Sequence[T], fails: Callable[[list[T]], bool], until: float, loose: Callable[[T], bool] = lambda _: True
) -> list[T]:
    """Return fewer of the items, with which it still fails; stretches are left out, halves first."""
    left = list(items)
    size = max(1, len(left) // 2)
    while size and monotonic() < until:
        left, gone = _without(left, size, fails, until, loose)
        size = size if gone and size == 1 else size // 2
    return left


def _without(
    items: list[T], size: int, fails: Callable[[list[T]], bool], until: float, loose: Callable[[T], bool]
) -> tuple[list[T], bool]:
    """Return the items without stretches of that size, tried from the end, and whether any was left out."""
    left, gone = list(items), False
    for start in _starts(len(items), size):
        if monotonic() >= until:
            break
        kept = [item for item in left[start : start + size] if not loose(item)]
        tried = left[:start] + kept + left[start + size :]
        if len(tried) < len(left) and fails(tried):
            left, gone = tried, True
    return left, gone


def _starts(count: int, size: int) -> Iterator[int]:
    return reversed(range(0, count, size))
