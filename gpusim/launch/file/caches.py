"""What caches hold when a launch begins, as settings of a machine."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from gpusim.machine.machine import File, Machine
from gpusim.support.document import Setting
from isa.kernel import Kernel

# Tags say what hits; the L1 begins empty, as a launch drops what it held.
SETTINGS: Mapping[str, Mapping[str, str]] = {
    "cold": {"cache.hits": "tags"},
    "warm": {"cache.hits": "tags", "l2.filled": "1"},
}


def asked(kernel: Kernel, file: File) -> dict[str, str]:
    """Return the settings that a kernel's launch asks for, by path: those that the machine has, and has otherwise."""
    sections = {path.partition(".")[0] for path in file.facts}
    own = {path: str(fact.value) for path, fact in file.facts.items()}
    wanted = {path: str(value) for path, value in kernel.settings.items() if path.partition(".")[0] in sections}
    return {path: value for path, value in wanted.items() if own.get(path) != value}


def holding(machine: Machine, caches: str) -> tuple[Machine, dict[str, Setting]]:
    """Return the machine with caches that are cold or warm when a launch begins, as far as it has them, and settings.

    The settings are what that changes, by path.
    """
    settings: dict[str, Setting] = {}
    for path, value in SETTINGS[caches].items():
        section, _, key = path.partition(".")
        part, wanted = getattr(machine, section), int(value) if value.isdecimal() else value
        if part is not None and getattr(part, key) != wanted:
            settings[path] = wanted
            part = msgspec.structs.replace(part, **{key: wanted})
            machine = msgspec.structs.replace(machine, **{section: part})
    return machine, settings
