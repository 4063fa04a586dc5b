"""Constant operands: `c[name]` comes from a constant cache that is empty when a launch begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
import numpy as np

from gpusim.sm.memory.cache.declaration import PARAMETERS
from gpusim.sm.records import Columns, MachineNumbers, Plain
from gpusim.sm.unit.capacities import CONSTANT_LINES
from gpusim.sm.unit.declare import Condition, Declaration, Machine, Role, field, packed_key
from gpusim.sm.unit.dimensions import CONSTANT_LINE
from gpusim.sm.unit.ranges import MOST, Count, Flag
from isa.errors import UserError
from isa.instruction import Instruction
from isa.memory import constants
from isa.operands.operand import BankConstant, Constant

if TYPE_CHECKING:
    from isa.kernel import Kernel

CONSTANT_BYTES = 4
_PLACES, _OTHERS = {0: (0, 32), 3: (32, 24)}, (56, CONSTANT_LINES - 56)  # first line and lines of each bank
FirstByte = Annotated[int, msgspec.Meta(ge=0, le=MOST, multiple_of=CONSTANT_BYTES)]
LineBytes = Annotated[int, msgspec.Meta(ge=CONSTANT_BYTES, le=MOST, multiple_of=CONSTANT_BYTES)]


class ConstantOperand(msgspec.Struct, frozen=True):
    """Where `c[name]` operands come from; without this section they are always at hand.

    The constants of a launch lie side by side, 4 bytes each, from `first_byte` of their bank on. Nothing is evicted.
    """

    first_byte: FirstByte  # bytes of the constant bank before the first constant
    line_bytes: LineBytes  # bytes of a line of the SM's constant cache
    latency: Count  # cycles for which a warp waits for a line that the next cache has
    far_lines: Annotated[int, msgspec.Meta(ge=1, le=CONSTANT_LINES)]  # lines that a line of the next cache holds
    far_latency: Count  # cycles for which a warp waits for a line that neither cache has
    next_cycles: Count = 0  # cycles for which a scheduler's line occupies the next cache, where all SMs ask at once
    parameters_near: Flag = 0  # 1: the next cache has the bank with the parameters when a launch begins


def pack(packed: MachineNumbers, machine: Machine) -> None:
    """Tell whether constants may be late."""
    packed.constants = machine.constant_operand is not None


def decode(row: Columns, instruction: Instruction, machine: Machine, kernel: Kernel) -> None:
    """Fill in the mask of the lines that the instruction's constants lie in; raises UserError beyond the capacity."""
    if machine.constant_operand is None:
        return
    named = [o.name for o in instruction.operands if isinstance(o, Constant)]
    banked = [o for o in instruction.operands if isinstance(o, BankConstant)]
    if banked:
        row["constant_lines"] = sum({1 << _line(o, machine.constant_operand.line_bytes) for o in banked})
        row["constants_near"] = machine.constant_operand.parameters_near and all(o.bank == PARAMETERS for o in banked)
    if not named:
        return
    keys, places = machine.constant_operand, list(constants(kernel))
    begin = keys.first_byte // keys.line_bytes // keys.far_lines * keys.far_lines
    lines = {(keys.first_byte + CONSTANT_BYTES * places.index(name)) // keys.line_bytes - begin for name in named}
    if max(lines) >= CONSTANT_LINES:
        beyond = f"its constants reach beyond line {CONSTANT_LINES} of the constant cache"
        raise UserError(f"{kernel.name}: {beyond}; set a larger constant_operand.line_bytes, or fewer far_lines")
    row["constant_lines"] = sum(1 << line for line in lines)
    row["constants_near"] = keys.parameters_near


def _line(operand: BankConstant, line_bytes: int) -> int:
    """Return the line of a constant of machine code: those of bank 0 come first, then those of the others.

    What lies beyond a bank's share of the capacity takes the place of earlier lines.
    """
    first, lines = _PLACES.get(operand.bank, _OTHERS)
    return first + operand.offset // line_bytes % lines


def cycles_of_line(machine: Machine, warps: int, blocks: int) -> tuple[int, int]:
    """Return the cycles for which a line occupies the next cache, and those until it turns to the last who asks.

    Each scheduler of an SM of so many warps asks for a line of its own, and so do all SMs of a launch of `blocks`.
    """
    if machine.constant_operand is None:
        return 0, 0
    schedulers, sms = min(warps, machine.schedulers.count), min(blocks, machine.chip.sms)
    cycles = machine.constant_operand.next_cycles * schedulers * sms // machine.chip.sms
    return cycles, cycles * (schedulers - 1) // schedulers


def asks_beyond(rows: Plain) -> bool:
    """Tell whether the program has constants that the next cache lacks when the launch begins."""
    return bool((rows["constants_near"][rows["constant_lines"] != 0] == 0).any())


def requested(rows: Plain) -> int:
    """Return the number of lines that the program's constants lie in."""
    return int(np.bitwise_or.reduce(rows["constant_lines"])).bit_count()


UNIT = Declaration(
    "constant_operand",
    fields={
        "machine": (
            field("constants", "1: constant operands may be late"),
            packed_key("constant_operand.far_lines"),
            packed_key("constant_operand.latency", "constant_latency"),
            packed_key("constant_operand.far_latency", "constant_far_latency"),
        ),
        "row": (
            field("constant_lines", "mask of the constant cache's lines that its operands lie in"),
            field("constants_near", "1: the next cache has them when the launch begins", kind="i1"),
        ),
        "launch": (
            field("constant_cycles", "cycles for which a line of constants occupies the next cache"),
            field("constant_lag", "cycles until it turns to the last scheduler that asks for the line"),
        ),
        "sm": (
            field("constants_busy", "until when those that ask for a line follow the line before", role=Role.TIME),
            field("constants_asked", "mask of the lines that have been requested", role=Role.SAME),
            field("constants_there", "when each line is there", CONSTANT_LINE, role=Role.TIME),
            field(
                "constants_far",
                "when the next cache has it, by the first line that it holds",
                CONSTANT_LINE,
                role=Role.TIME,
            ),
        ),
    },
    pack=pack,
    decode=decode,
    conditions=(
        Condition(
            "constant_operand.*",
            "constants far_lines constant_latency constant_far_latency rows.constant_lines rows.constants_near",
            lambda given: requested(given.rows) > 0,
            "{kernel} has no constant operand",
        ),
        Condition(
            "constant_operand.far_*",
            "far_lines constant_far_latency",
            lambda given: asks_beyond(given.rows),
            "the next cache has the constants of {kernel} when it begins",
        ),
        Condition(
            "constant_operand.*",
            "far_lines",
            lambda given: requested(given.rows) > 1,
            "the constants of {kernel} lie in one line",
        ),
    ),
    limits={"latency": {"constant_operand.*latency": 0, "constant_operand.next_cycles": 0}},
)
