"""The record of a machine's numbers, as rules read it; gpusim/launch/packing.py fills it in."""

from __future__ import annotations

from gpusim.sm.state.layout import layout

machine_t = layout("machine")
