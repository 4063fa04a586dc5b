"""The ground on which fast-forward compares states of an SM and moves them in time: the role of each word.

The record and what lies behind it are seen as one array of 64-bit words. Each field declares its role
(`gpusim.sm.unit.declare.Role`); the words that change during a replay are listed here role by role. The SPECIAL ones
have rules of their own in sm/replay/fast_forward/fast_forward.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import cache, lru_cache
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusim.sm.records import Numbers, Table
from gpusim.sm.state.layout import Rows, fields, kind_of, layout
from gpusim.sm.state.room import Sizes, arranged, sizes, whole
from gpusim.sm.unit.declare import Dimension, Field, Role

Words = NDArray[np.int64]

ROWS = 256  # states that are kept
ROOM = 1 << 23  # words of them all, 64 MiB, where that is fewer
RECENT = 32  # the latest are kept in any case

# The columns read by name, in the order of their names in sm/replay/fast_forward/same_state.py.
NAMED = (
    "warps.live", "warps.cursor", "warps.unit", "schedulers.ready", "warps.since", "warps.ready_at",
    "schedulers.refused", "schedulers.issued", "placed", "launch.next", "warps.age", "warps.order",
    "warps.laps", "warps.release_at", "warps.refused", "load_store.channel", "marker", "doubt", "brought",
)  # fmt: skip
START = np.zeros(1, np.int64)
ROLES = Role.SAME, Role.TIME, Role.MOMENT, Role.STAMP, Role.TOTAL, Role.NUMBER, Role.SPECIAL
# what is noted of a kept state: sm/replay/fast_forward/same_state.py names them; the counts,
# sm/replay/fast_forward/fast_forward.py
NOTES = 3
COUNTS = 4
WATCHED, WATCH = (
    2,
    32,
)  # loops and blocks, of which sm/replay/fast_forward/estimate.py keeps so many numbers each, and one state


class Recurrence(NamedTuple):
    """The words of each role as indices into the record, role by role, and the states that are kept: a row for each.

    Role i has the columns from `roles[i]` up to `roles[i + 1]`, and the words named i-th begin at `columns[i]`. Number
    j is a value of the total in column `source[j]`, taken at the moment in column `renewal[j]` if that is not -1;
    if `awaited[j]` is not, it matters only while the time in that column is unknown.
    `later` has each place and parts of a cycle of a time that is not compared, which estimates move.
    `order` lists the rows in use by time, and then the free ones; two rows of `kept` behind those are for scratch, and
    further ones for the states from which estimates are watched, with what `watch` holds of them.
    """

    words: Numbers
    places: Numbers
    roles: Numbers
    columns: Numbers
    source: Numbers
    renewal: Numbers
    awaited: Numbers
    later: Table
    kept: Table
    notes: Table
    order: Numbers
    counts: Numbers
    watch: Table


def recurrence(sms: Rows, used: Sizes) -> Recurrence:
    """Return the roles of the words of a launch on one SM, of so many of each thing, with no state kept yet.

    Where the SM is not `forwarding`, nobody reads them, and next to nothing is worked out.
    """
    fixed = _fixed(used if sms[0]["forwarding"] else sizes({}))
    width = int(fixed[1][-1])
    kept = max(2 * RECENT, min(ROWS, ROOM // max(1, width))) if sms[0]["comparable"] else 1
    states, notes = (np.zeros((kept + 2 + WATCHED, columns), np.int64) for columns in (width, NOTES))
    watch = np.zeros((WATCHED, WATCH), np.int64)
    free = np.arange(kept, dtype=np.int64), np.zeros(COUNTS, np.int64), watch
    return Recurrence._make((whole(sms), *fixed, _later(sms, used), states, notes, *free))


def _later(sms: Rows, used: Sizes) -> Words:
    """Return the place of each time that is not compared, and in how many parts of a cycle it counts."""
    found, numbers = [np.zeros((0, 2), np.int64)], sms[0]["machine"]
    if sms[0]["forwarding"] and not sms[0]["comparable"]:
        for word in words("sm", used, (Role.UNCOMPARED,)):
            if word.field.parts:
                parts = prod(int(numbers[one]) if isinstance(one, str) else one for one in word.field.parts)
                found.append(np.stack([word.places, np.full(word.places.size, parts)], axis=1))
    return np.concatenate(found)


class Word(NamedTuple):
    """A field of the state that changes: its path, its declaration, and the indices of its words in the record."""

    path: str
    field: Field
    places: Words


@lru_cache(maxsize=16)
def _fixed(used: Sizes) -> tuple[Words, ...]:
    """Return `places` to `awaited` of a Recurrence by how many there are in each dimension; nobody writes to them."""
    every = list(words("sm", used))
    found = {word.path: word for role in ROLES for word in every if word.field.role is role}
    ends = np.cumsum([word.places.size for word in found.values()])
    first = {path: int(end) - word.places.size for (path, word), end in zip(found.items(), ends, strict=True)}
    begins = [min(first[path] for path, word in found.items() if word.field.role is role) for role in ROLES]
    numbers = [word for word in found.values() if word.field.role is Role.NUMBER]
    return (
        np.concatenate([word.places for word in found.values()]),
        np.array([*begins, ends[-1]], np.int64),
        np.array([first[path] for path in NAMED], np.int64),
        np.concatenate([_owners(found, first, word, word.field.of) for word in numbers]),
        np.concatenate([_owners(found, first, word, word.field.renewed) for word in numbers]),
        np.concatenate([_owners(found, first, word, word.field.awaited) for word in numbers]),
    )


def _owners(found: Mapping[str, Word], first: Mapping[str, int], word: Word, of: str) -> Words:
    """Return for each word of a field the column of the word of another field that it belongs to; -1: of none."""
    count = word.places.size
    if not of:
        return np.full(count, -1, np.int64)
    owners = np.arange(found[of].places.size, dtype=np.int64) + first[of]
    return np.repeat(owners, count // max(1, owners.size))


def words(record: str, used: Sizes, roles: Collection[Role] = ROLES) -> Iterator[Word]:
    """Yield the fields of these roles, those of inner records among them, of a record with so many of each thing.

    Raises TypeError for one without a role.
    """
    return _words(record, dict(used), arranged(record, used).begins, roles)


def _words(
    record: str,
    used: Mapping[Dimension, int],
    begins: Mapping[str, int],
    roles: Collection[Role],
    path: str = "",
    starts: Words = START,
    role: Role | None = None,
) -> Iterator[Word]:
    for one in fields(record):
        own = one.role or role
        if own is not None and own not in roles and not _has_roles(one.kind):
            continue
        inner = path + one.name
        places = _each(starts, record, one, used, begins.get(inner))
        if fields(one.kind):
            yield from _words(one.kind, used, begins, roles, f"{inner}.", places, own)
        elif own is None:
            raise TypeError(f"{inner} has no role")
        else:
            yield Word(inner, replace(one, role=own), _once(places // 8))


def _once(numbers: Words) -> Words:
    """Return the numbers in order, each once, as `np.unique`, which imports `numpy.ma` for masked arrays."""
    ordered: Words = np.sort(numbers, axis=None)
    found: Words = ordered[np.diff(ordered, prepend=-1) != 0]
    return found


@cache
def _has_roles(record: str) -> bool:
    """Tell whether an inner record has fields with roles of their own; False for the type of a number."""
    return any(one.role or _has_roles(one.kind) for one in fields(record))


def _each(starts: Words, record: str, one: Field, used: Mapping[Dimension, int], begin: int | None) -> Words:
    """Return the byte offset of each element of a field; of numbers without a dimension, of all.

    Arrays that lie apart do so from `begin` on, in the order of their records.
    """
    counts = [used[size] if isinstance(size, Dimension) else size for size in one.sizes]
    if begin is not None:
        return begin + np.arange(starts.size * prod(counts)) * kind_of(one).itemsize
    kind = layout(record)
    assert kind.fields is not None
    kind, offset = kind.fields[one.name][:2]
    starts = starts + offset
    for count in counts:
        kind = np.dtype((kind.base, kind.shape[1:]))
        starts = (starts[:, None] + np.arange(count) * kind.itemsize).reshape(-1)
    return starts
