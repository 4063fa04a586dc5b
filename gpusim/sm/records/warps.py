"""The records of `warps`, as mypy sees them."""

# `make records` writes this file from the units' declarations: change those.

from __future__ import annotations

from gpusim.sm.records.arrays import (
    Numbers,
    Record,
    Records,
    Table,
    Tables,
)


class Block(Record):
    """The record `block`."""

    id: int  # its number in the grid
    live: int  # warps that have not exited
    state: int  # FREE, RUNNING or DONE
    finished: int  # when the last warp left
    barriers: Records[Barrier]  # its barriers
    coming: int  # 1 + the cluster that begins in this slot; 0: none
    begins: int  # when the chip has handed that out
    arrived: int  # warps that have arrived at the cluster's barrier
    last_arrival: int  # when the barrier unit has seen the last of these
    lockstep: int  # mask of the axes along which it is in lockstep with others
    script: int  # replay: what its warps do
    away: Numbers  # replay: blocks from the one that was recorded, in x, y, z


class Warp(Record):
    """The record `warp`."""

    block: int  # block slot
    index: int  # warp within the block
    scheduler: int  # its warp scheduler
    place: int  # its bit in that scheduler's masks
    live: int  # 1: resident and not exited
    age: int  # order of placement, smaller is older
    threads: int  # how many those are
    line: int  # the line of that, or of its last instruction, where fetch counts
    pc: int  # its next instruction
    unit: int  # unit class of that instruction
    ready_at: int  # slot at which it became ready
    issued_at: int  # cycle of its last issue
    order: int  # of placements and yields: whose is smaller goes first
    yield_ends: int  # when it is forgotten that it yielded when it issued last
    since: int  # stalls are settled up to this cycle
    release_at: Numbers  # release time of each own reason of the order of stall reasons
    refused: Numbers  # its unit's running sums when it became ready
    ready: Numbers  # when each register's pending result is there
    read_by: Numbers  # when each register's last pending reader has read it
    read: Numbers  # when its readers that have been served have read it
    reader: Numbers  # number of its last reader in the load/store queue
    kind: Numbers  # reason that its pending result belongs to
    predicate: Numbers  # when each predicate is there
    holders: Numbers  # memory instructions not served that hold a dependency barrier, by barrier and reason
    let_go: Numbers  # when the other instructions that hold it release it, by barrier and reason
    unserved: Numbers  # accesses issued and not known to be back, by counter
    returned: Table  # when those of each are back, the latest first
    asked: Table  # numbers of the queued ones that are not known to be back, in order of issue
    served: Table  # when each of these is done
    latest: Numbers  # when the last one that is known to be back is
    kept: Table  # its own reuse cache, by operand slot and width: register + 1, 0: nothing
    kept_places: int  # mask of the places that are not empty
    bank_reads: int  # what its next instruction reads, as in its row, less what is in it
    lanes: Numbers  # masks of the lanes that go on; where none have parted, those that have a thread
    reconvergence: int  # pc where they wait for others, -1: nowhere
    depth: int  # entries that wait
    gone: int  # mask of the lanes that have exited
    parted: int  # groups that do not run
    convergence: Numbers  # masks of its convergence barriers
    plain: int  # the convergence barriers that one BSSY alone has set, as bits
    partners: Numbers  # mask of those for whom each lane waits at a WARPSYNC
    released_at: int  # when that barrier lets it pass, where the warp goes on meanwhile
    waits_at: int  # pc of the barrier at which it arrived last
    waits_for: int  # number of that barrier
    reduced: int  # what the last BAR.RED found
    cluster_until: int  # when the cluster's barrier lets it pass; NEVER: not known
    cluster_waits: int  # 1: it waits there
    stored: int  # when its last store has left the SM
    loaded: int  # 1: it has loaded from global memory since its last fence
    pending: int  # memory instructions issued and not served
    drained: int  # when the served ones, and texture fetches, are done
    shared_back: int  # when its loads from shared memory are back, where codes are obeyed
    products: int  # of its warpgroup that it has issued
    leads: int  # the lane whose way the warp has time for, where it packs its lanes
    version: Numbers  # number of the write that made each register's value
    awaits: int  # phases that it waits for, 6 at most
    copying: int  # copies that the engine does for it
    effects: int  # how many it has
    closed: Numbers  # groups closed so far, in program order, by kind
    ahead_of: Table  # of each kind, what is not done of the work before the end of the n-th last group
    done_by: Table  # when all of that is done, if it is known to be
    answer: int  # its accesses that wait for an answer are not all done before
    cursor: int  # replay: its next event
    laps: Numbers  # replay: rounds done of the loops around that event
    request: int  # replay: word of its next recorded request


