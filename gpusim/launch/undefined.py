"""Find what a program names and its launch does not give: constants, textures, places in constant banks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from isa.executing import faults
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.memory import constants
from isa.operands.operand import Address, BankConstant, Constant, Texture
from isa.program import WORD_BYTES


def check(kernel: Kernel, computed: NDArray[np.bool_]) -> None:
    """Raise ExecutionError for a name of no parameter or buffer, and for a bank's place that is read behind its end.

    `computed[pc]` tells which instructions read their constants.
    """
    known = constants(kernel)
    for pc, instruction in enumerate(kernel.program.instructions):
        for operand in instruction.operands:
            if isinstance(operand, Constant) and operand.name not in known:
                raise faults.undefined_name(kernel, pc, "c", operand.name, known)
            if isinstance(operand, Texture):
                _check_texture(kernel, pc, operand.name)
        if computed[pc]:
            for place, nbytes in _read(instruction):
                _check_bank(kernel, pc, place, nbytes)


def _check_texture(kernel: Kernel, pc: int, name: str) -> None:
    """Raise ExecutionError for a buffer that does not exist, or holds not even one element."""
    nbytes = kernel.program.instructions[pc].row.nbytes
    held = [buffer.name for buffer in kernel.buffers if buffer.nbytes >= nbytes]
    if name not in held:
        raise faults.undefined_name(kernel, pc, "tex", name, held)


def _read(instruction: Instruction) -> Iterator[tuple[BankConstant, int]]:
    """Yield the places of constant banks whose bytes are known at launch, and how many are read."""
    row = instruction.row
    for letter, operand in instruction.slots():
        if isinstance(operand, BankConstant):
            yield operand, WORD_BYTES * row.words_of(letter)
        if isinstance(operand, Address) and operand.bank is not None and not operand.registers:
            yield operand.bank, row.nbytes


def _check_bank(kernel: Kernel, pc: int, place: BankConstant, nbytes: int) -> None:
    size = len(kernel.banks.get(place.bank, b""))
    if place.offset + nbytes > size:
        raise faults.outside_bank(kernel, pc, place.bank, place.offset, size)
