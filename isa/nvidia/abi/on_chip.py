"""What a kernel of machine code is on a machine, asked for any kernel: so nothing is imported that only code needs."""

from __future__ import annotations

from isa.kernel import Kernel

MEETING = "grid.barrier"  # the buffer of the word where a grid meets; no argument has a name with a dot


def on_chip(kernel: Kernel, sms: int) -> Kernel:
    """Return the kernel of machine code for a machine with so many SMs; any other kernel is the same."""
    if kernel.sms in (0, sms):
        return kernel
    from isa.nvidia.abi import load  # noqa: PLC0415  (start-up time)

    return load.placed(kernel, sms)


def synchronises(kernel: Kernel) -> bool:
    """Tell whether the grid of a cooperative launch may be synchronised."""
    return kernel.cooperative and any(one.name == MEETING for one in kernel.buffers)
