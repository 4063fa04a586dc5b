"""Tensor maps: what cuTensorMapEncodeTiled is told, checked as it does, and the 128 bytes that the copy engine reads.

The names are those of its enumerations (CUDA Driver API 13.0, tensor map object management). The places of the fields
are read off what ptxas makes of `tensormap.replace` for sm_90, and off maps that driver 580.159 encodes for an H200.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

BYTES, ALIGNMENT = 128, 64
ELEMENTS = {  # by name: bytes, and the number in the map, whose fifth bit lies apart
    "uint8": (1, 0), "uint16": (2, 1), "uint32": (4, 2), "int32": (4, 3), "uint64": (8, 4), "int64": (8, 5),
    "float16": (2, 6), "float32": (4, 7), "float32_ftz": (4, 8), "float64": (8, 9), "bfloat16": (2, 10),
    "tfloat32": (4, 23), "tfloat32_ftz": (4, 24),
}  # fmt: skip
REALS = frozenset(name for name in ELEMENTS if "float" in name)
INTERLEAVES = {"none": 0, "16B": 1, "32B": 2}
SWIZZLES = {"none": 0, "32B": 1, "64B": 2, "128B": 3}
PROMOTIONS = {"none": 0, "64B": 1, "128B": 2, "256B": 3}
FILLS = {"zeros": 0, "nan": 1}
DIMENSIONS, SECTION = 5, 16  # at most; strides are multiples of so many bytes
MOST_SIZE, MOST_STRIDE, MOST_BOX, MOST_STEP = 1 << 32, 1 << 40, 256, 8


@dataclass(frozen=True)
class TensorMap:
    """A tensor in global memory and the boxes that copies of it have; dimensions go from the innermost outwards.

    `sizes` are in elements, `strides` in bytes: those between neighbours of all dimensions but the first, whose
    elements follow each other. `box` is in elements too. `steps` are the distances in elements between those of a box
    that are copied (the driver's elementStrides); that of the first dimension says nothing without an interleave.
    """

    dtype: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    steps: tuple[int, ...] = ()
    interleave: str = "none"
    swizzle: str = "none"
    promotion: str = "none"
    fill: str = "zeros"

    def __post_init__(self) -> None:
        """Raise ValueError for what cuTensorMapEncodeTiled refuses."""
        for what, given, known in (
            ("type of elements", self.dtype, ELEMENTS),
            ("interleave", self.interleave, INTERLEAVES),
            ("swizzle", self.swizzle, SWIZZLES),
            ("L2 promotion", self.promotion, PROMOTIONS),
            ("fill", self.fill, FILLS),
        ):
            if given not in known:
                raise ValueError(f"{given!r} is no {what} of a tensor map; take {', '.join(known)}")
        self._check_shape()
        self._check_strides()
        self._check_box()
        if self.fill == "nan" and self.dtype not in REALS:
            raise ValueError(f"a fill with NaNs, where elements are {self.dtype}; take zeros")

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.sizes)

    @property
    def element_bytes(self) -> int:
        """Bytes of an element."""
        return ELEMENTS[self.dtype][0]

    @property
    def box_bytes(self) -> int:
        """Bytes in shared memory of a box, for which its barrier waits."""
        counts = [-(-count // step) for count, step in zip(self.box, self._steps(), strict=True)]
        if self.interleave == "none":
            return self.element_bytes * prod(counts)
        counts[-2] = 1  # slice of channels, of 16 or 32 bytes
        return prod(counts) * (SECTION << INTERLEAVES[self.interleave] - 1)

    @property
    def nbytes(self) -> int:
        """Bytes from the tensor's first byte to behind its last one."""
        last = (size - 1 for size in self.sizes[1:])
        return self.sizes[0] * self.element_bytes + sum(s * n for s, n in zip(self.strides, last, strict=True))

    def encode(self, address: int) -> bytes:
        """Return the map of a tensor at a 64-bit address; raises ValueError for one that is not aligned."""
        alignment = 2 * SECTION if self.interleave == "32B" else SECTION
        if address % alignment:
            raise ValueError(f"a tensor at {address:#x}; it must begin at a multiple of {alignment} bytes")
        kind = ELEMENTS[self.dtype][1]
        head = self.rank - 1 << 4 | (kind & 15) << 7 | kind >> 4 << 16
        head |= INTERLEAVES[self.interleave] << 11 | SWIZZLES[self.swizzle] << 13 | FILLS[self.fill] << 15
        sections = [one // SECTION for one in (*self.strides, 0, 0, 0, 0)[: DIMENSIONS - 1]]
        upper = sum((one >> 32) << 4 * k for k, one in enumerate(sections))
        sizes = [one - 1 for one in (*self.sizes, 1, 1, 1, 1)[:DIMENSIONS]]
        box = [one - 1 for one in (*self.box, 1, 1, 1, 1)[:DIMENSIONS]]
        steps = sum(one - 1 << 3 * k for k, one in enumerate(self._steps()))
        head |= PROMOTIONS[self.promotion] << 17
        whole = self.element_bytes * prod(count // step for count, step in zip(self.box, self._steps(), strict=True))
        span = SWIZZLES[self.swizzle] and 128 << SWIZZLES[self.swizzle]
        rest = sum(one << 8 * k for k, one in enumerate(box[1:]))
        lower = [one & 0xFFFFFFFF for one in sections]
        return struct.pack(
            "<QI4II5IIIIIIII",
            address,
            head,
            *lower,
            upper,
            *sizes,
            steps | box[0] << 24,
            rest,
            0,
            whole,
            0,
            span or SECTION,
            0,
        ).ljust(BYTES, b"\0")

    def _steps(self) -> tuple[int, ...]:
        """Return the steps that count."""
        steps = self.steps or (1,) * self.rank
        return steps if self.interleave != "none" else (1, *steps[1:])

    def _check_shape(self) -> None:
        if not 1 <= self.rank <= DIMENSIONS:
            raise ValueError(f"a tensor map of {self.rank} dimensions; take 1 to {DIMENSIONS}")
        if self.interleave != "none" and self.rank < 3:
            raise ValueError(f"an interleave of {self.interleave} with {self.rank} dimensions; take 3 at least")
        for what, given, wanted in (
            ("strides", self.strides, self.rank - 1),
            ("sizes of a box", self.box, self.rank),
            ("element strides", self.steps or self.box, self.rank),
        ):
            if len(given) != wanted:
                raise ValueError(f"{len(given)} {what} for {self.rank} dimensions; give {wanted}")
        _within("a tensor", self.sizes, MOST_SIZE)

    def _check_strides(self) -> None:
        alignment = 2 * SECTION if self.interleave == "32B" else SECTION
        for k, stride in enumerate(self.strides, 1):
            if stride % alignment or not 0 <= stride < MOST_STRIDE:
                what = f"a stride of {stride} bytes in dimension {k}"
                raise ValueError(f"{what}; take a multiple of {alignment} below {MOST_STRIDE}")

    def _check_box(self) -> None:
        _within("a box", self.box, MOST_BOX)
        _within("element strides", self.steps or (1,), MOST_STEP)
        inner = self.box[0] * self.element_bytes
        if inner % SECTION:
            raise ValueError(f"a box of {inner} bytes in its innermost dimension; take a multiple of {SECTION}")
        span = SECTION << SWIZZLES[self.swizzle]
        if self.swizzle != "none" and self.interleave == "none" and inner > span:
            what = f"a box of {inner} bytes in its innermost dimension, swizzled by {span}"
            raise ValueError(f"{what}; take {span} at most, or another swizzle")


def _within(what: str, given: Sequence[int], most: int) -> None:
    """Raise ValueError for a number that is not from 1 to that."""
    if not all(1 <= one <= most for one in given):
        raise ValueError(f"{what} of {' x '.join(map(str, given))}; take 1 to {most} in each dimension")


def dense(sizes: Sequence[int], dtype: str) -> list[int]:
    """Return the strides of a tensor whose elements follow each other; of an unknown type, of bytes."""
    strides, size = list[int](), ELEMENTS.get(dtype, (1, 0))[0]
    for one in sizes[:-1]:
        size *= one
        strides.append(size)
    return strides
