"""The records of `replay`, as mypy sees them."""

# `make records` writes this file from the units' declarations: change those.

from __future__ import annotations

from gpusim.sm.records.arrays import (
    Numbers,
    Record,
)


class Feed(Record):
    """The record `feed`."""

    version: int  # of the address register behind the remembered outcome (0: none)
    mask: int  # lanes it was computed for; above them, which of the instructions that have this place
    cycles: int  # the access's, as in outcome
    transactions: int  # the access's, as in outcome
    extra: int  # of generic addresses, as in outcome
    near: int  # of generic addresses, as in outcome
    low: int  # lowest byte accessed
    high: int  # behind the highest
    residue: int  # place of the first active lane's address in a row of banks and lines
    step: Numbers  # each active lane's distance from that address


class Event(Record):
    """The record `event`."""

    pc: int  # of the instruction; or what else stands here (see sm/replay/stream/stream.py)
    threads: int  # whose guard holds
    cycles: int  # the access's, as in outcome
    extra: int  # the access's, as in outcome
    transactions: int  # the access's, as in outcome
    requests: int  # the access's, as in outcome
    onward: int  # where lanes may diverge: pc where the warp goes on
    left: int  # where lanes may diverge: threads that go on there
    passed: int  # instructions walked through before it, when it was recorded
    place: int  # behind the word of its warp's list that has its requests; 0: they come next
    rounds: int  # marker: further rounds of the part before it
    length: int  # marker: items of that part
    depth: int  # marker: loops inside it


class Stream(Record):
    """The record `stream`."""

    first: int  # its first item
    length: int  # how many items it has
    digest: int  # a hash of these


class Script(Record):
    """The record `script`."""

    block: int  # the block it was recorded from
    slot: int  # the block slot in which it was
    first: Numbers  # first event of each of its warps
    requests: Numbers  # first recorded request of each of its warps
    low: Numbers  # lowest byte of global memory accessed, number compared, or coordinate fetched
    high: Numbers  # behind the highest; of coordinates, as far as from END (sm/memory/memory_access/address_range.py)


class Trace(Record):
    """The record `trace`."""

    cycle: int  # when
    kind: int  # one of TRACE_KINDS
    agent: int  # the agent that acts
    warp: int  # slot
    block: int  # id in the grid
    pc: int  # the instruction
    # issue, refuse: slot at which it was ready; serve: cycles of the unit; release, select, replay: until when; hold:
    # the shared reason; block: its slot; copy: its bytes; phase: arrivals that the next one waits for; product: when
    # the tensor cores begin
    detail: int
    # issue: the pipe it takes, or its barrier; release: the barrier; serve: the queue it comes from; hold: the unit
    # class; copy, await, phase: the word of the SM's shared memory in which a barrier is; else -1
    unit: int
    lanes: int  # issue: threads whose guard holds
    # issue, serve, product: when the pipe, or the load/store unit, has done with it; copy: when the engine has asked
    # for all of it
    end: int
    read: int  # serve: when its source registers may be overwritten; copy: when the engine began to ask
    # issue, serve: when its result is there, or its store has left; serve: -1 if that depends on a write; write,
    # product: when its result is there; copy: when its last byte came
    done: int
    back: int  # serve: when what counts the warp's accesses under way has it back
    access: int  # serve, write, copy, await: its number
    level: int  # serve: the furthest level that served it (gpusim.sm.memory.account.declaration); else -1
    release_at: Numbers  # issue, refuse: release time of each own reason
