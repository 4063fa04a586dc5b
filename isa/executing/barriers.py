"""Which barrier of a block a BAR names, and how many warps it waits for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.operands.operand import RZ_INDEX, Immediate, Operand, Register

ALL = 0  # warps that a barrier is for: as many as there are
IDENTIFIER, COUNT_AT, COUNT = 0xF, 16, 0xFFF  # of a register with the number of a barrier, and of one with its threads
Word = Callable[[Register], int]


def wanted(kernel: Kernel, instruction: Instruction, word: Word = lambda _: 0) -> tuple[int, int]:
    """Return the number of a barrier and the warps that release it; ALL: those that have not exited.

    `word` gives what a register holds.
    """
    operands = [o for letter, o in instruction.slots() if letter == "k"]
    number = _held(operands[0], word) & IDENTIFIER if operands else 0
    threads = _threads(operands, word) if len(operands) > 1 else 0
    everyone = ALL if kernel.program.has_independent_lanes else kernel.warps
    return number, -(-threads // kernel.warp_size) or everyone


def by_register(instruction: Instruction) -> bool:
    """Tell whether a register says which barrier it is, or for how many threads."""
    return any(_is_register(o) for x, o in instruction.slots() if x == "k")


def _is_register(operand: Operand) -> bool:
    return isinstance(operand, Register) and operand.index != RZ_INDEX


def _held(operand: Operand, word: Word) -> int:
    if isinstance(operand, Immediate):
        return operand.bits
    assert isinstance(operand, Register)
    return word(operand) if _is_register(operand) else 0


def _threads(operands: Sequence[Operand], word: Word) -> int:
    """Return the threads of a barrier; a register has them in its upper half if one has the number, too: the same."""
    number, threads = operands[:2]
    held = _held(threads, word)
    packed = _is_register(number) and isinstance(threads, Register)
    return (held >> COUNT_AT if packed else held) & COUNT
