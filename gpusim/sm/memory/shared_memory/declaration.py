"""Shared memory: banks, passes, and atomics on it."""

from __future__ import annotations

from math import lcm
from typing import TYPE_CHECKING, Literal

import msgspec

from gpusim.sm.memory.what_if import BANKS, ONE_PASS
from gpusim.sm.records import Columns, MachineNumbers
from gpusim.sm.unit.asks import NO_SHARED, WIDTHS, accesses, free_passes, looks_up_banks, updates, wide
from gpusim.sm.unit.declare import Condition, Declaration, Machine, field, packed_key
from gpusim.sm.unit.opcodes import UNIT_CODE, UPDATES
from gpusim.sm.unit.ranges import Count, Flag, PassCycles, Positive
from isa.instruction import Instruction
from isa.row import Row
from isa.row import Unit as UnitClass
from isa.values.atomic import add, compare_and_swap

if TYPE_CHECKING:
    from isa.kernel import Kernel


class SharedMemory(msgspec.Struct, frozen=True):
    """Shared memory: a pass is one trip through its data path."""

    rule: Literal["fermi", "gt200", "kepler", "volta", "gcn"]  # how addresses become passes
    banks: Literal[4, 8, 16, 32, 64, 128]  # banks of shared memory
    bank_bytes: Literal[4, 8]  # bytes side by side in one bank; 8 is Kepler's 64-bit mode
    pass_cycles: PassCycles  # cycles of a pass
    passes_per_cycle: Positive  # passes of an access in one cycle, at most; beyond 1 a pass takes no longer
    merge_halves: Flag  # 1: a 128-bit access serves two half-warps with the same addresses together
    latency_32: Positive  # RAW cycles of a load of this width, with as many passes as are free
    latency_64: Positive
    latency_128: Positive
    free_passes_32: Positive  # passes already inside that latency; each further one adds pass_cycles
    free_passes_64: Positive
    free_passes_128: Positive
    war_32: Count  # cycles from service until the instruction's source registers may be overwritten
    war_64: Count
    war_128: Count


class SharedAtomic(msgspec.Struct, frozen=True):
    """Atomics on shared memory whose lanes go one by one in each bank: additions but of 1 without result, and swaps."""

    port: Positive  # least cycles of the port
    war: Count  # cycles from service until the source registers may be overwritten
    add_turns: PassCycles  # passes for each lane of an addition
    add_latency: Positive  # cycles to the old value, with as many passes as are free for a 32-bit load
    swap_turns: PassCycles  # passes for each lane of a compare and swap
    swap_latency: Positive  # cycles to the old value, likewise


SHARED_RULES = (
    "fermi",
    "gt200",
    "kepler",
    "volta",
    "gcn",
)  # how addresses become passes: sm/memory/shared_memory/shared_memory.py
FERMI, GT200, KEPLER, VOLTA, GCN = range(len(SHARED_RULES))


def row_bytes(machine: Machine) -> int:
    """Bytes that all banks of shared memory hold side by side: accesses that lie whole rows apart conflict alike.

    Kepler's banks always hold 8 bytes, in 32-bit mode too (CUDA C Programming Guide 4.2, F.5.3).
    """
    shared = machine.shared_memory
    return int(shared.banks * (8 if shared.rule == "kepler" else shared.bank_bytes))


def pack(packed: MachineNumbers, machine: Machine) -> None:
    """How addresses become passes, and what passes beyond the free ones cost."""
    shared, port = machine.shared_memory, machine.memory_port
    packed.late_cycles = port.late_cycles if port else shared.pass_cycles
    packed.late_passes = 1 if port else shared.passes_per_cycle
    if port:
        packed.early[1:] = port.early_64, port.early_128
    packed.shared_rule, packed.bank_words = SHARED_RULES.index(shared.rule), shared.bank_bytes // 4
    packed.free_passes[:] = [getattr(shared, f"free_passes_{width}") for width in ("32", "64", "128")]
    packed.row_bytes = lcm(machine.global_memory.line_bytes, row_bytes(machine))


def decode(row: Columns, instruction: Instruction, machine: Machine, _: Kernel) -> None:
    """Fill in what an atomic costs."""
    if machine.shared_atomic and row["update"] >= 0 and instruction.row.unit is UnitClass.SHARED:
        _atomic(row, instruction.row, machine.shared_atomic)
        row["port"] *= machine.memory_port is not None


def _atomic(row: Columns, form: Row, costs: SharedAtomic) -> None:
    row["port"], row["war"] = costs.port, costs.war
    row["latency"], row["turns"] = atomic_costs(form, costs)
    if _counts(row):
        row["turns"] = 0


