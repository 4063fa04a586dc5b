"""A stand-in for the simulator, which answers a program's requests without executing its kernels.

Its memory and order of requests are seen by tests, and a kernel that a test gives in Python does its work.
"""

import os
import socket
import struct
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from gpusim.programs.channel import Reply, Request, receive, send

BASE, BYTES = 0x7F0000000000, 1 << 32
PROPERTIES = [9, 0, 132, 80 << 30, 49152, 232448, 233472, 1024, 65536, 65536, 32, 1024, 2048, 32]
PROPERTIES += [1024, 1024, 64, 2**31 - 1, 65535, 65535, 65536, 1785000, 2619000, 5120, 50 << 20, 32 << 20, 3, 2, 1, 1]
PROPERTIES += [2**31 - 1, 512, 32]
KINDS = {0: 2, 1: 3, 2: 1, 3: 2}  # of an allocation: cudaMemoryType


@dataclass
class Kernel:
    """The places of a kernel's parameters, and what it does with memory: its work gets these numbers and the memory."""

    parameters: list[tuple[int, int]]
    work: Callable = lambda *_: None
    error: int = 0
    printed: str = ""
    bytes: int = 64


@dataclass
class Parent:
    """What the program has asked for, and the card's memory."""

    kernels: dict[str, Kernel] = field(default_factory=dict)
    variables: dict[str, tuple[int, int]] = field(default_factory=dict)
    asked: list[Request] = field(default_factory=list)
    allocated: dict[int, tuple[int, int]] = field(default_factory=dict)
    known: list[str] = field(default_factory=list)
    next_place: int = 1 << 20
    memory: int = 0
    made: int = 0
    clock: float = 0.0
    recorded: dict[int, float] = field(default_factory=dict)

    def names(self) -> list[str]:
        """Return the requests by name."""
        return [one.name for one in self.asked]

    def of(self, name: str) -> list[Request]:
        """Return the requests of a name."""
        return [one for one in self.asked if one.name == name]

    def read(self, address: int, count: int) -> bytes:
        """Return bytes of memory."""
        return os.pread(self.memory, count, address - BASE)

    def write(self, address: int, content: bytes) -> None:
        """Write bytes of memory."""
        os.pwrite(self.memory, content, address - BASE)


def run(
    program: Path, runtime: Path, parent: Parent | None = None, *arguments: str
) -> tuple[subprocess.CompletedProcess[str], Parent]:
    """Return what a program does when it runs with a parent, and the parent."""
    parent = parent or Parent()
    parent.memory = os.memfd_create("device")
    os.ftruncate(parent.memory, BYTES)
    own, other = socket.socketpair()
    environment = {
        **os.environ,
        "GPUSIM_EXEC_SOCKET": str(other.fileno()),
        "GPUSIM_EXEC_MEMORY": str(parent.memory),
        "LD_LIBRARY_PATH": str(runtime),
    }
    process = subprocess.Popen(
        ["setarch", "-R", program, *arguments],
        env=environment,
        pass_fds=[other.fileno(), parent.memory],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    other.close()
    thread = threading.Thread(target=serve, args=(parent, own))
    thread.start()
    stdout, stderr = process.communicate(timeout=60)
    thread.join()
    own.close()
    os.close(parent.memory)
    return subprocess.CompletedProcess([str(program)], process.returncode, stdout, stderr), parent


def serve(parent: Parent, connection: socket.socket) -> None:
    """Answer requests until the program ends, or until one is refused."""
    while (request := receive(connection)) is not None:
        parent.asked.append(request)
        if request.name == "refused":
            connection.close()
            return
        send(connection, ANSWERS.get(request.name, _new)(parent, request.numbers, request.data))


def _new(parent, _numbers, _data):
    """Answer with a new number, which those that need none don't read."""
    parent.made += 1
    return Reply(0, [parent.made])


def _hello(_parent, _numbers, _data):
    return Reply(0, PROPERTIES, b"Stand-in")


def _function(parent, _numbers, name):
    kernel = parent.kernels.get(name.decode())
    if kernel is None:
        return Reply(98)
    parent.known.append(name.decode())
    places = [number for part in kernel.parameters for number in part]
    facts = [len(parent.known), 32, 0, 0, 0, 1024, 90, 90, 49152, 0]
    return Reply(0, [*facts, len(kernel.parameters), kernel.bytes, *places])


def _variable(parent, _numbers, name):
    found = parent.variables.get(name.decode())
    return Reply(0, [*found, 0]) if found else Reply(500)


def _malloc(parent, numbers, _data):
    nbytes, kind, alignment = numbers
    place = -(-parent.next_place // alignment) * alignment
    parent.next_place = place + nbytes
    if parent.next_place > BYTES:
        return Reply(2)
    parent.allocated[BASE + place] = nbytes, kind
    return Reply(0, [BASE + place])


def _free(parent, numbers, _data):
    return Reply(0) if parent.allocated.pop(numbers[0], None) else Reply(1)


def _pointer(parent, numbers, _data):
    for base, (nbytes, kind) in parent.allocated.items():
        if base <= numbers[0] < base + nbytes:
            return Reply(0, [base, nbytes, KINDS[kind]])
    return Reply(0, [0, 0, 0])


def _memory(_parent, _numbers, _data):
    return Reply(0, [BYTES // 2, BYTES])


def _copy(parent, numbers, _data):
    for one in numbers[:2]:
        if BASE <= one < BASE + BYTES and not _pointer(parent, [one], b"").numbers[2] and not _of_variable(parent, one):
            return Reply(1)
    return Reply(0, [0, 0])


def _of_variable(parent, address):
    return any(first <= address < first + nbytes for first, nbytes in parent.variables.values())


def _launch(parent, numbers, data):
    kernel = parent.kernels[parent.known[numbers[0] - 1]]
    if numbers[4] * numbers[5] * numbers[6] > 1024:
        return Reply(9)
    values = [int.from_bytes(data[place : place + nbytes], "little") for place, nbytes in kernel.parameters]
    kernel.work(parent, numbers, *values)
    parent.clock += 1.5
    return Reply(kernel.error, [struct.unpack("<Q", struct.pack("<d", 1.5))[0]], kernel.printed.encode())


def _record(parent, numbers, _data):
    parent.recorded[numbers[0]] = parent.clock
    return Reply()


def _elapsed(parent, numbers, _data):
    begin, end = (parent.recorded[one] for one in numbers)
    return Reply(0, [struct.unpack("<I", struct.pack("<f", end - begin))[0]])


def _occupancy(_parent, numbers, _data):
    return Reply(0, [2048 // numbers[1]])


def _limit(_parent, numbers, _data):
    return Reply(0, [numbers[2] if numbers[1] else 1024])


def _tensormap(_parent, _numbers, _data):
    return Reply(0, [], bytes([77]) * 128)


ANSWERS = {
    "tensormap": _tensormap,
    "hello": _hello,
    "function": _function,
    "variable": _variable,
    "malloc": _malloc,
    "free": _free,
    "pointer": _pointer,
    "memory": _memory,
    "copy": _copy,
    "launch": _launch,
    "record": _record,
    "elapsed": _elapsed,
    "occupancy": _occupancy,
    "limit": _limit,
}
