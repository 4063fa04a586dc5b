"""Parts of value functions: functions that others call, which an engine compiles with them."""

from __future__ import annotations

from isa.values import atomic, comparison, cross_lane, general, integer, logic, packed, semantics
from isa.values.floating import conversion, double, half, single, small_conversion, small_float, special_function
from isa.values.texture import texel, texture, texture_filter

_FILES = (
    semantics,
    general,
    integer,
    logic,
    packed,
    comparison,
    single,
    conversion,
    double,
    small_float,
    half,
    small_conversion,
    special_function,
    cross_lane,
    atomic,
    texel,
    texture_filter,
    texture,
)
PARTS = tuple(dict.fromkeys(part for file in _FILES for part in file.PARTS))
