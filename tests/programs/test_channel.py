"""Requests and replies on a socket."""

import socket
import struct

import pytest

from gpusim.programs import channel
from gpusim.programs.channel import Reply


def test_a_request_is_read_as_it_was_written():
    """Name, numbers and bytes of a request arrive; the end of the program is None."""
    ours, theirs = socket.socketpair()
    theirs.sendall(struct.pack("<16sIIQ2Q", b"copy", 2, 0, 3, 1, (1 << 64) - 1) + b"abc")
    theirs.close()
    found = channel.receive(ours)
    assert found is not None
    assert (found.name, found.numbers, found.data) == ("copy", (1, (1 << 64) - 1), b"abc")
    assert channel.receive(ours) is None


def test_a_request_cut_short_is_the_end():
    """A program that ends in the middle of a request has ended."""
    ours, theirs = socket.socketpair()
    theirs.sendall(struct.pack("<16sIIQ", b"copy", 2, 0, 3) + b"12")
    theirs.close()
    assert channel.receive(ours) is None


def test_a_reply_has_its_error_numbers_and_bytes():
    """The other side reads an error, numbers of 64 bits, negative ones by their bits, and bytes."""
    ours, theirs = socket.socketpair()
    channel.send(ours, Reply(700, [-1, 5], b"xy"))
    assert struct.unpack("<iIQ2Q2s", theirs.recv(100)) == (700, 2, 2, (1 << 64) - 1, 5, b"xy")


@pytest.mark.parametrize(("bits", "meant"), [(5, 5), ((1 << 64) - 1, -1), (1 << 63, -(1 << 63))])
def test_signed(bits, meant):
    """Bits of 64 mean a number with a sign."""
    assert channel.signed(bits) == meant


def test_a_reply_that_is_not_read_is_no_error():
    """A program that ends with a reply unread has ended, though the system says that the connection was reset."""
    ours, theirs = socket.socketpair()
    ours.sendall(b"reply")
    theirs.close()
    assert channel.receive(ours) is None


def test_the_end_of_a_program_whose_socket_others_hold():
    """What a program wrote before its end is read; then it has ended, though its end of the socket is open."""
    ours, theirs = socket.socketpair()
    with theirs:
        theirs.sendall(struct.pack("<16sIIQ", b"memory", 0, 0, 0))
        found = channel.receive(ours, lambda: False)
        assert found is not None
        assert found.name == "memory"
        assert channel.receive(ours, lambda: False) is None
