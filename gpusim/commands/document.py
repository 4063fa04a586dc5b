"""What commands print: tables for people, JSON documents for programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

import msgspec
from rich.console import Console

SCHEMA_VERSION = 1
WIDTH = 100


def write_json(content: Mapping[str, object]) -> None:
    """Print a JSON document on stdout, with the schema's version first."""
    encoded = msgspec.json.encode({"schema_version": SCHEMA_VERSION, **content})
    sys.stdout.write(msgspec.json.format(encoded, indent=2).decode() + "\n")


def console() -> Console:
    """Return where tables go: stdout, as wide as the terminal or as COLUMNS says, else 100 columns."""
    told = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(highlight=False, markup=False, width=None if told else WIDTH)
