"""Which launches take the same time: what of constants and textures their time depends on."""

from __future__ import annotations

from collections.abc import Hashable

from gpusim.launch.feed import ADDRESS_ONLY, evaluated, recordable
from isa.kernel import Kernel
from isa.operands.operand import Address, BankConstant, Operand
from isa.program import Program
from isa.support.once import once


def told_by(kernel: Kernel) -> Hashable | None:
    """Return what of constant banks and textures decides on the time; None if what memory holds decides, too.

    Launches of one program with the same blocks and buffers, for which this is the same, take the same time: their
    addresses, guards and branches are the same.
    """
    if not recordable(kernel):
        return None
    places = _places(kernel.program, tuple(map(bool, evaluated(kernel, ADDRESS_ONLY))))
    if places is None:
        return tuple(kernel.banks.items()), kernel.textures
    held = tuple(kernel.banks.get(bank, b"")[first : first + size] for bank, first, size in places)
    return held, kernel.textures


@once
def _places(program: Program, computed: tuple[bool, ...]) -> tuple[tuple[int, int, int], ...] | None:
    """Return bank, place and size of what computed instructions take of constants; None if registers say where."""
    found = set[tuple[int, int, int]]()
    for one, wanted in zip(program.instructions, computed, strict=True):
        for letter, operand in one.slots() if wanted else ():
            constant = _constant(operand)
            if constant is not None:
                size = 4 * max(1, one.row.words_of(letter), one.row.nbytes // 4)
                found.add((constant.bank, constant.offset, size))
            elif isinstance(operand, Address) and operand.bank is not None:
                return None
    return tuple(sorted(found))


def _constant(operand: Operand) -> BankConstant | None:
    """Return the constant that an operand is, or that it addresses without a register; None for others."""
    if isinstance(operand, BankConstant):
        return operand
    return operand.bank if isinstance(operand, Address) and not operand.registers else None
