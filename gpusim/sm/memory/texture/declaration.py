"""The texture path, and the sectors that it moves."""

from __future__ import annotations

from typing import Any

import msgspec

from gpusim.sm.memory.cache.declaration import L1, SHARE_PARTS, TAGS
from gpusim.sm.memory.global_memory.declaration import CHANNEL_KEYS, STILL, line_cycles, transaction_bytes
from gpusim.sm.records import Columns, MachineNumbers
from gpusim.sm.unit.asks import accesses
from gpusim.sm.unit.capacities import LANES
from gpusim.sm.unit.declare import Condition, Declaration, Machine, Role, field
from gpusim.sm.unit.dimensions import TEXTURE
from gpusim.sm.unit.ranges import Positive
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.memory import SECTOR_BYTES
from isa.operands.operand import RZ_INDEX, BankConstant, Register
from isa.program import WORD_BYTES
from isa.row import Unit as UnitClass
from isa.values.texture.texel import COLUMNS


class Texture(msgspec.Struct, frozen=True):
    """The texture path; sectors of 32 bytes come through the memory channel, where no cache has them."""

    pipe: str  # a pipe, or several, as a unit class's
    latency: Positive  # cycles of a fetch


def fetch_cost(machine: Machine) -> int:
    """Parts of a cycle that a sector of a fetch occupies the channel; 0 if fetches hit in the SM, or tags are asked.

    If all loads hit the L2, fetches do, and the channel is the one to the L2.
    """
    hits = machine.cache.hits if machine.cache else "none"
    if machine.cache and hits == "l2":
        return int(machine.cache.l2_sector_parts)
    if hits != "none":
        return 0
    return round(SHARE_PARTS * line_cycles(machine) * SECTOR_BYTES / transaction_bytes(machine))


def _moves(given: Any) -> bool:
    """Whether fetches reach the channel behind the SM, and no cache with tags is in between."""
    return UnitClass.TEXTURE in given.units and given.record.hits not in (L1, TAGS)


def pack(packed: MachineNumbers, machine: Machine) -> None:
    """What a sector of a fetch costs the channel."""
    packed.fetch_cost = fetch_cost(machine)


def decode(row: Columns, instruction: Instruction, _machine: Machine, kernel: Kernel) -> None:
    """Fill in what a fetch by a texture object does, and where its handle and its upper channels are."""
    form = instruction.row
    if form.texel is None:
        return
    row["fetches"], row["number"] = 1 + form.code, instruction.number() >> 32
    for letter, operand in instruction.slots():
        if letter == "o" and isinstance(operand, Register):
            row["upper"] = operand.index
        elif letter == "t" and isinstance(operand, Register):
            row["handle"] = -1 if operand.index == RZ_INDEX else operand.index
        elif letter == "t" and isinstance(operand, BankConstant):
            held = kernel.banks.get(operand.bank, b"")[operand.offset : operand.offset + WORD_BYTES]
            row["handle"], row["known_handle"] = -1, int.from_bytes(held, "little")


UNIT = Declaration(
    "texture",
    fields={
        "row": (
            field(
                "fetches",
                "1 and the code of a fetch by a texture object (isa.values.texture.texture), 0: none",
                kind="i4",
            ),
            field("handle", "register with the handle, -1: the constant below", kind="i4"),
            field("known_handle", "a handle that the launch gives"),
            field(
                "upper",
                "first register of the channels after two, or of the upper half of 256 bits",
                kind="i4",
            ),
        ),
        "sm": (
            field(
                "textures",
                "the texture objects by their handles, as isa.values.texture.texel has columns",
                TEXTURE,
                COLUMNS,
                role=Role.FIXED,
            ),
        ),
        "launch": (field("textures", "handles of texture objects, from 1 on"),),
        "scratch": (field("handle", "of the texture object of each lane", LANES),),
        "machine": (field("fetch_cost", "parts of a cycle that a sector of a texture fetch occupies the channel"),),
    },
    pack=pack,
    decode=decode,
    conditions=(
        Condition("texture.*", "", accesses(UnitClass.TEXTURE), "{kernel} fetches no texture"),
        Condition(CHANNEL_KEYS, "fetch_cost", _moves, STILL),
    ),
    limits={"latency": {"texture.latency": 1}},
)
