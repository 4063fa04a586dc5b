"""A kernel: a program with its launch, its memory and its expected results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from isa.architecture import Target
from isa.code_region import Lines
from isa.program import Program
from isa.support import frozen
from isa.support.brief import brief
from isa.texture import TextureObject

WARP_SIZE = 32  # NVIDIA's; a kernel may have another of WARP_SIZES
WARP_SIZES = (32, 64)
Dim3 = tuple[int, int, int]
Fill = Callable[[NDArray[np.int64]], NDArray[np.generic]]


@dataclass(frozen=True)
class Buffer:
    """`elements` values of NumPy `dtype` in global memory; `fill` gives the values at element indices (None: zero).

    `place` is the byte address of the first (None: on the second page behind the buffer before it).
    """

    name: str
    dtype: str
    elements: int
    fill: Fill | None = None
    place: int | None = None

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return int(np.dtype(self.dtype).itemsize) * self.elements


@frozen.comparable
@dataclass(frozen=True, repr=False)
class Expectation:
    """The contents of `buffer` expected of one block: at each `index` a `value`, within an absolute error `bound`."""

    buffer: str
    index: NDArray[np.int64]
    value: NDArray[np.float64]
    bound: NDArray[np.float64]

    __repr__ = brief


@dataclass(frozen=True, repr=False)
class Kernel:
    """A launch. Block b of the grid is (x, y, z) with x fastest.

    `expected(b)` is the result that block b alone should compute; `outcome()` must hold after every block has run.

    `parameters` are the 32-bit patterns of c[name]; c[buffer] is that buffer's base byte address. `banks` are the
    constant banks of machine code, `window` what its 64-bit addresses have above those of the image. `flops` counts
    those of the whole launch in the usual way (2 m n k for a matrix product). `racy`: the published kernel has a race
    in shared memory, so its results depend on timing and are not verified.

    `textures` are the texture objects whose handles 1, 2, ... its parameters may be.

    `target` is what its machine code is for (None: it is a listing), which its machine must execute unless
    `any_machine` may run it. `settings` are the machine's numbers that its launch asks for, by path. `sms` is how many
    SMs machine code is told that its machine has (0: nothing); in program order block b is on SM b modulo that.

    `page_bytes` is the unit in which a driver maps memory: loads may read behind a buffer to the end of its last page,
    which isa.executing.beyond reports (0: they may not, as in listings, which declare their buffers).

    `cold` are buffers of which no cache holds anything when the launch begins, as behind a copy from the host.

    `cluster` is the blocks of a cluster in x, y and z: neighbours in the grid, whose sizes are multiples of these.

    `cooperative`: the launch promises that all blocks are resident at once, so that they may wait for each other.
    """

    name: str
    program: Program
    grid: Dim3
    block: Dim3
    parameters: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    buffers: tuple[Buffer, ...] = ()
    expected: Callable[[int], Expectation] | None = None
    outcome: Callable[[], tuple[Expectation, ...]] | None = None
    flops: int = 0
    warp_size: int = WARP_SIZE
    racy: bool = False
    marked: tuple[Lines, ...] = ()  # code regions, by the lines of its listing
    arguments: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    banks: Mapping[int, bytes] = field(default_factory=lambda: MappingProxyType({}))
    window: int = 0
    textures: tuple[TextureObject, ...] = ()
    target: Target | None = None
    any_machine: bool = False
    settings: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    sms: int = 0
    page_bytes: int = 0
    cluster: Dim3 = (1, 1, 1)
    cold: frozenset[str] = field(default=frozenset(), repr=False)
    cooperative: bool = field(default=False, repr=False)

    __repr__ = brief
    __getstate__ = frozen.state
    __setstate__ = frozen.restore

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return prod(self.grid)

    @property
    def cluster_blocks(self) -> int:
        """Blocks of a cluster; 1 where there are none."""
        return prod(self.cluster)

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return prod(self.block)

    @property
    def warps(self) -> int:
        """Warps of a block, the last one perhaps partly filled."""
        return -(-self.threads // self.warp_size)
