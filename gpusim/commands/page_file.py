"""The page of charts that a command writes on request: its options, its file, and opening it in a browser."""

from __future__ import annotations

import tempfile
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from gpusim.commands.document import write
from gpusim.support import whole_file
from gpusim.support.plural import plural
from isa.errors import UserError

Html = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Also write a page with pictures and tables, for browsers."),
]
OpenPage = Annotated[bool, typer.Option("--open", help="Open that page in a browser, a temporary file without --html.")]


def page_file(html: Path | None, *, show: bool, name: str) -> Path | None:
    """Return the file of the page, a temporary one of this name to be shown, or None if no page is asked for.

    Raises UserError where the file can't be written.
    """
    if html is None:
        return temporary(name) if show else None
    whole_file.check(html)
    return html


def temporary(name: str) -> Path:
    """Return a file of this name in a new folder for temporary files."""
    return Path(tempfile.mkdtemp(prefix="gpusim-")) / name


def present(page: Path | None, *, show: bool, json: bool) -> None:
    """Say where the page is, unless JSON is printed, and open it if asked; raises UserError if no browser opens."""
    if page is None:
        return
    if not json:
        write(f"\n{page}: {plural(page.stat().st_size, 'byte')}; open it in a browser\n")
    if show:
        open_in_browser(page)


def open_in_browser(page: Path) -> None:
    """Open a page; raises UserError if no browser opens."""
    if webbrowser.open(page.resolve().as_uri()) is False:
        raise UserError(f"{page}: no browser opens here; open the file yourself")
