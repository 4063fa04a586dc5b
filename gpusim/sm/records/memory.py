"""The records of `memory`, as mypy sees them."""

# `make records` writes this file from the units' declarations: change those.

from __future__ import annotations

from gpusim.sm.records.arrays import (
    Numbers,
    Record,
    Records,
    Table,
)


class LoadStore(Record):
    """The record `load_store`."""

    coming: int  # results of shared memory that are not written yet
    # when the unit can serve the next, and those of shared memory or constants, and MATCH, that lie apart
    free: Numbers
    busy: int  # cycles it has served
    entered: int  # entries so far
    turn: int  # queue that is asked first at the next service
    queues: Records[Queue]  # one for the SM, or one for each scheduler, and those to shared memory
    channel: int  # when the memory channel is free, in parts of a cycle
    each_channel: Numbers  # of several, when each is free, in parts of a cycle
    waited: int  # cycles for which the last access held the unit until a line was back
    arrived: int  # when the last line asked for is there
    accounted: int  # that of the instruction that is served
    placed_line: int  # 1 and the line whose place was looked for last
    placed: int  # its place
    level: int  # the furthest level that the access needed which is served
    tagged: int  # when the tag stage is free, in parts of a cycle
    late: int  # groups of lines of the last load that were late
    late_last: int  # the last of them
    returns: int  # loads whose lines have not come, or not passed
    return_at: Numbers  # when those of each come, the first ones first
    return_entries: Records[Entry]  # and the entries that they had
    port: Numbers  # when each L2 channel is free, in parts of a cycle
    shared: Numbers  # when the L2 itself is, for loads, for stores and for shared answers, in parts of a cycle
    held_line: Numbers  # 1 and each line stored to that may be joined
    held_sectors: Numbers  # what stores wrote of it, a mask
    held_until: Numbers  # when it leaves
    joined: int  # 1: the line stored to last waited already
    sent: int  # of that line's store, the sectors that joined none, a mask
    held: int  # the place of the line stored to last
    held_next: int  # the place of the next such line
    slices_even: int  # work that all slices have got, in parts of a cycle
    of_last: int  # what the last store took the L2, in parts of a cycle
    ahead: Numbers  # when each slice has done its own work besides
    asked: Numbers  # of the SM's share of the L2 so far, by each of these, in parts
    began: Numbers  # when the SM asked for the first
    slice: Numbers  # when each slice has done what came before, in parts of a cycle
    updating: Numbers  # for how long each has worked, in parts of a cycle
    updated: int  # when the last one of the SM is done, behind which its loads wait
    slice_line: Numbers  # 1 and the line that each slice did the last of them to
    updates_sent: int  # when those without results have left the SM, in parts of a cycle
    updates: int  # lanes, and stored sectors, since one last waited for no other
    updates_began: int  # when that was
    from_others: int  # when others bring what is asked for, as above
    differing: int  # that of the row whose access is served
    sharers: int  # that of the row whose access is served, 1 for stores
    waves_apart: int  # that of the row whose load is served
    later: int  # 1: the block whose access is served is not of the first wave
    stands: int  # blocks of the grid for which that one stands whose access is served
    dram_window: int  # number of the last window of time in which the DRAM was asked
    dram_asked: int  # parts of a cycle of the channel asked for in that window
    dram_before: int  # and in the window before
    dram_turns: int  # the number of the first window whose writes no read turns
    copied: int  # when the passes of copies through the L1 are over, in parts of a cycle
    brought: int  # when those of all copies are, and of their lines, in parts
    near_copies: int  # 1: the last copy went through the L1


class Queue(Record):
    """The record `queue`."""

    head: int  # the place of its first entry
    count: int  # entries that wait
    free: int  # when its port lets the unit have the next
    left: Numbers  # when each place is free that is kept behind a service
    kept: int  # the place that is kept next
    entries: Records[Entry]  # a ring of entries
    passed: int  # when the passes of its scheduler's copies through the L1 are over


class Entry(Record):
    """The record `entry`."""

    number: int  # counts up
    warp: int  # its warp slot
    pc: int  # its instruction
    cycles: int  # that it occupies the load/store unit
    extra: int  # cycles on top of the latency (bank conflicts)
    transactions: int  # lines it moves to or from global memory
    requests: int  # lines that it asks caches for
    near: int  # cycles to the results of lanes that are not in global memory
    idle: int  # 1: no lane executes it
    moves: Numbers  # transactions by channel, of several


