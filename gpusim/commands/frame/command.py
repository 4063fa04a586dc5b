"""How a command is made: this file says what a command takes and what it answers; each command says only its own.

A command is a function of the name of its file. Its parameters are what it takes:

- an option or argument, annotated with a declaration of options.py or one of its own;
- a group of options, annotated with a frozen dataclass whose fields are such options, or groups again: `Launch` (which
  kernel, on which machine, with which numbers), `CodeOptions` (machine code), `Simulation` (how a run is made) and
  others of options.py. Options of one meaning are declared there, once.

It returns an `Answer`: a document and what people see instead. `flat` turns it into the function that typer reads, with
each option by itself and with `--json`; `tell` prints the answer, writes and opens its page, and ends with its code. A
command that prints as it goes takes `json` itself, and returns nothing.

An option that may be repeated is declared as a sequence: the command gets a tuple, empty where it is not given. Without
a default it has to be given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from inspect import Parameter, Signature, signature
from operator import getitem
from pathlib import Path
from types import GenericAlias
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from gpusim.commands.frame.document import show, write, write_json, write_printed
from gpusim.commands.frame.options import Json
from gpusim.commands.frame.page_file import Page, open_in_browser
from gpusim.support import whole_file
from gpusim.support.document import Document, Ineffective

JSON = "json"
Screen = str | Iterable[object]  # text, or what rich prints


@dataclass(frozen=True)
class Answer:
    """What a command says: a document for programs, or else the parts of a screen or text; both are made on demand.

    `unfelt` are the settings that do nothing, `page` is the page of `charts` if one is asked for, `opened` a file for a
    browser, `code` the exit code, `printed` what the kernel has printed, which comes before the screen.
    """

    document: Document | Callable[[], Document]
    screen: Screen | Callable[[], Screen]
    unfelt: Sequence[Ineffective] = ()
    code: int = 0
    page: Page | None = None
    charts: Callable[[], str] = str
    opened: Path | None = None
    printed: str = ""


def tell(answer: Answer, *, json: bool) -> None:
    """Print an answer, after its page is written; raises Exit for an exit code other than 0."""
    if answer.page:
        whole_file.write(answer.page.file, answer.charts())
    if json:
        write_json(answer.document() if callable(answer.document) else answer.document, answer.unfelt)
    else:
        write_printed(answer.printed)
        _print(answer.screen() if callable(answer.screen) else answer.screen)
    if answer.page:
        answer.page.present(json=json)
    if answer.opened:
        open_in_browser(answer.opened)
    if answer.code:
        raise typer.Exit(answer.code)


def _print(screen: Screen) -> None:
    if isinstance(screen, str):
        write(screen)
    else:
        show(*screen)


def flat(command: Callable[..., Answer | None]) -> Callable[..., None]:
    """Return a command as typer takes it: with the options of its groups, and `--json`, as parameters of its own."""
    options = {one.name: one for one in _options(command)}
    own = JSON in options
    options |= {} if own else {JSON: Parameter(JSON, Parameter.KEYWORD_ONLY, default=False, annotation=Json)}

    def called(**given: Any) -> None:
        json = given[JSON] if own else given.pop(JSON)
        if answer := _built(command, given):
            tell(answer, json=json)

    called.__doc__ = command.__doc__
    called.__dict__["__signature__"] = Signature(list(options.values()))
    called.__annotations__ = {name: one.annotation for name, one in options.items()}
    return called


def _taken(of: Callable[..., Any]) -> Iterator[tuple[Parameter, Any]]:
    """Yield the parameters of a command or a group with their types."""
    types = get_type_hints(of, include_extras=True)
    yield from ((one, types[name]) for name, one in signature(of).parameters.items())


def _options(of: Callable[..., Any]) -> Iterator[Parameter]:
    """Yield the options that a command or a group takes, those of groups in their place."""
    for one, kind in _taken(of):
        if _is_group(kind):
            yield from _options(kind)
        elif several := _repeated(kind):
            default = one.empty if one.default is one.empty else None
            yield one.replace(kind=Parameter.KEYWORD_ONLY, default=default, annotation=several)
        else:
            yield one.replace(kind=Parameter.KEYWORD_ONLY, annotation=kind)


def _is_group(kind: Any) -> bool:
    return isinstance(kind, type) and is_dataclass(kind)


def _repeated(kind: Any) -> Any:
    """Return the type of an option that is declared as a sequence, as typer takes it; None for others."""
    sequence, *extras = get_args(kind) if get_origin(kind) is Annotated else (kind,)
    if get_origin(sequence) is not Sequence:
        return None
    several = GenericAlias(list, get_args(sequence)) | None
    return getitem(Annotated, (several, *extras))


def _built(of: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """Call a command, or make a group, with the options that belong to it."""
    return of(**{one.name: _value(one.name, kind, given) for one, kind in _taken(of)})


def _value(name: str, kind: Any, given: Mapping[str, Any]) -> Any:
    if _is_group(kind):
        return _built(kind, given)
    return tuple(given[name] or ()) if _repeated(kind) else given[name]
