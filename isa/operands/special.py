"""Special registers of machine code that are one number for all threads of a launch."""

from __future__ import annotations

from isa.architecture import Architecture, nvidia
from isa.kernel import Kernel
from isa.operands.windows import LOCAL_WINDOW, SHARED_WINDOW

VIRTUAL_WARP, VIRTUAL_SM = 8, 20  # first bits in SR_VIRTID of a warp's slot, as nvcc's code reads it, and of its SM
_UNIT = 128  # bytes in which shared memory is allocated (CUDA C++ Programming Guide 13.0, 20.2)


def fixed(kernel: Kernel, name: str) -> int | None:
    """Return a special register that the launch alone decides; None for any other."""
    return {
        "SWINLO": SHARED_WINDOW & 0xFFFFFFFF,
        "SWINHI": SHARED_WINDOW >> 32,
        "LWINLO": LOCAL_WINDOW & 0xFFFFFFFF,
        "LWINHI": LOCAL_WINDOW >> 32,
        "VIRTCFG": _row(kernel).warps << VIRTUAL_WARP,
        "SMEMSZ": -(-kernel.program.shared_bytes // _UNIT) * _UNIT,
        "ZERO": 0,
        **({"CLUSTER_RANK": 0} if kernel.cluster_blocks == 1 else {}),
    }.get(name)


def _row(kernel: Kernel) -> Architecture:
    """Return the row of a kernel's machine code, and of another kernel that of sm_90."""
    return nvidia(kernel.target.architecture if kernel.target else 0)
