"""What caches hold when a launch begins, as settings of a machine."""

from __future__ import annotations

from collections.abc import Mapping

# Tags say what hits; the L1 begins empty, as a launch drops what it held.
SETTINGS: Mapping[str, Mapping[str, str]] = {
    "cold": {"cache.hits": "tags"},
    "warm": {"cache.hits": "tags", "l2.filled": "1"},
}
