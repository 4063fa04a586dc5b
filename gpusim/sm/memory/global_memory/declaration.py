"""Global memory: transactions, the channel that moves them, and DRAM."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, Literal

import msgspec

from gpusim.sm.memory.cache.declaration import L1, MEMORY, SHARE_PARTS, TAGS, memory_latency, tagged
from gpusim.sm.records import Columns, MachineNumbers
from gpusim.sm.unit.asks import NO_GLOBAL, accesses
from gpusim.sm.unit.capacities import CHANNELS
from gpusim.sm.unit.declare import Condition, Declaration, Machine, Role, field, packed_key
from gpusim.sm.unit.opcodes import STORE
from gpusim.sm.unit.ranges import Count, Flag, Positive, RequestCycles
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.memory import SECTOR_BYTES
from isa.row import Unit as UnitClass


class GlobalMemory(msgspec.Struct, frozen=True):
    """Everything behind the SM."""

    rule: Literal["fermi", "gt200", "sectors"]  # how addresses become transactions
    line_bytes: Positive  # bytes of a line, or of the largest segment
    latency: Positive  # cycles of an access
    request_cycles: RequestCycles  # cycles of the load/store units per transaction
    war: Count  # cycles from service until the instruction's source registers may be overwritten


class Memory(msgspec.Struct, frozen=True):
    """How much of the DRAM's bandwidth arrives; all of it where this is left out."""

    efficiency: Annotated[
        int, msgspec.Meta(ge=100, le=1000)
    ]  # thousandths of `chip.dram_mbs` that a stream of reads gets
    ecc: Flag  # 1: memory is protected against errors at the cost of bandwidth
    ecc_cost: Annotated[int, msgspec.Meta(ge=1, le=500)]  # thousandths of what would arrive without
    written: Annotated[int, msgspec.Meta(ge=1000, le=4000)] = 1000  # thousandths of a read's time that a write takes


class MemoryChannels(msgspec.Struct, frozen=True):
    """The DRAM's channels, interleaved by address. One SM alone has a share of one channel; several use them all."""

    count: Annotated[int, msgspec.Meta(ge=1, le=CHANNELS)]  # channels, each of an equal part of the bandwidth
    bytes: Positive  # neighbouring bytes of one channel, whole lines


class GlobalAtomic(msgspec.Struct, frozen=True):
    """Atomics on global memory, done by the L2: lanes of one line go together, lanes of one word in turn."""

    latency: Positive  # cycles to the old value where the L2 holds the word, besides those for which packets leave
    packet_parts: Positive  # 1/64 cycles of the load/store unit for each packet to the L2


class MemoryClock(msgspec.Struct, frozen=True):
    """The part of `global_memory.latency` behind the L2 is a time: in cycles it follows the shader clock."""

    mhz: Positive  # MHz of the shader clock at which that latency was measured


GLOBAL_RULES = (
    "fermi",
    "gt200",
    "sectors",
)  # how addresses become transactions: sm/memory/global_memory/global_memory.py
LINES, SEGMENTS, SECTORS = range(len(GLOBAL_RULES))


def transaction_bytes(machine: Machine) -> int:
    """Bytes of a transaction: a line, or the least that moves where only part of one may."""
    return machine.global_memory.line_bytes if machine.global_memory.rule == "fermi" else SECTOR_BYTES


def line_cycles(machine: Machine) -> Fraction:
    """Cycles in which one SM's fair share of what arrives of the DRAM bandwidth moves a transaction."""
    chip = machine.chip
    return Fraction(transaction_bytes(machine) * chip.sms * chip.shader_mhz) / arriving_mbs(machine)


def arriving_mbs(machine: Machine) -> Fraction:
    """The DRAM bandwidth that arrives, 10^6 bytes per second: below the nominal one where measured."""
    memory = machine.memory
    if memory is None:
        return Fraction(machine.chip.dram_mbs)
    kept = Fraction(1000 - memory.ecc * memory.ecc_cost, 1000)
    return Fraction(machine.chip.dram_mbs * memory.efficiency, 1000) * kept


def line_cost(machine: Machine) -> int:
    """Parts of a cycle that one transaction occupies the channel, rounded: alike for a share and for all shares.

    Where all loads hit a cache the channel is the one to the L2. Where tags say what hits, a transaction is 32 bytes.

    The rounding is below 0.1 % of a line of 128 bytes where a share is at most 16 bytes per cycle.
    """
    if machine.cache and machine.cache.hits in ("l1", "l2"):
        return int(machine.cache.l2_sector_parts)
    size = SECTOR_BYTES if tagged(machine) else transaction_bytes(machine)
    return round(SHARE_PARTS * line_cycles(machine) * size / transaction_bytes(machine))


def written_cost(machine: Machine) -> int:
    """Parts of a cycle that a transaction occupies the channel which is written to the DRAM, rounded.

    Where all loads hit a cache, stores go to it as loads do.
    """
    if machine.cache and machine.cache.hits in ("l1", "l2"):
        return line_cost(machine)
    return round(line_cost(machine) * (machine.memory.written if machine.memory else 1000) / 1000)


# Keys that say what transactions cost.
CHANNEL_KEYS = "memory_clock.* memory.* chip.dram_mbs chip.stacks cache.l2_sector_parts"
STILL = "no transaction of {kernel} goes through the channel"


