"""What each number in the state of an SM is to time: the ground on which fast-forward compares and moves it.

The record is seen as one array of 64-bit words, and each word that changes during a replay plays one role:

* SAME: neither a time nor a count; equal states have it equal.
* TIME: a cycle that matters only while it lies ahead.
* MOMENT: a cycle in the past that matters itself.
* STAMP: a cycle in the past that matters only when nothing more happens to its slot; equal states may differ in it.
* TOTAL: grows by what has happened.
* NUMBER: one of the values that a total has had.

SPECIAL words (rounds of loops, reasons, what a warp remembers of running sums, the memory channel, the warp whose loop
is watched) have rules of their own in rules/fast_forward.py. What is FREE is never read again before it is written, or
only by the trace or an error; everything else never changes once recorded.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusim.state import machine as machine_record
from gpusim.state import sm as state
from gpusim.state.row import COUNTERS
from gpusim.state.stall import OWN, REASONS, SHARED

Words = NDArray[np.int64]

ROWS = 256  # states that are kept
ROOM = 1 << 23  # words of them all, 64 MiB, where that is fewer
RECENT = 32  # the latest are kept in any case

# ruff: noqa: SIM905  (a table of paths reads better without quotes)
# A letter in brackets says how many of a row count: warp slots, registers, schedulers, units, ... (`_sizes`).
SAME = """
    warps[w].block warps[w].index warps[w].scheduler warps[w].place warps[w].live
    warps[w].lanes[g] warps[w].threads warps[w].cursor warps[w].pc
    warps[w].unit warps[w].pending warps[w].holders[h] warps[w].kind[r] warps[w].kept[j][e] warps[w].unserved[v]
    warps[w].asked[v][t]
    schedulers[k].waiting schedulers[k].ready schedulers[k].units schedulers[k].ready_for[u] schedulers[k].holding[u]
    schedulers[k].last schedulers[k].active schedulers[k].yielded schedulers[k].dispatched schedulers[k].beside
    schedulers[k].selected schedulers[k].reader
    blocks[b].live blocks[b].state blocks[b].script
    blocks[b].barriers[n].arrived blocks[b].barriers[n].expected blocks[b].barriers[n].waiting[k]
    load_store.turn load_store.queues[y].head load_store.queues[y].count
    load_store.queues[y].entries[q].warp load_store.queues[y].entries[q].pc load_store.queues[y].entries[q].cycles
    load_store.queues[y].entries[q].extra load_store.queues[y].entries[q].transactions
    warps[w].line instruction_caches[z].owed instruction_caches[z].held[A]
""".split()
TIME = """
    warps[w].drained warps[w].ready[r] warps[w].held[r] warps[w].read[r] warps[w].predicate[p]
    warps[w].let_go[h] warps[w].returned[v][t] warps[w].served[v][t] warps[w].latest[v]
    schedulers[k].due[s] pipes[k][f].free load_store.free[B] load_store.queues[y].free agenda[a] exclusive_until
    load_store.queues[y].left[q]
    schedulers[k].bank_free[c] schedulers[k].collected[m] schedulers[k].stalled_until
    blocks[b].finished instruction_caches[z].free instruction_caches[z].there[A]
""".split()
MOMENT = """
    warps[w].since warps[w].ready_at schedulers[k].since[u] schedulers[k].idle_since[u]
    schedulers[k].used_until schedulers[k].issued_at
""".split()
STAMP = "cycles empty_since[w]".split()
TOTAL = """
    program[i].issued program[i].active program[i].passes program[i].stall[x]
    schedulers[k].refused[u][d] schedulers[k].lost[x] schedulers[k].issued
    pipes[k][f].busy load_store.busy load_store.entered empty placed aged ordered launch.next
""".split()
NUMBER = {
    "schedulers[k].refused_before[u][d]": "schedulers[k].refused[u][d]",
    "load_store.queues[y].entries[q].number": "load_store.entered",
    "warps[w].reader[r]": "load_store.entered",
    "blocks[b].id": "launch.next",
    "warps[w].age": "aged",
    "warps[w].order": "ordered",
}
# The moment at which a number is taken anew.
RENEWED = {"schedulers[k].refused_before[u][d]": "schedulers[k].idle_since[u]"}
AWAITED = {"warps[w].reader[r]": "warps[w].held[r]"}  # a number that matters only while that time is unknown
SPECIAL = "warps[w].laps[l] warps[w].release_at[o] warps[w].refused[d] load_store.channel marker".split()
ROLES = (SAME, TIME, MOMENT, STAMP, TOTAL, tuple(NUMBER), SPECIAL)
# The columns read by name, in the order of their names in rules/same_state.py.
NAMED = """
    warps[w].live warps[w].cursor warps[w].unit schedulers[k].ready warps[w].since warps[w].ready_at
    schedulers[k].refused[u][d] schedulers[k].issued placed launch.next warps[w].age warps[w].order
    warps[w].laps[l] warps[w].release_at[o] warps[w].refused[d] load_store.channel marker
