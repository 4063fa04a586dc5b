"""The records that the units' fields make up, as they lie in memory."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from gpusim.sm.state.every import EVERY
from gpusim.sm.unit.declare import Field

LINE = 64  # bytes of a line of the host's cache
SPREAD = {"warp"}  # many lie side by side, and the same few fields of each are looked at
# The last fields of an SM: the rows of its program, of which few are in use, and what few launches use at all. So the
# records of a chip's SMs may lie closer than a whole record, each on what the one before does not use.
LAST = ("program", "records", "effects")
ISSUED = {  # what most issues look at, which lies in as few lines as possible
    "row": (
        *("guard", "action", "unit", "queued", "memory_kind", "eventful", "pipe", "double", "steers", "narrows"),
        *("counter", "tracked", "uniform", "cached", "generic", "yields", "stall_count", "wait_mask", "read_barrier"),
        *("write_barrier", "grouping", "predicate", "second_predicate", "others", "reads", "writes", "selector"),
        *("sources_apart", "evaluate", "guard_negated", "counts", "taken", "selects", "change", "value", "truth"),
        *("destination", "source", "reuse", "source_words", "bank_reads", "bank_returns", "operand_bits", "latency"),
        *("intervals", "line", "constant_lines", "issued", "active", "stall"),
    ),
    "warp": (
        *("pc", "unit", "since", "ready_at", "order", "yield_ends", "age", "index", "cursor", "release_at"),
        *("issued_at",),
        *("bank_reads", "kept_bits", "threads", "live", "block", "scheduler", "place", "pending", "drained", "line"),
        *("refused", "lanes", "kept"),
        *("shared_back", "effects", "holders", "let_go"),
    ),
}


@cache
def fields(record: str) -> tuple[Field, ...]:
    """Return the fields of a record: those that each issue looks at, then others in the order of their units."""
    every = [one for unit in EVERY for one in unit.fields.get(record, ())]
    first = {name: place for place, name in enumerate(ISSUED.get(record, ()))}
    return tuple(sorted(every, key=lambda one: first.get(one.name, len(first))))


@cache
def layout(record: str) -> np.dtype[Any]:
    """Return the NumPy type of a record, whose fields are read as attributes."""
    ordered = sorted(fields(record), key=lambda one: LAST.index(one.name) if one.name in LAST else -1)
    parts = [(one.name, _kind(one), one.shape) for one in ordered]
    kind = np.dtype(parts, align=True)
    return np.dtype((np.record, _spread(kind) if record in SPREAD else kind))


def sm_bytes(rows: int, *, whole: bool) -> int:
    """Return how many bytes of an SM's record a launch uses that has so many rows of program.

    `whole`: it keeps trace records, or results in flight, too.
    """
    kind = layout("sm")
    assert kind.fields is not None
    program, start = kind.fields["program"][:2]
    return kind.itemsize if whole else int(start) + rows * program.base.itemsize


def _kind(one: Field) -> Any:
    return layout(one.kind) if fields(one.kind) else one.kind


def _spread(kind: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type with an odd number of lines, so that neighbours lie in different sets of the host's cache."""
    lines = -(-kind.itemsize // LINE) | 1
    parts = [(kind[name], kind.fields[name][1]) for name in kind.names]  # type: ignore[index,union-attr]
    formats, offsets = zip(*parts, strict=True)
    made = {"names": kind.names, "formats": formats, "offsets": offsets, "itemsize": lines * LINE}
    return np.dtype(made, align=True)  # type: ignore[call-overload,no-any-return]
