"""What commands print: tables for people, JSON documents for programs."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import msgspec
from rich.console import Console

SCHEMA_VERSION = 1


def write_json(content: Mapping[str, object]) -> None:
    """Print a JSON document on stdout, with the schema's version first."""
    encoded = msgspec.json.encode({"schema_version": SCHEMA_VERSION, **content})
    sys.stdout.write(msgspec.json.format(encoded, indent=2).decode() + "\n")


def console() -> Console:
    """Return where tables go: stdout, as wide as the terminal, or 100 columns where there is none."""
    return Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 100)
