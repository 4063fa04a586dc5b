"""A struct by value as an argument of a kernel, given by its bytes, with addresses of arrays in it.

f(grid, block, (gpusim.Struct(parameters, {0: a, 64: b, 0x180: c}),))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa.errors import UserError
from isa.nvidia.abi.launch import POINTER_BYTES
from isa.support import frozen

Array = NDArray[Any]


@frozen.comparable
@dataclass(frozen=True)
class Struct:
    """Bytes as a program gave them to a launch; at each offset of `pointers` stands the address of an array's element.

    The bytes that lie there are replaced. A tensor map in the struct has its address in its first eight bytes, so its
    offset is that of the map. Raises UserError for an offset outside, for two that overlap, and for what is no array.
    """

    data: bytes = field(repr=False)
    pointers: Mapping[int, Array] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Raise UserError for what no struct is."""
        if not isinstance(self.data, bytes | bytearray) or not self.data:
            raise UserError(f"a struct of {type(self.data).__name__}; give its bytes, one at least")
        end = 0
        for offset, array in sorted(self.pointers.items()):
            if not isinstance(array, np.ndarray) or not array.size:
                raise UserError(f"a struct's address at byte {offset}: {type(array).__name__}; give a NumPy array")
            if not end <= offset <= len(self.data) - POINTER_BYTES:
                has = f"the struct has {len(self.data)} bytes" if offset >= end else f"another one ends at byte {end}"
                raise UserError(f"a struct's address at byte {offset}, of {POINTER_BYTES} bytes: {has}")
            end = offset + POINTER_BYTES

    def filled(self, addresses: Mapping[int, bytes]) -> bytes:
        """Return the bytes with an address at each offset."""
        made = bytearray(self.data)
        for offset, address in addresses.items():
            made[offset : offset + len(address)] = address
        return bytes(made)
