"""The records of `sm`, as mypy sees them."""

# `make records` writes this file from the units' declarations: change those.

from __future__ import annotations

from gpusim.sm.records.arrays import (
    Numbers,
    Record,
    Records,
    RecordTable,
    Table,
    Tables,
)
from gpusim.sm.records.machine import (
    MachineNumbers,
)
from gpusim.sm.records.memory import (
    Ahead,
    Beyond,
    Buffer,
    Cache,
    LoadStore,
    Outcome,
    Scratch,
)
from gpusim.sm.records.replay import (
    Event,
    Feed,
    Script,
    Stream,
    Trace,
)
from gpusim.sm.records.row import (
    Row,
)
from gpusim.sm.records.warps import (
    Block,
    Effect,
    Hazard,
    Lanes,
    PartedLanes,
    Pipe,
    Scheduler,
    StackEntry,
    Warp,
)


class Sm(Record):
    """The record `sm`."""

    now: int  # the current cycle
    cycles: int  # when the last block finished
    agenda: Numbers  # when each agent acts next
    agents: int  # how many agents there are
    load_store_agent: int  # the load/store unit's number among the agents
    effects_agent: int  # that of the effects, which act second in a cycle
    machine: MachineNumbers  # the machine's numbers
    launch: LaunchNumbers  # the launch
    outcome: Outcome  # what the instruction that issues comes to
    fault: Fault  # the first fault
    program: Records[Row]  # and how often each instruction issued and why warps waited at it
    placed: int  # blocks so far
    aged: int  # warps so far
    retired: int  # blocks that have left
    ended: Numbers  # when the last ones of these left: number n at n modulo the length
    ended_after: Numbers  # and how many warp instructions had issued by then
    empty: int  # warp-slot cycles without a block
    empty_since: Numbers  # since when each warp slot has no block
    warp_slots: int  # warp slots that the resident blocks have
    blocks: Records[Block]  # resident blocks, by slot
    warps: Records[Warp]  # resident warps, by slot
    lines: int  # of the program
    instruction_caches: Records[InstructionCache]  # the SM's, then the schedulers' own
    schedulers: Records[Scheduler]  # the warp schedulers
    ordered: int  # warps and yields so far
    constants_busy: int  # until when those that ask for a line follow the line before
    constants_asked: int  # mask of the lines that have been requested
    constants_there: Numbers  # when each line is there
    constants_far: Numbers  # when the next cache has it, by the first line that it holds
    pipes: RecordTable[Pipe]  # by instance
    exclusive_until: int  # one issue per slot for the whole SM until then
    diverges: int  # 1: lanes of a warp may part
    simt_stack: RecordTable[StackEntry]  # entries that wait, by warp slot
    independent: int  # 1: lanes are scheduled by convergence barriers
    parted: RecordTable[PartedLanes]  # groups that do not run, by warp slot
    places: Numbers  # where lanes of an indirect branch go; masks that go on apart
    arrival_free: int  # when the barrier unit takes the next arrival
    tells: int  # how many phases of other blocks' barriers it has ended in this act
    told: Numbers  # the places of these barriers
    looks: int  # without time: how many barriers it has looked at in vain
    looked: Numbers  # the places of these
    cluster_news: int  # 1: something happened that the cluster's other SMs may wait for
    load_store: LoadStore  # the load/store unit
    multiplies: int  # 1: the program has matrix instructions of warpgroups
    products: Products  # those that all four warps have issued
    account: Tables  # counts by instruction, place and kind
    room: int  # 1/1024 lines of the L2 taken so far, of those that several SMs ask for a part
    room_before: int  # of these up to the begin of the last wave
    room_of_wave: int  # that a whole wave took
    wave: int  # number of the wave of the block placed last
    brought: Numbers  # sectors of each buffer that the L2 lacked
    stored: Numbers  # 1: the launch has stored to the buffer
    owed: Numbers  # parts of blocks in lockstep beyond those that were so, by axes
    textures: Table  # the texture objects by their handles, as isa.values.texture.texel has columns
    writes: int  # register writes so far
    lanes: Records[Lanes]  # values of each lane group
    buffers: Records[Buffer]  # where global buffers lie
    memory_feeds: int  # memory instructions of the program
    coordinate_feeds: int  # those, and comparisons that move with the block
    feeds: int  # and two for each texture fetch that does: its column and its row
    feed: RecordTable[Feed]  # what the addresses of each lane group's memory instructions cost, by feed modulo this
    beyond: Beyond  # the loads behind buffers
    scratch: Scratch  # room for what one access is reckoned with
    signals: int  # 1: the program has barriers in shared memory
    answers: int  # when the next answer about a phase is known to come, or before
    awaited: RecordTable[Awaited]  # phases that warps wait for
    bulk: int  # 1: the program has bulk or tensor copies
    engine: Engine  # the copy engine
    copies: Records[Copy]  # a ring: its queue, and what is on its way
    pieces: Records[Piece]  # a ring: pieces on their way, by arrival
    grouped: int  # 1: the program has work in groups
    posted: int  # effects posted so far
    landing: Numbers  # when each warp's next effect on memory lands
    effects: RecordTable[Effect]  # each warp's, in no order
    defers: int  # 1: results are written when they are there (sm/registers/in_flight/in_flight.py)
    hazardous: int  # hazards noted
    hazards: Records[Hazard]  # the hazards noted
    ahead: Ahead  # how the SM runs ahead of the others
    trace_driven: int  # 1: outcomes come from recorded streams
    provable: int  # 1: global addresses are all that depends on the block, by `block_step`
    # bytes, or elements, by which an address or coordinate moves from a block to its neighbour in x, y, z
    block_step: Table
    recorded: int  # items of streams
    streamed: int  # streams so far
    scripted: int  # scripts so far
    visits: int  # instructions walked through
    event: int  # of this cycle, as in sm/replay/stream/stream.py
    log: Numbers  # scripts of the last blocks placed
    events: Records[Event]  # items of all streams
    requested: int  # words of the recorded requests
    streams: Records[Stream]  # the recorded streams
    scripts: Records[Script]  # the recorded scripts
    forwarding: int  # 1: events are watched for the state to come back, or to be steady
    comparable: int  # 1: all that changes is compared; 0: no state is, but loops may be steady
    marker: int  # warp slot whose way round its loop is watched, -1: none yet
    tolerance: int  # parts in a million that an estimate may be wrong; 0: none
    doubt: int  # cycles by which those that are estimated may be wrong
    estimated: int  # cycles that are estimated
    waves_estimated: int  # 1: among them are waves of blocks
    skipped: int  # cycles taken at once
    tracing: int  # 1: keep trace records
    traced: int  # those that wait to be taken away
    records: Records[Trace]  # trace records that wait to be taken away


