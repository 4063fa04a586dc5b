"""The records of `row`, as mypy sees them."""

# `make records` writes this file from the units' declarations: change those.

from __future__ import annotations

from gpusim.sm.records.arrays import (
    Numbers,
    Record,
)


class Row(Record):
    """The record `row`."""

    latency: int  # cycles to its result, where that is fixed; from its service, if it is queued
    action: int  # what its execution consists of (gpusim.sm.unit.opcodes)
    unit: int  # unit class
    reason: int  # stall reason of whoever waits for its result
    queued: int  # 1: goes through the load/store unit
    memory_kind: int  # the memory that it accesses (gpusim.sm.unit.opcodes)
    width: int  # 0, 1, 2 for 32, 64, 128 bits
    eventful: int  # 1: its outcome depends on values
    evaluate: int  # 1: its result is computed
    located: int  # 1: the addresses of its access are found even where its cost is known
    guard: int  # its guard predicate
    selector: int  # predicate handed to the value function as c, -1: none
    predicate: int  # predicate written, -1: none
    reads: int  # how many of `read` count
    waits: int  # how many of `read` it waits for: behind those read stand those that are only written
    writes: int  # how many of `write` count
    read: Numbers  # registers read
    write: Numbers  # registers written
    second_predicate: int  # the other predicate written, -1: none
    more_predicates: Numbers  # further ones, -1: none
    selectors: Numbers  # predicates handed to truth functions, -1: none; `selector` first
    others: int  # 1: it writes a second predicate, or reads one
    selectors_negated: int  # mask of those that are negated
    uniform: int  # 1: its results are one for all lanes
    counts: Numbers  # registers of the sources a, b, c
    taken: Numbers  # 32-bit words that the function takes of each
    selects: int  # places of `selectors` that the function takes as p; -1: it takes none
    wide_address: int  # 1: its address has 64 bits
    pointer_pair: int  # 1: the address register is a pair
    base_pair: int  # 1: the uniform base is a pair
    signed_load: int  # 1: what is less than a word is sign-extended
    known: int  # 1: loads a constant of the launch
    issued: int  # warp instructions issued
    active: int  # thread instructions whose guard held
    words: int  # 32-bit words per operand, of a texture fetch per coordinate
    access_bytes: int  # bytes that a lane accesses
    alignment: int  # bytes of which an address is a multiple
    value: int  # index into FUNCTIONS of what gives d, -1: none
    source: Numbers  # first register of a, b, c; -1: the constant below
    behind: Numbers  # registers whose words stand behind those of a, b, c, a; -1: none, -2: zeros
    constant: Numbers  # 32-bit constants of a, b, c; of 64 bits where the width is
    change: Numbers  # what its text does to a, b, c (isa.operands.operand_change)
    truth: int  # index into FUNCTIONS of what gives predicates, -1: none
    number: int  # what functions get as n
    uniform_base: int  # uniform register that is added to the address, -1: none
    scale: int  # by which the address register is multiplied
    destination: int  # first register written, -1: none
    selector_negated: int  # 1: the selector is negated
    guard_negated: int  # 1: negated; 2 more: whether it is true in any lane
    pointer: int  # address register, -1: none
    special: int  # index into SPECIALS
    offset: int  # bytes
    limit: int  # texture: elements
    bias: int  # comparison: added to both numbers, their order is that of unsigned ones
    line: int  # of the program, as instruction caches have it
    stall: Numbers  # warp-cycles by reason while it was the warp's next instruction
    constant_lines: int  # mask of the constant cache's lines that its operands lie in
    constants_near: int  # 1: the next cache has them when the launch begins
    stall_count: int  # control code: cycles until the warp's next issue; 0 too where there is no code
    yields: int  # 1: the scheduler may turn to another warp
    read_barrier: int  # let go when the sources have been read, -1: none
    write_barrier: int  # let go when the result is there, -1: none
    wait_mask: int  # mask of the barriers waited for
    counter: int  # that counts it while it is under way, -1: none
    counted: int  # what it adds to that count: the words of a scalar load, 2 at most; else 1
    tracked: int  # 1: registers that it writes are pending until it is back
    most: Numbers  # accesses under way with which it may issue, by counter, -1: any number
    bank_reads: int  # registers read from each bank, a byte for each bank
    bank_returns: int  # cycles that what comes back through the queue takes of each bank, a byte for each
    reuse: int  # mask of the sources a, b, c that stay for the next instruction
    sought: Numbers  # register + 1 that its sources ask of each place of a reuse cache
    sought_places: int  # mask of these places
    flagged_places: int  # mask of those whose registers stay
    places_of_bank: int  # mask of those whose registers lie in each bank, one behind the other
    many_words: int  # 1: a source has more words than the cache keeps of one
    source_words: Numbers  # registers of each of these sources, 0: none
    sources_apart: int  # 1: each of these is read from the register file, for one source
    bank_writes: int  # mask of the banks that a pipe's result is written to
    matrix_read: Numbers  # mask of the cycles behind its issue in which a matrix instruction reads, by operand and bank
    matrix_written: int  # cycles from its issue until its results take all banks, 0: as others
    matrix_writes: int  # cycles for which they do
    unhurried: int  # 1: its latency varies, as of an access: its reads and writes find a cycle
    matrix_lasts: int  # cycles until it has read and written all
    matrix_memory: int  # cycles behind its issue in which no memory instruction issues
    matrix_depth: int  # cycles by which its way through the pipe is longer than the shortest
    reads_later: int  # cycles from its issue to the reads of its operands
    sooner: int  # cycles by which its result is there before its latency is over
    pipe: int  # index of the first of its pipes, -1: none
    intervals: int  # initiation intervals for which it keeps its pipe
    double: int  # 1: double precision
    target: int  # pc of a branch's target
    reconvergence: int  # pc where lanes meet that part here, -1: none do
    steers: int  # what it does to the groups of its warp (gpusim.sm.lanes.convergence.declaration)
    narrows: int  # which lanes are left of those whose guard holds (gpusim.sm.lanes.convergence.declaration)
    convergence: int  # number of its convergence barrier
    clears: int  # 1: moves its convergence barrier into a register, and clears it
    code_end: int  # instructions of the program, for branches to an address
    barrier: int  # its barrier's number
    arrivals: int  # warps that release the barrier; 0: all that have not exited
    barrier_at: int  # 1: registers say which barrier it is, or for how many threads
    goes_on: int  # 1: arrives and does not wait
    reduces: int  # what it finds about a predicate, as below
    stays_behind: int  # 1: it does not pass a barrier at which its warp waits
    cluster_step: int  # at the cluster's barrier it 1: arrives, 2: waits
    fence: int  # cycles for which it holds its warp as a fence, at least
    path: int  # unit that serves it: 1 shared memory or constants, 2 MATCH, where it lies apart
    passes: int  # load/store cycles it took
    idles: int  # load/store cycles it takes where no lane executes it
    held: int  # cycles for which it kept its unit, with waits for what is behind
    service: int  # load/store cycles, where its addresses do not say them
    port: int  # least cycles from its service to the next one of its scheduler's
    port_cycles: int  # or so many for each of its load/store cycles
    product: int  # code of a matrix instruction of a warpgroup (isa.values.matrix.warpgroup)
    columns: int  # that its result has; 0: it is none
    from_registers: int  # 1: its first matrix is in registers
    sums: int  # cycles in which the sums of eight columns take all register banks
    passable: int  # 1: a warp that packs its lanes may pass over it
    update: int  # index of what an atomic does to its word, -1: no atomic
    turns: int  # passes of an atomic for each lane in the fullest bank, 0: as a load
    war: int  # cycles from service until its source registers may be overwritten
    packets: int  # of an atomic to global memory for each sector, 0: no such atomic
    cached: int  # the cache it asks first, counted from 1; 0: none keeps tags of it
    distinct: int  # load/store cycles for each distinct word or value, 0: others say
    later: int  # cycles by which each further one makes its result later
    through_l1: int  # 1: a load whose data comes through the L1
    anew: int  # 1: a load that takes nothing that the L1 holds
    parameters: int  # 1: it reads the bank with the parameters
    accounted: int  # its number in the account of memory, from 1 on; 0: it moves nothing
    pass_parts: int  # of an atomic, least parts of a cycle for a pass behind another
    doubles: int  # 1: an atomic of real numbers of 64 bits
    slice_blocks: int  # of an atomic, blocks in a row whose lanes lie in one slice; 0: all may
    slice_share: int  # 64ths of this SM's passes, or stores, that all do there; 0: not known, or spread
    shared_along: int  # 1 and the axes (bits) along which blocks ask for the same; 0: unknown
    sharers: int  # blocks of a wave that ask for the same, in the mean; 0: unknown
    waves_apart: int  # 64ths of waves between blocks that ask for the same, a wave at least
    differing: int  # of 64 sectors that SMs of a GPC ask for, how many differ; 0: unknown
    fetches: int  # 1 and the code of a fetch by a texture object (isa.values.texture.texture), 0: none
    handle: int  # register with the handle, -1: the constant below
    known_handle: int  # a handle that the launch gives
    upper: int  # first register of the channels after two, or of the upper half of 256 bits
    feed: int  # place among the accesses, comparisons and coordinates whose range is remembered (-1: none)
    tested: int  # an atomic tells whether it has swapped: 1 by its result, 2 by its predicate
    leaves_buffers: int  # 1: a load that may read behind a buffer, in its last page
    generic: int  # 1: each lane's address says in which memory it is
    near: int  # of such an access: 1 if shared memory can do it, and 2 if local memory can
    near_turns: int  # its turns in shared memory, as in turns
    shared_latency: int  # cycles to its result from shared memory
    local_latency: int  # and from local memory
    matrices: int  # that it moves to or from shared memory
    transposed: int  # 1: a lane has parts of their columns, not of rows
    far: int  # place of its latency from the L2 among those
    copies: int  # 1: what it loads goes to shared memory
    fills: int  # 1: the lowest bits of its address say how many bytes at the end are zeros
    to_pointer: int  # register of the place there, -1: none
    to_scale: int  # by which that register is multiplied
    to_uniform: int  # uniform register that is added, -1: none
    to_offset: int  # bytes that are added
    signal: int  # what it does to a barrier in shared memory (isa.row.Signal)
    awaited: Numbers  # warp-cycles waited for phases that arrivals end, and copies
    stages: int  # mask of the barriers of a block at whose phases it waits, by place
    bulk: int  # what it asks of the copy engine (isa.row.Bulk)
    copied: int  # bytes that its copies have asked for, or sent
    pieces: int  # of these copies, those that were asked for, or sent
    grouping: int  # bits: 1: it joins its warp's open group; 2: it closes it; 4: it waits for groups, 8: for all copies
    groups: int  # kind of these groups (isa.row.Groups)
    open_groups: int  # groups that may be under way when it goes on
    visit: int  # the first pc from here on that decides addresses, guards or branches, or depends on them
    spilled: int  # 1: accesses a slot of local memory, at the same place each time
    kept: int  # behind the word at which its last requests were recorded
