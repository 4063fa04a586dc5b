"""Launches that differ in their grid and in what constant banks hold: in nothing else that decoded rows depend on."""

from __future__ import annotations

from isa.instruction import Instruction
from isa.kernel import Buffer, Kernel
from isa.operands.operand import Address, BankConstant


def is_like(one: Kernel, other: Kernel) -> bool:
    """Tell whether two launches of one program have blocks of the same size, and the same buffers and textures."""
    return _shape(one) == _shape(other) and list(map(_place, one.buffers)) == list(map(_place, other.buffers))


def takes_constant(instruction: Instruction) -> bool:
    """Tell whether an operand is what a constant bank holds at a place that the instruction says."""
    return any(
        isinstance(one, BankConstant) or (isinstance(one, Address) and one.bank is not None)
        for one in instruction.operands
    )


def _shape(kernel: Kernel) -> tuple[object, ...]:
    at = kernel.block, kernel.cluster, kernel.warp_size, kernel.sms, kernel.window, kernel.page_bytes
    return *at, kernel.target, kernel.any_machine, kernel.textures, dict(kernel.parameters)


def _place(buffer: Buffer) -> tuple[object, ...]:
    return buffer.name, buffer.dtype, buffer.elements, buffer.place
