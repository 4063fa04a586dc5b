"""Families of conversions between integers and IEEE numbers, and between IEEE numbers."""

from __future__ import annotations

from itertools import product

from isa.family import REAL, Family, of_warp
from isa.nvidia.rows.floating import FLUSH, ROUND
from isa.row import Kind, Unit
from isa.values.floating import conversion, half, single, small_conversion, tiny_float

_WHOLE = {"FLOOR": single.DOWN, "CEIL": single.UP, "TRUNC": single.ZERO, "NTZ": 0, "RN": 0}
_PLACES = {
    "B0": 0,
    **dict(zip(("B1", "B2", "B3"), conversion.BYTE, strict=True)),
    "H0": 0,
    "H1": conversion.BYTE[1],
}
_SOURCE = {
    "S32": 0,
    "U32": conversion.FROM_UNSIGNED,
    "S8": conversion.FROM_8,
    "U8": conversion.FROM_8 | conversion.FROM_UNSIGNED,
    "S16": conversion.FROM_16,
    "U16": conversion.FROM_16 | conversion.FROM_UNSIGNED,
}
_PLACED = {"a": _PLACES}
_RESULT = {
    "S32": 0,
    "U32": conversion.TO_UNSIGNED,
    "S8": conversion.TO_8,
    "U8": conversion.TO_8 | conversion.TO_UNSIGNED,
    "S16": conversion.TO_16,
    "U16": conversion.TO_16 | conversion.TO_UNSIGNED,
}
_LONG_SOURCE = {"S64": conversion.FROM_64, "U64": conversion.FROM_64 | conversion.FROM_UNSIGNED}
_LONG_RESULT = {"S64": conversion.TO_64, "U64": conversion.TO_64 | conversion.TO_UNSIGNED}
_OF_SMALL = {"F16": 0, "BF16": half.BFLOAT}
_HALVES = {"a": {"H0": 0, "H1": half.UPPER}}
_TO_SMALL = (("F16", small_conversion.integer_to_half), ("BF16", small_conversion.integer_to_bfloat))
_PACKED = {"F16": 0, "BF16": half.BFLOAT, "F32": 0, "PACK_AB": 0, **ROUND, "RELU": half.RELU}
_BYTES = (("E4M3", 0), ("E5M2", small_conversion.FIVE_TWO))
_RELU = (("", 0), ("RELU.", half.RELU))
_TINY = (
    ("E2M3", 0, tiny_float.packed_sixes, tiny_float.halves_of_sixes),
    ("E3M2", tiny_float.THREE_TWO, tiny_float.packed_sixes, tiny_float.halves_of_sixes),
    ("E2M1", tiny_float.TWO_ONE, tiny_float.packed_fours, tiny_float.halves_of_fours),
)
_POWERS = {"RZ": 0, "RP": single.UP}

