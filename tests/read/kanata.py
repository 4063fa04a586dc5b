"""Kanata 0004 read by its definition, and strictly: anything that the format forbids is an AssertionError."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Op:
    """An instruction as the file has it."""

    serial: int
    thread: int
    born: int
    texts: dict[int, str] = field(default_factory=dict)
    open: dict[int, tuple[str, int]] = field(default_factory=dict)  # by lane: stage and start
    stages: list[tuple[int, str, int, int]] = field(default_factory=list)  # lane, name, start, end
    notes: list[str] = field(default_factory=list)
    producers: list[int] = field(default_factory=list)
    retired: int | None = None
    retirement: int | None = None


def read(text: str) -> list[Op]:
    """Return the instructions of a file in the order of their ids."""
    head, clock, *lines = text.removesuffix("\n").split("\n")
    assert head == "Kanata\t0004"
    command, start = clock.split("\t")
    assert command == "C="
    now, ops = int(start), []
    for line in lines:
        command, *arguments = line.split("\t")
        if command == "C":
            (passed,) = map(int, arguments)
            assert passed > 0, "time goes forward"
            now += passed
        else:
            COMMANDS[command](ops, now, *arguments)
    assert all(op.retired is not None for op in ops), "every instruction retires"
    return ops


def _alive(ops: list[Op], index: str) -> Op:
    op = ops[int(index)]
    assert op.retired is None, "nothing is said of an instruction that has retired"
    return op


def _born(ops: list[Op], now: int, index: str, serial: str, thread: str) -> None:
    assert int(index) == len(ops), "ids count up as they appear"
    ops.append(Op(int(serial), int(thread), now))


def _text(ops: list[Op], now: int, index: str, kind: str, text: str) -> None:
    op = _alive(ops, index)
    if int(kind) == 2:
        assert any(start == now for _, start in op.open.values()), "the text is of a stage that has just begun"
        op.notes.append(text)
    else:
        op.texts[int(kind)] = op.texts.get(int(kind), "") + text


def _start(ops: list[Op], now: int, index: str, lane: str, name: str) -> None:
    op = _alive(ops, index)
    assert int(lane) not in op.open, "one stage at a time in each lane"
    op.open[int(lane)] = name, now


def _end(ops: list[Op], now: int, index: str, lane: str, name: str) -> None:
    op = _alive(ops, index)
    began, start = op.open.pop(int(lane))
    assert began == name, "the stage that ends is the one that began"
    op.stages.append((int(lane), name, start, now))


def _retire(ops: list[Op], now: int, index: str, retirement: str, kind: str) -> None:
    op = _alive(ops, index)
    assert kind == "0", "nothing is flushed"
    assert not op.open, "no stage is left open"
    op.retired, op.retirement = now, int(retirement)
    assert op.retirement == sum(other.retired is not None for other in ops) - 1, "retirements count up"


def _depend(ops: list[Op], now: int, index: str, producer: str, kind: str) -> None:  # noqa: ARG001
    op = _alive(ops, index)
    assert int(producer) < len(ops), "the producer is known"
    assert kind == "0"
    op.producers.append(int(producer))


COMMANDS: dict[str, Callable[..., None]] = {
    "I": _born,
    "L": _text,
    "S": _start,
    "E": _end,
    "R": _retire,
    "W": _depend,
}
