"""The interface for type checkers: `gpusim/__init__.py` imports these names when they are first used."""

from gpusim.analysis.account.answer import BeyondBufferWarning, Result
from gpusim.api import cupy as cupy
from gpusim.api import numba as numba
from gpusim.api import triton as triton
from gpusim.api.python import bound, ineffective, kernels, load, machines, register_policy, simulate
from gpusim.api.raw_module import RawModule
from gpusim.api.struct import Struct
from gpusim.api.tensor_map import tensor_map
from gpusim.api.texture import Texture
from isa.errors import DeadlockError, ExecutionError, LimitError, UserError

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
__version__: str