def atomic_costs(form: Row, costs: SharedAtomic) -> tuple[int, int]:
    """Return the latency of an atomic on shared memory, and its passes for each lane in the fullest bank."""
    if form.update is compare_and_swap:
        return costs.swap_latency, costs.swap_turns
    return costs.add_latency, costs.add_turns


def _counts(row: Columns) -> bool:
    """Whether an atomic only adds 1 and hands nothing back: lanes that want one word go together."""
    return bool(
        UPDATES[row["update"]] is add and row["destination"] < 0 and row["source"][0] < 0 and row["constant"][0] == 1
    )


OF_SHARED = " ".join(
    f"shared_memory.{key}"
    for key in ("rule", "bank_bytes", "pass*", "merge_halves", "latency*", "free_passes*", "war*")
)
LIFTED = "banks never conflict (what_if.shared_memory)"

UNIT = Declaration(
    "shared_memory",
    fields={
        "machine": (
            packed_key("shared_memory.pass_cycles"),
            packed_key("shared_memory.passes_per_cycle"),
            packed_key("shared_memory.merge_halves"),
            field("shared_rule", "index into SHARED_RULES"),
            packed_key("shared_memory.banks"),
            field("bank_words", "32-bit words side by side in one bank"),
            field("row_bytes", "costs of accesses don't change when addresses move by multiples of this"),
            field("free_passes", "passes already contained in a load's latency, widths 32, 64, 128", 3),
            field("late_cycles", "that each further pass adds to it"),
            field("late_passes", "or so many passes together"),
            field("early", "cycles by which the result of a load of fewer passes comes earlier", 3),
        ),
        "row": (
            field("update", "index of what an atomic does to its word, -1: no atomic", kind="i4"),
            field("turns", "passes of an atomic for each lane in the fullest bank, 0: as a load", kind="i4"),
            field("war", "cycles from service until its source registers may be overwritten", kind="i4"),
        ),
        "launch": (
            field("shared_word", "where shared memory begins in the memory array"),
            field("shared_words", "words of it per block"),
        ),
    },
    pack=pack,
    decode=decode,
    conditions=(
        Condition(
            "shared_memory.bank_bytes",
            "bank_words",
            lambda g: g.record.shared_rule == KEPLER,
            "the bank rule {rule} has banks of 4 bytes",
        ),
        Condition(
            f"{OF_SHARED} what_if.shared_memory",
            "pass_cycles late_cycles merge_halves shared_rule bank_words shared_ideal free_passes early",
            accesses(UnitClass.SHARED),
            NO_SHARED,
        ),
        Condition(
            "shared_memory.banks", "banks", lambda g: accesses(UnitClass.SHARED)(g) or looks_up_banks(g), NO_SHARED
        ),
        Condition(
            "shared_memory.merge_halves",
            "merge_halves",
            lambda g: g.record.shared_rule == FERMI,
            "the bank rule {rule} merges no half-warps",
        ),
        Condition(
            "shared_memory.merge_halves",
            "merge_halves",
            lambda g: bool(((g.rows["unit"] == UNIT_CODE[UnitClass.SHARED]) & (g.rows["words"] > 2)).any()),
            "{kernel} has no 128-bit access to shared memory",
        ),
        Condition(
            "shared_memory.bank_bytes",
            "bank_words",
            lambda g: g.record.shared_ideal == BANKS,
            LIFTED,
        ),
        Condition(
            "shared_memory.banks",
            "banks",
            lambda g: g.record.shared_ideal == BANKS or looks_up_banks(g),
            LIFTED,
        ),
        Condition(
            "shared_memory.rule shared_memory.merge_halves",
            "shared_rule merge_halves",
            lambda g: g.record.shared_ideal != ONE_PASS,
            "each access is one pass (what_if.shared_memory)",
        ),
        *(
            Condition(
                f"shared_memory.free_passes_{width}",
                f"free_passes.{index}",
                free_passes(width),
                f"{{kernel}} has no {width}-bit load from shared memory",
            )
            for index, width in enumerate(WIDTHS)
        ),
        *(
            Condition(
                f"shared_memory.*_{width}", "", wide(width), f"{{kernel}} has no {width}-bit access to shared memory"
            )
            for width in WIDTHS
        ),
        Condition("shared_atomic.*", "", updates, "{kernel} has no atomic"),
    ),
    limits={
        "shared-memory passes": {
            "shared_memory.pass_cycles": 1,
            "shared_atomic.*_turns": 1,
        },
        "load/store unit": {"shared_atomic.port": 1},
        "latency": {
            "shared_memory.latency*": 1,
            "shared_atomic.*_latency": 1,
            "shared_memory.war*": 0,
            "shared_atomic.war": 0,
        },
    },
)
