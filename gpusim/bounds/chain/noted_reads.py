"""A machine whose numbers are noted as rules read them: what follows holds where these are the same."""

from __future__ import annotations

from collections.abc import Hashable
from types import SimpleNamespace
from typing import Any

import numpy as np


class NotedReads(SimpleNamespace):
    """The numbers of a machine; each that is read is noted by its name, for all machines together."""

    def __getattribute__(self, name: str) -> Any:
        """Return a number, and note that it was read."""
        if not name.startswith("_"):
            _READ[name] = None
        return super().__getattribute__(name)


_READ: dict[str, None] = {}


def known_by(machine: SimpleNamespace) -> Hashable:
    """Return the machine's numbers that have ever been read, as a key: where it is equal, so is what follows."""
    return tuple((name, _frozen(vars(machine)[name])) for name in sorted(_READ))


def _frozen(value: Any) -> Hashable:
    if isinstance(value, SimpleNamespace):
        return tuple((name, _frozen(inner)) for name, inner in vars(value).items())
    if isinstance(value, np.ndarray):
        return value.tobytes()
    return tuple(value) if isinstance(value, list) else value