class Fault(Record):
    """The record `fault`."""

    code: int  # one of gpusim.sm.state.fault.Fault
    pc: int  # the instruction
    warp: int  # its warp slot
    lane: int  # the lane of the warp; -1: none is meant
    address: int  # the byte address
    detail: int  # a number more that the kind of fault says


class Chip(Record):
    """The record `chip`."""

    next: int  # id of the next block to place behind the first wave
    end: int  # block ids end here
    handed_until: int  # until when the chip hands out the block before
    handed_parts: int  # and so many 64ths of a cycle
    channel: int  # when the memory channel is free, in parts of a cycle
    slices_even: int  # work that all its slices have got, in parts of a cycle
    ahead: Numbers  # when each slice has done its own work besides
    shared: Numbers  # when the L2 is free, for loads, stores and shared answers, in parts of a cycle
    each_channel: Numbers  # of several, when each is free, in parts of a cycle
    slice: Numbers  # when each slice has done the atomics before, in parts of a cycle
    slice_line: Numbers  # 1 and the line that each slice did the last of them to
    dram_window: int  # number of the last window of time in which the DRAM was asked
    dram_asked: int  # parts of a cycle of the channel asked for in that window
    dram_before: int  # and in the window before
    dram_turns: int  # the number of the first window whose writes no read turns


class LaunchNumbers(Record):
    """The record `launch`."""

    grid: Numbers  # blocks of the grid in x, y, z
    block: Numbers  # threads of a block in x, y, z
    threads: int  # threads of a block
    warps: int  # warps of a block
    meets: int  # 1: they meet at barriers
    resident: int  # blocks that fit at once
    next: int  # id of the next block to place
    stride: int  # from one block of this SM to its next
    sms: int  # SMs of the chip
    apart: int  # from one SM that is simulated to the next
    gap: int  # id of the first block that is left out; 0: none
    behind: int  # id of the next one that is not; 0: none
    end: int  # block ids end here
    handed_until: int  # until when the chip hands out the block before
    handed_parts: int  # and so many 64ths of a cycle
    constant_cycles: int  # cycles for which a line of constants occupies the next cache
    constant_lag: int  # cycles until it turns to the last scheduler that asks for the line
    cluster: int  # blocks of a cluster
    cluster_size: Numbers  # blocks of a cluster in x, y, z
    rank: int  # that of the SM's blocks in their clusters
    timeless: int  # 1: in program order, where nothing has a time
    peer: int  # words from a block's shared memory to that of the next rank's block
    shared_word: int  # where shared memory begins in the memory array
    shared_words: int  # words of it per block
    local_word: int  # where local memory begins in the memory array
    local_words: int  # words of it per thread
    local_base: int  # byte address by which caches know it
    cache_word: int  # where what caches keep begins in the memory array
    cache_end: int  # where that ends
    requests: int  # word in there of the first queue entry's requests
    misses: int  # word of the first of the times when lines on their way are there
    caches: Records[Cache]  # by their numbers (gpusim.sm.memory.cache.declaration)
    side: int  # number of the half of the L2 near the SM
    sharers: int  # SMs with blocks, if not all SMs are simulated and each stands for others
    spills: int  # of 64 lines of the buffers, those that the L2 does not keep from launch to launch
    passes: int  # of 64 lines of the buffers, those of which what is stored goes on to the DRAM
    passes_on: int  # 1: local memory of other SMs makes room in the L2
    keeps: int  # lines of which the L2 has all when they are asked for again
    loses: int  # lines of which it has none then
    lockstep: Table  # of 64 blocks, those in lockstep, by axes and wave
    textures: int  # handles of texture objects, from 1 on
    buffers: int  # of global memory
    index: int  # the SM's number in the chip
    mhz: int  # of the clock in which cycles count, for the time in nanoseconds
    window: int  # what 64-bit addresses have above those of global memory
    thread_registers: int  # registers of a thread; those of the warp follow
    recorded: int  # word in there, as cache_word, of the first recorded request
    recorded_end: int  # behind the room for them


