"""A decoded instruction: the columns of its row that belong to no unit in particular."""

from __future__ import annotations

from gpusim.sm.unit.capacities import READ, WRITTEN
from gpusim.sm.unit.declare import Declaration, Role, field
from gpusim.sm.unit.dimensions import INSTRUCTION

UNIT = Declaration(
    "instruction",
    fields={
        "row": (
            field("latency", "cycles to its result, where that is fixed; from its service, if it is queued", kind="i4"),
            field("action", "what its execution consists of (gpusim.sm.unit.opcodes)", kind="i1"),
            field("unit", "unit class", kind="i1"),
            field("reason", "stall reason of whoever waits for its result", kind="i1"),
            field("queued", "1: goes through the load/store unit", kind="i1"),
            field("memory_kind", "the memory that it accesses (gpusim.sm.unit.opcodes)", kind="i1"),
            field("width", "0, 1, 2 for 32, 64, 128 bits", kind="i1"),
            field("eventful", "1: its outcome depends on values", kind="i1"),
            field("evaluate", "1: its result is computed", kind="i1"),
            field("located", "1: the addresses of its access are found even where its cost is known", kind="i1"),
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
            field("read", "registers read", 40, kind="u2"),
            field("write", "registers written", 16, kind="u2"),
            field("second_predicate", "the other predicate written, -1: none", kind="i1"),
            field("more_predicates", "further ones, -1: none", WRITTEN - 2, kind="i1"),
            field("selectors", "predicates handed to truth functions, -1: none; `selector` first", READ, kind="i1"),
            field("others", "1: it writes a second predicate, or reads one", kind="i1"),
            field("selectors_negated", "mask of those that are negated", kind="i1"),
            field("uniform", "1: its results are one for all lanes", kind="i1"),
            field("counts", "registers of the sources a, b, c", 3, kind="i1"),
            field("taken", "32-bit words that the function takes of each", 3, kind="i1"),
            field("selects", "places of `selectors` that the function takes as p; -1: it takes none", kind="i1"),
            field("wide_address", "1: its address has 64 bits", kind="i1"),
            field("pointer_pair", "1: the address register is a pair", kind="i1"),
            field("base_pair", "1: the uniform base is a pair", kind="i1"),
            field("signed_load", "1: what is less than a word is sign-extended", kind="i1"),
            field("known", "1: loads a constant of the launch", kind="i1"),
            field("issued", "warp instructions issued", role=Role.TOTAL),
            field("active", "thread instructions whose guard held", role=Role.TOTAL),
            field("words", "32-bit words per operand, of a texture fetch per coordinate", kind="i4"),
            field("access_bytes", "bytes that a lane accesses", kind="i4"),
            field("alignment", "bytes of which an address is a multiple", kind="i4"),
            field("value", "index into FUNCTIONS of what gives d, -1: none", kind="i2"),
            field("source", "first register of a, b, c; -1: the constant below", 3, kind="i2"),
            field(
                "behind", "registers whose words stand behind those of a, b, c, a; -1: none, -2: zeros", 4, kind="i2"
            ),
            field("constant", "32-bit constants of a, b, c; of 64 bits where the width is", 3, kind="u8"),
            field("change", "what its text does to a, b, c (isa.operands.operand_change)", 3, kind="i2"),
            field("truth", "index into FUNCTIONS of what gives predicates, -1: none", kind="i2"),
            field("number", "what functions get as n", kind="u8"),
            field("uniform_base", "uniform register that is added to the address, -1: none", kind="i4"),
            field("scale", "by which the address register is multiplied", kind="i4"),
            field("destination", "first register written, -1: none", kind="i2"),
            field("selector_negated", "1: the selector is negated", kind="i1"),
            field("guard_negated", "1: negated; 2 more: whether it is true in any lane", kind="i1"),
            field("pointer", "address register, -1: none", kind="i4"),
            field("special", "index into SPECIALS", kind="i4"),
            field("offset", "bytes"),
            field("limit", "texture: elements"),
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
