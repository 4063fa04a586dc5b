"""Compute neighbouring instructions as one: a NumPy operation takes little longer for a dozen than for one.

A batch is a straight run of unguarded multiply-adds of one row; none reads or writes what an earlier one wrote.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from isa.execute.frame import Frame, Group
from isa.execute.steps import Action, Mask
from isa.instruction import Instruction
from isa.operand import PT, RZ_INDEX, Register
from isa.program import Program


def batches(program: Program, computed: Collection[int]) -> list[list[int]]:
    """Return the pcs of each batch of at least two instructions, among those whose pc is in `computed`; in order."""
    found: list[list[int]] = [[]]
    entries = set(program.labels.values())
    for pc, instruction in enumerate(program.instructions):
        suits = pc in computed and _suits(instruction)
        if (
            not suits
            or pc in entries
            or not _joins([program.instructions[earlier] for earlier in found[-1]], instruction)
        ):
            found.append([])
        if suits:
            found[-1].append(pc)
    return [pcs for pcs in found if len(pcs) > 1]


def action(batch: Sequence[Instruction]) -> Action:
    """Return the function that computes the whole batch."""
    value = batch[0].row.value
    assert value is not None
    # Columns of register indices: together with the warps they select [instruction, warp, lane].
    d, a, b, c = np.array([[o.index for o in i.operands if isinstance(o, Register)] for i in batch]).T[..., None]
    written = [register for i in batch for register in i.writes()]

    def act(frame: Frame, group: Group, mask: Mask) -> None:
        registers, warps = frame.registers, group.warps
        result = value(registers[a, warps], registers[b, warps], registers[c, warps])
        registers[d, warps] = result if mask is None else np.where(mask, result, registers[d, warps])
        for register in written:
            frame.versions[register] += 1

    return act


def _suits(instruction: Instruction) -> bool:
    return (
        instruction.row.form == "dabc"
        and instruction.row.value is not None
        and instruction.row.words == 1
        and instruction.guard == PT
        and all(isinstance(o, Register) and _is_plain(o) for o in instruction.operands)
    )


def _is_plain(register: Register) -> bool:
    """Tell whether a register of each lane is taken as it is."""
    return register.index < RZ_INDEX and register == Register(register.index, reuse=register.reuse)


def _joins(batch: Sequence[Instruction], instruction: Instruction) -> bool:
    written = {register for earlier in batch for register in earlier.writes()}
    alike = all(earlier.row is instruction.row for earlier in batch)
    return alike and written.isdisjoint((*instruction.reads(), *instruction.writes()))
