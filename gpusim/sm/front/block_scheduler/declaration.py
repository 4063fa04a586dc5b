"""Block scheduler: places blocks on the SM, and retires them."""

from __future__ import annotations

import msgspec

from gpusim.sm.memory.cache.declaration import SHARE_PARTS
from gpusim.sm.unit.declare import Condition, Declaration, Machine, Role, field, packed_key
from gpusim.sm.unit.dimensions import BLOCK, END, WARP
from gpusim.sm.unit.ranges import Count, Flag


class LaunchTimes(msgspec.Struct, frozen=True):
    """How blocks start on an SM."""

    block_latency: Count  # cycles from when a slot is handed a block, after the first ones, to the start of that block
    warp_skew: Count  # cycles between the starts of successive warps of a block
    block_skew: Count  # cycles between the starts of successive blocks at the beginning, at least
    block_gap: Count = 0  # cycles from the start of a block's last warp to the next block at the beginning, at least
    rotates: Flag = 0  # 1: each block slot begins one scheduler further, where blocks take all equally often
    begin: Count = 0  # cycles from when an idle SM is handed its first blocks to the start of the first
    refill_parts: Count = 0  # in 1/64 cycles, how long the chip takes to hand out each later block


FREE, RUNNING, DONE = range(3)  # states of a block slot


def refill_parts(machine: Machine) -> int:
    """Return the 64ths of a cycle in which the chip hands a block to each of its SMs, as one SM waits for that.

    One that stands for others waits for whole cycles.
    """
    parts: int = machine.launch.refill_parts * machine.chip.sms
    return parts if machine.chip.sms == 1 else SHARE_PARTS * round(parts / SHARE_PARTS)


UNIT = Declaration(
    "block_scheduler",
    fields={
        "machine": (
            packed_key("launch.block_latency"),
            packed_key("launch.begin"),
            packed_key("launch.warp_skew"),
            packed_key("launch.block_skew"),
            packed_key("launch.block_gap"),
            packed_key("launch.refill_parts"),
            packed_key("launch.rotates"),
        ),
        "launch": (
            field("grid", "blocks of the grid in x, y, z", 3),
            field("block", "threads of a block in x, y, z", 3),
            field("threads", "threads of a block"),
            field("warps", "warps of a block"),
            field("meets", "1: they meet at barriers"),
            field("resident", "blocks that fit at once"),
            field("next", "id of the next block to place", role=Role.TOTAL),
            field("stride", "from one block of this SM to its next"),
            field("sms", "SMs of the chip"),
            field("apart", "from one SM that is simulated to the next"),
            field("gap", "id of the first block that is left out; 0: none"),
            field("behind", "id of the next one that is not; 0: none"),
            field("end", "block ids end here"),
            field("handed_until", "until when the chip hands out the block before", role=Role.TIME),
            field("handed_parts", "and so many 64ths of a cycle", role=Role.SAME),
        ),
        "sm": (
            field("placed", "blocks so far", role=Role.TOTAL),
            field("aged", "warps so far", role=Role.TOTAL),
            field("retired", "blocks that have left", role=Role.TOTAL),
            field("ended", "when the last ones of these left: number n at n modulo the length", END, role=Role.FREE),
            field("ended_after", "and how many warp instructions had issued by then", END, role=Role.FREE),
            field("empty", "warp-slot cycles without a block", role=Role.TOTAL),
            field("empty_since", "since when each warp slot has no block", WARP, role=Role.STAMP),
            field("warp_slots", "warp slots that the resident blocks have", role=Role.FIXED),
            field("blocks", "resident blocks, by slot", BLOCK, kind="block"),
            field("warps", "resident warps, by slot", WARP, kind="warp"),
        ),
        "block": (
            field("id", "its number in the grid", role=Role.NUMBER, of="launch.next"),
            field("live", "warps that have not exited", role=Role.SAME),
            field("state", "FREE, RUNNING or DONE", role=Role.SAME),
            field("finished", "when the last warp left", role=Role.TIME),
        ),
        "warp": (
            field("block", "block slot", role=Role.SAME),
            field("index", "warp within the block", role=Role.SAME),
            field("scheduler", "its warp scheduler", role=Role.SAME),
            field("place", "its bit in that scheduler's masks", role=Role.SAME),
            field("live", "1: resident and not exited", role=Role.SAME),
            field("age", "order of placement, smaller is older", role=Role.NUMBER, of="aged"),
            field("threads", "how many those are", role=Role.SAME),
        ),
    },
    conditions=(
        Condition(
            "launch.block_latency", "block_latency", lambda g: g.share > g.resident, "all blocks of an SM start at once"
        ),
        Condition("launch.warp_skew", "warp_skew", lambda g: g.kernel.warps > 1, "a block of {kernel} is one warp"),
        Condition(
            "launch.block_skew", "block_skew", lambda g: g.resident > 1, "an SM has one block of {kernel} at a time"
        ),
        Condition(
            "launch.block_gap", "block_gap", lambda g: g.resident > 1, "an SM has one block of {kernel} at a time"
        ),
        Condition(
            "launch.rotates",
            "rotates",
            lambda g: g.resident > 1 and g.kernel.warps % g.machine.schedulers.count == 0,
            "blocks of {kernel} follow each other from scheduler to scheduler",
        ),
        Condition(
            "launch.refill_parts", "refill_parts", lambda g: g.share > g.resident, "all blocks of an SM start at once"
        ),
    ),
    limits={
        "starts of blocks": {
            "launch.block_*": 0,
            "launch.begin": 0,
            "launch.refill_parts": 0,
            "launch.warp_skew": 0,
        }
    },
)
