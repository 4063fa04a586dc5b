"""The state that the SMs of one chip share: the grid's next block, and the memory channel, or all of several.

Rules know one SM. An engine that runs all of them lends the shared state to the SM that acts, and takes it back. The
first wave is placed beforehand, block s + j S in slot j of SM s of S; each further block goes to the SM that has a free
slot first.
"""

from __future__ import annotations

from typing import Any

from gpusim.jit.rule import entry


@entry
def lend(sms: Any, s: int, chips: Any, now: int) -> None:
    """Give SM s the shared state before it acts."""
    sm, chip = sms[s], chips[0]
    sm.load_store.channel = chip.channel
    for way in range(2):
        sm.load_store.shared[way] = chip.shared[way]
    if sm.machine.channels > 1:
        for c in range(sm.machine.channels):
            sm.load_store.each_channel[c] = chip.each_channel[c]
    if now > 0:
        sm.launch.next, sm.launch.stride, sm.launch.end = chip.next, 1, chip.end


@entry
def take_back(sms: Any, s: int, chips: Any, now: int) -> None:
    """Take the shared state from SM s after its act."""
    sm, chip = sms[s], chips[0]
    chip.channel = sm.load_store.channel
    for way in range(2):
        chip.shared[way] = sm.load_store.shared[way]
    if sm.machine.channels > 1:
        for c in range(sm.machine.channels):
            chip.each_channel[c] = sm.load_store.each_channel[c]
    if now > 0:
        chip.next = sm.launch.next