class Scheduler(Record):
    """The record `scheduler`."""

    waiting: int  # warps that are not ready
    ready: int  # warps past all own reasons
    units: int  # unit classes that ready warps need
    ready_for: Numbers  # ready warps by the unit class they need
    issued: int  # warp instructions
    used_until: int  # end of the last issue slot that was used
    issued_at: int  # cycle of the last issue
    due: Numbers  # issue slot from which each waiting warp is ready
    calendar: Numbers  # waiting warps by the number of that slot modulo CALENDAR (sm/front/wakeup/wakeup.py)
    filled: int  # mask of the entries that are not empty
    later: int  # waiting warps that are due further ahead
    later_due: int  # slot of the first of these
    last: int  # local index of the warp that issued last
    active: int  # warps among which `two_level` chooses
    yielded: int  # 1: the warp that issued last lets others go first
    holding: Numbers  # the shared reason for which each unit class's warps wait
    since: Numbers  # up to when that has been charged
    refused: Table  # running sums of cycles by unit class and shared reason, up to then
    idle_since: Numbers  # first empty slot at which warps of the class were ready, since one was used
    refused_before: Table  # the sums at `idle_since`
    lost: Numbers  # cycles of unused issue slots by reason
    selected: int  # warp that was selected and could not go yet, -1: none
    dispatched: int  # instructions in the turn of the last issue
    pairable: int  # unit classes that a later port of that turn takes
    bank_free: Numbers  # when each register bank has done the reads so far
    collected: Numbers  # when each of the last instructions had its operands, the last one first
    reader: int  # warp slot and pc of the last instruction that read operands: slot * PROGRAM + pc, -1: none
    kept: Table  # the reuse cache that its warps share: 1024 * warp slot + register + 1, 0: nothing
    kept_places: int  # mask of the places that are not empty
    addressed: int  # 1 + the bank of the address that it read last, 0: of none, or for longer
    stalled_until: int  # nothing dispatches until then, for lack of operands
    returns: Numbers  # from when on each result under way can be written, in order
    return_banks: Numbers  # mask of the banks of each, and COUNTED if it is shared memory's; 0: none
    return_warp: Numbers  # warp slot that each is for
    return_pc: Numbers  # instruction that each is of
    return_ready: Numbers  # when each is there if it has been written in time
    return_number: Numbers  # the access that each is of; 0: none
    written: int  # mask of the warps of which an access has been written
    expected: int  # results that are under way, also those whose time is not known yet
    stop_due: int  # when the first of them stops the scheduler, if it still waits
    stop_from: int  # nothing dispatches from then on, for a result that waited
    stop_until: int  # and until then
    settled: int  # results are written in all cycles before this one
    wrote_at: int  # cycle of the last issue
    wrote_banks: int  # mask of the banks that what issued then writes
    matrix_memory: int  # a memory instruction issues from then on
    matrix_leaves: int  # the next one's issue and depth come to this at least
    matrix_until: int  # matrix instructions matter to no other one from then on
    matrix_reads: Numbers  # mask of the cycles, from the last issue on, in which they read each bank
    matrix_writes: int  # the same of their writes, to all banks


class Pipe(Record):
    """The record `pipe`."""

    free: int  # first cycle at which it takes a warp instruction again
    busy: int  # cycles it was taken


class StackEntry(Record):
    """The record `stack_entry`."""

    pc: int  # where its lanes go on
    lanes: Numbers  # masks of its lanes
    reconvergence: int  # pc where they wait for others


class PartedLanes(Record):
    """The record `parted_lanes`."""

    pc: int  # where its lanes go on
    lanes: int  # mask of its lanes
    state: int  # what it waits for, as in gpusim.sm.lanes.convergence.convergence
    barrier: int  # the convergence barrier at which it waits
    label: int  # where its lanes go on after a collective
    old: int  # 1: another group has parted since


class Barrier(Record):
    """The record `barrier`."""

    arrived: int  # warps
    expected: int  # warps that release it, as the first to arrive said
    reduced: int  # what those that have arrived find, as a row's `reduces`
    found: int  # by the warps that have arrived
    last_ends: int  # when the barrier unit has seen the last arrival
    waiting: Numbers  # masks of warps


class Lanes(Record):
    """The record `lanes`."""

    registers: Table  # of each lane
    predicates: Numbers  # mask of lanes


class Effect(Record):
    """The record `effect`."""

    pc: int  # the instruction
    order: int  # of posting
    mask: Numbers  # active lanes, by lane group
    lands: int  # when it does; NEVER: not known yet
    read: int  # when its instruction's sources are read
    access: int  # number of its access in the load/store queue; 0: none
    groups: int  # kind of the groups that its work is in, -1: in none
    group: int  # its group of that kind
    landed: int  # 1: it has landed
    stale: int  # 1: a source was overwritten before it was read
    words: int  # words of memory that each lane writes; 0: it writes registers
    barrier: int  # place of a barrier in shared memory that it signals, -1: none
    arrivals: int  # that the barrier counts
    tx_bytes: int  # that the barrier counts
    leaving: int  # of the arrivals, those that later phases do not wait for
    truth: Numbers  # its predicate, as masks of lanes
    second_truth: Numbers  # its other predicate
    values: Tables  # its words
    places: Table  # where each lane's words begin in memory


class Hazard(Record):
    """The record `hazard`."""

    kind: int  # as in sm/registers/in_flight/in_flight.py
    pc: int  # the instruction that has it
    name: int  # register; or REGISTERS and the index of a predicate
    other: int  # pc of the instruction that it has it with
    times: int  # how often
