"""Streams and events: what a program asks of time."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from gpusim.programs.card import clock, codes
from gpusim.programs.card.session import Handler, Session, stream_of
from gpusim.programs.channel import Reply

OF_STREAM, OF_EVENT = 1, 2
MILLI = 1e3


def _new_stream(session: Session, numbers: tuple[int, ...], _: bytes) -> Reply:
    return Reply(0, [clock.stream(session.clock, numbers[0])])


def _gone_stream(session: Session, numbers: tuple[int, ...], _: bytes) -> Reply:
    done = session.clock.streams.pop(numbers[0], 0.0) if numbers[0] != clock.LEGACY else 0.0
    session.clock.streams[clock.LEGACY] = max(session.clock.streams[clock.LEGACY], done)
    return Reply()


def _gone_event(session: Session, numbers: tuple[int, ...], _: bytes) -> Reply:
    session.clock.events.pop(numbers[0], None)
    return Reply()


def _event(session: Session, _: tuple[int, ...], __: bytes) -> Reply:
    return Reply(0, [clock.event(session.clock)])


def _record(session: Session, numbers: tuple[int, ...], _: bytes) -> Reply:
    clock.record(session.clock, numbers[0], stream_of(numbers[1]))
    return Reply()


def _elapsed(session: Session, numbers: tuple[int, ...], _: bytes) -> Reply:
    begin, end = (session.clock.events.get(one) for one in numbers)
    if begin is None or end is None:
        return Reply(codes.INVALID_HANDLE)
    return Reply(0, [struct.unpack("<I", struct.pack("<f", (end - begin) / MILLI))[0]])


def _wait(session: Session, numbers: tuple[int, ...], _: bytes) -> Reply:
    clock.wait(session.clock, stream_of(numbers[0]), numbers[1])
    return Reply()


def _sync(session: Session, numbers: tuple[int, ...], _: bytes) -> Reply:
    what, which = numbers
    if what == OF_STREAM:
        clock.stream_done(session.clock, stream_of(which))
    elif what == OF_EVENT:
        clock.event_done(session.clock, which)
    else:
        clock.all_done(session.clock)
    return Reply()


ANSWERS: Mapping[str, Handler] = {
    "stream": _new_stream,
    "unstream": _gone_stream,
    "event": _event,
    "unevent": _gone_event,
    "record": _record,
    "elapsed": _elapsed,
    "wait": _wait,
    "sync": _sync,
}
