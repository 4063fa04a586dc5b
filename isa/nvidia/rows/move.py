"""Families of moves: between registers, from constant banks and from special registers."""

from __future__ import annotations

from typing import Any

from isa.family import Family
from isa.row import Unit
from isa.values import integer, logic
from isa.values import semantics as v


def copy(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:  # noqa: ARG001  (every result function takes all five)
    """Pattern a itself."""
    return a


_BYTES = {"B0": 0, "B1": 8, "B2": 16, "B3": 24}  # of a register with predicates
_PARTS = {
    f"{sign}{bits}": {"value": None, "result": integer.part, "code": bits | (integer.SIGNED if sign == "S" else 0)}
    for sign in "US"
    for bits in (8, 16)
}
_PAIR = {"value": None, "result": copy, "registers": "da2"}

FAMILIES = (
    Family("MOV", "da", Unit.MOVE, fields={"value": v.mov}, modifiers={"64": _PAIR}),
    Family("UMOV", "da", Unit.UNIFORM, fields={"value": v.mov}, modifiers={"64": _PAIR}, shared="da"),
    Family("ULDC", "da", Unit.UNIFORM, fields={"value": v.mov}, modifiers={"64": _PAIR, **_PARTS}, shared="d"),
    Family("S2R", "ds", Unit.SPECIAL),
    Family("S2UR", "ds", Unit.SPECIAL, shared="d"),
    Family("R2P", "Ppuvwrzan", Unit.MOVE, None, logic.predicates_of_bits, parts={"a": _BYTES}),
    Family("P2R", "dQqxefghan", Unit.MOVE, logic.bits_of_predicates, None, modifiers=_BYTES),
    Family("UR2UP", "Ppuvwrzan", Unit.UNIFORM, None, logic.predicates_of_bits, parts={"a": _BYTES}, shared="Ppuvwrza"),
    Family("UP2UR", "dQqxefghan", Unit.UNIFORM, logic.bits_of_predicates, None, modifiers=_BYTES, shared="dQqxefgha"),
    Family("CS2R", "ds", Unit.MOVE, fields={"registers": "d2"}, modifiers={"32": {"registers": ""}}),
    Family("CS2UR", "ds", Unit.UNIFORM, fields={"registers": "d2"}, modifiers={"32": {"registers": ""}}, shared="d"),
)
