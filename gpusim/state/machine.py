"""The record of a machine's numbers, as rules read it; gpusim/launch/packing.py fills it in."""

from __future__ import annotations

from gpusim.units.layout import layout

machine_t = layout("machine")
