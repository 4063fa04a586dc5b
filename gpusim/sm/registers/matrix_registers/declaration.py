"""Matrix instructions read their operands, and write their results, at fixed times behind their issue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpusim.sm.records import Columns
from gpusim.sm.registers.register_file.declaration import register_bank, register_banks
from gpusim.sm.unit.asks import ON_TIME
from gpusim.sm.unit.capacities import REGISTER_BANKS
from gpusim.sm.unit.declare import Condition, Declaration, Machine, Role, field
from gpusim.sm.unit.dimensions import REGISTER_BANK
from isa.instruction import Instruction
from isa.operands.operand import Register

if TYPE_CHECKING:
    from isa.kernel import Kernel

OPERANDS = "abc"


def decode(row: Columns, instruction: Instruction, machine: Machine, kernel: Kernel) -> None:
    """When a matrix instruction reads each operand, and for how long it writes, where the machine says so."""
    row["unhurried"] = row["queued"] or (
        machine.dependence is not None and instruction.row.unit.value in machine.dependence.variable.split()
    )
    cost = machine.matrix.get(instruction.row.matrix)
    if cost is None or cost.written == 0 or register_banks(machine) == 0:
        return
    own = kernel.program.registers
    row["matrix_written"], row["matrix_depth"], row["bank_reads"] = cost.written, cost.depth, 0
    row["matrix_memory"] = cost.memory
    begins = zip(OPERANDS, (cost.first, cost.second, cost.addend), strict=True)
    row["matrix_read"] = [mask for slot, at in begins for mask in _reads(instruction, slot, at, machine, own)]
    row["matrix_writes"] = -(-sum(r < own for r in instruction.writes()) // register_banks(machine))
    row["matrix_lasts"] = max(
        cost.written + row["matrix_writes"], cost.memory + 1, *(mask.bit_length() for mask in row["matrix_read"])
    )


def _reads(instruction: Instruction, letter: str, begins: int, machine: Machine, own: int) -> list[int]:
    """For each bank the mask of the cycles, from the issue on, in which it reads the operand: a register of each."""
    masks, banks = [0] * REGISTER_BANKS, register_banks(machine)
    words = instruction.row.words_of("D" if letter == "c" and "D" in instruction.row.form else letter)
    operands = [o for slot, o in instruction.slots() if slot == letter and isinstance(o, Register)]
    registers = [r for o in operands for r in range(o.index, o.index + words) if r < own]
    for place, register in enumerate(registers):
        masks[register_bank(machine, register)] |= 1 << begins + place // banks
    return masks


UNIT = Declaration(
    "matrix_registers",
    fields={
        "row": (
            field(
                "matrix_read",
                "mask of the cycles behind its issue in which a matrix instruction reads, by operand and bank",
                len(OPERANDS) * REGISTER_BANKS,
                kind="i4",
            ),
            field("matrix_written", "cycles from its issue until its results take all banks, 0: as others", kind="i2"),
            field("matrix_writes", "cycles for which they do", kind="i1"),
            field("unhurried", "1: its latency varies, as of an access: its reads and writes find a cycle", kind="i1"),
            field("matrix_lasts", "cycles until it has read and written all", kind="i2"),
            field("matrix_memory", "cycles behind its issue in which no memory instruction issues", kind="i4"),
            field("matrix_depth", "cycles by which its way through the pipe is longer than the shortest", kind="i2"),
        ),
        "scheduler": (
            field("matrix_memory", "a memory instruction issues from then on", role=Role.TIME),
            field("matrix_leaves", "the next one's issue and depth come to this at least", role=Role.TIME),
            field("matrix_until", "matrix instructions matter to no other one from then on", role=Role.TIME),
            field(
                "matrix_reads",
                "mask of the cycles, from the last issue on, in which they read each bank",
                REGISTER_BANK,
                role=Role.SAME,
            ),
            field("matrix_writes", "the same of their writes, to all banks", role=Role.SAME),
        ),
    },
    decode=decode,
    conditions=(
        Condition(
            "matrix.*.depth matrix.*.memory matrix.*.first matrix.*.second matrix.*.addend matrix.*.written",
            "rows.matrix_depth rows.matrix_memory rows.matrix_lasts rows.matrix_read rows.matrix_written "
            "rows.matrix_writes rows.unhurried",
            lambda g: g.record.register_banks > 0,
            ON_TIME,
        ),
        Condition(
            "register_file.matrix_slack",
            "matrix_slack",
            lambda g: bool((g.rows["matrix_written"] > 0).any()),
            "{kernel} has no matrix instruction whose times of reads and writes are known",
        ),
    ),
    limits={"register banks": {"matrix.*.written": 0}, "pipes": {"matrix.*.depth": 0, "matrix.*.memory": 0}},
)