class InstructionCache(Record):
    """The record `instruction_cache`."""

    free: int  # when its port takes the next request
    owed: int  # parts of a cycle by which the port is free later than `free`
    lines: Numbers  # set by set, lines + 1 by their last use, the latest first; 0: none
    there: Numbers  # when each of them has come


class Products(Record):
    """The record `products`."""

    head: int  # place of the first that has not begun
    count: int  # how many have not
    ahead: int  # how many more the first warps have issued, and their last ones not
    next: int  # when it may begin; NEVER: there is none
    reads: int  # when the operands of the next one may be read
    port: int  # until when they read shared memory
    lands: int  # when the result of the next one is there; NEVER: not known
    ends: int  # when the tensor cores are done with those that have begun
    since: int  # from when until then they compute without a pause
    sums: int  # cycles of each eight columns in which these read and write the registers
    queue: Records[Product]  # in the order in which the last of four warps issued them


class Product(Record):
    """The record `product`."""

    warp: int  # slot of the first of its four warps
    pc: int  # the instruction
    ready: int  # when its operands may be read
    starts: int  # when the tensor cores begin with it; NEVER: not known


class Awaited(Record):
    """The record `awaited`."""

    number: int  # of its access in the load/store queue; 0: none
    pc: int  # the instruction that waits
    place: int  # of the barrier, in the memory array
    apart: int  # 1: it is looked at only now and then
    since: int  # when the first look answers; NEVER: the instruction has not been served
    lag: int  # cycles from a look until it answers
    ended: int  # when the phase ended; NEVER: not yet
    answer: int  # when the answer is there; NEVER: not known yet


class Engine(Record):
    """The record `engine`."""

    first: int  # number of the first copy that is not done
    asking: int  # number of the copy whose pieces are asked for
    last: int  # number behind the last copy
    first_piece: int  # number of the first piece on its way
    last_piece: int  # number behind the last piece
    free: int  # when it can ask for the next piece
    port: int  # when the way from the L2 is free, in 64ths of a cycle
    arrives: int  # when the last piece so far that was sent is done: these are in order
    next: int  # when it acts next
    row: int  # of a row of a box that was found: the place of byte 0 of the box, if all were in this row
    low: int  # the first place of it that is inside the tensor
    high: int  # and the place behind them
    maps: Numbers  # 1 + the places of the tensor maps that it has; 0: none
    there: Numbers  # when each is at hand
    fetched: int  # how many it has fetched
    woken: int  # warp slots with a copy that has come to its end since they were looked at, as a mask


class Copy(Record):
    """The record `copy`."""

    bulk: int  # what it is, as in row
    code: int  # that of its instruction's row
    pc: int  # its instruction
    warp: int  # the warp slot that has asked for it
    number: int  # of the instruction's access in the load/store queue
    group: int  # its group of the warp's bulk copies
    starts: int  # when it may start; NEVER: its instruction has not been served
    done: int  # 1: all of it is done
    own_word: int  # where the shared memory of the block that has asked for it begins in the memory array
    block_word: int  # the same of the block whose shared memory it writes, or reads
    blocks: int  # mask of the blocks of the cluster that get it, by rank; 0: that one alone
    shared: int  # byte address there, of what is written or read
    source: int  # of a copy within shared memory, that of what is read
    map: int  # place of its tensor map; -1: it has none
    far: int  # place in global memory of the tensor's first byte, or of the bytes themselves
    barrier: int  # place of the barrier that gets its bytes, -1: none
    total: int  # bytes in shared memory
    asked: int  # of these, those that have been asked for
    landed: int  # and those that have come
    begins: int  # when the engine began to ask
    over: int  # when it has asked for all so far
    element: int  # bytes of an element
    type: int  # its type (gpusim.sm.memory.copy_engine.tensor_map)
    swizzle: int  # mode of the pattern in shared memory, 0: none
    fills: int  # 1: beyond the tensor are NaNs, not zeros
    rank: int  # dimensions
    sizes: Numbers  # of the tensor, in elements
    pitches: Numbers  # bytes between neighbours of each dimension
    counts: Numbers  # elements of the box
    steps: Numbers  # between neighbours of the box, in elements
    begin: Numbers  # coordinates of its first element
    interleaved: int  # 1: slices of the tensor's channels lie together, each an element
    lower: Numbers  # of pixels, the first coordinates of each dimension of an image
    upper: Numbers  # and the last ones
    away: Numbers  # how far from these each pixel is read


class Piece(Record):
    """The record `piece`."""

    of_copy: int  # number of its copy
    at: int  # its first byte in the box
    length: int  # bytes
    arrives: int  # when it does
