"""What lanes ask caches for, as a scan of every cycle sees it: lines, and units of 32 bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from neighbours import side_by_side

from gpusim.machine.machine import Machine
from isa.row import Row, Unit
from scan.caches import UNIT, Request


def requests(machine: Machine, row: Row, bytes_of_lanes: list[list[int | None]]) -> list[Request]:
    """The lines that an access asks for, given the bytes of each lane, group of 32 lanes by group."""
    line = machine.global_memory.line_bytes
    asked: list[Request] = []
    for lanes in bytes_of_lanes:
        before, where = len(asked), side_by_side(machine, row, lanes)
        for group in _resolved(machine, row, where):
            lines: dict[int, Counter[int]] = {}
            for byte in group:
                lines.setdefault(byte // line, Counter())[byte % line // UNIT] += 1
            asked += [(number, set(words), _in_part(row, words)) for number, words in lines.items()]
        atomic = row.update is not None and machine.global_atomic  # without the section it is a store
        if row.unit is Unit.GLOBAL and not row.is_load and not atomic:
            leaves = _leaves(row, where, asked[before:])
            asked[before:] = [(number, units, units if leaves else set()) for number, units, _ in asked[before:]]
    return asked


def _leaves(row: Row, where: list[int | None], asked: list[Request]) -> bool:
    """Whether a store writes fewer bytes than the units have that it writes to; lanes may write the same."""
    return UNIT * sum(len(units) for _, units, _ in asked) > row.nbytes * len(
        {byte for byte in where if byte is not None}
    )


def updates(machine: Machine, bytes_of_lanes: list[list[int | None]]) -> dict[int, tuple[int, int, int]]:
    """By line, the lanes of an atomic, the passes that they make, and the units of all passes together."""
    line, found = machine.global_memory.line_bytes, dict[int, tuple[int, int, int]]()
    words = Counter(byte for where in bytes_of_lanes for byte in where if byte is not None)
    for number in {byte // line for byte in words}:
        mine = {byte: count for byte, count in words.items() if byte // line == number}
        passes = max(mine.values())
        units = sum(len({byte // UNIT for byte, count in mine.items() if count > turn}) for turn in range(passes))
        found[number] = sum(mine.values()), passes, units
    return found


def _resolved(machine: Machine, row: Row, where: list[int | None]) -> Iterator[Iterable[int]]:
    """The groups of lanes whose bytes are resolved together."""
    halves = machine.global_memory.rule == "gt200"
    size = 32 if row.unit in (Unit.LOCAL, Unit.TEXTURE) else 16 if halves else 32 // row.words
    for i in range(0, 32, size):
        yield [byte for byte in where[i : i + size] if byte is not None]


def places(slot: int, row: Row, addresses: Any, active: Any, local_words: int) -> list[list[int | None]]:
    """The first byte of each lane's access; of local memory that of each word, as words are stored lane by lane."""
    lanes, each = range(32), addresses.reshape(-1, 32)
    on = active.reshape(-1, 32)
    if row.unit is not Unit.LOCAL:
        return [[int(each[h, i]) if on[h, i] else None for i in lanes] for h in range(len(each))]

    def place(h: int, word: int, lane: int) -> int:
        group = slot * len(each) + h
        return (1 << 32) + 4 * ((group * local_words + int(each[h, lane]) // 4 + word) * 32 + lane)

    words = [(h, word) for h in range(len(each)) for word in range(row.words)]
    return [[place(h, word, i) if on[h, i] else None for i in lanes] for h, word in words]


def _in_part(row: Row, words: Counter[int]) -> set[int]:
    """The units of which a store to local memory writes a part, given how many words each gets; lanes share none."""
    return {unit for unit, count in words.items() if row.unit is Unit.LOCAL and count < UNIT // 4}
