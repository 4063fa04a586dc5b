"""Families of texture fetches: of texture objects by a handle, without levels, layers and cubes.

A text has up to three registers of coordinates, a handle and a mask of channels (isa.nvidia.lowering.spelling takes
them out of the vectors of registers that the machine has); V1 to V4 say how many channels are fetched.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from isa.family import Family
from isa.row import Unit
from isa.values.texture import texture as v

_FORMS = {"1D": ("dotan", 1), "2D": ("dotabn", 2), "3D": ("dotabcn", 3)}
_COUNTS: Mapping[str, Mapping[str, Any]] = {
    "V1": {"width": 32},
    "V2": {"width": 64},
    "V3": {"width": 64, "registers": "o1"},
    "V4": {"width": 64, "registers": "o2"},
}
_OPERATIONS = {
    "TEX": 0,  # from sm_100 on, without a level
    "TEX.LL": 0,
    "TEX.LZ": 0,
    "TLD.LZ": v.WHOLE,
    "TLD.LL": v.WHOLE,
    **{f"TLD4.{channel}": v.GATHERS | k << v.COMPONENT for k, channel in enumerate("RGBA")},
}


def _family(base: str, form: str, code: int) -> Family:
    fields = {"code": code, "texel": v.fetched, "memory_bits": 32}
    return Family(base, form, Unit.TEXTURE, modifiers=_COUNTS, fields=fields, alone=True)


FAMILIES = (
    *(
        _family(f"{operation}.{shape}", form, code | dimensions)
        for operation, code in _OPERATIONS.items()
        for shape, (form, dimensions) in _FORMS.items()
        if shape == "2D" or not code & v.GATHERS
    ),
    _family("TXQ.DIMENSION", "dotn", v.ASKS),
)
