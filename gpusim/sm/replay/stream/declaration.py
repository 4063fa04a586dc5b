"""Streams: what each warp does, recorded for trace-driven launches."""

from __future__ import annotations

from gpusim.sm.unit.declare import Declaration, Role, field
from gpusim.sm.unit.dimensions import EVENT, LOOP, PLACED, RANGE, SCRIPT, STREAM, WARP

UNIT = Declaration(
    "stream",
    fields={
        "outcome": (
            field("onward", "replay: pc where the warp goes on, of a program whose lanes may part"),
            field("left", "replay: threads that go on there"),
            field("place", "replay: where its requests lie, as in event"),
        ),
        "row": (
            field(
                "visit",
                "the first pc from here on that decides addresses, guards or branches, or depends on them",
                kind="i4",
            ),
            field("spilled", "1: accesses a slot of local memory, at the same place each time", kind="i4"),
            field("kept", "behind the word at which its last requests were recorded", role=Role.FREE),
        ),
        "sm": (
            field("trace_driven", "1: outcomes come from recorded streams", role=Role.FIXED),
            field(
                "provable", "1: global addresses are all that depends on the block, by `block_step`", role=Role.FIXED
            ),
            field(
                "block_step",
                "bytes, or elements, by which an address or coordinate moves from a block to its neighbour in x, y, z",
                RANGE,
                3,
                role=Role.FIXED,
            ),
            field("recorded", "items of streams", role=Role.FREE),
            field("streamed", "streams so far", role=Role.FREE),
            field("scripted", "scripts so far", role=Role.FREE),
            field("visits", "instructions walked through", role=Role.FREE),
            field("event", "of this cycle, as in sm/replay/stream/stream.py", role=Role.FREE),
            field("log", "scripts of the last blocks placed", PLACED, role=Role.FREE),
            field("events", "items of all streams", EVENT, kind="event", role=Role.FREE),
            field("requested", "words of the recorded requests", role=Role.FREE),
            field("streams", "the recorded streams", STREAM, kind="stream", role=Role.FREE),
            field("scripts", "the recorded scripts", SCRIPT, kind="script", role=Role.FREE),
        ),
        "warp": (
            field("cursor", "replay: its next event", role=Role.SAME),
            field("laps", "replay: rounds done of the loops around that event", LOOP, role=Role.SPECIAL),
            field("request", "replay: word of its next recorded request", role=Role.FREE),
        ),
        "block": (
            field("script", "replay: what its warps do", role=Role.SAME),
            field("away", "replay: blocks from the one that was recorded, in x, y, z", 3, role=Role.FREE),
        ),
        "launch": (
            field("recorded", "word in there, as cache_word, of the first recorded request"),
            field("recorded_end", "behind the room for them"),
        ),
        "event": (
            field("pc", "of the instruction; or what else stands here (see sm/replay/stream/stream.py)", kind="i4"),
            field("threads", "whose guard holds", kind="i4"),
            field("cycles", "the access's, as in outcome", kind="i4"),
            field("extra", "the access's, as in outcome", kind="i4"),
            field("transactions", "the access's, as in outcome", kind="i4"),
            field("requests", "the access's, as in outcome", kind="i4"),
            field("onward", "where lanes may diverge: pc where the warp goes on", kind="i4"),
            field("left", "where lanes may diverge: threads that go on there", kind="i4"),
            field("passed", "instructions walked through before it, when it was recorded", kind="i4"),
            field("place", "behind the word of its warp's list that has its requests; 0: they come next", kind="i4"),
            field("rounds", "marker: further rounds of the part before it", kind="i4"),
            field("length", "marker: items of that part", kind="i4"),
            field("depth", "marker: loops inside it", kind="i4"),
        ),
        "stream": (
            field("first", "its first item"),
            field("length", "how many items it has"),
            field("digest", "a hash of these"),
        ),
        "script": (
            field("block", "the block it was recorded from"),
            field("slot", "the block slot in which it was"),
            field("first", "first event of each of its warps", WARP),
            field("requests", "first recorded request of each of its warps", WARP),
            field("low", "lowest byte of global memory accessed, number compared, or coordinate fetched", RANGE),
            field(
                "high",
                "behind the highest; of coordinates, as far as from END (sm/memory/memory_access/address_range.py)",
                RANGE,
            ),
        ),
    },
)
