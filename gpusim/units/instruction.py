"""A decoded instruction: the columns of its row that belong to no unit in particular."""

from __future__ import annotations

from gpusim.units.declare import Role, Unit, field
from gpusim.units.dimensions import INSTRUCTION

UNIT = Unit(
    "instruction",
    fields={
        "row": (
            field("latency", "cycles to its result, where that is fixed; from its service, if it is queued", kind="i4"),
            field("action", "what its execution consists of (gpusim.units.opcodes)", kind="i1"),
            field("unit", "unit class", kind="i1"),
            field("reason", "stall reason of whoever waits for its result", kind="i1"),
            field("queued", "1: goes through the load/store unit", kind="i1"),
            field("memory_kind", "the memory that it accesses (gpusim.units.opcodes)", kind="i1"),
            field("width", "0, 1, 2 for 32, 64, 128 bits", kind="i1"),
            field("eventful", "1: its outcome depends on values", kind="i1"),
            field("evaluate", "1: its result is computed", kind="i1"),
            field("guard", "its guard predicate", kind="i1"),
            field("selector", "predicate handed to the value function as c, -1: none", kind="i1"),
            field("predicate", "predicate written, -1: none", kind="i1"),
            field("reads", "how many of `read` count", kind="i1"),
            field(
                "waits",
                "how many of `read` it waits for: behind those read stand those that are only written",
                kind="i1",
            ),
            field("writes", "how many of `write` count", kind="i1"),
            field("read", "registers read", 17, kind="u1"),
            field("write", "registers written", 16, kind="u1"),
            field("issued", "warp instructions issued", role=Role.TOTAL),
            field("active", "thread instructions whose guard held", role=Role.TOTAL),
            field("words", "32-bit words per operand, of a texture fetch per coordinate", kind="i4"),
            field("access_bytes", "bytes that a lane accesses", kind="i4"),
            field("alignment", "bytes of which an address is a multiple", kind="i4"),
            field("value", "index into the action's group of value functions", kind="i4"),
            field("source", "first register of a, b, c; -1: the constant below", 3, kind="i4"),
            field("constant", "32-bit constants of a, b, c; of 64 bits where the width is", 3, kind="u8"),
            field("negated", "0, SIGN_BIT or TWOS_COMPLEMENT", 3, kind="i4"),
            field("destination", "first register written, -1: none", kind="i4"),
            field("selector_negated", "1: the selector is negated", kind="i4"),
            field("guard_negated", "1: negated; 2 more: whether it is true in any lane", kind="i4"),
            field("pointer", "address register, -1: none", kind="i4"),
            field("special", "index into SPECIALS", kind="i4"),
            field("offset", "bytes"),
            field("limit", "texture: elements"),
            field("table", "truth table of a bitwise function", kind="i4"),
            field("bias", "comparison: added to both numbers, their order is that of unsigned ones"),
        ),
        "sm": (
            field(
                "program",
                "and how often each instruction issued and why warps waited at it",
                INSTRUCTION,
                kind="row",
                role=Role.FIXED,
            ),
        ),
    },
)
