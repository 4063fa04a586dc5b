"""Instruction-level GPU pipeline simulator: values, cycles and the analytic bound in one run."""

from __future__ import annotations

from typing import Any

__all__ = [
    "DeadlockError",
    "ExecutionError",
    "LimitError",
    "RawModule",
    "Result",
    "Texture",
    "UserError",
    "bound",
    "ineffective",
    "kernels",
    "load",
    "machines",
    "register_policy",
    "simulate",
]

_HOME = {
    "DeadlockError": "isa.errors",
    "ExecutionError": "isa.errors",
    "LimitError": "isa.errors",
    "RawModule": "gpusim.raw_module",
    "Result": "gpusim.analysis.account.answer",
    "Texture": "gpusim.texture",
    "UserError": "isa.errors",
    "bound": "gpusim.bounds.bounds",
    "ineffective": "gpusim.analysis.settings.ineffective",
    "kernels": "gpusim.commands.python",
    "load": "gpusim.commands.python",
    "machines": "gpusim.commands.python",
    "register_policy": "gpusim.units.policies",
    "simulate": "gpusim.commands.python",
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
