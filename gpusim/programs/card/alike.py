"""Which launches take the same time: what of their arguments their time depends on."""

from __future__ import annotations

from gpusim.launch.feed import ADDRESS_ONLY, evaluated, recordable
from isa.kernel import Kernel
from isa.nvidia.abi.load import PARAMETERS
from isa.operands.operand import Address, BankConstant, Operand
from isa.program import Program
from isa.support.once import once


def told_by(kernel: Kernel) -> tuple[bytes, ...] | None:
    """Return what of bank 0 decides on addresses, guards and branches; None if what memory holds decides, too.

    Launches of one program with the same blocks and buffers, for which this is the same, take the same time.
    """
    if not recordable(kernel):
        return None
    bank = kernel.banks[PARAMETERS]
    places = _places(kernel.program, tuple(map(bool, evaluated(kernel, ADDRESS_ONLY))))
    return (bank,) if places is None else tuple(bank[first : first + size] for first, size in places)


@once
def _places(program: Program, computed: tuple[bool, ...]) -> tuple[tuple[int, int], ...] | None:
    """Return the places and sizes in bank 0 of what computed instructions take of it; None if registers say where."""
    found = set[tuple[int, int]]()
    for one, wanted in zip(program.instructions, computed, strict=True):
        for letter, operand in one.slots() if wanted else ():
            place = _place(operand)
            if place is not None:
                found.add((place, 4 * max(1, one.row.words_of(letter), one.row.nbytes // 4)))
            elif isinstance(operand, Address) and operand.bank is not None and operand.bank.bank == PARAMETERS:
                return None
    return tuple(sorted(found))


def _place(operand: Operand) -> int | None:
    """Return the place of an operand in bank 0; None for others."""
    if isinstance(operand, BankConstant):
        return operand.offset if operand.bank == PARAMETERS else None
    if isinstance(operand, Address) and operand.bank is not None and not operand.registers:
        return operand.bank.offset if operand.bank.bank == PARAMETERS else None
    return None
