"""What caches hold when a launch begins, as settings of a machine."""

from __future__ import annotations

from collections.abc import Mapping

from gpusim.machine.machine import File
from isa.kernel import Kernel

# Tags say what hits; the L1 begins empty, as a launch drops what it held.
SETTINGS: Mapping[str, Mapping[str, str]] = {
    "cold": {"cache.hits": "tags"},
    "warm": {"cache.hits": "tags", "l2.filled": "1"},
}


def asked(kernel: Kernel, file: File) -> dict[str, str]:
    """Return the settings that a kernel's launch asks for, by path, without those of sections that a machine lacks."""
    sections = {path.partition(".")[0] for path in file.facts}
    return {path: str(value) for path, value in kernel.settings.items() if path.partition(".")[0] in sections}
