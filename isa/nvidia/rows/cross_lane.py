"""Families of cross-lane instructions: shuffles, votes, matches, reductions, and moves to what all lanes share."""

from __future__ import annotations

from isa.family import Family
from isa.row import Unit
from isa.values import cross_lane as v

_AGREED = {
    "ANY": {"across_truth": v.any_lane},
    "ALL": {"across_truth": v.all_lanes},
    "EQ": {"across_truth": v.equal_lanes},
}
_PAIR = {"U64": {"registers": "a2"}}

# fmt: off
_SHUFFLES = {
    "IDX":  (v.shuffle_index, v.index_in_range),
    "UP":   (v.shuffle_up, v.up_in_range),
    "DOWN": (v.shuffle_down, v.down_in_range),
    "BFLY": (v.shuffle_butterfly, v.butterfly_in_range),
}
_REDUCTIONS = {
    "":         v.every_bit,
    ".SUM":     v.total,
    ".MIN":     v.minimum,
    ".MIN.S32": v.signed_minimum,
    ".MAX":     v.maximum,
    ".MAX.S32": v.signed_maximum,
    ".OR":      v.any_bit,
    ".XOR":     v.parity,
}
FAMILIES = (
    *(Family(f"SHFL.{name}", "Pdabc", Unit.SHUFFLE, optional="P", fields={"across": across, "across_truth": truth})
      for name, (across, truth) in _SHUFFLES.items()),
    Family("VOTE", "dPQ", Unit.VOTE, optional="d", modifiers=_AGREED, fields={"across": v.ballot}),
    Family("VOTEU", "dPQ", Unit.UNIFORM, optional="d", modifiers=_AGREED, fields={"across": v.ballot}, shared="dP"),
    Family("MATCH.ANY", "da", Unit.SHUFFLE, modifiers=_PAIR, fields={"across": v.match_any, "by_values": True}),
    Family("MATCH.ALL", "Pda", Unit.SHUFFLE, optional="P", modifiers=_PAIR,
           fields={"across": v.match_all, "across_truth": v.all_match}),
    *(Family(f"REDUX{name}", "da", Unit.REDUCE, silent=frozenset({"S32"}) if name == ".SUM" else frozenset(),
             fields={"across": across}, shared="d")
      for name, across in _REDUCTIONS.items()),
    *(Family(f"CREDUX{name}", "da", Unit.REDUCE, fields={"across": across}, shared="d")
      for name, across in _REDUCTIONS.items() if name.startswith((".MIN", ".MAX"))),
    *(Family(f"CREDUX.{name}", "da", Unit.REDUCE, fields={"across": across}, shared="d")
      for name, across in v.SINGLES.items()),
    Family("MOVM.16.MT88", "da", Unit.SHUFFLE, fields={"across": v.transposed}),
    Family("ELECT", "PdQ", Unit.VOTE, fields={"across": v.first_lane, "across_truth": v.is_first}, shared="d"),
    Family("R2UR", "PdaQ", Unit.UNIFORM, optional="PQ", falsely="Q", silent=frozenset({"OR", "BROADCAST"}),
           fields={"across": v.of_first_lane, "across_truth": v.is_other}, shared="d"),
)
# fmt: on
