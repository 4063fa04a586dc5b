"""Register file: banks, operand collection and the reuse cache."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
import numpy as np

from gpusim.sm.records import Columns, MachineNumbers, Plain
from gpusim.sm.unit.asks import NO_QUEUE, ON_TIME
from gpusim.sm.unit.capacities import OPERANDS, REUSE
from gpusim.sm.unit.declare import Condition, Declaration, Field, Machine, Role, field, packed_key
from gpusim.sm.unit.dimensions import COLLECTED, KEPT, OPERAND, REGISTER_BANK
from gpusim.sm.unit.ranges import Count, Flag
from isa.instruction import Instruction
from isa.operands.operand import Register
from isa.operands.register_bank import BANK_PERIOD, bank_of
from isa.row import Unit

if TYPE_CHECKING:
    from isa.kernel import Kernel


Returned = Annotated[int, msgspec.Meta(ge=0, le=63)]  # four registers in one bank take fewer than 256 cycles


class RegisterFile(msgspec.Struct, frozen=True):
    """How fast a scheduler's instructions get their operands."""

    banks: Literal[1, 2, 4]  # each reads one register of a warp per cycle
    mapping: Literal["none", "modulo", "kepler"]  # registers to banks (isa.operands.register_bank); none: never late
    collecting: Literal[0, 1, 2, 3, 4]  # instructions that collect operands at once (0: no limit)
    window: Count  # cycles in which an instruction's reads must be done, or those of its fullest bank (0: no limit)
    carried: Flag  # 1: what its warp's instruction just before has read as well is not read again
    reuse: Literal[0, 1, 2]  # 32-bit words that a reuse cache keeps for each operand slot (0: none)
    returned: Returned  # cycles that each register takes from the reads of its bank which comes back through the queue
    reuse_shared: Flag = 0  # 1: a scheduler's warps share one reuse cache, and a yield empties it; 0: each has its own
    address_again: Count = 0  # cycles more of its bank that an address takes right behind another in the same bank
    matrix_slack: Count = 0  # cycles beyond the window in which a pipe's instruction may read beside a matrix one


COUNT_BITS = 8  # of the reads of one register bank
WARP_BITS = 10
OF_WARP = 1 << WARP_BITS  # a shared reuse cache holds slot * OF_WARP + register + 1; more than there are registers
SLOTS = OPERANDS // 2  # operands a, b, c
NOT_SOUGHT = -1  # no register plus one, of no warp
PLACES = OPERANDS * REUSE  # of a reuse cache: a word of a slot, of operands of 32 bits and then of 64


def register_banks(machine: Machine) -> int:
    """Return how many banks each scheduler's register file has; 0 where operands are never late."""
    file = machine.register_file
    return 0 if file is None or file.mapping == "none" else file.banks


def register_bank(machine: Machine, register: int) -> int:
    """Return the bank in which a register lies; 0 where operands are never late."""
    file, banks = machine.register_file, register_banks(machine)
    return bank_of(register, file.mapping, banks) if file and banks else 0


def pack(packed: MachineNumbers, machine: Machine) -> None:
    """The banks; nothing is kept for reuse until a program flags something (gpusim/launch/packing.py)."""
    packed.register_banks = register_banks(machine)
    if machine.register_file:
        packed.bank_of[:] = [register_bank(machine, register) for register in range(BANK_PERIOD)]
        packed.reuse = machine.register_file.reuse
        packed.reuse_shared = machine.register_file.reuse_shared if packed.reuse else 0


def decode(row: Columns, instruction: Instruction, machine: Machine, kernel: Kernel) -> None:
    """How many registers the instruction reads from each bank, what comes back to each, and which sources are kept."""
    own = kernel.program.registers  # those that a warp shares follow them, and lie elsewhere
    later = instruction.row.unit is Unit.WARPGROUP  # the tensor cores read them
    row["bank_reads"] = _by_bank({r for r in instruction.reads() if r < own and not later}, machine)
    if row["queued"] and machine.register_file:
        written = (r for r in instruction.writes() if r < own)
        row["bank_returns"] = int(machine.register_file.returned) * _by_bank(written, machine)
    sources = ((letter, o) for letter, o in instruction.slots() if letter in "abc" and isinstance(o, Register))
    row["reuse"] = sum(1 << "abc".index(letter) for letter, o in sources if o.reuse)


def note_sources(rows: Plain, registers: int, machine: Machine) -> None:
    """Note which registers of a thread, of so many, the reuse cache may keep for the sources of decoded rows."""
    slots = [_of_slot(rows, slot) for slot in range(rows["source"].shape[1])]
    apart = np.ones(len(rows), np.bool_)
    for slot, (first, end) in enumerate(slots):
        rows["source_words"][:, slot] = end - first
        for register in range(int((end - first).max(initial=0))):
            apart &= (first + register >= end) | _only_read(rows, first + register, registers)
    _note_places(rows, slots, machine)
    for (first, end), (other, other_end) in combinations(slots, 2):
        apart &= (end <= other) | (other_end <= first) | (end == first) | (other_end == other)
    rows["sources_apart"] = apart


