"""Texture objects and tensor maps that a program makes: from the numbers of CUDA's enumerations to what launches read.

The enumerations are those of the CUDA Runtime and Driver API 13.0: cudaTextureAddressMode, cudaChannelFormatKind,
CUtensorMapDataType and its fellows.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from gpusim.programs.card import arena as memory
from gpusim.programs.card.arena import Arena
from isa.nvidia.abi.launch import WINDOW
from isa.nvidia.tensor_map import FILLS, INTERLEAVES, PROMOTIONS, SWIZZLES, TensorMap
from isa.texture import TextureObject

ADDRESS_MODES = "wrap", "clamp", "mirror", "border"
FORMATS = "i", "u", "f"
FILTERS = "point", "linear"
READS = "element", "normalized"
ELEMENTS = (
    "uint8", "uint16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64", "bfloat16",
    "float32_ftz", "tfloat32", "tfloat32_ftz",
)  # fmt: skip


def texture(arena: Arena, numbers: Sequence[int]) -> TextureObject:
    """Return the texture object of these numbers.

    They are: address, bytes from row to row, width, height, depth, layers, bytes of a channel, channels, their format,
    address modes in x, y and z, filter, read mode, whether coordinates are normalized, the border's four floats.

    Raises ValueError for what no texture is, or is not there: layers, and memory that is not allocated.
    """
    address, pitch, width, height, depth, layers, nbytes, channels, form, *modes = numbers[:12]
    sampling, read, normalized, *border = numbers[12:19]
    found = memory.find(arena, address)
    if found is None or layers:
        raise ValueError("a texture with layers" if layers else f"a texture of {address:#x}, which is not allocated")
    axes = 3 if depth else 2 if height else 1
    color = struct.unpack("<4f", struct.pack("<4I", *border))
    return TextureObject(
        buffer=found.name,
        size=(width, max(1, height), max(1, depth)),
        dtype=f"{_named(FORMATS, form)}{nbytes}",
        channels=channels,
        pitch=pitch or width * channels * nbytes,
        address=(_mode(modes, 0, axes), _mode(modes, 1, axes), _mode(modes, 2, axes)),
        sampling=_named(FILTERS, sampling),
        normalized=bool(normalized),
        reads=_named(READS, read) if form < len(FORMATS) - 1 else READS[0],
        border=(color[0], color[1], color[2], color[3]),
        offset=address - WINDOW - found.place,
        axes=axes,
    )


def tensor_map(numbers: Sequence[int]) -> bytes:
    """Return the bytes of the map of these numbers.

    They are: type, dimensions, address, sizes, strides, box, element strides, then the numbers of interleave, swizzle,
    L2 promotion and fill. Raises ValueError for what cuTensorMapEncodeTiled refuses, and for types that are not there.
    """
    kind, rank, address, *rest = numbers
    sizes, rest = rest[:rank], rest[rank:]
    strides, rest = rest[: rank - 1], rest[rank - 1 :]
    box, steps = rest[:rank], rest[rank : 2 * rank]
    names = [list(known) for known in (INTERLEAVES, SWIZZLES, PROMOTIONS, FILLS)]
    chosen = [_named(known, number) for known, number in zip(names, rest[2 * rank :], strict=True)]
    made = TensorMap(_named(ELEMENTS, kind), tuple(sizes), tuple(strides), tuple(box), tuple(steps), *chosen)
    return made.encode(address)


def _mode(modes: Sequence[int], axis: int, axes: int) -> str:
    """Return the address mode of an axis; those that a texture doesn't have may be anything."""
    return _named(ADDRESS_MODES, modes[axis]) if axis < axes else "clamp"


def _named(known: Sequence[str], number: int) -> str:
    if number >= len(known):
        raise ValueError(f"{number} is no number of {', '.join(known)}")
    return known[number]
