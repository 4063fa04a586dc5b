"""The texture path."""

from __future__ import annotations

import msgspec

from gpusim.units.asks import accesses
from gpusim.units.declare import Condition, Unit
from gpusim.units.ranges import Positive
from isa.table import Unit as UnitClass


class Texture(msgspec.Struct, frozen=True):
    """The texture path."""

    pipe: str  # a pipe, or several, as a unit class's
    latency: Positive  # cycles of a fetch


UNIT = Unit(
    "texture",
    conditions=(Condition("texture.*", "", accesses(UnitClass.TEXTURE), "{kernel} fetches no texture"),),
    limits={"latency": {"texture.latency": 1}},
)
