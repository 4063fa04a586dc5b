"""What each number in the state of an SM is to time: the ground on which fast-forward compares and moves it.

The record is seen as one array of 64-bit words, and each word that changes during a replay plays one role:

* SAME: neither a time nor a count; equal states have it equal.
* TIME: a cycle that matters only while it lies ahead.
* MOMENT: a cycle in the past that matters itself.
* TOTAL: grows by what has happened.
* NUMBER: one of the values that a total has had.

SPECIAL words (rounds of loops, rungs, what a warp remembers of running sums, the memory channel) have rules of their
own in rules/fast_forward.py. What is FREE is never read again before it is written, or only by the trace; everything
else never changes once recorded.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusim import state
from gpusim.stall import DENIALS, OWN, REASONS

Words = NDArray[np.int64]

HISTORY = 512  # hashes of earlier states that are remembered
NOTES = 8  # what a watch notes of its candidate; rules/fast_forward.py names them, and what it keeps of a warp
OF_WARP = OWN + 2 * DENIALS + state.DEPTHS + 4
WATCHES = 5  # of loops, and of the last four placements of blocks

# ruff: noqa: SIM905  (a table of paths reads better without quotes)
# A letter in brackets says how many of a row count: warp slots, registers, schedulers, units, ... (`_sizes`).
SAME = """
    warps[w].block warps[w].index warps[w].scheduler warps[w].place warps[w].live
    warps[w].lanes warps[w].threads warps[w].cursor warps[w].pc
    warps[w].unit warps[w].pending warps[w].kind[r]
    schedulers[k].waiting schedulers[k].ready schedulers[k].units schedulers[k].ready_for[u] schedulers[k].holding[u]
    schedulers[k].last schedulers[k].dispatched schedulers[k].beside
    blocks[b].live blocks[b].state blocks[b].script
    blocks[b].barriers[n].arrived blocks[b].barriers[n].expected blocks[b].barriers[n].waiting[k]
    load_store.head load_store.count load_store.entries[q].warp load_store.entries[q].pc
    load_store.entries[q].cycles load_store.entries[q].extra load_store.entries[q].transactions
""".split()
TIME = """
    warps[w].drained warps[w].ready[r] warps[w].held[r] warps[w].read[r] warps[w].predicate[p]
    schedulers[k].due[s] pipes[k][f].free load_store.free agenda[a] exclusive_until
    blocks[b].finished
""".split()
MOMENT = """
    warps[w].since warps[w].ready_at schedulers[k].since[u] schedulers[k].idle_since[u]
    schedulers[k].used_until schedulers[k].issued_at cycles
    empty_since[w]
""".split()
TOTAL = """
    program[i].issued program[i].active program[i].passes program[i].stall[x]
    schedulers[k].refused[u][d] schedulers[k].lost[x] schedulers[k].issued
    pipes[k][f].busy load_store.busy load_store.entered empty placed aged launch.next
""".split()
NUMBER = {
    "schedulers[k].refused_before[u][d]": "schedulers[k].refused[u][d]",
    "load_store.entries[q].number": "load_store.entered",
    "warps[w].reader[r]": "load_store.entered",
    "blocks[b].id": "launch.next",
    "warps[w].age": "aged",
}
# The moment at which a number is taken anew.
RENEWED = {"schedulers[k].refused_before[u][d]": "schedulers[k].idle_since[u]"}
SPECIAL = "warps[w].laps[l] warps[w].rung[o] warps[w].refused[d] load_store.channel".split()


class Recurrence(NamedTuple):
    """The words of each role as indices into the record, and what each watch remembers: `.._seen` at its candidate.

    `number[i]` is a value of the total `total[source[i]]`, taken at the moment `moment[renewal[i]]` if that is not -1.
    """

    words: Words
    same: Words
    time: Words
    moment: Words
    total: Words
    number: Words
    source: Words
    renewal: Words
    same_seen: Words
    time_seen: Words
    moment_seen: Words
    total_seen: Words
    number_seen: Words
    warps_seen: Words
    history: Words
    notes: Words


def recurrence(sms: NDArray[Any], rows: int, registers: int) -> Recurrence:
    """Return the roles of a launch's words, of so many rows of program and registers, with nothing remembered yet.

    Where the SM is not `forwarding`, nobody reads them, and next to nothing is worked out.
    """
    sizes = _sizes(sms[0], rows, registers) if sms[0]["forwarding"] else dict.fromkeys(string.ascii_lowercase, 0)
    same, time, moment, total = (_all(role, sizes) for role in (SAME, TIME, MOMENT, TOTAL))
    number = _all(NUMBER, sizes)
    seen = (np.zeros((WATCHES, len(role)), np.int64) for role in (same, time, moment, total, number))
    words = sms.view(np.uint8).view(np.int64)
    of_warps, notes = (np.zeros((WATCHES, *shape), np.int64) for shape in ((sizes["w"], OF_WARP), (NOTES,)))
    history = np.full(HISTORY, -1, np.int64)
    return Recurrence._make(
        (words, same, time, moment, total, number, *_origins(total, moment, sizes), *seen, of_warps, history, notes),
    )


def _sizes(sm: Any, rows: int, registers: int) -> dict[str, int]:
    return {
        "a": int(sm["agents"]),
        "b": int(sm["launch"]["resident"]),
        "d": DENIALS,
        "f": state.PIPES,
        "i": rows,
        "k": int(sm["machine"]["schedulers"]),
        "l": state.DEPTHS,
        "n": state.BARRIERS,
        "o": OWN,
        "p": state.PREDICATES,
        "q": int(sm["machine"]["queue"]),
        "r": registers,
        "s": state.SLOTS,
        "u": state.UNITS,
        "w": int(sm["warp_slots"]),
        "x": REASONS,
    }


def _origins(total: Words, moment: Words, sizes: Mapping[str, int]) -> tuple[Words, Words]:
    """Return for each number the place of its total among the totals, and of its moment among the moments or -1."""
    totals = [_origin(path, of, total, sizes) for path, of in NUMBER.items()]
    moments = [_origin(path, RENEWED.get(path), moment, sizes) for path in NUMBER]
    return np.concatenate(totals), np.concatenate(moments)


def _origin(path: str, of: str | None, role: Words, sizes: Mapping[str, int]) -> Words:
    """Return for each word of a path the place in `role` of the word that it belongs to; -1 where there is none."""
    count = places(path, sizes).size
    if of is None:
        return np.full(count, -1, np.int64)
    place = {int(word): i for i, word in enumerate(role)}
    owners = np.array([place[int(word)] for word in places(of, sizes)], np.int64)
    return np.repeat(owners, count // max(1, owners.size))


def _all(paths: Iterable[str], sizes: Mapping[str, int]) -> Words:
    return np.concatenate([places(path, sizes) for path in paths])


def places(path: str, sizes: Mapping[str, int]) -> Words:
    """Return the indices of the words that a path names, in order; of bytes, those of the words that hold them."""
    offsets, kind = np.zeros(1, np.int64), state.sm_t
    for name, rows in re.findall(r"(\w+)((?:\[\w\])*)", path):
        assert kind.fields is not None
        kind, offset = kind.fields[name][:2]
        offsets = offsets + offset
        for row in rows[1:-1].split("][") if rows else ():
            kind = np.dtype((kind.base, kind.shape[1:]))
            offsets = (offsets[:, None] + np.arange(sizes[row]) * kind.itemsize).reshape(-1)
    return np.unique(offsets // 8)