# fmt: off
_FROM_INTEGER = (
    Family("I2F", "da", Unit.CONVERT, conversion.integer_to_single, modifiers={**_SOURCE, **ROUND, "F32": 0},
           parts=_PLACED),
    Family("I2FP", "da", Unit.INT, conversion.integer_to_single, modifiers={**_SOURCE, **ROUND},
           silent=frozenset({"F32", "S32"}), parts=_PLACED),
    *(Family(f"I2F.{name}", "da", Unit.CONVERT, conversion.integer_to_single, modifiers=ROUND,
             fields={"registers": "a2", "code": code}) for name, code in _LONG_SOURCE.items()),
    Family("I2F.F64", "da", Unit.DP, conversion.integer_to_double, modifiers={**_SOURCE, **ROUND},
           fields={"registers": "d2"}, parts=_PLACED),
    *(Family(f"I2F.F64.{name}", "da", Unit.DP, conversion.integer_to_double, modifiers=ROUND,
             fields={"registers": "da2", "code": code}) for name, code in _LONG_SOURCE.items()),
    *(Family(f"I2F.{kind}", "da", Unit.CONVERT, result, modifiers={**_SOURCE, **ROUND}, parts=_PLACED)
      for kind, result in _TO_SMALL),
    *(Family(f"I2F.{kind}.{name}", "da", Unit.CONVERT, result, modifiers=ROUND,
             fields={"registers": "a2", "code": code})
      for (kind, result), (name, code) in product(_TO_SMALL, _LONG_SOURCE.items())),
)
_TO_INTEGER = (
    Family("F2I", "da", Unit.CONVERT, conversion.single_to_integer, modifiers={**_RESULT, **_WHOLE, **FLUSH},
           alone=True, signs=REAL),
    *(Family(f"F2I{flush}.{name}", "da", Unit.CONVERT, conversion.single_to_integer, modifiers={**_WHOLE, **FLUSH},
             fields={"registers": "d2", "code": code | extra}, alone=True, signs=REAL)
      for name, code in _LONG_RESULT.items() for flush, extra in (("", 0), (".FTZ", FLUSH["FTZ"]))),
    Family("F2I.F64", "da", Unit.DP, conversion.double_to_integer, modifiers=_WHOLE, fields={"registers": "a2"},
           signs=REAL),
    *(Family(f"F2I.{name}.F64", "da", Unit.DP, conversion.double_to_integer, modifiers=_WHOLE,
             fields={"registers": "a2", "code": code}, signs=REAL) for name, code in _RESULT.items()),
    *(Family(f"F2I.{name}.F64", "da", Unit.DP, conversion.double_to_integer, modifiers=_WHOLE,
             fields={"registers": "da2", "code": code}, signs=REAL) for name, code in _LONG_RESULT.items()),
    *(Family(f"F2I.{kind}", "da", Unit.CONVERT, small_conversion.small_to_integer,
             modifiers=_WHOLE, parts=_HALVES, fields={"code": code, "kind": Kind.SMALL}, signs=REAL)
      for kind, code in _OF_SMALL.items()),
    *(Family(f"F2I.{name}.{kind}", "da", Unit.CONVERT, small_conversion.small_to_integer,
             modifiers=_WHOLE, parts=_HALVES, fields={"code": code | extra, "kind": Kind.SMALL}, signs=REAL)
      for (name, code), (kind, extra) in product(_RESULT.items(), _OF_SMALL.items())),
    *(Family(f"F2I.{name}.{kind}", "da", Unit.CONVERT, small_conversion.small_to_integer,
             modifiers=_WHOLE, parts=_HALVES, signs=REAL,
             fields={"registers": "d2", "code": code | extra, "kind": Kind.SMALL})
      for (name, code), (kind, extra) in product(_LONG_RESULT.items(), _OF_SMALL.items())),
    *(Family(f"F2IP.{name}.F32", "dabc", Unit.INT, small_conversion.packed_integers, modifiers=_WHOLE,
             fields={"code": _RESULT[name]}, signs=REAL) for name in ("U8", "S8")),
)
_BETWEEN = (
    Family("F2F.F32.F64", "da", Unit.DP, conversion.double_to_single, modifiers={**ROUND, **FLUSH},
           fields={"registers": "a2"}, signs=REAL),
    Family("F2F.F64.F32", "da", Unit.DP, conversion.single_to_double, modifiers=FLUSH, fields={"registers": "d2"},
           signs=REAL),
    *(Family(f"F2F.{kind}.F32", "da", Unit.CONVERT, small_conversion.single_to_small, modifiers={**ROUND, **FLUSH},
             fields={"code": code}, signs=REAL) for kind, code in _OF_SMALL.items()),
    *(Family(f"F2F.{kind}.F64", "da", Unit.DP, small_conversion.double_to_small, modifiers=ROUND,
             fields={"registers": "a2", "code": code}, signs=REAL) for kind, code in _OF_SMALL.items()),
    *(Family(f"F2F.F64.{kind}", "da", Unit.DP, small_conversion.small_to_double, parts=_HALVES,
             fields={"registers": "d2", "code": code, "kind": Kind.SMALL}, signs=REAL)
      for kind, code in _OF_SMALL.items()),
    Family("F2F.F16.BF16", "da", Unit.CONVERT, small_conversion.small_to_small, modifiers=ROUND, parts=_HALVES,
           fields={"code": half.BFLOAT, "kind": Kind.SMALL}, signs=REAL),
    Family("F2F.BF16.F16", "da", Unit.CONVERT, small_conversion.small_to_small, modifiers=ROUND, parts=_HALVES,
           fields={"code": small_conversion.TO_BFLOAT, "kind": Kind.SMALL}, signs=REAL),
    Family("FRND", "da", Unit.CONVERT, conversion.round_single, modifiers={**_WHOLE, **FLUSH}, signs=REAL),
    Family("FRND.F64", "da", Unit.DP, conversion.round_double, modifiers=_WHOLE, fields={"registers": "da2"},
           signs=REAL),
    *(Family(f"FRND.{kind}", "da", Unit.CONVERT, small_conversion.round_small, modifiers=_WHOLE, parts=_HALVES,
             fields={"code": code, "kind": Kind.SMALL}, signs=REAL) for kind, code in _OF_SMALL.items()),
)
_PACK = (
    Family("F2FP", "dab", Unit.INT, small_conversion.packed, modifiers=_PACKED, signs=REAL),
    *(Family(f"F2FP.{relu}BF16{single}.MERGE_C", "dac", Unit.INT, small_conversion.merged, modifiers=ROUND,
             fields={"code": half.BFLOAT | code}, signs=REAL)
      for (relu, code), single in product(_RELU, (".F32", ""))),  # sm_80 does not say F32
    *(Family(f"F2FP.{relu}TF32.F32.PACK_B", "da", Unit.INT, small_conversion.single_to_tf32, modifiers=ROUND,
             fields={"code": code}, signs=REAL) for relu, code in _RELU),
    *(Family(f"F2FP.SATFINITE.{relu}{kind}.F32.PACK_AB_MERGE_C", "dabc", Unit.INT, small_conversion.packed_bytes,
             fields={"code": code | extra}, signs=REAL) for (relu, code), (kind, extra) in product(_RELU, _BYTES)),
    *(Family(f"F2FP.SATFINITE.{relu}{kind}.F16.UNPACK_B_MERGE_C", "dac", Unit.INT,
             small_conversion.bytes_of_halves, fields={"code": code | extra, "kind": Kind.REAL})
      for (relu, code), (kind, extra) in product(_RELU, _BYTES)),
    *(Family(f"F2FP.{relu}F16.{kind}.UNPACK_B", "da", Unit.INT, small_conversion.halves_of_bytes,
             parts=_HALVES, fields={"code": code | extra, "kind": Kind.REAL})
      for (relu, code), (kind, extra) in product(_RELU, _BYTES)),
    *(Family(f"F2FP.SATFINITE.{relu}{kind}.F32.PACK_AB_MERGE_C", "dabc", Unit.INT, pack, fields={"code": code | extra},
             signs=REAL) for (relu, code), (kind, extra, pack, _) in product(_RELU, _TINY)),
    *(Family(f"F2FP.{relu}F16.{kind}.UNPACK_B", "da", Unit.INT, unpack, parts=_PLACED if kind == "E2M1" else _HALVES,
             fields={"code": code | extra, "kind": Kind.REAL})
      for (relu, code), (kind, extra, _, unpack) in product(_RELU, _TINY)),
    *(Family(f"F2FP.{finite}E8.{kind}_MERGE_C", form, Unit.INT, function, modifiers=_POWERS,
             fields={"code": code, "kind": Kind.REAL})
      for (finite, code), (kind, form, function) in product(
          (("", 0), ("SATFINITE.", tiny_float.FINITE)),
          (("F32.PACK_AB", "dabc", tiny_float.packed_powers), ("BF16.UNPACK_B", "dac", tiny_float.powers_of_bfloats)),
      )),
    Family("F2FP.BF16.E8.UNPACK_B", "da", Unit.INT, tiny_float.bfloats_of_powers, parts=_HALVES,
           fields={"kind": Kind.REAL}),
)
_OF_WARP = (*(one for one in _FROM_INTEGER if one.unit is not Unit.DP), _TO_INTEGER[0])  # from sm_100 on
FAMILIES = (*_FROM_INTEGER, *_TO_INTEGER, *_BETWEEN, *_PACK, *map(of_warp, _OF_WARP))
# fmt: on
