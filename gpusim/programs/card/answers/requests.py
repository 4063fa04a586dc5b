"""What a program asks of the card, request by request, and the answers."""

from __future__ import annotations

import socket
from collections.abc import Mapping

from gpusim.programs import channel
from gpusim.programs.card.answers import code, memory, time
from gpusim.programs.card.properties import properties
from gpusim.programs.card.session import STACK, SYSTEM, Handler, RefusedError, Session
from gpusim.programs.channel import Reply, Request


def serve(session: Session, connection: socket.socket) -> None:
    """Answer requests until the program ends; raises UserError for what is not there or not executed."""
    while (request := channel.receive(connection)) is not None:
        try:
            channel.send(connection, answer(session, request))
        except (BrokenPipeError, ConnectionResetError):
            return


def answer(session: Session, request: Request) -> Reply:
    """Return the reply to one request."""
    handler = ANSWERS.get(request.name)
    if handler is None:
        raise RefusedError(f"{request.name}: the card has no such request; take the runtime of this release")
    return handler(session, request.numbers, request.data)


def _hello(session: Session, _: tuple[int, ...], __: bytes) -> Reply:
    return Reply(0, properties(session.machine), session.machine.name.encode())


def _limit(session: Session, numbers: tuple[int, ...], _: bytes) -> Reply:
    which, changes, value = numbers
    if changes:
        session.limits[which] = value
        if which == STACK:
            session.runner.stack = value
        if which in SYSTEM:
            session.runner.limits[SYSTEM[which]] = value
    return Reply(0, [session.limits.get(which, 0)])


def _refused(session: Session, numbers: tuple[int, ...], name: bytes) -> Reply:
    where = next(filter(None, map(session.place, filter(None, numbers))), "")
    what = name.decode(errors="replace")
    raise RefusedError(f"{where + ': ' if where else ''}{what} is not there; see what is in docs/programs.md")


def _nothing(_session: Session, _: tuple[int, ...], __: bytes) -> Reply:
    return Reply()


ANSWERS: Mapping[str, Handler] = {
    **code.ANSWERS,
    **memory.ANSWERS,
    **time.ANSWERS,
    "hello": _hello,
    "limit": _limit,
    "refused": _refused,
    "bye": _nothing,
}
