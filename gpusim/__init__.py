"""Instruction-level GPU pipeline simulator: values, cycles and the analytic bound in one run."""

from __future__ import annotations

from typing import Any

__all__ = [
    "BeyondBufferWarning",
    "DeadlockError",
    "ExecutionError",
    "LimitError",
    "RawModule",
    "Result",
    "Struct",
    "Texture",
    "UserError",
    "bound",
    "ineffective",
    "kernels",
    "load",
    "machines",
    "register_policy",
    "simulate",
    "tensor_map",
]

_HOME = {
    "BeyondBufferWarning": "gpusim.analysis.account.answer",
    "DeadlockError": "isa.errors",
    "ExecutionError": "isa.errors",
    "LimitError": "isa.errors",
    "RawModule": "gpusim.api.raw_module",
    "Result": "gpusim.analysis.account.answer",
    "Struct": "gpusim.api.struct",
    "Texture": "gpusim.api.texture",
    "UserError": "isa.errors",
    "bound": "gpusim.api.python",
    "ineffective": "gpusim.api.python",
    "kernels": "gpusim.api.python",
    "load": "gpusim.api.python",
    "machines": "gpusim.api.python",
    "register_policy": "gpusim.api.python",
    "simulate": "gpusim.api.python",
    "tensor_map": "gpusim.api.tensor_map",
}


def __getattr__(name: str) -> Any:
    """Import a name when it is first used, so that `gpusim --help` waits for no compiler."""
    from importlib import import_module, metadata  # noqa: PLC0415  (start-up time)

    if name == "__version__":
        return metadata.version("gpusim")
    if name in ("cupy", "numba", "triton"):
        return import_module(f"gpusim.api.{name}")
    if name not in _HOME:
        raise AttributeError(f"module gpusim has no attribute {name}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    """List the names of the interface, which are imported on first use."""
    return sorted([*__all__, "__version__"])
