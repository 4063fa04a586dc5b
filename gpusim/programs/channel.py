"""Requests of a program's process and the replies to them, one at a time, on a socket; all numbers little endian."""

from __future__ import annotations

import select
import socket
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_REQUEST, _REPLY = struct.Struct("<16sIIQ"), struct.Struct("<iIQ")  # name, numbers, 0, bytes; error, numbers, bytes
_NUMBER = 8  # bytes
_WHOLE = (1 << 64) - 1
_EVERY = 100  # milliseconds after which a silent program is looked after

Runs = Callable[[], bool]  # tells whether the program still does


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked, with its numbers of 64 bits and bytes."""

    name: str
    numbers: tuple[int, ...]
    data: bytes


@dataclass(frozen=True, slots=True)
class Reply:
    """A code of CUDA's errors (0: none), and what was asked for."""

    error: int = 0
    numbers: Sequence[int] = ()
    data: bytes = b""


def receive(channel: socket.socket, runs: Runs | None = None) -> Request | None:
    """Return the next request; None if the program has ended.

    `runs` is asked too where others may hold the program's end of the channel, as processes that it started do.
    """
    head = _bytes(channel, _REQUEST.size, runs)
    if head is None:
        return None
    name, count, _, size = _REQUEST.unpack(head)
    rest = _bytes(channel, _NUMBER * count + size, runs)
    if rest is None:
        return None
    numbers = struct.unpack_from(f"<{count}Q", rest)
    return Request(name.rstrip(b"\0").decode("ascii", "replace"), numbers, bytes(rest[_NUMBER * count :]))


def send(channel: socket.socket, reply: Reply) -> None:
    """Send a reply; raises OSError if the program has ended."""
    numbers = [one & _WHOLE for one in reply.numbers]
    head = _REPLY.pack(reply.error, len(numbers), len(reply.data))
    channel.sendall(head + struct.pack(f"<{len(numbers)}Q", *numbers) + reply.data)


def signed(number: int, bits: int = 64) -> int:
    """Return the number that these bits mean with a sign."""
    return number - (1 << bits) if number >> (bits - 1) else number


def _bytes(channel: socket.socket, size: int, runs: Runs | None) -> bytearray | None:
    """Return so many bytes; None if the other side has ended before."""
    found = bytearray(size)
    view = memoryview(found)
    while view:
        count = _into(view, channel) if runs is None or _readable(channel, runs) else 0
        if not count:
            return None
        view = view[count:]
    return found


def _into(view: memoryview, channel: socket.socket) -> int:
    """Return the number of bytes read; 0 if the other side has ended, also with a reply that it has not read."""
    try:
        return channel.recv_into(view)
    except ConnectionError:
        return 0


def _readable(channel: socket.socket, runs: Runs) -> bool:
    """Wait until there is something to read; tell whether there is, or the program has ended."""
    waiting = select.poll()
    waiting.register(channel, select.POLLIN)
    while not waiting.poll(_EVERY):
        if not runs():
            return bool(waiting.poll(0))  # its last words
    return True
