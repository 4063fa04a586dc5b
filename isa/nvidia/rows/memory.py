"""Families of memory instructions. Scopes, orders and hints to caches change no values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from isa.family import Family
from isa.row import CLOSES, GLOBAL_UNITS, JOINS, Unit

_SILENT = frozenset(
    {
        *("E", "CONSTANT", "STRONG", "WEAK", "MMIO", "PRIVATE"),
        *("SYS", "GPU", "SM", "CTA", "VC"),
        *("EF", "EL", "LU", "EU", "NA", "LTC64B", "LTC128B", "LTC256B"),
        *("U", "CI", "CV"),
    }
)
_WORDS: Mapping[str, Mapping[str, Any]] = {"64": {"width": 64}, "128": {"width": 128}}
_PARTS: Mapping[str, Mapping[str, Any]] = {
    "U8": {"memory_bits": 8},
    "S8": {"memory_bits": 8, "signed": True},
    "U16": {"memory_bits": 16},
    "S16": {"memory_bits": 16, "signed": True},
}
_WIDTHS = {**_WORDS, **_PARTS}
_WIDE: Mapping[str, Mapping[str, Any]] = {"E": {"registers": "m2"}, **_WIDTHS}
_SCOPES: Mapping[str, Mapping[str, Any]] = {  # Volta and Turing have SYS without STRONG on every plain load
    **{name: {"anew": True} for name in ("STRONG", "MMIO")},
    **{name: {"anew": False} for name in ("SM", "CTA")},  # a scope within the SM, behind STRONG
}
_FURTHER: Mapping[str, Mapping[str, Mapping[str, Any]]] = {  # 256 bits, from sm_100 on: a load's upper vector first
    "LD": _SCOPES,
    "LDG": {"256": {"width": 256, "form": "odm", "registers": "do4m2"}, **_SCOPES},
    "STG": {"256": {"width": 256, "form": "mab", "registers": "ab4m2"}},
}

_GENERIC: Mapping[str, Any] = {"generic": True, "near": (Unit.SHARED, Unit.LOCAL)}


def _modifiers(base: str, common: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Mapping[str, Any]]:
    return {**common, **_FURTHER.get(base, {})}


def _silent(base: str) -> frozenset[str]:
    return _SILENT - _FURTHER.get(base, {}).keys()


FAMILIES = (
    *(
        Family(base, form, Unit.GLOBAL, modifiers=_modifiers(base, _WIDE), silent=_silent(base), fields=_GENERIC)
        for base, form in (("LD", "dm"), ("ST", "ma"))
    ),
    *(
        Family(
            base,
            form,
            unit,
            modifiers=_modifiers(base, _WIDE if unit in GLOBAL_UNITS else _WIDTHS),
            silent=_silent(base),
        )
        for base, form, unit in (
            ("LDG", "dm", Unit.GLOBAL),
            ("STG", "ma", Unit.GLOBAL),
            ("LDS", "dm", Unit.SHARED),
            ("STS", "ma", Unit.SHARED),
            ("LDL", "dm", Unit.LOCAL),
            ("STL", "ma", Unit.LOCAL),
            ("LDC", "dm", Unit.CONSTANT),
        )
    ),
    Family(
        "LDGSTS",
        "MmQ",
        Unit.GLOBAL,
        optional="Q",
        modifiers={"E": {"registers": "m2"}, "ZFILL": {"fills": True}, "BYPASS": {"bypasses": True}, **_WORDS},
        silent=_SILENT,
        fields={"grouping": JOINS},
    ),
    Family("LDGDEPBAR", "", Unit.CONTROL, fields={"grouping": CLOSES}),
    *(
        Family(
            f"{base}.16.{layout}",
            form,
            Unit.SHARED,
            modifiers={"2": {"width": 64, "matrices": 2}, "4": {"width": 128, "matrices": 4}},
            fields={"matrices": 1, "transposed": transposed},
        )
        for base, form in (("LDSM", "dm"), ("STSM", "ma"))
        for layout, transposed in (("M88", False), ("MT88", True))
    ),
    Family("LDCU", "dm", Unit.CONSTANT, modifiers=_WIDTHS, shared="d"),
)
