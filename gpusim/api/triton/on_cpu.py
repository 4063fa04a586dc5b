"""Tensors of a program written for a GPU in the host's memory: PyTorch's calls with device="cuda" mean the CPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any

from isa.errors import UserError

CUDA, CPU = "cuda", "cpu"


def pytorch() -> Any:
    """Return PyTorch; raises UserError if it is not installed."""
    try:
        return import_module("torch")
    except ImportError:
        raise UserError("PyTorch is not installed; run pip install torch (that of the CPU is enough)") from None


def on_cpu() -> AbstractContextManager[Any]:
    """Return a mode of PyTorch in which a device of CUDA is the CPU: in arguments, `x.cuda()` and `x.is_cuda`.

    What goes from one device to the other is copied, as on a machine with a GPU.
    """
    torch = pytorch()
    moving = torch.Tensor.cuda, torch.Tensor.cpu, torch.Tensor.to

    def call(
        _mode: object,
        function: Callable[..., Any],
        _types: Sequence[type],
        given: Sequence[Any] = (),
        named: Mapping[str, Any] | None = None,
    ) -> Any:
        if function == torch.Tensor.is_cuda.__get__:
            return True
        if function is torch.Tensor.cuda:
            return given[0].clone()
        named = {name: _there(value, torch) for name, value in (named or {}).items()}
        found = function(*(_there(value, torch) for value in given), **named)
        return found.clone() if function in moving and found is given[0] else found

    mode = type("OnCpu", (torch.overrides.TorchFunctionMode,), {"__torch_function__": call})
    found: AbstractContextManager[Any] = mode()
    return found


def _there(value: Any, torch: Any) -> Any:
    """Return the CPU for a device of CUDA, and any other argument as it is."""
    kind = value.type if isinstance(value, torch.device) else value.partition(":")[0] if isinstance(value, str) else ""
    return torch.device(CPU) if kind == CUDA else value
