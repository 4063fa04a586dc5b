"""Families of atomics. Each type has a family, so that a type that the memory does not have is no row.

Scopes and orders change no values. P of an atomic on a generic address tells that the memory of the lane has done it.
Global memory does them all. Shared memory does those of ATOMS, and compares and exchanges 64 and 128 bits; local memory
does those of 32 bits: behind the others, compilers put another way for lanes in these memories (nvcc 13.0). `d` of a
lane whose memory has not done it keeps its value (not seen: compilers overwrite it).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from isa.family import Family
from isa.operands.operand import Immediate
from isa.row import Kind, Unit
from isa.values import atomic as v
from isa.values import window

_SILENT = frozenset({"STRONG", "WEAK", "SYS", "GPU", "SM", "CTA", "VC", "PRIVATE", "MMIO"})


def _of(update: Any, **other: Any) -> Mapping[str, Any]:
    return {"update": update, **other}


# fmt: off
_ALIKE: Mapping[str, Mapping[str, Any]] = {  # of shared and global memory
    "ADD":     _of(v.add),
    "ADD.S32": _of(v.add),
    "MIN":     _of(v.minimum),
    "MIN.S32": _of(v.signed_minimum32),
    "MAX":     _of(v.maximum),
    "MAX.S32": _of(v.signed_maximum32),
    "INC":     _of(v.increment),
    "DEC":     _of(v.decrement),
    "AND":     _of(v.both_bits),
    "OR":      _of(v.either_bit),
    "XOR":     _of(v.odd_bit),
}
_GLOBAL: Mapping[str, Mapping[str, Any]] = {
    **_ALIKE,
    "ADD.64":         _of(v.add, width=64),
    "ADD.F32.FTZ.RN": _of(v.add_single, kind=Kind.REAL),
    "ADD.F32x2.FTZ.RN": _of(v.add_two_singles, kind=Kind.REAL, width=64),
    "ADD.F64.RN":     _of(v.add_double, kind=Kind.REAL, width=64),
    "ADD.F16x2.RN":   _of(v.add_halves, kind=Kind.HALVES),
    "ADD.BF16x2.RN":  _of(v.add_bfloats, kind=Kind.HALVES),
    "ADD.BF16_V2.RN": _of(v.add_bfloats, kind=Kind.HALVES),
    "MIN.64":         _of(v.minimum, width=64),
    "MIN.S64":        _of(v.signed_minimum64, width=64),
    "MAX.64":         _of(v.maximum, width=64),
    "MAX.S64":        _of(v.signed_maximum64, width=64),
    "AND.64":         _of(v.both_bits, width=64),
    "OR.64":          _of(v.either_bit, width=64),
    "XOR.64":         _of(v.odd_bit, width=64),
}
_EXCHANGES: Mapping[str, Mapping[str, Any]] = {
    "EXCH":     _of(v.exchange),
    "EXCH.64":  _of(v.exchange, width=64),
    "EXCH.128": _of(v.exchange, width=128),
}
_SWAPS: Mapping[str, Mapping[str, Any]] = {  # with two operands
    "CAS":          _of(v.compare_and_swap),
    "CAS.64":       _of(v.compare_and_swap, width=64),
    "CAS.128":      _of(v.compare_and_swap, width=128),
    "CAST.SPIN":    _of(v.compare_and_swap, tested="d"),
    "CAST.SPIN.64": _of(v.compare_and_swap, tested="d", width=64),
}
# fmt: on
_ONE = Immediate(1, "int")


_SPACES = {
    "S": window.SHARED,
    "D": window.SHARED,
    "L": window.LOCAL,
    "G": window.GLOBAL,
}  # D: of a cluster


def _families(base: str, form: str, unit: Unit, rows: Mapping[str, Mapping[str, Any]]) -> tuple[Family, ...]:
    optional = "P" if "P" in form else ""
    wide = {"registers": "m2"} if base.endswith(".E") else {}
    return tuple(
        Family(
            f"{base}.{name}",
            form,
            unit,
            optional=optional,
            silent=_SILENT,
            fields={**fields, **wide, **_generic(base, name, fields)},
        )
        for name, fields in rows.items()
    )


def _generic(base: str, name: str, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return where an atomic on a generic address goes."""
    if not base.startswith("ATOM."):
        return {}
    shared = name in _ALIKE or name in _EXCHANGES or name in _SWAPS
    near = (*((Unit.SHARED,) if shared else ()), *((Unit.LOCAL,) if shared and fields.get("width", 32) == 32 else ()))
    return {"generic": True, "near": near}


FAMILIES = (
    *_families("ATOMS", "dma", Unit.SHARED, {**_ALIKE, **_EXCHANGES}),
    *_families("ATOMS", "dmab", Unit.SHARED, {name: one for name, one in _SWAPS.items() if "tested" not in one}),
    *(
        Family(f"ATOMS.{name}", "Pdmab", Unit.SHARED, optional="Pd", silent=_SILENT, fields={**one, "tested": "dP"})
        for name, one in _SWAPS.items()
        if "tested" in one
    ),
    Family("ATOMS.ARRIVE.64", "dm", Unit.SHARED, fields=_of(v.arrive, width=64, implied=(("a", _ONE),))),
    Family("ATOMS.POPC.INC.32", "dm", Unit.SHARED, fields=_of(v.add, implied=(("a", _ONE),))),
    *(
        family
        for base in ("ATOMG.E", "ATOM.E")
        for family in (
            *_families(base, "Pdma", Unit.GLOBAL, {**_GLOBAL, **_EXCHANGES}),
            *_families(base, "Pdmab", Unit.GLOBAL, _SWAPS),
        )
    ),
    *(family for base in ("RED.E", "REDG.E") for family in _families(base, "ma", Unit.GLOBAL, _GLOBAL)),
    *(
        Family(
            f"QSPC.E.{memory}",
            "Pdabc",
            Unit.COMPARE,
            None,
            window.lies_in,
            optional="c",
            fields={"registers": "ac2", "code": code},
        )
        for memory, code in _SPACES.items()
    ),
)
