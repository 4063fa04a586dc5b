"""What a program asks of the card, request by request, and the answers."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from gpusim.engines.simulate import Progress
from gpusim.machine.machine import Machine
from gpusim.machine.occupancy import occupancy
from gpusim.programs import channel
from gpusim.programs.card import arena as memory
from gpusim.programs.card import clock, codes, launches, modules, objects
from gpusim.programs.card.arena import Arena
from gpusim.programs.card.clock import Clock
from gpusim.programs.card.launches import Runner, Shape
from gpusim.programs.card.properties import DEFAULT_SHARED, properties
from gpusim.programs.channel import Reply, Request, signed
from isa.errors import ExecutionError, UserError
from isa.nvidia.abi.launch import WINDOW, LaunchError
from isa.operands.windows import SHARED_PLACE

Tell = Callable[[str], None]
Shown = Callable[[str], AbstractContextManager[Progress]]  # of a kernel's name, while a launch of it runs
MILLI = 1e3
STACK, PRINTED, HEAP = 0, 1, 2  # cudaLimit


class RefusedError(UserError):
    """The program asks for what is not there."""


@dataclass(eq=False)
class Session:
    """A program's card: its launches, modules and kernels by number, its clock, and limits that the program set."""

    runner: Runner
    clock: Clock
    tell: Tell
    shown: Shown | None = None
    place: Callable[[int], str] = str  # of an address in the program
    loaded: dict[int, modules.Module] = field(default_factory=dict)
    kernels: dict[int, modules.Kernel] = field(default_factory=dict)
    limits: dict[int, int] = field(default_factory=lambda: {STACK: 1024, PRINTED: 1 << 20, HEAP: 8 << 20})
    copied: int = 0  # bytes

    @property
    def arena(self) -> Arena:
        """Its memory."""
        return self.runner.arena

    @property
    def machine(self) -> Machine:
        """The machine that it is."""
        return self.runner.machine


Handler = Callable[[Session, tuple[int, ...], bytes], Reply]


def serve(session: Session, connection: socket.socket) -> None:
    """Answer requests until the program ends; raises UserError for what is not there or not executed."""
    while (request := channel.receive(connection)) is not None:
        try:
            channel.send(connection, answer(session, request))
        except (BrokenPipeError, ConnectionResetError):
            return


def answer(session: Session, request: Request) -> Reply:
    """Return the reply to one request."""
    handler = HANDLERS.get(request.name)
    if handler is None:
        raise RefusedError(f"{request.name}: the card has no such request; take the runtime of this release")
    return handler(session, request.numbers, request.data)


def _hello(session: Session, _: tuple[int, ...], __: bytes) -> Reply:
    return Reply(0, properties(session.machine, session.arena), session.machine.name.encode())


def _module(session: Session, _: tuple[int, ...], image: bytes) -> Reply:
    number = len(session.loaded) + 1
    session.loaded[number] = modules.loaded(session.arena, image, f"module {number}", session.machine)
    return Reply(0, [number])


def _unload(session: Session, numbers: tuple[int, ...], _: bytes) -> Reply:
    found = session.loaded.pop(numbers[0], None)
    if found is None:
        return Reply(codes.INVALID_HANDLE)
    modules.unload(session.arena, found)
    return Reply()


def _function(session: Session, numbers: tuple[int, ...], name: bytes) -> Reply:
    module = session.loaded.get(numbers[0])
    if module is None or (wanted := name.decode()) not in modules.known(module):
        return Reply(codes.INVALID_DEVICE_FUNCTION)
    kernel = modules.Kernel(module, wanted, 0)
    kernel.most_dynamic = max(0, DEFAULT_SHARED - modules.shared_bytes(kernel))
    number = len(session.kernels) + 1
    session.kernels[number] = kernel
    return Reply(0, [number, *modules.described(kernel, session.machine)])


def _variable(session: Session, numbers: tuple[int, ...], name: bytes) -> Reply:
    module = session.loaded.get(numbers[0])
    found = modules.address_of(module, name.decode()) if module else None
    return Reply(0, found) if found else Reply(codes.SYMBOL_NOT_FOUND)


def _attribute(session: Session, numbers: tuple[int, ...], _: bytes) -> Reply:
    kernel = session.kernels[numbers[0]]
    which, value = numbers[1], signed(numbers[2])
    if which == MOST_DYNAMIC:
        if value < 0 or value + modules.shared_bytes(kernel) > session.machine.limits.shared_per_block:
            return Reply(codes.INVALID_VALUE)
        kernel.most_dynamic = value
    kernel.asked[which] = value
    return Reply()


MOST_DYNAMIC = 8  # cudaFuncAttributeMaxDynamicSharedMemorySize


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
        clock.copy(session.clock, part, _stream(stream), nbytes, pinned=pinned, dram_mbs=rate)
    if not later:
        clock.stream_done(session.clock, _stream(stream))
    session.copied += nbytes
    return Reply(0, [side in (memory.OF_HOST, memory.OF_DEVICE, memory.OF_BOTH) for side in sides])


def _set(session: Session, numbers: tuple[int, ...], _: bytes) -> Reply:
    dst, width, height, depth, pitch, each, stream, _later = numbers
    if _side(session, dst, _extent(width, height, depth, pitch, each)) in (None, memory.UNREGISTERED):
        return Reply(codes.INVALID_VALUE)
    nbytes = width * height * depth
    clock.fill(session.clock, _stream(stream), nbytes, session.machine.chip.dram_mbs)
    return Reply()


