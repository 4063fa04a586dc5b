"""The page of stall reasons, from `gpusim/units/stall.py`."""

from __future__ import annotations

from generate.markdown import code, page, table
from gpusim.units.stall import Stall, label

ABOUT = """\
Why a warp does not issue, in the order in which reasons are checked: a warp-cycle belongs to the first that holds.
Names are those of NVIDIA's profiler where it has one of that meaning. Letters are those of `gpusim timeline`.
[The model](../model.md) says how they are counted, [views](../views.md) which instruction each is blamed on."""


def stall_reasons() -> str:
    """Return the page."""
    rows = [(int(one), code(label(one)), code(one.letter), one.meaning) for one in Stall]
    return page("Stall reasons", ABOUT, table(("order", "reason", "letter", "meaning"), rows))
