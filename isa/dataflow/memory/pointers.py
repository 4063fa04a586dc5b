"""Into which buffers an address points, by the pointers from which it is computed.

A word of memory that an address is computed from is an index, not a pointer, if a pointer that the launch gives comes
with it; accesses stay in the buffers to which such pointers lead, as they do in CUDA C.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from isa.dataflow.reaching import definitions
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.memory import bases, constants
from isa.operands.operand import BankConstant, Constant
from isa.program import WORD_BYTES
from isa.support.once import once


def pointed(kernel: Kernel, pc: int) -> frozenset[str]:
    """Return the names of the buffers into which an access may point; none where no pointer of the launch leads."""
    return frozenset(name for value in _constants(kernel, pc) for name in _around(kernel, value))


def based(kernel: Kernel, pc: int) -> frozenset[str]:
    """Return the names of the buffers whose first byte a pointer of an access names: of those above the likely ones.

    Sizes and other words of the launch may be places in a buffer by chance, but seldom its first one.
    """
    given = _constants(kernel, pc)
    return frozenset(name for name, first in bases(kernel.buffers).items() if first in given)


def _around(kernel: Kernel, value: int) -> Iterator[str]:
    """Yield the buffer in which an address lies, if it is one."""
    where = bases(kernel.buffers)
    yield from (b.name for b in kernel.buffers if where[b.name] <= value <= where[b.name] + b.nbytes)


def _constants(kernel: Kernel, pc: int) -> set[int]:
    """Return the words that the launch gives from which an access's address is computed."""
    program, known, given = kernel.program, definitions(kernel.program), _given_to(kernel)
    address = program.instructions[pc].address()
    names = {f"R{r}" for r in address.registers} if address else {f"R{r}" for r in program.instructions[pc].reads()}
    return {value for name in names for at in known.get((pc, name), ()) for value in given.get(at, ())}


@once
def _given_to(kernel: Kernel) -> Mapping[int, set[int]]:
    """Return by pc of the address slice the words of the launch from which its results are computed.

    Each goes on from where it is read to all that is computed from that; what is loaded from memory is another word.
    """
    code, found = kernel.program.instructions, defaultdict[int, set[int]](set)
    users = defaultdict[int, set[int]](set)
    for (pc, name), each in definitions(kernel.program).items():
        if not code[pc].reads_memory() and name in {f"R{r}" for r in code[pc].reads()}:
            for at in each:
                users[at].add(pc)
    todo = [(pc, value) for pc, instruction in enumerate(code) for value in _given(kernel, instruction)]
    while todo:
        pc, value = todo.pop()
        if value not in found[pc]:
            found[pc].add(value)
            todo += [(user, value) for user in users[pc]]
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
