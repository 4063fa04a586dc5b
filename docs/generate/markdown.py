"""Parts of the generated pages: headings, tables and code of MyST Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

APART = "---\norphan: true\n---\n\n"  # before a page that no list of contents has


def page(title: str, *parts: str) -> str:
    """Return a page: its title and parts, with an empty line between them."""
    return "\n\n".join((f"# {title}", *parts)) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table of so many columns; a cell is one line, and a bar in it is escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def code(text: object) -> str:
    """Return text as inline code; empty text stays empty."""
    return f"`{text}`" if str(text) else ""


def block(text: str, language: str = "text") -> str:
    """Return text as a block of code."""
    return f"```{language}\n{text.rstrip()}\n```"


def anchor(name: str) -> str:
    """Return a line that lets other pages link to what follows it."""
    return f"({name})="


def contents(*pages: str) -> str:
    """Return the list of the pages below this one."""
    return block("\n".join((":maxdepth: 1", "", *pages)), "{toctree}")


def links(pages: Mapping[str, str]) -> str:
    """Return a list of links: titles, and the pages that they lead to."""
    return "\n".join(f"- [{title}]({file})" for title, file in pages.items())


def _cell(cell: object) -> str:
    return " ".join(str(cell).replace("|", "\\|").split())
