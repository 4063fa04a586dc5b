"""The page of charts that a command writes on request, and opening it in a browser."""

from __future__ import annotations

import tempfile
import webbrowser
from dataclasses import dataclass
from pathlib import Path

from gpusim.commands.frame.document import write
from gpusim.commands.frame.options import PageOptions
from gpusim.support import whole_file
from gpusim.support.plural import plural
from isa.errors import UserError


@dataclass(frozen=True)
class Page:
    """The file of a page, and whether a browser opens it."""

    file: Path
    is_opened: bool

    def present(self, *, json: bool) -> None:
        """Say where the page is, unless JSON is printed, and open it if asked; raises UserError if no browser opens."""
        if not json:
            write(f"\n{self.file}: {plural(self.file.stat().st_size, 'byte')}; open it in a browser\n")
        if self.is_opened:
            open_in_browser(self.file)


def page_of(options: PageOptions, name: str) -> Page | None:
    """Return the page that is asked for, a temporary file of this name if it is only to be opened; None for no page.

    Raises UserError where the file can't be written.
    """
    if options.html:
        whole_file.check(options.html)
        return Page(options.html, options.open_page)
    return Page(temporary(name), is_opened=True) if options.open_page else None


def temporary(name: str) -> Path:
    """Return a file of this name in a new folder for temporary files."""
    return Path(tempfile.mkdtemp(prefix="gpusim-")) / name


def open_in_browser(page: Path) -> None:
    """Open a page; raises UserError if no browser opens."""
    if webbrowser.open(page.resolve().as_uri()) is False:
        raise UserError(f"{page}: no browser opens here; open the file yourself")