def _moves(given: Any) -> bool:
    """Whether transactions of loads and stores reach the channel behind the SM."""
    if given.cached:
        return True
    return given.does(STORE, unit=UnitClass.GLOBAL) if given.record.hits == L1 else UnitClass.GLOBAL in given.units


def _writes(given: Any) -> bool:
    """Whether the DRAM gets what is stored, at once or from a cache that keeps it."""
    local = given.record.hits == TAGS and UnitClass.LOCAL in given.units
    return given.record.hits in (MEMORY, TAGS) and (local or given.does(STORE, unit=UnitClass.GLOBAL))


def atomic_latency(machine: Machine) -> int:
    """Cycles from service to the old value of an atomic: what lies behind the L2 adds as much as to a load."""
    assert machine.global_atomic
    cache = machine.cache
    behind = memory_latency(machine) - cache.l2_latency_32 if cache and cache.hits == "none" else 0
    return int(machine.global_atomic.latency + max(0, behind))


def decode(row: Columns, instruction: Instruction, machine: Machine, _: Kernel) -> None:
    """Fill in the packets that an atomic sends to the L2, and that its port is a store's."""
    form = instruction.row
    if machine.global_atomic is None or form.update is None or form.unit is not UnitClass.GLOBAL:
        return
    row["packets"] = form.form.count("a") + form.form.count("b")
    if machine.memory_port:
        row["port"], row["port_cycles"] = machine.memory_port.global_store, 1


def pack(packed: MachineNumbers, machine: Machine) -> None:
    """How addresses become transactions, and what one costs the channel."""
    packed.channels, packed.channel_count = 1, machine.memory_channels.count if machine.memory_channels else 1
    packed.global_rule = GLOBAL_RULES.index(machine.global_memory.rule)
    packed.line_cost, packed.written_cost, packed.channel_parts = line_cost(machine), written_cost(machine), SHARE_PARTS


UNIT = Declaration(
    "global_memory",
    fields={
        "machine": (
            packed_key("global_memory.request_cycles", "global_request"),
            field("global_rule", "index into GLOBAL_RULES"),
            packed_key("global_memory.line_bytes"),
            field("line_cost", "parts of a cycle that one transaction occupies the channel"),
            field("written_cost", "parts of a cycle that one occupies it which is written to the DRAM"),
            field("channel_parts", "parts of a cycle in which the channel's time counts"),
            field("channels", "that are told apart: 1 but where several SMs are simulated"),
            field("channel_count", "channels of the DRAM"),
            packed_key("memory_channels.bytes", "channel_bytes"),
            packed_key("global_atomic.packet_parts"),
        ),
        "row": (field("packets", "of an atomic to global memory for each sector, 0: no such atomic", kind="i1"),),
        "load_store": (
            field("channel", "when the memory channel is free, in parts of a cycle", role=Role.SPECIAL),
            field("each_channel", "of several, when each is free, in parts of a cycle", CHANNELS, role=Role.FIXED),
        ),
        "outcome": (field("moves", "transactions by channel, of several", CHANNELS),),
        "entry": (field("moves", "transactions by channel, of several", CHANNELS, role=Role.FIXED),),
    },
    pack=pack,
    decode=decode,
    conditions=(
        Condition("global_memory.*", "global_request", accesses(UnitClass.GLOBAL), NO_GLOBAL),
        Condition(
            "global_atomic.*",
            "packet_parts",
            lambda g: bool((g.rows["packets"] > 0).any()),
            "{kernel} has no atomic on global memory",
        ),
        Condition(
            "global_memory.rule", "global_rule hits", lambda g: UnitClass.GLOBAL in g.units or g.cached, NO_GLOBAL
        ),
        Condition(
            "global_memory.line_bytes", "line_bytes", lambda g: UnitClass.GLOBAL in g.units or g.cached, NO_GLOBAL
        ),
        Condition(
            "memory_channels.*",
            "channel_count channel_bytes",
            lambda g: g.record.hits in (MEMORY, TAGS) and (_moves(g) or UnitClass.TEXTURE in g.units),
            STILL,
        ),
        Condition(
            "memory_channels.*",
            "channel_count channel_bytes",
            lambda g: g.several_sms,
            "one SM has its share of all channels as one; run tells them apart with --sms all",
        ),
        Condition(
            "memory.ecc_cost",
            "",
            lambda g: g.machine.memory is None or bool(g.machine.memory.ecc),
            "memory is not protected (memory.ecc = 0)",
        ),
        Condition(
            "memory.written",
            "",
            _writes,
            "no store of {kernel} goes to the DRAM",
        ),
        Condition(CHANNEL_KEYS, "line_cost written_cost", _moves, STILL),
        Condition(CHANNEL_KEYS, "channel_parts", lambda g: _moves(g) or UnitClass.TEXTURE in g.units, STILL),
    ),
    limits={
        "load/store unit": {"global_memory.request_cycles": 1, "global_atomic.packet_parts": 1},
        "bandwidth": {"memory_channels.count": 1, "memory.written": 1000},
        "latency": {"global_memory.latency": 1, "global_memory.war": 0, "global_atomic.latency": 1},
    },
)
