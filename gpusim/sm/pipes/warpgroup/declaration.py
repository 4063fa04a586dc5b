"""Matrix instructions of a warpgroup: their queue, and what its tensor cores and the port of shared memory take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from gpusim.sm.pipes.pipe.declaration import pipe_names
from gpusim.sm.records import Columns, MachineNumbers
from gpusim.sm.registers.register_file.declaration import register_banks
from gpusim.sm.unit.capacities import PRODUCTS
from gpusim.sm.unit.declare import Condition, Declaration, Machine, Role, field, packed_key
from gpusim.sm.unit.dimensions import PRODUCT
from gpusim.sm.unit.ranges import Count, Positive
from isa.errors import UserError
from isa.instruction import Instruction
from isa.row import Unit
from isa.values.matrix.warpgroup import FROM_REGISTERS, HALVES, columns_of

if TYPE_CHECKING:
    from isa.kernel import Kernel


WARPS = 4  # of a warpgroup


class Warpgroup(msgspec.Struct, frozen=True):
    """Matrix instructions of a warpgroup, D = A B + C of 64 rows; the machine has none without this section."""

    columns: (
        Positive  # columns of D, of 16 numbers for a warp, that a scheduler's tensor cores compute in one of the cycles
    )
    port_rows: Positive  # rows of A, or columns of B, of 32 bytes, that are read from shared memory in a cycle
    least_registers: Positive  # cycles from one instruction to the next, at least, whose A is in registers
    begins: Count  # cycles from the issue by the last of the four warps until its operands are read
    fills: Count  # cycles from then until the tensor cores begin
    register_fills: Count  # the same, if A is in registers
    drains: Count  # cycles from their end until D is there
    queue: Annotated[int, msgspec.Meta(ge=1, le=PRODUCTS)]  # most instructions that wait for the tensor cores


def pack(packed: MachineNumbers, machine: Machine) -> None:
    """Which pipe the tensor cores are, if other instructions take it too."""
    names = pipe_names(machine)
    packed.tensor_pipe = names.index("tensor") if "tensor" in names else -1


def decode(row: Columns, instruction: Instruction, machine: Machine, kernel: Kernel) -> None:
    """What a product takes of its operands' places and of the registers, and how many columns it has.

    Raises UserError if the launch's blocks have no whole warpgroup.
    """
    if instruction.row.unit is Unit.WARPGROUP:
        if kernel.warps < WARPS:
            text = instruction.row.mnemonic.partition(".")[0]
            raise UserError(f"{kernel.name}: {text} needs blocks of at least {WARPS} warps, not {kernel.warps}")
        row["product"], row["columns"] = instruction.row.code, columns_of(instruction.row.code)
        row["from_registers"] = bool(instruction.row.code & FROM_REGISTERS)
        registers = 2 if instruction.row.code & HALVES else 4
        row["sums"] = -(-registers // register_banks(machine)) if register_banks(machine) else 0


def _has_any(given: Any) -> bool:
    return bool((given.rows["columns"] > 0).any())


NONE = "{kernel} has no matrix instruction of a warpgroup"
NUMBERS = (
    "product_columns port_rows least_registers product_begins product_fills register_fills product_drains product_queue"
)

UNIT = Declaration(
    "warpgroup",
    fields={
        "machine": (
            packed_key("warpgroup.columns", "product_columns"),
            packed_key("warpgroup.port_rows"),
            packed_key("warpgroup.least_registers"),
            packed_key("warpgroup.begins", "product_begins"),
            packed_key("warpgroup.fills", "product_fills"),
            packed_key("warpgroup.register_fills"),
            packed_key("warpgroup.drains", "product_drains"),
            packed_key("warpgroup.queue", "product_queue"),
            field("tensor_pipe", "pipe of the tensor cores, -1: no other instruction takes them"),
        ),
        "sm": (
            field("multiplies", "1: the program has matrix instructions of warpgroups", role=Role.FIXED),
            field("products", "those that all four warps have issued", kind="products", role=Role.FIXED),
        ),
        "products": (
            field("head", "place of the first that has not begun"),
            field("count", "how many have not"),
            field("ahead", "how many more the first warps have issued, and their last ones not"),
            field("next", "when it may begin; NEVER: there is none"),
            field("reads", "when the operands of the next one may be read"),
            field("port", "until when they read shared memory"),
            field("lands", "when the result of the next one is there; NEVER: not known"),
            field("ends", "when the tensor cores are done with those that have begun"),
            field("since", "from when until then they compute without a pause"),
            field("sums", "cycles of each eight columns in which these read and write the registers"),
            field("queue", "in the order in which the last of four warps issued them", PRODUCT, kind="product"),
        ),
        "product": (
            field("warp", "slot of the first of its four warps"),
            field("pc", "the instruction"),
            field("ready", "when its operands may be read"),
            field("starts", "when the tensor cores begin with it; NEVER: not known"),
        ),
        "warp": (field("products", "of its warpgroup that it has issued", role=Role.FIXED),),
        "row": (
            field("product", "code of a matrix instruction of a warpgroup (isa.values.matrix.warpgroup)", kind="i4"),
            field("columns", "that its result has; 0: it is none", kind="i2"),
            field("from_registers", "1: its first matrix is in registers", kind="i1"),
            field("sums", "cycles in which the sums of eight columns take all register banks", kind="i1"),
        ),
    },
    pack=pack,
    decode=decode,
    conditions=(Condition("warpgroup.*", NUMBERS, _has_any, NONE),),
    limits={
        "latency": {"warpgroup.begins": 0, "warpgroup.*fills": 0, "warpgroup.drains": 0},
        "shared-memory passes": {"warpgroup.port_rows": 256},
        "tensor cores": {"warpgroup.columns": 256, "warpgroup.least_registers": 1, "warpgroup.queue": PRODUCTS},
    },
)
