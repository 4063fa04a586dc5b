"""One decoded instruction: a row of integers, and the counts of its issues (gpusim/launch/decode.py fills it in)."""

from __future__ import annotations

from gpusim.sm.state.layout import layout

decoded_t = layout("row")
