"""Allocations, copies, textures and tensor maps: what a program asks of memory."""

from __future__ import annotations

from collections.abc import Mapping

from gpusim.programs.card import arena as memory
from gpusim.programs.card import clock, codes, objects
from gpusim.programs.card.session import Handler, RefusedError, Session, stream_of
from gpusim.programs.channel import Reply
from isa.nvidia.abi.launch import WINDOW
from isa.operands.windows import SHARED_PLACE


def _malloc(session: Session, numbers: tuple[int, ...], _: bytes) -> Reply:
    nbytes, kind, alignment = numbers
    made = memory.allocate(session.arena, nbytes, kind, alignment)
    return Reply(0, [WINDOW + made.place]) if made else Reply(codes.MEMORY_ALLOCATION)


def _free(session: Session, numbers: tuple[int, ...], _: bytes) -> Reply:
    if not numbers[1]:
        clock.all_done(session.clock)
    return Reply() if memory.free(session.arena, numbers[0]) else Reply(codes.INVALID_VALUE)


def _pointer(session: Session, numbers: tuple[int, ...], _: bytes) -> Reply:
    found = memory.find(session.arena, numbers[0])
    if found is None:
        return Reply(0, [0, 0, memory.UNREGISTERED])
    return Reply(0, [WINDOW + found.place, found.nbytes, memory.TYPES[found.kind]])


def _memory(session: Session, _: tuple[int, ...], __: bytes) -> Reply:
    return Reply(0, [memory.free_bytes(session.arena), SHARED_PLACE])


def _copy(session: Session, numbers: tuple[int, ...], _: bytes) -> Reply:
    dst, src, width, height, depth, dst_pitch, src_pitch, dst_slice, src_slice, _kind, stream, later = numbers
    sides = [
        _side(session, one, _extent(width, height, depth, pitch, each))
        for one, pitch, each in ((dst, dst_pitch, dst_slice), (src, src_pitch, src_slice))
    ]
    if None in sides:
        return Reply(codes.INVALID_VALUE)
    to, of = ((side or memory.UNREGISTERED) in (memory.OF_DEVICE, memory.OF_BOTH) for side in sides)
    part = (clock.ON_DEVICE if of else clock.TO_DEVICE) if to else clock.TO_HOST
    nbytes = width * height * depth
    if to or of:
        pinned, rate = memory.OF_HOST in sides, session.machine.chip.dram_mbs
        clock.copy(session.clock, part, stream_of(stream), nbytes, pinned=pinned, dram_mbs=rate)
        if not of or _is_whole(session, dst, nbytes):
            _note(session, dst, cold=not of)
    if not later:
        clock.stream_done(session.clock, stream_of(stream))
    session.copied += nbytes
    return Reply(0, [side in (memory.OF_HOST, memory.OF_DEVICE, memory.OF_BOTH) for side in sides])


def _set(session: Session, numbers: tuple[int, ...], _: bytes) -> Reply:
    dst, width, height, depth, pitch, each, stream, _later = numbers
    if _side(session, dst, _extent(width, height, depth, pitch, each)) in (None, memory.UNREGISTERED):
        return Reply(codes.INVALID_VALUE)
    nbytes = width * height * depth
    if _is_whole(session, dst, nbytes):
        _note(session, dst, cold=False)
    clock.fill(session.clock, stream_of(stream), nbytes, session.machine.chip.dram_mbs)
    return Reply()


def _is_whole(session: Session, address: int, nbytes: int) -> bool:
    """Tell whether so many bytes are all of the allocation at an address."""
    found = memory.find(session.arena, address)
    return found is not None and nbytes >= found.nbytes


def _note(session: Session, address: int, *, cold: bool) -> None:
    """Note that what is written at an address comes from the host, or from the card, whose L2 then holds it."""
    found = memory.find(session.arena, address)
    if found and cold:
        session.arena.cold.add(found.number)
    elif found:
        session.arena.cold.discard(found.number)


def _extent(width: int, height: int, depth: int, pitch: int, each: int) -> int:
    """Return the bytes from the first to the last of a box of so many bytes, rows and slices."""
    return width + (height - 1) * pitch + (depth - 1) * each if width and height and depth else 0


def _side(session: Session, address: int, extent: int) -> int | None:
    """Return what kind of memory an address is in; None if it is device memory that is not allocated to the end."""
    if not WINDOW <= address < WINDOW + memory.WHOLE_BYTES:
        return memory.UNREGISTERED
    found = memory.find(session.arena, address)
    if found is None or address - WINDOW + extent > found.end:
        return None
    return memory.TYPES[found.kind]


def _texture(session: Session, numbers: tuple[int, ...], _: bytes) -> Reply:
    try:
        made = objects.texture(session.arena, numbers)
    except ValueError as error:
        raise RefusedError(f"{error}; see what is there in docs/programs.md") from None
    textures = session.runner.textures
    free = [number for number, one in textures.items() if one is None]
    number = free[0] if free else len(textures) + 1
    textures[number] = made
    return Reply(0, [number])


def _untexture(session: Session, numbers: tuple[int, ...], _: bytes) -> Reply:
    if numbers[0] not in session.runner.textures:
        return Reply(codes.INVALID_HANDLE)
    session.runner.textures[numbers[0]] = None
    return Reply()


def _tensor_map(_: Session, numbers: tuple[int, ...], __: bytes) -> Reply:
    try:
        return Reply(0, [], objects.tensor_map(numbers))
    except ValueError:
        return Reply(codes.INVALID_VALUE)


def _reset(session: Session, _: tuple[int, ...], __: bytes) -> Reply:
    for one in tuple(session.arena.live):
        memory.free(session.arena, WINDOW + one.place)
    session.loaded.clear()
    session.kernels.clear()
    session.runner.textures.clear()
    return Reply()


ANSWERS: Mapping[str, Handler] = {
    "malloc": _malloc,
    "free": _free,
    "pointer": _pointer,
    "memory": _memory,
    "copy": _copy,
    "set": _set,
    "texture": _texture,
    "untexture": _untexture,
    "tensormap": _tensor_map,
    "reset": _reset,
}
