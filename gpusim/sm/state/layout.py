"""The records that the units' fields make up, as they lie in memory; that of an SM holds all others.

A field of as many as a launch has lies behind the records (gpusim/sm/state/room.py); its record has where, and how
many. Attributes of a record are its numbers, its inner records, and arrays of either, wherever these lie.

All times are integer cycles of the SM's fastest clock (Fermi: shader clock). NEVER means: not known yet, wait to be
woken. Masks of warps are local to a scheduler: bit j of scheduler k is warp slot j * schedulers + k.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusim.sm.state.every import EVERY
from gpusim.sm.unit.declare import Dimension, Field

LINE = 64  # bytes of a line of the host's cache
APART = "@"  # in names of a record's own words that say where an array lies: it is in no name of a field
SPREAD = {"warp", "sm", "row"}  # many lie side by side, and the same few fields of each are looked at
ISSUED = {  # what most issues look at, which lies in as few lines as possible
    "row": (  # a line of what each issue reads, two of what some do, four of stalls; what values need stands behind
        *("guard", "action", "unit", "queued", "memory_kind", "eventful", "pipe", "double", "steers", "narrows"),
        *("counter", "tracked", "uniform", "cached", "generic", "yields", "stall_count", "wait_mask", "read_barrier"),
        *("write_barrier", "grouping", "stays_behind", "path", "reason", "sources_apart", "unhurried", "source_words"),
        *("matrix_written", "source", "bank_reads", "reuse", "bank_writes", "fence", "line", "latency"),
        *("constant_lines", "sought_places", "flagged_places", "many_words", "places_of_bank", "sought", "issued"),
        *("active", "intervals", "bank_returns", "pointer", "war"),
        *("port", "port_cycles", "service", "feed", "passes", "held", "accounted", "distinct", "idles", "later"),
        *("stall", "predicate", "second_predicate", "others", "reads", "writes", "selector", "evaluate"),
        *("guard_negated", "counts", "taken", "selects", "change", "value", "truth", "destination"),
    ),
    "sm": (
        *("now", "event", "traced", "tracing", "trace_driven", "defers", "independent", "diverges", "agents"),
        *("agenda", "multiplies", "effects_agent", "load_store_agent", "ahead", "schedulers", "warps", "program"),
        *("blocks", "pipes", "lanes", "feed", "events", "outcome"),
    ),
    "scheduler": (
        *("waiting", "ready", "units", "issued", "used_until", "issued_at", "filled", "later", "later_due", "last"),
        *("yielded", "selected", "stalled_until", "settled", "stop_due", "stop_from", "stop_until", "written"),
        *("expected", "wrote_at", "wrote_banks", "kept_places", "addressed", "matrix_until", "bank_free", "lost"),
        *("kept",),
    ),
    "machine": (
        *("schedulers", "interval", "shift", "stagger", "issue_interval", "policy", "ports", "same_warp", "rotate"),
        *("selects", "freezes", "selection_may_wait", "wastes_slot", "moves_pointer", "oldest_first", "groups"),
        *("obeys_codes", "yield_stall", "yield_lasts", "yield_rest", "counts", "register_banks", "window", "reuse"),
        *("reuse_shared", "carried", "collecting", "address_again", "writes_back", "notice", "room", "replays"),
        *("barrier_defers", "packs", "fetches", "constants", "queue", "queues", "paths", "held", "full_yields"),
        *("sharing", "exclusive"),
    ),
    "warp": (
        *("pc", "unit", "since", "ready_at", "order", "yield_ends", "age", "index", "cursor", "release_at"),
        *("issued_at",),
        *("bank_reads", "kept_places", "threads", "live", "block", "scheduler", "place", "pending", "drained", "line"),
        *("refused", "lanes", "kept"),
        *("ready", "read_by", "kind", "read", "version", "predicate"),
        *("shared_back", "effects", "holders", "let_go"),
    ),
}


Part = tuple[str, np.dtype[Any], tuple[int, ...]]


class Place(NamedTuple):
    """Where a record says how far behind it an array begins, in bytes, and how many there are, by dimension."""

    field: Field
    distance: int  # byte of the record
    sizes: tuple[tuple[bool, int], ...]  # whether it is a byte of the record that has the number; or that itself


class Row(np.void):  # type: ignore[misc]  # as NumPy's own records do
    """A record in place, whose fields are attributes; of each kind of record there is a class (`layout`)."""

    _apart: dict[str, Place]

    def __getattr__(self, name: str) -> Any:
        """Return an array that lies apart."""
        if name not in type(self)._apart:
            raise AttributeError(f"the record has no {name}")
        found = _array(self, type(self)._apart[name])
        vars(self)[name] = found
        return found


class Rows(np.ndarray[Any, Any]):
    """An array of records, whose columns are attributes. It is passed to compiled code as one of our own type."""

    __numba_array_subtype_dispatch__ = True

    def __getattr__(self, name: str) -> Any:
        """Return a column; of arrays that lie apart they follow each other, as do the records."""
        apart = apart_of(self.dtype)
        if name in apart and not self.size:
            return np.zeros((*self.shape, *(0 for _ in apart[name].sizes)), kind_of(apart[name].field))
        if name in apart:
            return _array(self, apart[name], self.shape)
        if name not in (self.dtype.names or ()):
            raise AttributeError(f"the records have no {name}")
        return self.view(np.ndarray)[name]


@cache
def fields(record: str) -> tuple[Field, ...]:
    """Return the fields of a record: those that each issue looks at, then others in the order of their units."""
    every = [one for unit in EVERY for one in unit.fields.get(record, ())]
    first = {name: place for place, name in enumerate(ISSUED.get(record, ()))}
    return tuple(sorted(every, key=lambda one: first.get(one.name, len(first))))


@cache
def layout(record: str) -> np.dtype[Any]:
    """Return the NumPy type of a record, whose fields are read as attributes."""
    kind = np.dtype(
        [*map(_part, fields(record)), *(part for one in fields(record) for part in _numbers(one))], align=True
    )
    kind = _spread(kind) if record in SPREAD else kind
    assert kind.fields is not None
    inside = {one.name: _attribute(one.name) for one in fields(record) if not one.apart}
    apart = {one.name: _place(one, kind) for one in fields(record) if one.apart}
    return np.dtype((type(record, (Row,), {"_apart": apart, **inside}), kind))


def kind_of(one: Field) -> np.dtype[Any]:
    """Return the type of one element of a field."""
    return layout(one.kind) if fields(one.kind) else np.dtype(one.kind)


def places_of(record: str) -> dict[str, Place]:
    """Return where a record has the places of its arrays."""
    return apart_of(layout(record))


def apart_of(kind: np.dtype[Any]) -> dict[str, Place]:
    """Return the same for NumPy's type of a record; nothing for one that is not a unit's."""
    return getattr(kind.type, "_apart", {})


@cache
def has_places(record: str) -> bool:
    """Tell whether arrays of such records, or of records in them, lie apart."""
    return any(one.apart or has_places(one.kind) for one in fields(record))


def _part(one: Field) -> Part:
    """Return what a record has at the place of a field: that itself, or how far away it lies."""
    return (f"{one.name}{APART}", np.dtype("i8"), ()) if one.apart else (one.name, kind_of(one), one.shape)


def _numbers(one: Field) -> Iterator[Part]:
    """Yield how many a field has that lies apart, by dimension: seldom asked for, so at the record's end."""
    for number, size in enumerate(one.sizes):
        if one.apart and isinstance(size, Dimension):
            yield f"{one.name}{APART}{number}", np.dtype("i8"), ()


