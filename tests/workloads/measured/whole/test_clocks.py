import numpy as np

from isa import memory
from workloads.measured.whole import clocks, launch, tables


def test_cycles_of_a_block_are_from_the_first_entry_to_the_last_exit():
    """Clocks of 64 bits are in a record's first four words; a block takes its warps together."""
    entries, exits = [[5, 3], [1 << 40, (1 << 40) + 7]], [[10, 9], [(1 << 40) + 50, (1 << 40) + 20]]
    records = np.zeros((2, 2, 3), np.uint64)
    records[..., 0], records[..., 1], records[..., 2] = entries, exits, 0xFFFFFFFFFFFFFFFF
    assert clocks.cycles(records.view(np.uint32), 2).tolist() == [7, 50]


def test_records_say_the_block_of_each_warp():
    """A record has 24 bytes, and the number of the block in its last word."""
    launch = tables.launch("saxpy", "persm")
    assert clocks.buffer(launch, 8).nbytes == 24 * 8 * 132
    (found,) = clocks.outcome(launch, 8)()
    assert found.index.tolist() == [6 * warp + 5 for warp in range(8 * 132)]
    assert found.value.tolist() == [warp // 8 for warp in range(8 * 132)]
    assert not found.bound.any()


def test_recorded_times_are_those_of_the_wanted_blocks():
    """A kernel's records lie in its buffer of that name; blocks come in the given order, each with entry and exit."""
    found = launch.kernel("saxpy", "persm")
    words = np.zeros(memory.length(found), np.uint32)
    view = memory.view(
        words, next(b for b in found.buffers if b.name == clocks.NAME), memory.bases(found.buffers)["rec"]
    )
    records = view.view(np.uint32).reshape(132, 8, 6)
    records[:, :, 0] = 1000 + np.arange(132)[:, None]  # the lower words of entry and exit
    records[:, :, 2] = 2000 + np.arange(8)
    assert clocks.recorded(found, words, [3, 1]).tolist() == [[1003, 2007], [1001, 2007]]
