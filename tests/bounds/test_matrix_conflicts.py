"""Conflicts of matrices in shared memory: a matrix needs one pass, so four of them have none in four passes."""

import gpusim
from isa.text import listing

TEXT = """
.grid 1
.block 32
.shared 4096
    S2R R0, TID.X
    SHL R1, R0, 4
    LDSM.16.M88.4 R4, [R1]    // rows of 16 bytes side by side: 8 of a matrix fill all banks once
    SHL R2, R0, 7
    LDSM.16.M88.4 R8, [R2]    // rows 128 bytes apart, all in the same banks
    EXIT
"""


def test_only_rows_in_the_same_banks_conflict():
    """The second load takes 8 passes for each matrix, 32 in all for the 4 that it needs; the first takes its 4."""
    found = gpusim.bound(listing.read(TEXT), gpusim.load("h200"))
    assert found.conflicts == {4: 8.0}
    assert found.limits["load/store unit"] == 4 + 32 + 2  # S2R takes two
