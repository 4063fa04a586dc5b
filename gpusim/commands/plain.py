"""Plain command lines, read without typer, whose types come from a library that takes 0.08 s to import.

A line is plain if it gives each argument of the command a word, and beside them only flags and options that take a
text. Any other, a wrong one among them, is left to typer, which reads it or says what is wrong.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from typer.models import ArgumentInfo, OptionInfo, ParameterInfo

TEXTS = (str, str | None, list[str] | None)


@dataclass(frozen=True)
class Taken:
    """A parameter of a command: its name, its type, what is declared of it, and its value if it is not given."""

    name: str
    kind: Any
    declared: ParameterInfo
    default: Any

    @property
    def required(self) -> bool:
        """Whether a command line has to give it."""
        return self.default is inspect.Parameter.empty


def read(command: Callable[..., None], words: Sequence[str]) -> dict[str, Any] | None:
    """Return what a command line gives to a command, by name; None if the line is not plain."""
    every = [_taken(one) for one in inspect.signature(command).parameters.values()]
    options = dict(pair for one in every for pair in _names(one))
    given: dict[str, Any] = {}
    left = [one for one in every if isinstance(one.declared, ArgumentInfo)]
    rest = iter(words)
    for word in rest:
        if not word.startswith("-") and word:
            one, value = left.pop(0) if left else None, word
        else:
            one, value = _option(options.get(word), rest)
        if one is None or not _keep(given, one, value):
            return None
    missing = [one for one in every if one.name not in given]
    if any(one.required for one in missing):
        return None
    return {one.name: one.default for one in missing} | given


def _taken(one: inspect.Parameter) -> Taken:
    """Return a parameter whose annotation has its type and, last, what is declared of it."""
    kind, *declared = get_args(one.annotation)
    return Taken(one.name, kind, declared[-1], one.default)


def _names(one: Taken) -> Iterator[tuple[str, tuple[Taken, bool]]]:
    """Yield how an option is written, and whether that way a flag is set."""
    if not isinstance(one.declared, OptionInfo):
        return
    first = str(one.declared.default)  # as it is where options are annotations
    for name in (first, *(one.declared.param_decls or ())):
        yes, _, no = name.partition("/")
        yield yes, (one, True)
        if no:
            yield no, (one, False)


def _option(found: tuple[Taken, bool] | None, rest: Iterator[str]) -> tuple[Taken | None, Any]:
    """Return an option and its value, which may be the next word; no option where that is not plain."""
    if found is None:
        return None, None
    one, value = found
    if one.kind is bool:
        return one, value
    text = next(rest, "")
    return (None, None) if not text or text.startswith("-") else (one, text)


def _keep(given: dict[str, Any], one: Taken, value: Any) -> bool:
    """Add a value, if it is plain."""
    if one.kind is bool and one.name not in given:
        given[one.name] = value
    elif one.kind == TEXTS[-1]:
        given.setdefault(one.name, []).append(value)
    elif one.kind in TEXTS and one.name not in given:
        given[one.name] = value
    else:
        return False
    return True
