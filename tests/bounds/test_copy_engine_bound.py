"""The limits that the copy engine sets: its pieces, and the way on which loads come."""

import numpy as np
import pytest
from bulk_programs import H200, kernel

from gpusim.bounds.bounds import bound
from gpusim.simulation.simulation import simulate

PIECE, SECTOR, PARTS = 128, 32, 64


def copies(size):
    """Return a launch that brings so many bytes to shared memory, copies them there, and back."""
    return kernel("lines", np.zeros(size // 4, "u4"), np.arange(size // 4, dtype="u4"), size)


@pytest.mark.jit
@pytest.mark.parametrize("size", [256, 4096, 16384])
def test_no_run_beats_what_its_copies_take(size):
    """Each limit is below the cycles of the run."""
    result = simulate(copies(size), H200)
    assert result.bound is not None
    assert all(limit <= result.cycles for limit in result.bound.limits.values())


def test_the_limits_are_those_of_bytes_and_pieces():
    """Loads come at 19 64ths of a cycle for 32 bytes; pieces take a cycle, those sent 64 64ths for each 32 bytes.

    Of 16 KB, prefetched, loaded, copied and sent, both leave out what a last piece may take behind the end: 8 cycles.
    """
    size, engine = 16384, H200.copy_engine
    limits = bound(copies(size), H200).limits
    after = engine.ask + -(-5 * max(engine.load_parts, engine.store_parts, engine.reduce_parts) // PARTS)
    come = size * engine.load_parts / (SECTOR * PARTS)
    asked = 3 * size // PIECE * engine.ask + size * engine.store_parts / (SECTOR * PARTS)
    assert limits["copies from the L2"] == np.ceil(come - after)
    assert limits["copy engine"] == np.ceil(asked - after)
