"""The state that the SMs of one chip share: the grid's next block, when it is handed out, and the memory channels.

Rules know one SM. An engine that runs all of them lends the shared state to the SM that acts, and takes it back. The
first wave is placed beforehand, block s + j S in slot j of SM s of S; each further block goes to the SM that has a free
slot first. SMs of a sample lie `apart` SMs from each other, and take each `apart`-th block. Clusters begin otherwise
(clusters.py).
"""

from __future__ import annotations

from gpusim.sm.chip.chip import clusters
from gpusim.sm.jit.rule import entry, rule
from gpusim.sm.memory.l2_channel.declaration import ANSWERS
from gpusim.sm.records import Chip, Records, Sm


@entry
def lend(sms: Records[Sm], s: int, chips: Records[Chip], now: int) -> None:
    """Give SM s the shared state before it acts."""
    lend_channels(sms, s, chips)
    sm, chip = sms[s], chips[0]
    lend_slices(sm, chip)
    if now > 0:
        sm.launch.next, sm.launch.stride, sm.launch.end = chip.next, sm.launch.apart, chip.end
        sm.launch.handed_until, sm.launch.handed_parts = chip.handed_until, chip.handed_parts


@rule
def lend_channels(sms: Records[Sm], s: int, chips: Records[Chip]) -> None:
    """Give SM s the channels, to the DRAM and of the L2: all that a load which is asked for later needs."""
    sm, chip = sms[s], chips[0]
    sm.load_store.channel = chip.channel
    sm.load_store.dram_window, sm.load_store.dram_asked = chip.dram_window, chip.dram_asked
    sm.load_store.dram_before, sm.load_store.dram_turns = chip.dram_before, chip.dram_turns
    for way in range(ANSWERS + 1):
        sm.load_store.shared[way] = chip.shared[way]
    sm.load_store.slices_even = chip.slices_even
    if sm.machine.channels > 1:
        for c in range(sm.machine.channels):
            sm.load_store.each_channel[c] = chip.each_channel[c]


@entry
def take_back(sms: Records[Sm], s: int, chips: Records[Chip], now: int) -> None:
    """Take the shared state from SM s after its act."""
    take_back_channels(sms, s, chips)
    take_back_slices(sms[s], chips[0])
    if sms[s].launch.cluster > 1:
        if sms[s].cluster_news:
            clusters.look(sms, s, chips, now)
    elif now > 0:
        chip, launch = chips[0], sms[s].launch
        chip.next, chip.handed_until, chip.handed_parts = launch.next, launch.handed_until, launch.handed_parts


@rule
def lend_slices(sm: Sm, chip: Chip) -> None:
    """Give an SM the slices of the L2, which do stores and atomics."""
    for slice_ in range(sm.machine.store_slices):
        sm.load_store.ahead[slice_] = chip.ahead[slice_]
    for slice_ in range(sm.machine.slices):
        sm.load_store.slice[slice_], sm.load_store.slice_line[slice_] = chip.slice[slice_], chip.slice_line[slice_]


@rule
def take_back_slices(sm: Sm, chip: Chip) -> None:
    """Take the slices of the L2, which do stores and atomics, from an SM."""
    for slice_ in range(sm.machine.store_slices):
        chip.ahead[slice_] = sm.load_store.ahead[slice_]
    for slice_ in range(sm.machine.slices):
        chip.slice[slice_], chip.slice_line[slice_] = sm.load_store.slice[slice_], sm.load_store.slice_line[slice_]


@rule
def show_channels(sm: Sm, chip: Chip) -> None:
    """Give an SM that runs ahead the channels' times, where they are later than those of its own accesses."""
    unit = sm.load_store
    unit.channel = max(unit.channel, chip.channel)
    if sm.machine.channels > 1:
        for c in range(sm.machine.channels):
            unit.each_channel[c] = max(unit.each_channel[c], chip.each_channel[c])


@rule
def take_back_channels(sms: Records[Sm], s: int, chips: Records[Chip]) -> None:
    """Take the channels from SM s."""
    sm, chip = sms[s], chips[0]
    chip.channel = sm.load_store.channel
    chip.dram_window, chip.dram_asked = sm.load_store.dram_window, sm.load_store.dram_asked
    chip.dram_before, chip.dram_turns = sm.load_store.dram_before, sm.load_store.dram_turns
    for way in range(ANSWERS + 1):
        chip.shared[way] = sm.load_store.shared[way]
    chip.slices_even = sm.load_store.slices_even
    if sm.machine.channels > 1:
        for c in range(sm.machine.channels):
            chip.each_channel[c] = sm.load_store.each_channel[c]