def _note_places(rows: Plain, slots: Sequence[tuple[Plain, Plain]], machine: Machine) -> None:
    """Note what each row's sources ask of each place of the reuse cache; of one with more words than it keeps, all."""
    words, anyone = machine.register_file.reuse if machine.register_file else 0, np.arange(len(rows))
    rows["sought"] = NOT_SOUGHT
    for slot, (first, end) in enumerate(slots if words else ()):
        rows["many_words"] |= end - first > words
        flagged = rows["reuse"] >> slot & 1
        for word in range(words):
            register = first + word
            place = np.where(end - first > 1, slot + SLOTS, slot) * REUSE + (register & (words - 1))
            asks = register < end
            rows["sought"][anyone[asks], place[asks]] = register[asks] + 1
            rows["sought_places"] |= asks << place
            rows["flagged_places"] |= (asks & flagged) << place
            bank = np.array([register_bank(machine, number) for number in range(BANK_PERIOD)])[register % BANK_PERIOD]
            rows["places_of_bank"] |= asks.astype(np.int64) << PLACES * bank + place
    rows["sought_places"] |= np.where(rows["many_words"] == 1, (1 << PLACES) - 1, 0)


def _of_slot(rows: Plain, slot: int) -> tuple[Plain, Plain]:
    """Return the first register of a source of each row, and the one behind its last."""
    first, words = rows["source"][:, slot], rows["counts"][:, slot]
    return first, np.where(first >= 0, first + words, first)


def _only_read(rows: Plain, register: Plain, registers: int) -> Plain:
    """Tell of each row whether it reads that register of a thread, and not as an address."""
    used = np.arange(rows["read"].shape[1]) < rows["reads"][:, None]
    pointer = (rows["pointer"] <= register) & (register <= rows["pointer"] + rows["pointer_pair"])
    reads = ((rows["read"] == register[:, None]) & used).any(axis=1)
    found: Plain = reads & (register < registers) & ~pointer
    return found


def _cache(text: str) -> tuple[Field, Field]:
    """Return the fields of a reuse cache, whose registers are kept as the text says."""
    return (
        field("kept", text, OPERAND, KEPT, role=Role.SAME),
        field("kept_places", "mask of the places that are not empty", role=Role.SAME),
    )


def _by_bank(registers: Iterable[int], machine: Machine) -> int:
    """How many of the registers lie in each bank of the register file, a byte for each bank."""
    return sum(1 << COUNT_BITS * register_bank(machine, register) for register in registers)


UNIT = Declaration(
    "register_file",
    fields={
        "machine": (
            field("register_banks", "0: the register file is never late"),
            field("bank_of", "a register's bank, by its number modulo this", BANK_PERIOD),
            packed_key("register_file.address_again"),
            packed_key("register_file.carried"),
            packed_key("register_file.collecting"),
            packed_key("register_file.window"),
            packed_key("register_file.matrix_slack"),
            packed_key("register_file.reuse_shared"),
            field(
                "reuse",
                "words of a reuse cache for each operand slot; 0 too where the program flags nothing",
            ),
        ),
        "row": (
            field("bank_reads", "registers read from each bank, a byte for each bank", kind="i4"),
            field(
                "bank_returns",
                "cycles that what comes back through the queue takes of each bank, a byte for each",
                kind="i4",
            ),
            field("reuse", "mask of the sources a, b, c that stay for the next instruction", kind="i4"),
            field("sought", "register + 1 that its sources ask of each place of a reuse cache", PLACES, kind="i2"),
            field("sought_places", "mask of these places", kind="i4"),
            field("flagged_places", "mask of those whose registers stay", kind="i4"),
            field("places_of_bank", "mask of those whose registers lie in each bank, one behind the other"),
            field("many_words", "1: a source has more words than the cache keeps of one", kind="i1"),
            field("source_words", "registers of each of these sources, 0: none", 3, kind="i1"),
            field("sources_apart", "1: each of these is read from the register file, for one source", kind="i1"),
        ),
        "scheduler": (
            field("bank_free", "when each register bank has done the reads so far", REGISTER_BANK, role=Role.TIME),
            field(
                "collected",
                "when each of the last instructions had its operands, the last one first",
                COLLECTED,
                role=Role.TIME,
            ),
            field(
                "reader",
                "warp slot and pc of the last instruction that read operands: slot * PROGRAM + pc, -1: none",
                role=Role.SAME,
            ),
            *_cache(f"the reuse cache that its warps share: {OF_WARP} * warp slot + register + 1, 0: nothing"),
            field(
                "addressed", "1 + the bank of the address that it read last, 0: of none, or for longer", role=Role.SAME
            ),
            field("stalled_until", "nothing dispatches until then, for lack of operands", role=Role.TIME),
        ),
        "warp": (
            *_cache("its own reuse cache, by operand slot and width: register + 1, 0: nothing"),
            field("bank_reads", "what its next instruction reads, as in its row, less what is in it", role=Role.SAME),
        ),
    },
    pack=pack,
    decode=decode,
    conditions=(
        Condition(
            "register_file.*",
            "bank_of address_again carried collecting window matrix_slack reuse reuse_shared rows.bank_reads "
            "rows.bank_returns",
            lambda g: g.record.register_banks > 0,
            ON_TIME,
        ),
        Condition(
            "register_file.reuse register_file.reuse_shared",
            "",
            lambda g: bool(g.rows["reuse"].any()),
            "{kernel} keeps nothing in the reuse cache",
        ),
        Condition("register_file.mapping", "bank_of", lambda g: bool(g.record.reuse or g.record.carried), ""),
        Condition("register_file.returned register_file.address_again", "", lambda g: g.queued, NO_QUEUE),
    ),
    limits={"register banks": {"register_file.mapping": "none"}},
)