class Outcome(Record):
    """The record `outcome`."""

    moves: Numbers  # transactions by channel, of several
    active: Numbers  # by lane group, mask of the lanes whose guard holds
    threads: int  # how many those are
    cycles: int  # of the load/store unit; of shared memory as many as if no cycle had several passes
    extra: int  # cycles on top of the latency
    written: int  # passes through shared memory of what a copy writes there
    read: int  # cycles that an access takes without what a copy writes
    transactions: int  # lines it moves to or from global memory; sectors of a texture fetch
    requests: int  # lines that it asks caches for
    near: int  # cycles to the results of lanes that are not in global memory; 0 without such lanes
    ready: int  # when what a cache that is only read was asked for is there
    missed: int  # place of a barrier whose phase was looked at and is not over; -1: none
    onward: int  # replay: pc where the warp goes on, of a program whose lanes may part
    left: int  # replay: threads that go on there
    place: int  # replay: where its requests lie, as in event


class Scratch(Record):
    """The record `scratch`."""

    touched: Table  # of each line that is asked for, the bytes of each sector
    handle: Numbers  # of the texture object of each lane
    seen: Table  # words seen per bank
    depth: Numbers  # how many
    line: Numbers  # lines, or words, seen so far
    address: Numbers  # a 32-bit number of each lane
    apart: Numbers  # that number as it is, where lanes are taken to lie side by side
    rank: Numbers  # the number of each lane's place among those of other lanes
    flag: Numbers  # truths of each lane, P in bit 0
    left_out: Numbers  # bytes that each lane's address leaves out of a copy
    source: Numbers  # the byte address from which each lane copies
    a: Table  # an operand: words of each lane
    b: Table  # another
    c: Table  # another
    d: Table  # a result
    p: Numbers  # the predicates read by each lane
    n: int  # the number that functions get
    tiles: int  # matrices that share a and are computed together; 0: one
    group: int  # the lane group that is computed
    active: int  # mask of the lanes that take part in an exchange
    lane: int  # the lane for which an atomic's update is computed


class Cache(Record):
    """The record `cache`."""

    first: int  # word with the number of uses, behind which its ways lie
    sets: int  # 0: there is no such cache
    hashed: int  # 1: all digits of a line's number, in base `sets`, say its set; 0: the last one
    ways: int  # of a set
    replacement: int  # index into REPLACEMENTS: which line of a full set makes room
    stride: int  # words of a way
    sector: int  # parts of 32 bytes that come together


class Buffer(Record):
    """The record `buffer`."""

    start: int  # first byte address
    end: int  # byte address after its last
    page_end: int  # byte address after the last that loads may read


class Beyond(Record):
    """The record `beyond`."""

    loads: int  # of threads
    pc: int  # the first one's instruction
    block: int  # its block
    warp: int  # its warp in the block
    lane: int  # its lane
    address: int  # its byte address


class Ahead(Record):
    """The record `ahead`."""

    on: int  # 1: it does, and the chip answers its questions later
    until: int  # the first cycle in which an answer that is still to come may be felt
    alert: int  # 1: it may feel that a store has left in the cycle in which a warp comes to its exit
    asked: int  # questions so far
    answered: int  # those that the chip has answered
    settled: int  # those whose answers the SM has taken
    granted: int  # 1: the block scheduler has its blocks, and may act
    owners: int  # where the owners of words lie in the memory array; 0: nobody keeps them
    questions: Records[Question]  # the last ones, by number modulo their room
    postpones: int  # 1: lines that the L1 lacks are asked for later, 0: now
    stopped: int  # 1: its next act takes its turn among those of all SMs
    posted: int  # lines that it asks for later, so far
    come: int  # those that have come
    first: int  # the first of the access that is served
    known: int  # when of that access is there what is known
    least: int  # the first cycle in which all of it may be there
    lines: Records[LateLine]  # the last lines, by number modulo their room


class Question(Record):
    """The record `question`."""

    now: int  # when the access was served
    warp: int  # its warp slot
    pc: int  # its instruction
    number: int  # the access's, as in entry, if it brings results
    cycles: int  # the access's, as in entry
    extra: int  # the access's, as in entry
    near: int  # the access's, as in entry
    transactions: int  # the access's, as in entry
    moves: Numbers  # the access's, as in entry
    results: int  # of those that it brings, how many take writes of register banks
    felt: int  # the first cycle in which the SM may feel the answer; NEVER: in none so far
    gone: int  # the answer: when the last transaction has left the channel, or the last line has come
    first: int  # the first of the lines that it asks for
    lines: int  # how many these are
    known: int  # when all is there that is known
    later: int  # its block's, as in load_store
    waits: int  # 1: the load/store unit serves it again when its lines have come


class LateLine(Record):
    """The record `late_line`."""

    line: int  # its number
    units: int  # the sectors that it asks the L2 for, a mask
    way: int  # the L1's way that waits for it
    start: int  # when it is asked for
    latency: int  # of a hit in the L2
    known: int  # when those of its sectors are there that are known
    after: Numbers  # the tickets of sectors that it waits for
    joined: int  # cycles from these to it
    least: int  # the first cycle in which it may come
    done: int  # the answer: when it comes
