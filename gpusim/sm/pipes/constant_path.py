"""Constant unit: loads of constants, and special registers that are one for a block, apart from the load/store unit."""

from __future__ import annotations

import msgspec

from gpusim.sm.records import Columns
from gpusim.sm.unit.asks import NO_QUEUE, accesses
from gpusim.sm.unit.declare import Condition, Declaration, Machine
from gpusim.sm.unit.ranges import Positive
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.operands.operand import Special
from isa.row import Unit as UnitClass

OF_A_BLOCK = ("CTAID", "NTID", "NCTAID", "SMID", "NSMID", "VIRTID", "VIRTCFG", "SMEMSZ")  # and their coordinates


class ConstantPath(msgspec.Struct, frozen=True):
    """A unit that serves the heads of the queues with memory ports, beside the load/store unit, and needs no port."""

    cycles: Positive  # cycles of the unit for a special register; for each word constant_cache.request_cycles
    latency: Positive  # cycles from the service of a special register until a dependent instruction may issue


def takes(instruction: Instruction) -> bool:
    """Tell whether an instruction takes the constant unit where there is one."""
    row = instruction.row
    if row.unit is not UnitClass.SPECIAL:
        return row.unit is UnitClass.CONSTANT
    named = next((one.name for one in instruction.operands if isinstance(one, Special)), "")
    return "d" in row.shared or named.partition(".")[0] in OF_A_BLOCK


def decode(row: Columns, instruction: Instruction, machine: Machine, _kernel: Kernel) -> None:
    """What takes the constant unit needs no port, and keeps no place in its queue behind its service."""
    path = machine.constant_path
    if path is None or not row["queued"] or not takes(instruction):
        return
    row["path"], row["port"], row["port_cycles"] = 1, 0, 0
    if instruction.row.unit is UnitClass.SPECIAL:
        row["service"], row["latency"] = path.cycles, path.latency


UNIT = Declaration(
    "constant_path",
    decode=decode,
    conditions=(
        Condition("constant_path.*", "", lambda g: g.queued, NO_QUEUE),
        Condition(
            "constant_path.*",
            "",
            lambda g: accesses(UnitClass.SPECIAL)(g) and bool((g.rows["path"] == 1).any()),
            "{kernel} reads no special register that is one for a block",
        ),
    ),
    limits={
        "constant unit": {"constant_path.cycles": 1},
        "latency": {"constant_path.latency": 1},
    },
)
