"""A texture object as an argument of a kernel, in the manner of `cupy.cuda.texture.TextureObject`.

f(grid, block, (gpusim.Texture(image, filter="linear", normalized=True), out))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa.errors import UserError
from isa.support import frozen
from isa.texture import CHANNELS, TextureObject

DIMENSIONS = 3


@frozen.comparable
@dataclass(frozen=True)
class Texture:
    """Texels of a NumPy array, [x], [y, x] or [z, y, x], and the last axis the channels where `channels` says so.

    `address` is the mode beyond the edge: clamp, border, wrap or mirror, one for all axes or one each for x, y and z;
    coordinates in texels are clamped unless it is border. `filter` is point or linear. `normalized` coordinates go from
    0 to 1. `read` is element, or normalized: 8 and 16 bits become 0 to 1, or -1 to 1. `border` is the color beyond the
    edge. The array is read when the kernel is called. Raises UserError for what no texture is.
    """

    array: NDArray[Any] = field(repr=False)
    channels: int = 0
    address: str | Sequence[str] = "clamp"
    filter: str = "point"
    normalized: bool = False
    read: str = "element"
    border: Sequence[float] = (0.0, 0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        """Raise UserError for what no texture is."""
        if not isinstance(self.array, np.ndarray) or not self.array.size:
            raise UserError(f"a texture of {type(self.array).__name__}; give a NumPy array with an element at least")
        if self.array.ndim - bool(self.channels) not in range(1, DIMENSIONS + 1):
            shape = " x ".join(map(str, self.array.shape))
            raise UserError(f"a texture of {shape}; give [x], [y, x] or [z, y, x], and channels= with one axis more")
        if self.channels and (self.array.shape[-1] != self.channels or self.channels not in CHANNELS):
            given = f"the last axis has {self.array.shape[-1]} elements"
            raise UserError(f"a texture with channels={self.channels}: {given}; give 1, 2 or 4, as many as that has")
        if not self.array.flags.c_contiguous:
            raise UserError("a texture of an array that is no whole in C's order; copy it: numpy.ascontiguousarray")
        if self.array.dtype.str[1:] not in ("u1", "u2", "u4", "i1", "i2", "i4", "f2", "f4"):
            raise UserError(f"a texture of {self.array.dtype}; give integers of 8, 16 or 32 bits, float16 or float32")
        self.described("", 0)

    def described(self, buffer: str, offset: int) -> TextureObject:
        """Return the texture object of texels that lie in a buffer from an offset on; raises UserError."""
        channels = self.channels or 1
        shape = self.array.shape[: -1 if self.channels else None]
        x, y, z = (*reversed(shape), 1, 1)[:DIMENSIONS]
        modes = (self.address,) * DIMENSIONS if isinstance(self.address, str) else tuple(self.address)
        first, second, third = (*modes, "clamp", "clamp", "clamp")[:DIMENSIONS]
        color = (*self._color(), 0.0, 0.0, 0.0, 0.0)[:4]
        kind = self.array.dtype
        try:
            return TextureObject(
                buffer=buffer,
                size=(x, y, z),
                dtype=kind.str[1:],
                channels=channels,
                pitch=x * channels * kind.itemsize,
                address=(first, second, third),
                sampling=self.filter,
                normalized=self.normalized,
                reads=self.read,
                border=(color[0], color[1], color[2], color[3]),
                offset=offset,
                axes=len(shape),
            )
        except ValueError as error:
            raise UserError(f"a texture: {error}") from None

    def _color(self) -> tuple[float, ...]:
        """Return the numbers of the border's color; raises UserError."""
        try:
            color = tuple(map(float, self.border))
        except (TypeError, ValueError):
            raise UserError(f"a texture with border={self.border!r}; give up to four numbers: (red, green)") from None
        if len(color) > CHANNELS[-1]:
            raise UserError(f"a texture with a border of {len(color)} numbers; give up to four")
        return color
