"""What the SMs of one chip share: the grid's next block, and the memory channel.

Rules know one SM. An engine that runs all of them hands what is shared to the SM that acts, and takes it back. The
first wave is dealt out beforehand, block s + j S to slot j of SM s of S; each further block goes to the SM that has a
free slot first.
"""

from __future__ import annotations

from typing import Any

from gpusim.jit.rule import entry


@entry
def lend(sms: Any, s: int, chips: Any, now: int) -> None:
    """Give SM s what all share, before it acts."""
    sm, chip = sms[s], chips[0]
    sm.load_store.channel = chip.channel
    if now > 0:
        sm.launch.next, sm.launch.stride, sm.launch.end = chip.next, 1, chip.end


@entry
def take_back(sms: Any, s: int, chips: Any, now: int) -> None:
    """Take from SM s what all share, as its act has left it."""
    sm, chip = sms[s], chips[0]
    chip.channel = sm.load_store.channel
    if now > 0:
        chip.next = sm.launch.next
