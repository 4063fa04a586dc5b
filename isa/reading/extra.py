"""Packages that come with an extra of gpusim, and not with gpusim itself; imported where they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from isa.errors import UserError


def module(name: str, extra: str) -> Any:
    """Return the module of this name; if its package is missing, raises UserError, which says what to install."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise UserError(f"{error.name} is not installed; run pip install 'gpusim[{extra}]'") from None
