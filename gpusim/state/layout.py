"""How records of the state lie in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

Fields = list[Any]
LINE = 64  # bytes of a line of the host's cache


def record(fields: Fields, *, spread: bool = False) -> np.dtype[Any]:
    """A record type whose fields are read as attributes.

    `spread`: many lie side by side and the same few fields of each are looked at. An odd number of lines for each puts
    these into different sets of the host's cache.
    """
    kind = np.dtype(fields, align=True)
    if spread:
        lines = -(-kind.itemsize // LINE) | 1
        parts = [(kind[name], kind.fields[name][1]) for name in kind.names]  # type: ignore[index,union-attr]
        formats, offsets = zip(*parts, strict=True)
        layout = {"names": kind.names, "formats": formats, "offsets": offsets, "itemsize": lines * LINE}
        kind = np.dtype(layout, align=True)  # type: ignore[call-overload]
    return np.dtype((np.record, kind))
