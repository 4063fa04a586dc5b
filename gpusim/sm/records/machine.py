"""The records of `machine`, as mypy sees them."""

# `make records` writes this file from the units' declarations: change those.

from __future__ import annotations

from gpusim.sm.records.arrays import (
    Numbers,
    Record,
    Records,
    Table,
)


class MachineNumbers(Record):
    """The record `machine`."""

    groups: int  # lane groups of a warp: 32 lanes have registers and masks together
    since_volta: int  # 1: some of its numbers are those of all machines since Volta (unit/structure.py)
    block_latency: int  # `launch.block_latency` of the machine's file
    begin: int  # `launch.begin` of the machine's file
    warp_skew: int  # `launch.warp_skew` of the machine's file
    block_skew: int  # `launch.block_skew` of the machine's file
    block_gap: int  # `launch.block_gap` of the machine's file
    refill_parts: int  # `launch.refill_parts` of the machine's file
    rotates: int  # `launch.rotates` of the machine's file
    fetches: int  # 1: instructions may be late
    ahead: int  # `fetch.ahead` of the machine's file
    levels: Records[Level]  # from the nearest to the first that has every line
    schedulers: int  # `schedulers.count` of the machine's file
    interval: int  # `schedulers.interval` of the machine's file
    shift: int  # its binary logarithm, which saves costly divisions; -1: it is no power of two
    stagger: int  # `schedulers.stagger` of the machine's file
    issue_interval: int  # `schedulers.issue_interval` of the machine's file
    policy: int  # index into policies.POLICIES; behind them, the registered one
    policy_code: int  # that one's code
    active: int  # `schedulers.active` of the machine's file
    oldest_first: int  # `block_order.oldest_first` of the machine's file
    selects: int  # 1: a selected warp that can't go at once is the next to go
    freezes: int  # 1: a stall for operands stops the stall counts of the scheduler's warps
    full_yields: int  # 1: a warp that fills its queue lets others go first
    selection_may_wait: int  # 1: a selected warp may have to wait
    rotate: int  # `issue.rotate` of the machine's file
    wastes_slot: int  # `issue.refused_wastes_slot` of the machine's file
    moves_pointer: int  # `issue.refused_moves_pointer` of the machine's file
    retry: int  # `issue.refused_retry` of the machine's file
    ports: int  # `schedulers.dispatch_ports` of the machine's file
    same_warp: int  # 1: all of them from one warp, 0: each from another
    pairs: Numbers  # by unit class: mask of those that a later port of the same turn takes
    constants: int  # 1: constant operands may be late
    far_lines: int  # `constant_operand.far_lines` of the machine's file
    constant_latency: int  # `constant_operand.latency` of the machine's file
    constant_far_latency: int  # `constant_operand.far_latency` of the machine's file
    obeys_codes: int  # 1: control codes say when an instruction may go
    yield_stall: int  # cycles from an issue that yields to the warp's next, at least
    yield_lasts: int  # cycles after which a yield is forgotten; 0: the policy asks nobody when it yielded
    yield_rest: int  # cycles from an issue that yields in which `cggty` stays with a warp that yields later
    counts: int  # 1: accesses of a warp under way are counted
    register_banks: int  # 0: the register file is never late
    bank_of: Numbers  # a register's bank, by its number modulo this
    address_again: int  # `register_file.address_again` of the machine's file
    carried: int  # `register_file.carried` of the machine's file
    collecting: int  # `register_file.collecting` of the machine's file
    window: int  # `register_file.window` of the machine's file
    matrix_slack: int  # `register_file.matrix_slack` of the machine's file
    reuse_shared: int  # `register_file.reuse_shared` of the machine's file
    reuse: int  # words of a reuse cache for each operand slot; 0 too where the program flags nothing
    writes_back: int  # 1: what comes back waits for a cycle in which its bank is not written
    lead: int  # `write_back.lead` of the machine's file
    apart: int  # `write_back.apart` of the machine's file
    patience: int  # `write_back.patience` of the machine's file
    notice: int  # `write_back.notice` of the machine's file
    near: int  # `write_back.near` of the machine's file
    room: int  # `write_back.room` of the machine's file
    bypasses: int  # 1: some operands are read later, or results there sooner
    instance: Table  # which one of each pipe a scheduler's warps use
    pipe_interval: Numbers  # cycles for which an instruction keeps each pipe
    units: Records[UnitNumbers]  # what an instruction of each unit class asks of the SM
    exclusive: int  # cycles from a DP issue during which the SM issues one instruction per slot (0: off)
    branch: int  # `branch.latency` of the machine's file
    barrier: int  # `barrier.latency` of the machine's file
    per_warp: int  # `barrier.per_warp` of the machine's file
    per_arrival: int  # `barrier.per_arrival` of the machine's file
    barrier_defers: int  # `barrier.defers` of the machine's file
    cluster_barrier: int  # `cluster.barrier` of the machine's file
    cluster_doubling: int  # `cluster.doubling` of the machine's file
    cluster_load: int  # `cluster.load` of the machine's file
    cluster_atomic: int  # `cluster.atomic` of the machine's file
    cluster_atomic_cycles: int  # `cluster.atomic_cycles` of the machine's file
    cluster_signal: int  # `cluster.signal` of the machine's file
    fence_of_chip: int  # `fence.gpu` of the machine's file
    fence_loads: int  # `fence.loads` of the machine's file
    fence_stores: int  # `fence.stores` of the machine's file
    queue: int  # `load_store.queue` of the machine's file
    least_cycles: int  # `load_store.least_cycles` of the machine's file
    queues: int  # one for each scheduler, or one for the SM; and those to shared memory where it lies apart
    sharing: int  # `memory_paths.schedulers` of the machine's file
    paths: int  # units behind the queues: more than one where shared memory, constants or MATCH lie apart
    held: int  # `memory_port.held` of the machine's file
    skipped_latency: int  # `memory_port.skipped_latency` of the machine's file
    product_columns: int  # `warpgroup.columns` of the machine's file
    port_rows: int  # `warpgroup.port_rows` of the machine's file
    least_registers: int  # `warpgroup.least_registers` of the machine's file
    product_begins: int  # `warpgroup.begins` of the machine's file
    product_fills: int  # `warpgroup.fills` of the machine's file
    register_fills: int  # `warpgroup.register_fills` of the machine's file
    product_drains: int  # `warpgroup.drains` of the machine's file
    product_queue: int  # `warpgroup.queue` of the machine's file
    tensor_pipe: int  # pipe of the tensor cores, -1: no other instruction takes them
    replays: int  # 1: accesses may take issue slots again
    pass_slots: int  # `instruction_replay.pass_slots` of the machine's file
    request_slots: int  # `instruction_replay.request_slots` of the machine's file
    shared_ideal: int  # index into SHARED_IDEALS
    barriers_pass: int  # 1: nobody waits at a barrier
    side_by_side: int  # 1: lanes access neighbouring places of global memory
    near_holds: int  # 1: the L1 has all that loads ask it for
    far_holds: int  # 1: the L2 has all, and the DRAM moves nothing
    at_once: int  # 1: atomics do not wait for others
    packs: int  # 1: of the ways of a branch a warp has time for that of one lane
    pass_cycles: int  # `shared_memory.pass_cycles` of the machine's file
    passes_per_cycle: int  # `shared_memory.passes_per_cycle` of the machine's file
    merge_halves: int  # `shared_memory.merge_halves` of the machine's file
    shared_rule: int  # index into SHARED_RULES
    banks: int  # `shared_memory.banks` of the machine's file
    bank_words: int  # 32-bit words side by side in one bank
    row_bytes: int  # costs of accesses don't change when addresses move by multiples of this
    free_passes: Numbers  # passes already contained in a load's latency, widths 32, 64, 128
    late_cycles: int  # that each further pass adds to it
    late_passes: int  # or so many passes together
    early: Numbers  # cycles by which the result of a load of fewer passes comes earlier
    global_request: int  # `global_memory.request_cycles` of the machine's file
    global_rule: int  # index into GLOBAL_RULES
    line_bytes: int  # `global_memory.line_bytes` of the machine's file
    line_cost: int  # parts of a cycle that one transaction occupies the channel
    written_cost: int  # parts of a cycle that one occupies it which is written to the DRAM
    channel_parts: int  # parts of a cycle in which the channel's time counts
    channels: int  # that are told apart: 1 but where several SMs are simulated
    channel_count: int  # channels of the DRAM
    channel_bytes: int  # `memory_channels.bytes` of the machine's file
    packet_parts: int  # `global_atomic.packet_parts` of the machine's file
    local_request: int  # `local_memory.request_cycles` of the machine's file
    hits: int  # index into HITS: the cache that loads from global memory hit
    hit_late: int  # cycles that each request beyond the first adds to their latency
    far_latency: Numbers  # tags: of a hit in the L2, widths 32, 64, 128; of copies, and of those past the L1
    far_late: int  # what each request beyond the first adds to it
    partition_late: int  # what that takes longer beyond the partition near the SM
    memory_latency: int  # tags: of a load that both caches miss
    read_latency: Numbers  # of a hit in each cache that is only read
    read_far: Numbers  # tags: of a hit in the L2 behind it
    next_constants: int  # of a constant that the next cache has; 0: none
    in_series: int  # 1: sectors of a constant load come one after the other
    next_lines: int  # lines that come to it together
    joined: int  # cycles from one load that waits for a line to the next
    near_least: int  # cycles in which the L1 delivers 32 words then, at least
    near_lines: int  # lines that the L1 looks up in a cycle, if banks say how long a load takes; else 0
    misses: int  # lines that the L1 waits for at once
    drops_stored: int  # 1: the L1 drops a line that is stored to globally
    keeps_stores: int  # what is stored locally: 1 stays in the L1, 2 does so, and goes through
    tag_stages: int  # 1: accesses take the tag stage one after the other
    late_cost: int  # parts of a cycle of a load for each group of lines that is late
    late_lines: int  # neighbouring lines of a group
    late_most: int  # groups of a load that count, at most
    late_asks: int  # cycles of the unit for a load that is served when its lines come; 0: it is at once
    late_words: int  # least words of a lane of such a load
    store_cost: int  # parts of a cycle of a store
    store_word_cost: int  # parts of a cycle of a store for each word of a lane
    store_sector_cost: int  # parts of a cycle of a store for each sector, if these are more
    port_cost: Numbers  # parts of a cycle in which the L2 channel moves 32 bytes of loads, of stores
    port_parts: int  # parts of a cycle in which its time counts
    ways_apart: int  # 1: stores have a channel of their own
    slice_spread: int  # cycles by which a slice of the L2 is nearer or further than the mean
    store_line_cost: int  # further parts for each line of a store of parts of sectors
    store_buffer: int  # sectors that may wait for the L2 before the next store does
    store_lines: int  # lines stored to, the last ones, that wait for stores that join them
    store_wait: int  # cycles for which such a line waits at least
    store_line_wait: int  # the same for each line of its store, if that is longer
    slice_ahead: int  # cycles by which a slice may have more stores to do than the mean, or fewer
    store_slices: int  # slices of the L2 that do stores; 0: all are equally busy
    store_slice_lines: int  # neighbouring lines of one slice
    store_groups: int  # groups of SMs for which one stands, each with slices of its own
    own_slice: int  # parts of its share of the L2 that a store takes one slice beyond the mean
    load_line_cost: int  # parts of a cycle in which the channel of loads moves what a load wants of a line, at least
    load_least: int  # bytes for whose time the L2 is busy with what a load wants of a line, at least
    shared_cost: Numbers  # parts of a cycle in which the L2 moves them, and shared ones; 0: it is not known
    shared_parts: int  # parts of a cycle in which that time counts
    slices: int  # of the L2, 0: nothing is known of them, or nobody asks one for long
    slice_lines: int  # neighbouring lines of one slice
    update_parts: int  # parts of a cycle for each sector of a pass, or stored
    updates_waiting: int  # lanes of atomics without results, and stored sectors, that may wait
    pass_parts: int  # parts of a cycle, at least, for a pass behind another of its line
    slices_end: int  # cycles behind the last exit in which they work unnoticed
    dram_least: int  # parts of a cycle that a read of a line occupies the channel, at least
    dram_varies: int  # cycles by which its latency varies with its place
    dram_together: int  # lines side by side that have one latency
    dram_sms: int  # SMs of the chip, of whose bandwidth those with blocks have equal shares
    dram_queue: int  # cycles of service of the queue in front of the DRAM
    dram_span: int  # cycles over which the use of the DRAM counts
    dram_most_used: int  # of 64 parts of its bandwidth, as which a busier DRAM counts
    written_alone_cost: int  # parts of a cycle that a sector occupies it which is written, without reads
    fetch_cost: int  # parts of a cycle that a sector of a texture fetch occupies the channel
    copy_cycles: int  # cycles of the load/store unit for a copy, at least; 0: it keeps the unit for its passes
    behind_passes: int  # passes from which on a copy keeps it no longer
    pass_cost: int  # parts of a cycle that a copy through the L1 takes besides its passes
    line_again: int  # parts that it takes once more for lines that come
    passes_ahead: int  # cycles of passes that the unit may leave behind
    lines_ahead: int  # cycles of these and of lines that come again
    copied_line: int  # parts of a cycle of the L2 channel for each line of a copy; 0: its sectors say
    poll: int  # `mbarrier.poll` of the machine's file
    engine_ask: int  # `copy_engine.ask` of the machine's file
    engine_load: int  # `copy_engine.load_parts` of the machine's file
    engine_send: int  # `copy_engine.store_parts` of the machine's file
    engine_reduce: int  # `copy_engine.reduce_parts` of the machine's file
    engine_start: int  # `copy_engine.start` of the machine's file
    engine_map: int  # `copy_engine.map` of the machine's file
    engine_latency: int  # `copy_engine.latency` of the machine's file
    engine_store: int  # `copy_engine.store` of the machine's file
    engine_nearby: int  # `copy_engine.nearby` of the machine's file


class Level(Record):
    """The record `level`."""

    sets: int  # 0: it has every line
    ways: int  # lines of a set
    latency: int  # cycles from its port to the scheduler
    parts: int  # parts of a cycle for which a line keeps the port


class UnitNumbers(Record):
    """The record `unit_class`."""

    asked: int  # 1: it has pipes, and they must be free before a warp is selected
    choices: int  # pipes that may execute it, 0: none
    choice: Numbers  # these, in the order in which they are tried
    single_pipe: int  # 1: one pipe, and no other is joint or blocked
    joint: int  # a further pipe that is needed and occupied with the first one, -1: none
    blocked: int  # a pipe that takes nothing for an initiation interval behind the issue, -1: none
    double: int  # 1: double precision
    throttle: int  # stall reason while its pipe is busy or its queue full
    queued: int  # 1: goes through the load/store queue
    apart: int  # 1: to shared memory, where that has queues and a unit of its own
