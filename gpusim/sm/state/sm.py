"""The state of one SM: one nested record, to which each unit adds its fields. All times are cycles.

All times are integer cycles of the SM's fastest clock (Fermi: shader clock). NEVER means: not known yet, wait to be
woken. Masks of warps are local to a scheduler: bit j of scheduler k is warp slot j * schedulers + k.
"""

from __future__ import annotations

from gpusim.sm.state.layout import layout

sm_t = layout("sm")
warp_t = layout("warp")
scheduler_t = layout("scheduler")
launch_t = layout("launch")
trace_t = layout("trace")
instruction_cache_t = layout("instruction_cache")
chip_t = layout("chip")  # what the SMs of one chip share, handed to the SM that acts
