"""Device memory: where allocations lie, and what they hold."""

import pytest

from gpusim.programs.card import arena as memory
from isa.memory import PAGE_BYTES, Held, with_room
from isa.nvidia.abi.launch import WINDOW
from isa.operands.windows import SHARED_PLACE


def test_allocations_are_zero_apart_and_reused():
    """Each allocation begins on a page with one before it, holds zeros, and what is freed is given again, cleared."""
    arena = memory.created()
    first, second = (memory.allocate(arena, 100, memory.DEVICE) for _ in range(2))
    assert first
    assert second
    assert first.place == PAGE_BYTES
    assert second.place == first.place + 2 * PAGE_BYTES
    arena.held[first.place : first.end] = 7
    assert memory.free(arena, WINDOW + first.place) == first
    again = memory.allocate(arena, 100, memory.DEVICE)
    assert again is not None
    assert again.place == first.place
    assert not arena.held[again.place : again.end].any()


def test_only_beginnings_are_freed():
    """An address inside an allocation, behind it, or of none is not freed; found is what holds the byte."""
    arena = memory.created()
    made = memory.allocate(arena, 256, memory.DEVICE)
    assert made
    assert memory.free(arena, WINDOW + made.place + 4) is None
    assert memory.find(arena, WINDOW + made.place + 255) == made
    assert memory.find(arena, WINDOW + made.end) is None
    assert memory.find(arena, 0x1234) is None


@pytest.mark.parametrize("alignment", [512, 1 << 21])
def test_alignment_is_kept(alignment):
    """An allocation begins at a multiple of what is asked for."""
    arena = memory.created()
    memory.allocate(arena, 10, memory.DEVICE)
    made = memory.allocate(arena, 10, memory.DEVICE, alignment)
    assert made
    assert made.place % max(alignment, PAGE_BYTES) == 0


def test_memory_ends():
    """What does not fit below the windows of shared and local memory is not allocated, and takes nothing away."""
    arena = memory.created()
    assert memory.allocate(arena, SHARED_PLACE, memory.DEVICE) is None
    assert memory.free_bytes(arena) == SHARED_PLACE
    assert memory.allocate(arena, SHARED_PLACE // 2, memory.DEVICE) is not None


@pytest.mark.parametrize(("begin", "end"), [(5000, 5010), (4000, 20000), (8192, 12288)])
def test_clearing_takes_just_these_bytes(begin, end):
    """Bytes from begin to end become zero, whole pages and parts of them, and no others."""
    arena = memory.created()
    arena.held[:24576] = 9
    memory.clear(arena, begin, end)
    assert not arena.held[begin:end].any()
    assert (arena.held[:begin] == 9).all()
    assert (arena.held[end:24576] == 9).all()


def test_held_memory_is_no_copy():
    """Memory that outlives a launch is worked in, with the words behind it as room."""
    arena = memory.created()
    words = arena.held[: 1 << 16].view("u4")
    found = with_room(Held(words, 100), 28)
    found[127] = 5
    assert len(found) == 128
    assert words[127] == 5