def _place(one: Field, kind: np.dtype[Any]) -> Place:
    assert kind.fields is not None
    offset = {name: int(part[1]) for name, part in kind.fields.items()}
    sizes = tuple(
        (True, offset[f"{one.name}{APART}{number}"]) if isinstance(size, Dimension) else (False, size)
        for number, size in enumerate(one.sizes)
    )
    return Place(one, offset[f"{one.name}{APART}"], sizes)


def _attribute(name: str) -> property:
    def put(record: Any, value: Any) -> None:
        record[name] = value

    get: Callable[[Any], Any] = itemgetter(name)
    return property(get, put)


def _array(records: Any, place: Place, many: tuple[int, ...] = ()) -> NDArray[Any]:
    """Return an array of a record, or the arrays of so many, in the memory that they lie in."""
    memory = memory_of(records)
    begin, words = np.asarray(records).ctypes.data - memory.ctypes.data, memory.view(np.int64)
    shape = tuple(int(words[(begin + number) // 8]) if known else number for known, number in place.sizes)
    first, kind = begin + int(words[(begin + place.distance) // 8]), kind_of(place.field)
    found = np.ndarray((*many, *shape), kind, memory, first)
    return found.view(Rows) if kind.names else found


def rows_of(records: object) -> Rows:
    """Return an array of records as what it is: for mypy, where rules only know the class of each."""
    assert isinstance(records, Rows)
    return records


def memory_of(records: Any) -> NDArray[np.uint8]:
    """Return the bytes of the memory that a record or records lie in."""
    memory = records
    while isinstance(memory.base, np.ndarray | np.void):
        memory = memory.base
    return np.asarray(memory).reshape(-1).view(np.uint8)


def _spread(kind: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type with an odd number of lines, so that neighbours lie in different sets of the host's cache."""
    lines = -(-kind.itemsize // LINE) | 1
    parts = [(kind[name], kind.fields[name][1]) for name in kind.names]  # type: ignore[index,union-attr]
    formats, offsets = zip(*parts, strict=True)
    made = {"names": kind.names, "formats": formats, "offsets": offsets, "itemsize": lines * LINE}
    return np.dtype(made, align=True)  # type: ignore[call-overload,no-any-return]
