"""How records of the state lie in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

Fields = list[Any]


def record(fields: Fields) -> np.dtype[Any]:
    """A record type whose fields are read as attributes."""
    return np.dtype((np.record, np.dtype(fields, align=True)))
