"""Families of integer, logic and comparison instructions, of threads and of the warp's uniform data path."""

from __future__ import annotations

from collections.abc import Mapping

from isa.family import Change, Family, of_warp
from isa.row import Unit
from isa.values import comparison, integer, logic
from isa.values import semantics as v

_COMBINE = {"AND": 0, "OR": comparison.OR, "XOR": comparison.XOR}
_WRAP = {"W": integer.WRAP}
_LONG: Mapping[str, Change] = {
    "S64": {"truth": comparison.pairs, "registers": "ab2"},
    "U64": {"truth": comparison.pairs, "registers": "ab2", "code": comparison.UNSIGNED},
}

# fmt: off
_ALIKE = (  # of threads and of the warp
    Family("IADD3", "dPpabcQq", Unit.INT, integer.add3, integer.add3_carry, "PpQq", "Qq", {"X": integer.X},
           signs={"abc": "-~"}),
    Family("IMAD", "dabcQ", Unit.IMUL, integer.multiply_add, None, "Q", "Q", {"X": integer.X},
           frozenset({"MOV", "U32", "SHL", "IADD"}), signs={"c": "-~"}),
    Family("IMAD.WIDE", "dPabcQ", Unit.WIDE, integer.wide_signed, integer.wide_carry, "PQ", "Q",
           {"U32": {"result": integer.wide_unsigned}, "X": integer.X}, fields={"registers": "dc2"},
           signs={"c": "-~"}),
    Family("IMAD.HI", "dPabcQ", Unit.WIDE, integer.high_signed, integer.wide_carry, "PQ", "Q",
           {"U32": {"result": integer.high_unsigned}, "X": integer.X}, fields={"registers": "c2"}, alone=True,
           signs={"c": "-~"}),
    Family("LEA", "dPabnQ", Unit.INT, integer.shifted_add, integer.shifted_add_carry, "PQ", "Q", {"X": integer.X},
           fields={"shifts": True}, signs={"a": "-", "b": "-~"}),
    Family("LEA.HI", "dPabcnQ", Unit.INT, integer.upper_shifted_add, integer.upper_shifted_carry, "PQ", "Q",
           {"X": integer.X}, signs={"b": "-~"}),
    Family("LEA.HI.SX32", "dPabnQ", Unit.INT, integer.upper_extended_add, integer.upper_extended_carry, "PQ", "Q",
           {"X": integer.X}, signs={"b": "-~"}),
    Family("LEA.HI.X.SX32", "dPabnQ", Unit.INT, integer.upper_extended_add, integer.upper_extended_carry, "PQ", "Q",
           fields={"code": integer.X}, signs={"b": "-~"}),
    Family("ISETP", "PpabQq", Unit.COMPARE, None, comparison.integers, "pQq", "",
           {**comparison.RELATIONS, **_COMBINE, **_LONG, "U32": comparison.UNSIGNED, "EX": comparison.CARRY},
           frozenset({"AND"})),
    Family("LOP3", "PdabcnQ", Unit.LOGIC, logic.bitwise, logic.bitwise_any, "PQ", "Q",
           modifiers={"PAND": {"truth": logic.bitwise_and}}, silent=frozenset({"LUT"})),
    Family("PLOP3.LUT.SIGN.SIGN.SIGN", "PpabcnN", Unit.LOGIC, None, logic.of_signs, "p"),
    Family("PLOP3", "PpQqxnN", Unit.LOGIC, None, logic.of_predicates, "p", silent=frozenset({"LUT"})),
    Family("SHF.L", "dabc", Unit.SHIFT, integer.shift, None,
           modifiers={"U32": 0, "S32": 0, "U64": integer.LONG, "S64": integer.LONG, "HI": integer.HIGH, **_WRAP}),
    Family("SHF.R", "dabc", Unit.SHIFT, integer.shift, None,
           modifiers={"U32": 0, "S32": integer.SIGNED, "U64": integer.LONG, "S64": integer.LONG | integer.SIGNED,
                      "HI": integer.HIGH, **_WRAP}, fields={"code": integer.RIGHT}),
    Family("SEL", "dabQ", Unit.MOVE, fields={"value": v.sel},
           modifiers={"64": {"value": None, "result": logic.selected, "registers": "dab2"}}),
    Family("IABS", "da", Unit.INT, integer.magnitude),
    Family("BMSK", "dab", Unit.INT, integer.bit_mask, modifiers=_WRAP),
    Family("SGXT", "dab", Unit.INT, integer.sign_extended, modifiers={"U32": {"code": 0}, **_WRAP},
           fields={"code": integer.SIGNED}),
    Family("PRMT", "dabc", Unit.PERMUTE, fields={"value": v.prmt}),
    Family("POPC", "da", Unit.BITS, fields={"value": v.popc}, signs={"a": "~"}),
    Family("BREV", "da", Unit.BITS, fields={"value": v.reverse_bits}),
    Family("FLO", "da", Unit.BITS, fields={"value": v.find_leading_one, "code": integer.SIGNED},
           modifiers={"U32": {"code": 0}, "SH": {"value": None, "result": integer.shift_to_top}},
           signs={"a": "~"}),
)
FAMILIES = (
    *_ALIKE,
    *map(of_warp, _ALIKE),
    Family("IADD", "dab", Unit.INT, fields={"value": v.iadd}, signs={"ab": "-"}),
    Family("IADD.64", "dPabQ", Unit.INT, integer.add_pairs, integer.add_pairs_carry, "PQ", "Q", {"X": integer.X},
           fields={"registers": "dab2"}, signs={"ab": "-~"}),
    Family("UIADD3.64", "dabc", Unit.UNIFORM, integer.add_three_pairs, fields={"registers": "dabc2"},
           signs={"abc": "-~"}, shared="dabc"),
)
# fmt: on