""".split()
NOTES = 3  # what is noted of a kept state: rules/same_state.py names them; the counts, rules/fast_forward.py
COUNTS = 4


class Recurrence(NamedTuple):
    """The words of each role as indices into the record, role by role, and the states that are kept: a row for each.

    Role i has the columns from `roles[i]` up to `roles[i + 1]`, and the words named i-th begin at `columns[i]`. Number
    j is a value of the total in column `source[j]`, taken at the moment in column `renewal[j]` if that is not -1;
    if `awaited[j]` is not, it matters only while the time in that column is unknown.
    `order` lists the rows in use by time, and then the free ones; two rows of `kept` behind those are for scratch.
    """

    words: Words
    places: Words
    roles: Words
    columns: Words
    source: Words
    renewal: Words
    awaited: Words
    kept: Words
    notes: Words
    order: Words
    counts: Words


def recurrence(sms: NDArray[Any], rows: int, registers: int) -> Recurrence:
    """Return the roles of a launch's words, of so many rows of program and registers, with no state kept yet.

    Where the SM is not `forwarding`, nobody reads them, and next to nothing is worked out.
    """
    sizes = _sizes(sms[0], rows, registers) if sms[0]["forwarding"] else dict.fromkeys(string.ascii_letters, 0)
    fixed = _fixed(tuple(sizes.items()))
    width = int(fixed[1][-1])
    kept = max(2 * RECENT, min(ROWS, ROOM // max(1, width)))
    states, notes = (np.zeros((kept + 2, columns), np.int64) for columns in (width, NOTES))
    free = np.arange(kept, dtype=np.int64), np.zeros(COUNTS, np.int64)
    return Recurrence._make((sms.view(np.uint8).view(np.int64), *fixed, states, notes, *free))


@lru_cache(maxsize=16)
def _fixed(given: tuple[tuple[str, int], ...]) -> tuple[Words, ...]:
    """Return `places` to `awaited` of a Recurrence, in an SM of these sizes; nobody writes to them."""
    sizes = dict(given)
    found = {path: places(path, sizes) for role in ROLES for path in role}
    ends = np.cumsum([words.size for words in found.values()])
    first = {path: int(end) - words.size for (path, words), end in zip(found.items(), ends, strict=True)}
    return (
        np.concatenate(list(found.values())),
        np.array([*(first[next(iter(role))] for role in ROLES), ends[-1]], np.int64),
        np.array([first[path] for path in NAMED], np.int64),
        np.concatenate([_owners(found, first, path, of) for path, of in NUMBER.items()]),
        np.concatenate([_owners(found, first, path, RENEWED.get(path)) for path in NUMBER]),
        np.concatenate([_owners(found, first, path, AWAITED.get(path)) for path in NUMBER]),
    )


def _sizes(sm: Any, rows: int, registers: int) -> dict[str, int]:
    banks = int(sm["machine"]["register_banks"])
    levels = sm["machine"]["levels"]
    return {
        "A": int((levels["sets"] * levels["ways"]).max()),
        "a": int(sm["agents"]),
        "b": int(sm["launch"]["resident"]),
        "c": banks,
        "d": SHARED,
        "e": int(sm["machine"]["reuse"]),
        "f": machine_record.PIPES,
        "g": int(sm["machine"]["groups"]),
        "h": state.HOLDS if sm["machine"]["codes"] else 0,
        "i": rows,
        "j": state.OPERANDS,
        "k": int(sm["machine"]["schedulers"]),
        "l": state.DEPTHS,
        "m": state.COLLECTING if banks else 0,
        "n": state.BARRIERS,
        "o": OWN,
        "p": state.PREDICATES,
        "q": int(sm["machine"]["queue"]),
        "r": registers,
        "s": state.SLOTS,
        "t": state.COUNTED,
        "u": machine_record.UNITS,
        "v": COUNTERS if sm["machine"]["counts"] else 0,
        "w": int(sm["warp_slots"]),
        "x": REASONS,
        "y": int(sm["machine"]["queues"]),
        "z": machine_record.LEVELS - 1 + int(sm["machine"]["schedulers"]) if sm["machine"]["fetches"] else 0,
        "B": state.UNITS_OF_MEMORY,
    }


def _owners(found: Mapping[str, Words], first: Mapping[str, int], path: str, of: str | None) -> Words:
    """Return for each word of a path the column of the word that it belongs to; -1 where there is none."""
    count = found[path].size
    if of is None:
        return np.full(count, -1, np.int64)
    owners = np.arange(found[of].size, dtype=np.int64) + first[of]
    return np.repeat(owners, count // max(1, owners.size))


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
