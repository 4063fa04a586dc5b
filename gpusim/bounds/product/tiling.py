"""How a matrix product is tiled for tensor cores, and what a tile asks of an SM: equations 1 to 12 of RR-7923 again.

Lai and Seznec bound SGEMM by the registers that hold a tile, the shared memory that feeds it, issue slots and memory.
Here a warp, or a warpgroup, has a tile in place of a thread, and matrix instructions take the place of FFMAs. All
counts are for one step: SPAN bytes of K, which are 16 halves, 8 words of 32 bits or 32 bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from isa.kernel import WARP_SIZE
from isa.program import WORD_BYTES

SPAN = 32  # bytes of K that a step takes: those of mma.sync's m16n8 shapes from sm_80 on, and of wgmma (PTX ISA)
ROWS, COLUMNS = 16, 8  # of C that one mma.sync computes
GROUP_ROWS, GROUP_WARPS = 64, 4  # rows of C that one wgmma computes, and the warps that issue it together
MATRIX_BYTES = 128  # that a matrix of ldmatrix has: 8 rows of 16 bytes; an instruction loads four
COPY_BYTES = 16  # that a lane copies at most


@dataclass(frozen=True)
class Tiling:
    """Tiles of C of a block and of a warp, or of a warpgroup, in rows and columns; stages in shared memory, in steps.

    `element`: bytes of an element of A and B, and `total` of one of C. `group`: whether warpgroups multiply, from
    shared memory, or warps, from registers. `sharers`: blocks of a cluster that get the columns' tile by one multicast.
    """

    rows: int
    columns: int
    own_rows: int
    own_columns: int
    steps: int
    stages: int
    element: int = 2
    total: int = 4
    group: bool = False
    sharers: int = 1

    @property
    def owners(self) -> int:
        """Warps, or warpgroups, that have a tile each."""
        return self.rows // self.own_rows * (self.columns // self.own_columns)

    @property
    def threads(self) -> int:
        """Threads that multiply; a warp that copies alone comes on top."""
        return self.owners * WARP_SIZE * (GROUP_WARPS if self.group else 1)

    @property
    def depth(self) -> int:
        """Elements of K that a step takes."""
        return SPAN // self.element

    @property
    def products(self) -> int:
        """Multiplications of a step."""
        return self.rows * self.columns * self.depth


def sums(tiling: Tiling) -> int:
    """Return the registers of a thread that hold C, B_R^2 in equation 4."""
    return tiling.rows * tiling.columns * tiling.total // WORD_BYTES // tiling.threads


def fragments(tiling: Tiling) -> int:
    """Return the registers of a thread that hold a step's rows of A and columns of B, B_R + 1 in equation 4.

    A warpgroup takes both from shared memory.
    """
    return 0 if tiling.group else (tiling.own_rows + tiling.own_columns) * SPAN // WORD_BYTES // WARP_SIZE


def prefetched(tiling: Tiling) -> int:
    """Return the registers of a thread for the next tiles where no copy goes past them: the term of equation 7."""
    return -(-stage_bytes(tiling) // WORD_BYTES // tiling.threads)


def stage_bytes(tiling: Tiling) -> int:
    """Return the bytes of a stage: tiles of A and B (equation 6)."""
    return (tiling.rows + tiling.columns) * SPAN * tiling.steps


def read_bytes(tiling: Tiling) -> int:
    """Return the bytes that a step reads from shared memory, 2 B_R words for each thread in equation 11.

    A warp loads its rows and columns; each wgmma reads 64 rows and its columns.
    """
    height = GROUP_ROWS if tiling.group else tiling.own_rows
    times = tiling.rows // height * (tiling.columns // tiling.own_columns)
    return times * (height + tiling.own_columns) * SPAN


def written_bytes(tiling: Tiling) -> int:
    """Return the bytes that a step's copies write to shared memory."""
    return (tiling.rows + tiling.columns) * SPAN


def moved_bytes(tiling: Tiling) -> Fraction:
    """Return the bytes that a step asks of the L2: 2 B_Sh words of equation 10, less what a multicast shares."""
    return (tiling.rows + Fraction(tiling.columns, tiling.sharers)) * SPAN


def instructions(tiling: Tiling, multiplies: int = 1) -> int:
    """Return the warp instructions of a step: those that multiply, and those that move data if warps do.

    `multiplies`: mma.sync of 16 by 8 numbers in a step. Addresses, loops and barriers are left out, as in figure 1.
    """
    if tiling.group:
        return tiling.owners * GROUP_WARPS * (tiling.own_rows // GROUP_ROWS)
    tiles = tiling.own_rows // ROWS * (tiling.own_columns // COLUMNS) * multiplies
    loads = -(-(tiling.own_rows + tiling.own_columns) * SPAN // (4 * MATRIX_BYTES))
    copies = -(-written_bytes(tiling) // (WARP_SIZE * COPY_BYTES))
    return tiling.owners * (tiles + loads) + copies


def wave_bytes(tiling: Tiling, blocks: int) -> float:
    """Return the bytes of a step that so many blocks ask of the DRAM if the L2 shares all among them.

    They lie as a square of C does; equation 10, which has no L2, is that of one block.
    """
    return 2 * sqrt(blocks * tiling.rows * tiling.columns) * SPAN
