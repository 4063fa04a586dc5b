"""The page of commands: the output of `--help` of each."""

from __future__ import annotations

import io
import os
from contextlib import redirect_stdout
from unittest.mock import patch

from generate.markdown import anchor, block, page
from gpusim.commands.main import COMMANDS, execute

ABOUT = "The output of `gpusim COMMAND --help`. Options of `gpusim` itself come first."
COLUMNS = "88"


def commands() -> str:
    """Return the page."""
    sections = (
        f"{anchor(f'command-{name}')}\n## gpusim {name}\n\n{block(help_of(name, '--help'))}" for name in COMMANDS
    )
    return page("Commands", ABOUT, block(help_of("--help")), *sections)


def help_of(*arguments: str) -> str:
    """Return what the command line prints on a terminal of 88 columns; raises ValueError if it fails."""
    with redirect_stdout(io.StringIO()) as printed, patch.dict(os.environ, COLUMNS=COLUMNS):
        if execute(arguments):
            raise ValueError(f"gpusim {' '.join(arguments)} has failed")
    return printed.getvalue()
