"""Families of integers that lie several in a word, of minima, differences and permutations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from isa.family import Change, Family, of_warp
from isa.row import Kind, Unit
from isa.values import integer, packed
from isa.values import semantics as v

_KINDS: Mapping[str, Change] = {
    "S32": 0,
    "U32": packed.UNSIGNED,
    "S16x2": {"code": packed.HALVES, "kind": Kind.SHORTS},
    "U16x2": {"code": packed.HALVES | packed.UNSIGNED, "kind": Kind.SHORTS},
    "RELU": packed.RELU,
}
_FACTORS = {"S8": packed.B_SIGNED, "U8": 0}
_MODES = ("F4E", "B4E", "RC8", "ECL", "ECR", "RC16")
_NARROW = {
    "S8": packed.TO_8,
    "U8": packed.TO_8 | packed.TO_UNSIGNED,
    "S16": packed.TO_16,
    "U16": packed.TO_16 | packed.TO_UNSIGNED,
}
_FIELDS = {
    "S4": packed.TO_4,
    "U4": packed.TO_4 | packed.TO_UNSIGNED,
    "S2": packed.TO_2,
    "U2": packed.TO_2 | packed.TO_UNSIGNED,
}
_KEPT = {"8": {"H0": 0, "H1": packed.UPPER}, "4": {"24": 0}, "2": {"28": 0}}  # bits of c beside two fields of a width
_UNSIGNED_WORD = {"value": None, "result": integer.minimum, "code": 0}
_LONG: Mapping[str, Change] = {
    "S64": {"value": None, "result": integer.minimum_of_pairs, "registers": "dab2", "code": integer.SIGNED},
    "U64": {"value": None, "result": integer.minimum_of_pairs, "registers": "dab2"},
}


def _fields(change: Change, code: int = 0) -> Mapping[str, Any]:
    """Return the fields of a row that a modifier makes, with a further code."""
    fields = {"code": change} if isinstance(change, int) else change
    return {**fields, "code": fields["code"] | code}


_PLAIN = (Family("IMNMX", "dabQ", Unit.MINMAX, fields={"value": v.imnmx}, modifiers={"U32": _UNSIGNED_WORD, **_LONG}),)


# fmt: off
FAMILIES = (
    Family("VIADD", "dab", Unit.INT, fields={"value": v.iadd},
           modifiers={"16x2": {"value": None, "result": packed.add_halves, "kind": Kind.SHORTS}}, signs={"ab": "-"}),
    Family("VIADD.U8x4", "dab", Unit.INT, packed.add_bytes, modifiers={"X": integer.X}, signs={"ab": "-~"}),
    Family("VIADD.S32.ISAT", "dab", Unit.INT, packed.add_saturated, modifiers={"X": integer.X}, signs={"ab": "-~"}),
    *_PLAIN,
    *map(of_warp, _PLAIN),
    Family("VIMNMX", "dabQ", Unit.MINMAX, fields={"value": v.imnmx}, modifiers={"U32": _UNSIGNED_WORD}),
    *(Family(f"VIMNMX.{name}", "dPpabQ", Unit.MINMAX, packed.extreme, packed.extreme_is_first, "Pp",
             fields=_fields(kind)) for name, kind in _KINDS.items() if name != "U32"),
    *(Family(f"VIMNMX.{name}.RELU", "dPpabQ", Unit.MINMAX, packed.extreme, packed.extreme_is_first, "Pp",
             fields=_fields(kind, packed.RELU)) for name, kind in _KINDS.items() if name != "RELU"),
    *(of_warp(Family(f"VIMNMX.{name}", "dabQ", Unit.MINMAX, integer.minimum, fields={"code": code}))
      for name, code in (("S32", integer.SIGNED), ("U32", 0))),
    Family("VIMNMX.U8x4", "dabQ", Unit.MINMAX, packed.extreme_of_bytes),
    Family("VIMNMX3", "dabcQ", Unit.MINMAX, packed.extreme_of_three, modifiers=_KINDS),
    Family("VIADDMNMX", "dabcQ", Unit.MINMAX, packed.extreme_of_sum, modifiers=_KINDS, signs={"ab": "-"}),
    Family("VABSDIFF", "dabc", Unit.INT, packed.difference, modifiers={"U32": packed.UNSIGNED}),
    Family("VABSDIFF4", "dabc", Unit.INT, packed.byte_differences,
           modifiers={"U8": packed.UNSIGNED, "ACC": packed.SUM}),
    Family("IDP.4A.S8.S8", "dabc", Unit.DOT, fields={"value": v.dot_bytes}),
    Family("IDP.4A.U8.U8", "dabc", Unit.DOT, packed.dot_of_four),
    Family("IDP.4A.S8.U8", "dabc", Unit.DOT, packed.dot_of_four, fields={"code": packed.A_SIGNED}),
    Family("IDP.4A.U8.S8", "dabc", Unit.DOT, packed.dot_of_four, fields={"code": packed.B_SIGNED}),
    *(Family(f"IDP.2A.{half}", "dabc", Unit.DOT, packed.dot_of_two, fields={"code": code},
             modifiers={"S16": packed.A_SIGNED, "U16": 0, **_FACTORS})
      for half, code in (("LO", 0), ("HI", packed.HIGH))),
    Family("I2I", "da", Unit.INT, packed.saturated, modifiers={**_NARROW, "S32": 0, "SAT": 0}),
    *(Family(f"I2IP.{name}.S32.SAT", "dabc", Unit.INT, packed.saturated_pair, fields={"code": code},
             parts={"c": _KEPT.get(name[1:], {})})
      for name, code in {**_NARROW, **_FIELDS}.items()),
    *(Family(f"PRMT.{mode}", "dabc", Unit.PERMUTE, packed.permuted, fields={"code": getattr(packed, mode)})
      for mode in _MODES),
)
# fmt: on
