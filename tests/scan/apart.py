"""Which instructions go to a unit apart from the load/store unit: shared memory's on GCN, or that of constants."""

from __future__ import annotations

from gpusim.machine.machine import Machine
from isa.instruction import Instruction
from isa.operands.operand import Special
from isa.row import Row, Unit

OF_A_BLOCK = "CTAID", "NTID", "NCTAID", "SMID", "NSMID", "VIRTID", "VIRTCFG", "SMEMSZ"


def goes_apart(machine: Machine, instruction: Instruction) -> bool:
    """Whether an instruction goes to the unit of shared memory, or of constants, where that lies apart."""
    row = instruction.row
    if machine.memory_paths:
        return row.unit is Unit.SHARED
    if machine.constant_path is None or row.unit is not Unit.SPECIAL or not is_queued(machine):
        return machine.constant_path is not None and row.unit is Unit.CONSTANT
    names = [operand.name for operand in instruction.operands if isinstance(operand, Special)]
    return row.mnemonic.startswith("S2UR") or any(name.startswith(OF_A_BLOCK) for name in names)


def is_queued(machine: Machine) -> bool:
    """Whether special registers go through queues."""
    return machine.memory_port is not None and Unit.SPECIAL.value in machine.memory_port.units.split()


def is_global(machine: Machine, row: Row) -> bool:
    """Whether a warp that finds the queue full waits for that of global and local accesses, by name."""
    port = machine.memory_port
    copied = row.copies and machine.async_copy is not None and port is not None and Unit.SYNC in port.units.split()
    return port is not None and row.unit in (Unit.GLOBAL, Unit.LOCAL) and not copied
