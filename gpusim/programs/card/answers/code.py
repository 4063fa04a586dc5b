"""Modules, kernels and launches: what a program asks of its code."""

from __future__ import annotations

import struct
import sys
from collections.abc import Mapping
from contextlib import nullcontext

from gpusim.machine.occupancy import occupancy
from gpusim.programs.card import clock, codes, launches, modules, system
from gpusim.programs.card.launches import Shape
from gpusim.programs.card.properties import DEFAULT_SHARED
from gpusim.programs.card.session import Handler, Session, stream_of
from gpusim.programs.channel import Reply, signed
from isa.errors import DeadlockError, ExecutionError, LimitError, UserError
from isa.nvidia.abi.launch import LaunchError

MOST_DYNAMIC = 8  # cudaFuncAttributeMaxDynamicSharedMemorySize
MILLI = 1e3
OF_GRAPH = 1  # flag of a launch


def _module(session: Session, _: tuple[int, ...], image: bytes) -> Reply:
    number = session.next_number()
    session.loaded[number] = modules.loaded(session.arena, image, f"module {number}", session.machine)
    return Reply(0, [number])


def _unload(session: Session, numbers: tuple[int, ...], _: bytes) -> Reply:
    found = session.loaded.pop(numbers[0], None)
    if found is None:
        return Reply(codes.INVALID_HANDLE)
    modules.unload(session.arena, found)
    for each in [number for number, kernel in session.kernels.items() if kernel.module is found]:
        del session.kernels[each]
    return Reply()


def _function(session: Session, numbers: tuple[int, ...], name: bytes) -> Reply:
    module = session.loaded.get(numbers[0])
    if module is None or (wanted := name.decode(errors="replace")) not in modules.known(module):
        return Reply(codes.INVALID_DEVICE_FUNCTION)
    number = session.next_number()
    kernel = modules.Kernel(module, wanted, number, 0)
    kernel.most_dynamic = max(0, DEFAULT_SHARED - modules.shared_bytes(kernel))
    session.kernels[number] = kernel
    return Reply(0, [number, *modules.described(kernel, session.machine)])


def _variable(session: Session, numbers: tuple[int, ...], name: bytes) -> Reply:
    module = session.loaded.get(numbers[0])
    found = modules.address_of(module, name.decode(errors="replace")) if module else None
    return Reply(0, found) if found else Reply(codes.SYMBOL_NOT_FOUND)


def _attribute(session: Session, numbers: tuple[int, ...], _: bytes) -> Reply:
    kernel = session.kernels.get(numbers[0])
    if kernel is None:
        return Reply(codes.INVALID_HANDLE)
    which, value = numbers[1], signed(numbers[2])
    if which == MOST_DYNAMIC:
        if value < 0 or value + modules.shared_bytes(kernel) > session.machine.limits.shared_per_block:
            return Reply(codes.INVALID_VALUE)
        kernel.most_dynamic = value
    return Reply()


def _launch(session: Session, numbers: tuple[int, ...], arguments: bytes) -> Reply:
    which, gx, gy, gz, bx, by, bz, dynamic, stream, cooperative, cx, cy, cz, flags = numbers[:14]
    kernel = session.kernels.get(which)
    if kernel is None:
        return Reply(codes.INVALID_HANDLE)
    cluster = (cx, cy, cz) if cx * cy * cz else None
    shape = Shape((gx, gy, gz), (bx, by, bz), dynamic, cluster, bool(cooperative), stream_of(stream))
    if dynamic > kernel.most_dynamic:
        return Reply(codes.INVALID_VALUE)
    try:
        error = _too_large(session, kernel, shape, arguments)
        if error:
            return Reply(error)
        with session.shown(kernel.plain) if session.shown else nullcontext() as progress:
            row = launches.run(session.runner, kernel, shape, arguments, progress)
    except (ExecutionError, DeadlockError, LimitError) as fault:
        sys.stderr.write(getattr(fault, "asserted", ""))
        session.tell(str(fault))
        return Reply(fault.cuda_error, data=system.taken(session.arena))
    took = row.milliseconds or 0.0
    clock.kernel(session.clock, kernel.plain, shape.stream, took * MILLI, of_graph=bool(flags & OF_GRAPH))
    return Reply(0, [_bits(took)], system.taken(session.arena))


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


def _occupancy(session: Session, numbers: tuple[int, ...], _: bytes) -> Reply:
    which, threads, dynamic, _cluster = numbers
    kernel = session.kernels.get(which)
    if kernel is None:
        return Reply(codes.INVALID_HANDLE)
    launch = kernel.function.launch
    shape = Shape((1, 1, 1), (threads, 1, 1), dynamic, None, cooperative=False, stream=0)
    try:
        made = launches.prepared(session.runner, kernel, shape, bytes(launch.size if launch else 0))
        return Reply(0, [occupancy(made, session.machine).blocks])
    except UserError:
        return Reply(0, [0])


def _bits(number: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", number))[0])


ANSWERS: Mapping[str, Handler] = {
    "module": _module,
    "unload": _unload,
    "function": _function,
    "variable": _variable,
    "attribute": _attribute,
    "launch": _launch,
    "occupancy": _occupancy,
}
