"""Write-back: results that come back from the load/store unit wait for a cycle in which their bank is not written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from gpusim.sm.records import Columns, MachineNumbers
from gpusim.sm.registers.register_file.declaration import register_bank, register_banks
from gpusim.sm.unit.asks import NO_QUEUE, NO_SHARED, ON_TIME, accesses
from gpusim.sm.unit.capacities import REGISTER_BANKS
from gpusim.sm.unit.declare import Condition, Declaration, Machine, Role, field, packed_key
from gpusim.sm.unit.dimensions import RETURNING
from gpusim.sm.unit.ranges import Count, Positive
from isa.instruction import Instruction
from isa.row import Unit as UnitClass

if TYPE_CHECKING:
    from isa.kernel import Kernel


class WriteBack(msgspec.Struct, frozen=True):
    """When results of the load/store unit are written to the register file; without it they need no cycle of it."""

    lead: Positive  # cycles from the write of a result until it is there
    apart: Count  # cycles between the registers of one access
    patience: Count  # cycles that the first result of a scheduler waits until it asks for a cycle without an issue
    notice: Positive  # cycles from then until the scheduler stops, and from the write until it goes on
    near: Count  # cycles ahead of its write at which a result of shared memory is on its way to the register file
    room: Count  # results of shared memory's accesses, near or waiting, with which no more is served (0: any number)


COUNTED = 1 << REGISTER_BANKS  # beside a mask of the banks


def pack(packed: MachineNumbers, machine: Machine) -> None:
    """Whether results wait at all: they do where register banks are known."""
    packed.writes_back = machine.write_back is not None and register_banks(machine) > 0


def decode(row: Columns, instruction: Instruction, machine: Machine, kernel: Kernel) -> None:
    """The banks to which a pipe's result is written."""
    if not row["queued"]:
        own = kernel.program.registers
        row["bank_writes"] = _mask((r for r in instruction.writes() if r < own), machine)


def _mask(registers: Iterable[int], machine: Machine) -> int:
    """Return the mask of the banks in which registers lie."""
    return sum({1 << register_bank(machine, register) for register in registers})


UNIT = Declaration(
    "write_back",
    fields={
        "machine": (
            field("writes_back", "1: what comes back waits for a cycle in which its bank is not written"),
            packed_key("write_back.lead"),
            packed_key("write_back.apart"),
            packed_key("write_back.patience"),
            packed_key("write_back.notice"),
            packed_key("write_back.near"),
            packed_key("write_back.room"),
        ),
        "row": (field("bank_writes", "mask of the banks that a pipe's result is written to", kind="i4"),),
        "scheduler": (
            field("returns", "from when on each result under way can be written, in order", RETURNING, role=Role.TIME),
            field(
                "return_banks",
                "mask of the banks of each, and COUNTED if it is shared memory's; 0: none",
                RETURNING,
                role=Role.SAME,
            ),
            field("return_warp", "warp slot that each is for", RETURNING, role=Role.SAME),
            field("return_pc", "instruction that each is of", RETURNING, role=Role.SAME),
            field("return_ready", "when each is there if it has been written in time", RETURNING, role=Role.TIME),
            field(
                "return_number",
                "the access that each is of; 0: none",
                RETURNING,
                role=Role.NUMBER,
                of="load_store.entered",
            ),
            field("written", "mask of the warps of which an access has been written", role=Role.SAME),
            field("expected", "results that are under way, also those whose time is not known yet", role=Role.SAME),
            field("stop_due", "when the first of them stops the scheduler, if it still waits", role=Role.TIME),
            field("stop_from", "nothing dispatches from then on, for a result that waited", role=Role.TIME),
            field("stop_until", "and until then", role=Role.TIME),
            field("settled", "results are written in all cycles before this one", role=Role.TIME),
            field("wrote_at", "cycle of the last issue", role=Role.MOMENT),
            field("wrote_banks", "mask of the banks that what issued then writes", role=Role.SAME),
        ),
        "load_store": (field("coming", "results of shared memory that are not written yet", role=Role.SAME),),
    },
    pack=pack,
    decode=decode,
    conditions=(
        Condition(
            "write_back.*",
            "rows.bank_writes lead apart patience notice near room writes_back",
            lambda g: g.record.register_banks > 0,
            ON_TIME,
        ),
        Condition("write_back.*", "", lambda g: g.queued, NO_QUEUE),
        Condition("write_back.near write_back.room", "near room", accesses(UnitClass.SHARED), NO_SHARED),
    ),
)
