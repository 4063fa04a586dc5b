"""Families of machine code, sm_70 to sm_121: base mnemonics, with the modifiers that each takes."""

from __future__ import annotations

from isa.family import Family
from isa.nvidia.rows import (
    atomic,
    control,
    conversion,
    cross_lane,
    floating,
    half,
    integer,
    memory,
    move,
    packed,
    texture,
)
from isa.nvidia.rows.copies import bulk, mbarrier
from isa.nvidia.rows.tensor import matrix, warpgroup

FAMILIES: tuple[Family, ...] = (
    *move.FAMILIES,
    *control.FAMILIES,
    *integer.FAMILIES,
    *packed.FAMILIES,
    *floating.FAMILIES,
    *conversion.FAMILIES,
    *half.FAMILIES,
    *memory.FAMILIES,
    *cross_lane.FAMILIES,
    *atomic.FAMILIES,
    *texture.FAMILIES,
    *mbarrier.FAMILIES,
    *bulk.FAMILIES,
    *matrix.FAMILIES,
    *warpgroup.FAMILIES,
)
