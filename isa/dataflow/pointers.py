"""Into which buffers an address points, by the pointers from which it is computed.

A word of memory that an address is computed from is an index, not a pointer, if a pointer that the launch gives comes
with it; accesses stay in the buffers to which such pointers lead, as they do in CUDA C.
"""

from __future__ import annotations

from collections.abc import Iterator

from isa.dataflow.reaching import definitions
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.memory import bases, constants
from isa.operand import BankConstant, Constant
from isa.program import WORD_BYTES


def pointed(kernel: Kernel, pc: int) -> frozenset[str]:
    """Return the names of the buffers into which an access may point; none where no pointer of the launch leads."""
    return frozenset(name for value in _constants(kernel, pc) for name in _around(kernel, value))


def _around(kernel: Kernel, value: int) -> Iterator[str]:
    """Yield the buffer in which an address lies, if it is one."""
    where = bases(kernel.buffers)
    yield from (b.name for b in kernel.buffers if where[b.name] <= value <= where[b.name] + b.nbytes)


def _constants(kernel: Kernel, pc: int) -> set[int]:
    """Return the words that the launch gives from which an access's address is computed."""
    program, known = kernel.program, definitions(kernel.program)
    address = program.instructions[pc].address()
    names = {f"R{r}" for r in address.registers} if address else {f"R{r}" for r in program.instructions[pc].reads()}
    found, seen = set[int](), set[int]()
    todo = [each for name in names for each in known.get((pc, name), ())]
    while todo:
        at = todo.pop()
        if at in seen:
            continue
        seen.add(at)
        instruction = program.instructions[at]
        found |= set(_given(kernel, instruction))
        if not instruction.reads_memory():
            todo += [each for r in instruction.reads() for each in known.get((at, f"R{r}"), ())]
    return found


def _given(kernel: Kernel, instruction: Instruction) -> Iterator[int]:
    """Yield the words that an instruction reads of the launch's constants."""
    address, named = instruction.address(), constants(kernel)
    banked = [o for o in instruction.operands if isinstance(o, BankConstant)]
    if address is not None and address.bank is not None:
        banked.append(address.bank)
    for operand in instruction.operands:
        if isinstance(operand, Constant):
            yield named[operand.name]
    for one in banked:
        held = kernel.banks.get(one.bank, b"")[one.offset : one.offset + max(2 * WORD_BYTES, instruction.row.nbytes)]
        yield from (int.from_bytes(held[i : i + WORD_BYTES], "little") for i in range(0, len(held), WORD_BYTES))
