"""Addresses that a loader fills into variables and constants."""

from __future__ import annotations

from collections.abc import Mapping

from isa.errors import UserError
from isa.nvidia.abi.launch import POINTER_BYTES
from isa.nvidia.file.cubin import Cubin, Relocation
from isa.nvidia.file.names import plain

WITH_VALUES, CONSTANTS, ADDRESSES = ".nv.global.init", ".nv.constant3", ".nv.constant4"  # sections with such
_KINDS = 2, 4  # of relocations: 64-bit addresses (isa/nvidia/file/cubin.py)


def relocated(data: bytes, section: str, cubin: Cubin, symbols: Mapping[str, int]) -> bytes:
    """Return a section's bytes with the 64-bit addresses in them; raises UserError for one that is not known."""
    found = bytearray(data)
    for one in cubin.relocations:
        if one.section == section:
            if one.kind not in _KINDS or one.symbol not in symbols:
                raise UserError(_unknown(one, cubin))
            address = (symbols[one.symbol] + one.addend) % (1 << 64)
            found[one.offset : one.offset + POINTER_BYTES] = address.to_bytes(POINTER_BYTES, "little")
    return bytes(found)


def _unknown(one: Relocation, cubin: Cubin) -> str:
    """Return the message on an address that can't be filled in, with the variable or the section that holds it."""
    known = (x for x in cubin.variables.values() if one.section == (CONSTANTS if x.constant else WITH_VALUES))
    holder = next((x.name for x in known if x.offset <= one.offset < x.offset + x.size), one.section)
    what = f"{plain(holder)} holds the address of {plain(one.symbol)}"
    if one.kind not in _KINDS:
        return f"{what} as relocation {one.kind:#x}, which is not known here; fill it in by a kernel"
    if one.symbol in cubin.functions:
        return f"{what}, which has constants of its own in bank 2; compile all in one file, without -G"
    return f"{what}, which is not in the file; compile it into the same file"
