"""Tensors of a program written for a GPU in the host's memory: PyTorch's calls with device="cuda" mean the CPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from isa.reading import extra

CUDA, CPU = "cuda", "cpu"


def on_cpu() -> AbstractContextManager[Any]:
    """Return a mode of PyTorch in which a device of CUDA is the CPU: in arguments, `x.cuda()` and `x.is_cuda`."""
    torch = extra.module("torch", "triton")

    def call(
        _mode: object,
        function: Callable[..., Any],
        _types: Sequence[type],
        given: Sequence[Any] = (),
        named: Mapping[str, Any] | None = None,
    ) -> Any:
        if function is torch.Tensor.cuda:
            return given[0]
        if function == torch.Tensor.is_cuda.__get__:
            return True
        named = {name: _there(value, torch) for name, value in (named or {}).items()}
        return function(*(_there(value, torch) for value in given), **named)

    mode = type("OnCpu", (torch.overrides.TorchFunctionMode,), {"__torch_function__": call})
    found: AbstractContextManager[Any] = mode()
    return found


def _there(value: Any, torch: Any) -> Any:
    """Return the CPU for a device of CUDA, and any other argument as it is."""
    kind = value.type if isinstance(value, torch.device) else value.partition(":")[0] if isinstance(value, str) else ""
    return torch.device(CPU) if kind == CUDA else value
