"""Tensor descriptors of the host, `triton.tools.tensor_descriptor.TensorDescriptor`, as arguments of a launch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gpusim.api.tensor_map import tensor_map
from gpusim.api.triton.array import behind, passed
from isa.errors import UserError
from isa.nvidia.tensor_map import ELEMENTS, SWIZZLES

TYPES = {number: name for name, (_, number) in ELEMENTS.items()}  # as Triton's compiler counts them
SWIZZLED = {number: name for name, number in SWIZZLES.items()}
NAN = "nan"


def of_descriptor(one: Any, told: Mapping[str, Any] | None) -> list[Any]:
    """Return what the launch passes for a descriptor: a tensor map, its shape and its strides in elements.

    `told` is how the compiled kernel reads it; None where it computes addresses itself, from a pointer. Raises
    UserError for im2col, for pairs of 4-bit numbers, and for a shape beyond the tensor's memory.
    """
    shape, strides = tuple(map(int, one.shape)), tuple(map(int, one.strides))
    wide = [*map(np.int64, shape), *map(np.int64, strides)]
    narrow = [*map(np.int32, shape), *map(np.int64, strides)]
    if told is None:
        flags = [np.int8(one.padding == NAN), np.int8(one.round_f32_to_tf32)]
        return [passed(one.base, "*"), *wide, *flags, *narrow]
    if told.get("is_im2col") or told["fp4_padded"]:
        raise UserError("a descriptor of im2col or of padded 4-bit numbers: not supported; use one of tiles")
    kind = "tfloat32" if one.round_f32_to_tf32 else TYPES[told["elem_type"]]
    size, memory = told["elem_size"], behind(one.base)
    if (1 + sum((count - 1) * step for count, step in zip(shape, strides, strict=True))) * size > memory.nbytes:
        raise UserError(f"a descriptor of shape {list(shape)}, which goes beyond its tensor; give the tensor's shape")
    elements = memory[: memory.nbytes // size * size].view(f"u{size}")
    array = np.lib.stride_tricks.as_strided(elements, shape, tuple(step * size for step in strides))
    fill, swizzle = NAN if one.padding == NAN else "zeros", SWIZZLED[told["swizzle"]]
    return [tensor_map(array, box=told["block_size"], swizzle=swizzle, dtype=kind, fill=fill), *narrow]
