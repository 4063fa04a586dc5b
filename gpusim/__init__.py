"""Instruction-level GPU pipeline simulator: values, cycles and the analytic bound in one run."""

from __future__ import annotations

from typing import Any

__all__ = ["RawModule", "Result", "Texture", "bound", "ineffective", "load", "register_policy", "simulate"]

_HOME = {
    "RawModule": "gpusim.raw_module",
    "Result": "gpusim.simulation",
    "Texture": "gpusim.texture",
    "bound": "gpusim.bounds.bounds",
    "ineffective": "gpusim.analysis.settings.ineffective",
    "load": "gpusim.machine.machine",
    "register_policy": "gpusim.units.policies",
    "simulate": "gpusim.simulation",
}


def __getattr__(name: str) -> Any:
    """Import a name when it is first used, so that `gpusim --help` waits for no compiler."""
    from importlib import import_module  # noqa: PLC0415  (start-up time)

    if name not in _HOME:
        raise AttributeError(f"module gpusim has no attribute {name}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    """List the names imported on first use, too."""
    return sorted({*globals(), *__all__})
