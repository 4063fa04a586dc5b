"""Texture objects: elements in global memory, and how a fetch by coordinates finds them.

CUDA C++ Programming Guide 13.0, texture memory: `cudaTextureDesc` and `cudaResourceDesc`. A handle is the number of the
object in its launch, from 1 on; the hardware's says as little.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa.values.texture import texel as t

HANDLE_BYTES = 8
MODES = {"clamp": t.CLAMP, "border": t.BORDERED, "wrap": t.WRAP, "mirror": t.MIRROR}
FILTERS = ("point", "linear")
READS = ("element", "normalized")
KINDS = {"u": t.UNSIGNED, "i": t.SIGNED, "f": t.REAL}
DTYPES = ("u1", "u2", "u4", "i1", "i2", "i4", "f2", "f4")
CHANNELS = (1, 2, 4)
MOST = 1 << 27  # texels along an axis: linear memory's (technical specifications)


@dataclass(frozen=True)
class TextureObject:
    """Elements of a buffer as texels, `size` along x, y and z, and how they are read; without an axis its size is 1.

    `pitch` are the bytes from a row to the next. `reads` is "normalized" if whole numbers become 0 to 1, or -1 to 1;
    `border` is the color where the address mode is border.
    """

    buffer: str
    size: tuple[int, int, int]
    dtype: str
    channels: int
    pitch: int
    address: tuple[str, str, str] = ("clamp", "clamp", "clamp")
    sampling: str = "point"
    normalized: bool = False
    reads: str = "element"
    border: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    offset: int = 0  # bytes behind the beginning of the buffer
    axes: int = 0  # dimensions, which its fetches must have; 0: any

    def __post_init__(self) -> None:
        """Raise ValueError for what no texture is."""
        for what, given, known in (
            ("type", self.dtype, DTYPES),
            ("number of channels", self.channels, CHANNELS),
            ("filter", self.sampling, FILTERS),
            ("way to read", self.reads, READS),
            *(("address mode", mode, MODES) for mode in self.address),
        ):
            if given not in known:
                raise ValueError(f"{given!r} is no {what} of a texture; take {', '.join(map(str, known))}")
        if self.reads == "normalized" and self.dtype not in ("u1", "u2", "i1", "i2"):
            raise ValueError(f"only 8 and 16 bits are read as normalized floats, not {np.dtype(self.dtype)}")
        if self.sampling == "linear" and self.dtype[0] != "f" and self.reads == "element":
            raise ValueError('a linear filter needs floats: take read "normalized", or the filter point')
        if not all(1 <= size <= MOST for size in self.size):
            raise ValueError(f"a texture of {' x '.join(map(str, self.size))} texels; take 1 to {MOST} along each axis")


def table(textures: Sequence[TextureObject], places: Mapping[str, int]) -> NDArray[np.int64]:
    """Return a row for each handle, as isa.values.texture.texel has columns; `places` are the buffers' byte addresses.

    Row 0 has a texture of no texels, for handles that are none.
    """
    rows = np.zeros((len(textures) + 1, t.COLUMNS), np.int64)
    for row, one in zip(rows[1:], textures, strict=True):
        row[t.FIRST] = places[one.buffer] + one.offset
        row[t.WIDTH : t.DEPTH + 1] = one.size
        row[t.PITCH], row[t.SLICE] = one.pitch, one.pitch * one.size[1]
        row[t.CHANNELS], row[t.BYTES], row[t.KIND] = one.channels, int(one.dtype[1]), KINDS[one.dtype[0]]
        row[t.MODE : t.MODE + 3] = [_mode(one, mode) for mode in one.address]
        row[t.LINEAR], row[t.NORMALIZED] = one.sampling == "linear", one.normalized
        row[t.AS_FLOAT] = one.reads == "normalized"
        row[t.BORDER : t.BORDER + 4] = _border(one)
        row[t.AXES] = one.axes
    return rows


def _mode(one: TextureObject, mode: str) -> int:
    """Return the mode that counts: coordinates in texels are never repeated (CUDA C++ Programming Guide)."""
    return MODES[mode if one.normalized or mode == "border" else "clamp"]


def _border(one: TextureObject) -> NDArray[Any]:
    """Return the patterns of the border's color; whole numbers read as such have none on an H200."""
    if one.dtype[0] != "f" and one.reads == "element":
        return np.zeros(4, np.uint32)
    return np.array(one.border, np.float32).view(np.uint32)