def _launch(session: Session, numbers: tuple[int, ...], arguments: bytes) -> Reply:
    which, gx, gy, gz, bx, by, bz, dynamic, stream, cooperative, cx, cy, cz, _flags = numbers[:14]
    kernel = session.kernels[which]
    cluster = (cx, cy, cz) if cx * cy * cz else None
    shape = Shape((gx, gy, gz), (bx, by, bz), dynamic, cluster, bool(cooperative), _stream(stream))
    if dynamic > kernel.most_dynamic:
        return Reply(codes.INVALID_VALUE)
    try:
        error = _too_large(session, kernel, shape, arguments)
        if error:
            return Reply(error)
        with session.shown(kernel.plain) if session.shown else nullcontext() as progress:
            row = launches.run(session.runner, kernel, shape, arguments, progress)
    except ExecutionError as fault:
        session.tell(str(fault))
        return Reply(codes.ILLEGAL_ADDRESS)
    took = row.milliseconds or 0.0
    clock.kernel(session.clock, kernel.plain, shape.stream, took * MILLI)
    return Reply(0, [_bits(took)])


def _too_large(session: Session, kernel: modules.Kernel, shape: Shape, arguments: bytes) -> int:
    """Return the code of CUDA's error for a launch that code or machine don't take; 0 for others."""
    try:
        launch = launches.prepared(session.runner, kernel, shape, arguments)
    except LaunchError:
        return codes.INVALID_CONFIGURATION
    try:
        fits = occupancy(launch, session.machine)
    except UserError:
        threads = launch.threads > session.machine.limits.threads_per_block
        return codes.INVALID_CONFIGURATION if threads else codes.OUT_OF_RESOURCES
    resident = fits.blocks * session.machine.chip.sms
    return codes.COOPERATIVE_TOO_LARGE if shape.cooperative and launch.blocks > resident else 0


def _new_stream(session: Session, numbers: tuple[int, ...], _: bytes) -> Reply:
    return Reply(0, [clock.stream(session.clock, numbers[0])])


def _nothing(_session: Session, _: tuple[int, ...], __: bytes) -> Reply:
    return Reply()


def _event(session: Session, _: tuple[int, ...], __: bytes) -> Reply:
    return Reply(0, [clock.event(session.clock)])


def _record(session: Session, numbers: tuple[int, ...], _: bytes) -> Reply:
    clock.record(session.clock, numbers[0], _stream(numbers[1]))
    return Reply()


def _elapsed(session: Session, numbers: tuple[int, ...], _: bytes) -> Reply:
    begin, end = (session.clock.events.get(one) for one in numbers)
    if begin is None or end is None:
        return Reply(codes.INVALID_HANDLE)
    return Reply(0, [struct.unpack("<I", struct.pack("<f", (end - begin) / MILLI))[0]])


def _wait(session: Session, numbers: tuple[int, ...], _: bytes) -> Reply:
    clock.wait(session.clock, _stream(numbers[0]), numbers[1])
    return Reply()


def _sync(session: Session, numbers: tuple[int, ...], _: bytes) -> Reply:
    what, which = numbers
    if what == OF_STREAM:
        clock.stream_done(session.clock, _stream(which))
    elif what == OF_EVENT:
        clock.event_done(session.clock, which)
    else:
        clock.all_done(session.clock)
    return Reply()


OF_STREAM, OF_EVENT = 1, 2


def _occupancy(session: Session, numbers: tuple[int, ...], _: bytes) -> Reply:
    which, threads, dynamic, _cluster = numbers
    kernel = session.kernels[which]
    launch = kernel.function.launch
    shape = Shape((1, 1, 1), (threads, 1, 1), dynamic, None, cooperative=False, stream=0)
    try:
        made = launches.prepared(session.runner, kernel, shape, bytes(launch.size if launch else 0))
        return Reply(0, [occupancy(made, session.machine).blocks])
    except UserError:
        return Reply(0, [0])


def _limit(session: Session, numbers: tuple[int, ...], _: bytes) -> Reply:
    which, changes, value = numbers
    if changes:
        session.limits[which] = value
        if which == STACK:
            session.runner.stack = value
    return Reply(0, [session.limits.get(which, 0)])


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


def _surface(_: Session, __: tuple[int, ...], ___: bytes) -> Reply:
    raise RefusedError("cudaCreateSurfaceObject is not there; write to memory, and make a texture of it")


def _reset(session: Session, _: tuple[int, ...], __: bytes) -> Reply:
    for one in tuple(session.arena.live):
        memory.free(session.arena, WINDOW + one.place)
    session.loaded.clear()
    session.kernels.clear()
    return Reply()


def _refused(session: Session, numbers: tuple[int, ...], name: bytes) -> Reply:
    where = next(filter(None, map(session.place, filter(None, numbers))), "")
    what = name.decode(errors="replace")
    raise RefusedError(f"{where + ': ' if where else ''}{what} is not there; see what is in docs/programs.md")


HANDLERS: Mapping[str, Handler] = {
    "hello": _hello,
    "module": _module,
    "unload": _unload,
    "function": _function,
    "variable": _variable,
    "attribute": _attribute,
    "malloc": _malloc,
    "free": _free,
    "pointer": _pointer,
    "memory": _memory,
    "copy": _copy,
    "set": _set,
    "launch": _launch,
    "stream": _new_stream,
    "unstream": _nothing,
    "event": _event,
    "unevent": _nothing,
    "record": _record,
    "elapsed": _elapsed,
    "wait": _wait,
    "sync": _sync,
    "occupancy": _occupancy,
    "limit": _limit,
    "texture": _texture,
    "untexture": _untexture,
    "tensormap": _tensor_map,
    "surface": _surface,
    "reset": _reset,
    "refused": _refused,
    "range": _nothing,
    "bye": _nothing,
}


def _stream(number: int) -> int:
    """Return the number of a stream: handles 1 and 2 stand for the default one."""
    return clock.LEGACY if number in (1, 2) else number


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


def _bits(number: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", number))[0])
