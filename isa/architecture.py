"""Instruction sets whose machine code is read, and what differs between them: one row for each architecture.

The driver fills constant bank 0 with sizes and places before the parameters. Where each lies is read off code that nvcc
13.0 makes (docs/sass.md): NVIDIA has no document of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple


@dataclass(frozen=True, slots=True, order=True)
class Target:
    """What machine code is for: of NVIDIA's family, 90 is sm_90."""

    family: Literal["nvidia", "amd"]
    architecture: int

    def __str__(self) -> str:
        """Return its vendor's name, such as sm_90 or gfx906."""
        return f"{_PREFIXES[self.family]}{self.architecture}"


class Sums(NamedTuple):
    """How tensor cores add products of floating-point numbers (isa.values.matrix.sums)."""

    kept: int  # bits below the largest exponent to which terms are cut
    blocks: int  # of 16 bytes of k that are added at once, two at most; others to the sum of those before, rounded
    small_kept: int  # the same bits, of numbers of 8 bits
    small_fraction: int  # fraction bits of their sums in a single

    @property
    def packed(self) -> int:
        """All in one word, as functions of matrices take it."""
        return self.kept | self.blocks << 8 | self.small_kept << 16 | self.small_fraction << 24


@dataclass(frozen=True, slots=True)
class ClusterPlaces:
    """Where constant bank 0 has the clusters of a launch, in bytes."""

    explicit: int  # whether the launch asks for clusters
    blocks: int  # 3 words: blocks of a cluster in x, y, z
    reciprocals: int  # 3 words: 1 / these, in single precision
    clusters: int  # 3 words: clusters of the grid in x, y, z
    total: int  # blocks of a cluster


@dataclass(frozen=True, slots=True)
class Architecture:
    """One row. Places are bytes of constant bank 0, from which so many 32-bit words lie there.

    Kernels have `system_before` bytes of shared memory that are the system's before their own; where it is 0, only
    those that ask for them have them, behind their own.
    """

    sm: int
    parameters: int  # the first byte of the first one
    block: int  # 3 words: threads in x, y, z
    grid: int  # 3 words: blocks in x, y, z
    windows: int  # 4 words: where generic addresses have shared memory, then local memory (isa.operands.windows)
    stack: int  # the top of a thread's stack
    dynamic_shared: int  # bytes
    sms: int
    system_bytes: int  # of shared memory
    groups: int | None  # 2 words: where the part of cooperative groups in the system's bytes ends, and begins
    constants: int  # 2 words: the address of bank 3
    meeting: int  # 2 words: the address at which blocks of a cooperative launch meet
    system_before: int
    warps: int  # that an SM holds (CUDA C++ Programming Guide 13.0, 20.2)
    sums: Sums

    @property
    def addressed(self) -> int | None:
        """The place of 2 words: the address of the parameters in global memory, for tensor maps among them."""
        return 0x198 if self.sm == 90 else 0x348 if self.sm >= 100 else None

    @property
    def cluster(self) -> ClusterPlaces | None:
        """Where bank 0 has the clusters; None before sm_90, which has none."""
        return next((places for sm, places in _CLUSTERS.items() if self.sm >= sm), None)


# Sums: measured on an H200, 2026-11-22 (sm_90; tests/isa/values/matrix/data); others: Xie et al., MMA-Sim, arXiv
# 2511.10909. Where no instruction on 8-bit floats adds in other ways, their bits are those of other numbers.
_OLD, _ADA = Sums(24, 1, 24, 23), Sums(24, 1, 13, 13)
_HOPPER, _LATE = Sums(25, 2, 13, 13), Sums(25, 2, 25, 23)

# From the newest on: each is for its architecture and later ones (nvcc 13.0).
_CLUSTERS: Mapping[int, ClusterPlaces] = MappingProxyType(
    {100: ClusterPlaces(0x36C, 0x2A0, 0x2B0, 0x2C0, 0x2CC), 90: ClusterPlaces(0x140, 0x144, 0x150, 0x15C, 0x188)}
)

# Not 103: its functions of two halves (MUFU.EX2.F16x2) have no row. Of the windows from sm_100 on, compilers read
# that of local memory alone: the place of the other is a guess.
# fmt: off
_NVIDIA = (
    #            sm parameters block   grid windows  stack dynamic   sms system groups const. meeting before warps sums
    Architecture(75,  0x160, 0x000, 0x00C, 0x018, 0x028, 0x02C, 0x10C, 0x114,  None, 0x050, 0x08C,    0, 32, _OLD),
    Architecture(80,  0x160, 0x000, 0x00C, 0x018, 0x028, 0x02C, 0x10C, 0x114, 0x120, 0x050, 0x08C,    0, 64, _OLD),
    Architecture(86,  0x160, 0x000, 0x00C, 0x018, 0x028, 0x02C, 0x10C, 0x114, 0x120, 0x050, 0x08C,    0, 48, _OLD),
    Architecture(87,  0x160, 0x000, 0x00C, 0x018, 0x028, 0x02C, 0x10C, 0x114, 0x120, 0x050, 0x08C,    0, 48, _OLD),
    Architecture(89,  0x160, 0x000, 0x00C, 0x018, 0x028, 0x02C, 0x10C, 0x114, 0x120, 0x050, 0x08C,    0, 48, _ADA),
    Architecture(90,  0x210, 0x000, 0x00C, 0x018, 0x028, 0x02C, 0x10C, 0x114, 0x068, 0x0D0, 0x044, 1024, 64, _HOPPER),
    Architecture(100, 0x380, 0x360, 0x370, 0x2F0, 0x37C, 0x2AC, 0x2D0, 0x16C, 0x278, 0x120, 0x254, 1024, 64, _LATE),
    Architecture(110, 0x380, 0x360, 0x370, 0x2F0, 0x37C, 0x2AC, 0x2D0, 0x16C, 0x278, 0x120, 0x254, 1024, 48, _LATE),
    Architecture(120, 0x380, 0x360, 0x370, 0x2F0, 0x37C, 0x2AC, 0x2D0, 0x16C, 0x278, 0x120, 0x254, 1024, 48, _LATE),
    Architecture(121, 0x380, 0x360, 0x370, 0x2F0, 0x37C, 0x2AC, 0x2D0, 0x16C, 0x278, 0x120, 0x254, 1024, 48, _LATE),
)
# fmt: on
ROWS: Mapping[Target, Architecture] = MappingProxyType({Target("nvidia", row.sm): row for row in _NVIDIA})
NVIDIA = tuple(row.sm for row in _NVIDIA)  # those whose code is read
_PREFIXES = {"nvidia": "sm_", "amd": "gfx"}


def nvidia(architecture: int) -> Architecture:
    """Return the row of one of NVIDIA's; of a text that doesn't say which (0), that of sm_90."""
    return ROWS[Target("nvidia", architecture or 90)]
