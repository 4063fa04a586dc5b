"""Output of commands: tables for people, JSON documents for programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence

import msgspec
from rich.console import Console
from rich.table import Column, Table

from gpusim.support.document import Document, Ineffective
from gpusim.support.escaped_parts import EscapedParts
from isa.support.escaped import escaped

WIDTH = 100


def write_json(document: Document, ineffective: Sequence[Ineffective] = ()) -> None:
    """Print a document on stdout as JSON, with the settings that do nothing if there are any."""
    if ineffective:
        document = msgspec.structs.replace(document, ineffective=ineffective)
    write(encoded(document) + "\n")


def encoded(document: Document) -> str:
    """Return a document as JSON."""
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def show(*parts: object) -> None:
    """Print tables and text without blanks at the ends of lines, as wide as the terminal or COLUMNS, else 100."""
    console = Console(highlight=False, markup=False, emoji=False, width=width())
    console.push_render_hook(EscapedParts())
    with console.capture() as captured:
        for part in parts:
            console.print(part)
    _put("".join(f"{line.rstrip()}\n" for line in captured.get().split("\n")[:-1]))


def width() -> int:
    """Return the width of a line in characters: that of the terminal, or COLUMNS, else 100."""
    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console().width if known else WIDTH


def new_table(*columns: str | Column, rows: Iterable[Iterable[object]] = (), tight: bool = False) -> Table:
    """Return a table in the commands' one style; a tight one has one blank between columns, not two."""
    table = Table(*columns, box=None, header_style="bold", pad_edge=False, collapse_padding=tight)
    for row in rows:
        table.add_row(*map(str, row))
    return table


def right(*names: str) -> Iterable[Column]:
    """Return right-aligned columns for figures."""
    return (Column(name, justify="right") for name in names)


def joined(*lines: object) -> str:
    """Return lines as text."""
    return "".join(f"{line}\n" for line in lines)


def write(text: str) -> None:
    """Write text to stdout at once, so that a broken pipe raises here and not at exit.

    Control characters are shown as escapes.
    """
    _put(escaped(text))


def write_printed(text: str) -> None:
    """Write what a kernel has printed, as `write` does; the screen begins on a line of its own."""
    if text:
        write(text if text.endswith("\n") else f"{text}\n")


def _put(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
