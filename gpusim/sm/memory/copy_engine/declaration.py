"""The copy engine: its queue of copies, and the pieces of them that are on their way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from gpusim.sm.records import Columns
from gpusim.sm.unit.capacities import MAPS
from gpusim.sm.unit.declare import Condition, Declaration, Machine, Role, field, packed_key
from gpusim.sm.unit.dimensions import COPY, PIECE
from gpusim.sm.unit.ranges import Count, Positive
from isa.instruction import Instruction

if TYPE_CHECKING:
    from isa.kernel import Kernel

DIMENSIONS = 5  # of a tensor at most


class CopyEngine(msgspec.Struct, frozen=True):
    """The copy engine of an SM; without this section the machine has none."""

    ask: Positive  # cycles for which a piece of a load keeps it
    load_parts: Positive  # 64ths of a cycle for each 32 bytes that come from the L2
    store_parts: Positive  # 64ths of a cycle for each 32 bytes that it sends; a piece takes whole cycles
    reduce_parts: Positive  # 64ths of a cycle for each 32 bytes that it sends as updates, likewise
    start: Count  # cycles from the service of a command until its first request
    map: Count  # cycles until a tensor map is at hand that the engine does not have
    latency: Count  # cycles from a request that hits the L2 until its bytes are in shared memory
    store: Count  # cycles from when bytes have left the SM until they count as written
    nearby: Count  # cycles from a request to shared memory until its bytes are there again
    war: Count  # cycles from service until the registers of a command may be overwritten


def decode(row: Columns, instruction: Instruction, machine: Machine, _: Kernel) -> None:
    """What the instruction asks of the engine."""
    form = instruction.row
    if form.bulk:
        row["bulk"], row["number"] = int(form.bulk), form.code
        if row["queued"] and machine.copy_engine:
            row["war"] = machine.copy_engine.war


UNIT = Declaration(
    "copy_engine",
    fields={
        "machine": (
            packed_key("copy_engine.ask", "engine_ask"),
            packed_key("copy_engine.load_parts", "engine_load"),
            packed_key("copy_engine.store_parts", "engine_send"),
            packed_key("copy_engine.reduce_parts", "engine_reduce"),
            packed_key("copy_engine.start", "engine_start"),
            packed_key("copy_engine.map", "engine_map"),
            packed_key("copy_engine.latency", "engine_latency"),
            packed_key("copy_engine.store", "engine_store"),
            packed_key("copy_engine.nearby", "engine_nearby"),
        ),
        "row": (
            field("bulk", "what it asks of the copy engine (isa.row.Bulk)", kind="i1"),
            field("copied", "bytes that its copies have asked for, or sent", role=Role.TOTAL),
            field("pieces", "of these copies, those that were asked for, or sent", role=Role.TOTAL),
        ),
        "sm": (
            field("bulk", "1: the program has bulk or tensor copies", role=Role.FREE),
            field("engine", "the copy engine", kind="engine", role=Role.FREE),
            field("copies", "a ring: its queue, and what is on its way", COPY, kind="copy", role=Role.FREE),
            field("pieces", "a ring: pieces on their way, by arrival", PIECE, kind="piece", role=Role.FREE),
        ),
        "warp": (field("copying", "copies that the engine does for it", role=Role.FREE),),
        "engine": (
            field("first", "number of the first copy that is not done"),
            field("asking", "number of the copy whose pieces are asked for"),
            field("last", "number behind the last copy"),
            field("first_piece", "number of the first piece on its way"),
            field("last_piece", "number behind the last piece"),
            field("free", "when it can ask for the next piece"),
            field("port", "when the way from the L2 is free, in 64ths of a cycle"),
            field("arrives", "when the last piece so far that was sent is done: these are in order"),
            field("next", "when it acts next"),
            field("row", "of a row of a box that was found: the place of byte 0 of the box, if all were in this row"),
            field("low", "the first place of it that is inside the tensor"),
            field("high", "and the place behind them"),
            field("maps", "1 + the places of the tensor maps that it has; 0: none", MAPS),
            field("there", "when each is at hand", MAPS),
            field("fetched", "how many it has fetched"),
            field("woken", "warp slots with a copy that has come to its end since they were looked at, as a mask"),
        ),
        "copy": (
            field("bulk", "what it is, as in row"),
            field("code", "that of its instruction's row"),
            field("pc", "its instruction"),
            field("warp", "the warp slot that has asked for it"),
            field("number", "of the instruction's access in the load/store queue"),
            field("group", "its group of the warp's bulk copies"),
            field("starts", "when it may start; NEVER: its instruction has not been served"),
            field("done", "1: all of it is done"),
            field("own_word", "where the shared memory of the block that has asked for it begins in the memory array"),
            field("block_word", "the same of the block whose shared memory it writes, or reads"),
            field("blocks", "mask of the blocks of the cluster that get it, by rank; 0: that one alone"),
            field("shared", "byte address there, of what is written or read"),
            field("source", "of a copy within shared memory, that of what is read"),
            field("map", "place of its tensor map; -1: it has none"),
            field("far", "place in global memory of the tensor's first byte, or of the bytes themselves"),
            field("barrier", "place of the barrier that gets its bytes, -1: none"),
            field("total", "bytes in shared memory"),
            field("asked", "of these, those that have been asked for"),
            field("landed", "and those that have come"),
            field("begins", "when the engine began to ask"),
            field("over", "when it has asked for all so far"),
            field("element", "bytes of an element"),
            field("type", "its type (gpusim.sm.memory.copy_engine.tensor_map)"),
            field("swizzle", "mode of the pattern in shared memory, 0: none"),
            field("fills", "1: beyond the tensor are NaNs, not zeros"),
            field("rank", "dimensions"),
            field("sizes", "of the tensor, in elements", DIMENSIONS),
            field("pitches", "bytes between neighbours of each dimension", DIMENSIONS),
            field("counts", "elements of the box", DIMENSIONS),
            field("steps", "between neighbours of the box, in elements", DIMENSIONS),
            field("begin", "coordinates of its first element", DIMENSIONS),
            field("interleaved", "1: slices of the tensor's channels lie together, each an element"),
            field("lower", "of pixels, the first coordinates of each dimension of an image", 3),
            field("upper", "and the last ones", 3),
            field("away", "how far from these each pixel is read", 3),
        ),
        "piece": (
            field("of_copy", "number of its copy"),
            field("at", "its first byte in the box"),
            field("length", "bytes"),
            field("arrives", "when it does"),
        ),
    },
    decode=decode,
    conditions=(
        Condition(
            "copy_engine.*",
            "engine_ask engine_load engine_send engine_reduce engine_start engine_map engine_latency engine_store "
            "engine_nearby",
            lambda g: bool((g.rows["bulk"] > 0).any()),
            "{kernel} has no bulk or tensor copies",
        ),
    ),
    limits={
        "copy latency": {
            "copy_engine.start": 0,
            "copy_engine.map": 0,
            "copy_engine.latency": 0,
            "copy_engine.store": 0,
            "copy_engine.nearby": 0,
            "copy_engine.war": 0,
        },
        "copy engine": {"copy_engine.ask": 1, "copy_engine.*_parts": 1},
    },
)
