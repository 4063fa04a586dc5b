"""The record of a machine's numbers, as rules read it: gpusim/launch/packing.py fills it in."""

from __future__ import annotations

from gpusim.machine.capacities import SCHEDULERS
from gpusim.state.layout import record
from isa.register_bank import BANK_PERIOD

PIPES = 12
CHOICES = 4  # pipes that may execute one unit class
UNITS = 32
SHARED_RULES = ("fermi", "gt200", "kepler", "volta", "gcn")  # how addresses become passes: rules/shared_memory.py
FERMI, GT200, KEPLER, VOLTA, GCN = range(len(SHARED_RULES))
SHARED_IDEALS = ("banks", "conflict-free", "one-pass")  # what is lifted of those rules
BANKS, CONFLICT_FREE, ONE_PASS = range(len(SHARED_IDEALS))
GLOBAL_RULES = ("fermi", "gt200", "sectors")  # how addresses become transactions: rules/global_memory.py
LINES, SEGMENTS, SECTORS = range(len(GLOBAL_RULES))
HITS = ("none", "l1", "l2", "tags")
MEMORY, L1, L2, TAGS = range(len(HITS))
# Caches that keep tags: the L1, the L2, the partition near the SM, and three that are only read.
NEAR, FAR, PARTITION, TEXTURES, SCALARS, CONSTANTS = range(6)
LEVELS = 4  # from which instructions come: a scheduler's own cache, two of the SM, memory
OWN_CACHE = 0

level_t = record([
    ("sets", "i8"),  # 0: it has every line
    ("ways", "i8"),  # lines of a set
    ("latency", "i8"),  # cycles from its port to the scheduler
    ("parts", "i8"),  # parts of a cycle for which a line keeps the port
])  # fmt: skip

unit_t = record([
    ("choices", "i8"),  # pipes that may execute it, 0: none
    ("choice", "i8", (CHOICES,)),  # these, in the order in which they are tried
    ("lone", "i8"),  # 1: one pipe, and no other is joint or blocked
    ("asked", "i8"),  # 1: it has pipes, and they must be free before a warp is selected
    ("joint", "i8"),  # a further pipe that is needed and occupied with the first one, -1: none
    ("blocked", "i8"),  # a pipe that takes nothing for an initiation interval behind the issue, -1: none
    ("throttle", "i8"),  # stall reason while its pipe is busy or its queue full
    ("double", "i8"),  # 1: double precision
    ("queued", "i8"),  # 1: goes through the load/store queue
    ("path", "i8"),  # 1: to shared memory, where that has queues and a unit of its own
])  # fmt: skip

machine_t = record([
    ("groups", "i8"),  # lane groups of a warp: 32 lanes have registers and masks together
    ("schedulers", "i8"),  # warp schedulers of the SM
    ("interval", "i8"),  # cycles from one issue slot of a scheduler to its next
    ("shift", "i8"),  # its binary logarithm, which saves costly divisions; -1: it is no power of two
    ("stagger", "i8"),  # scheduler k's slots lie k times this many cycles later
    ("issue_interval", "i8"),  # cycles from an issue of a warp to its next at the earliest
    ("policy", "i8"),  # index into policies.POLICIES; behind them, the registered one
    ("policy_code", "i8"),  # that one's code
    ("active", "i8"),  # warps of a scheduler among which `two_level` chooses
    ("rotate", "i8"),  # 1: the schedulers' rank inside a cycle rotates from slot to slot
    ("wastes_slot", "i8"),  # 1: a warp refused by the load/store queue has used up the issue slot
    ("moves_pointer", "i8"),  # 1: the policy goes on from the refused warp, 0: from the last one that issued
    ("retry", "i8"),  # cycles until a warp so refused is looked at again
    ("ports", "i8"),  # instructions that a scheduler issues in one turn at most
    ("same_warp", "i8"),  # 1: all of them from one warp, 0: each from another
    ("exclusive", "i8"),  # cycles from a DP issue during which the SM issues one instruction per slot (0: off)
    ("queue", "i8"),  # load/store instructions that may wait for service in each queue
    ("queues", "i8"),  # one for each scheduler, or one for the SM; and those to shared memory where it lies apart
    ("sharing", "i8"),  # schedulers that share a queue to shared memory, where it lies apart; else 0
    ("pass_cycles", "i8"),  # cycles of one pass through the shared-memory data path
    ("passes_per_cycle", "i8"),  # passes that an access makes in one cycle at most, where a pass takes no longer
    ("merge_halves", "i8"),  # 1: a 128-bit access serves half-warps with the same addresses together
    ("shared_rule", "i8"),  # index into SHARED_RULES
    ("banks", "i8"),  # shared-memory banks
    ("bank_words", "i8"),  # 32-bit words side by side in one bank
    ("shared_ideal", "i8"),  # index into SHARED_IDEALS
    ("row_bytes", "i8"),  # costs of accesses don't change when addresses move by multiples of this
    ("free_passes", "i8", (3,)),  # passes already contained in a load's latency, widths 32, 64, 128
    ("late_cycles", "i8"),  # that each further pass adds to it
    ("late_passes", "i8"),  # or so many passes together
    ("early", "i8", (3,)),  # cycles by which the result of a load of fewer passes comes earlier
    ("global_request", "i8"),  # load/store cycles per transaction
    ("global_rule", "i8"),  # index into GLOBAL_RULES
    ("hits", "i8"),  # index into HITS: the cache that loads from global memory hit
    ("hit_late", "i8"),  # cycles that each request beyond the first adds to their latency
    ("far_latency", "i8", (3,)),  # tags: of a hit in the L2, widths 32, 64, 128
    ("far_late", "i8"),  # what each request beyond the first adds to it
    ("partition_late", "i8"),  # what that takes longer beyond the partition near the SM
    ("memory_latency", "i8"),  # tags: of a load that both caches miss
    ("read_latency", "i8", (6,)),  # of a hit in each cache that is only read
    ("read_far", "i8", (6,)),  # tags: of a hit in the L2 behind it
    ("misses", "i8"),  # lines that the L1 waits for at once
    ("drops_stored", "i8"),  # 1: the L1 drops a line that is stored to globally
    ("keeps_stores", "i8"),  # 1: what is stored locally stays in the L1
    ("port_cost", "i8"),  # parts of a cycle in which the channel to the L2 moves 32 bytes
    ("port_parts", "i8"),  # parts of a cycle in which its time counts
    ("line_bytes", "i8"),  # bytes of a line of global memory, or of the largest segment
    ("line_cost", "i8"),  # parts of a cycle that one transaction occupies the channel
    ("channel_parts", "i8"),  # parts of a cycle in which the channel's time counts
    ("local_request", "i8"),
    ("replays", "i8"),  # 1: accesses may take issue slots again
    ("pass_slots", "i8"),  # as many for each pass beyond the free ones
    ("request_slots", "i8"),  # and for each request beyond those that the width needs
    ("counts", "i8"),  # 1: accesses of a warp under way are counted
    ("barrier", "i8"),  # cycles from the last arrival to the release
    ("per_warp", "i8"),  # further cycles from one released warp to the next
    ("barriers_pass", "i8"),  # 1: nobody waits at a barrier
    ("branch", "i8"),  # cycles from a branch to the warp's next issue
    ("block_latency", "i8"),  # cycles from a free block slot to the first issue of the next block
    ("warp_skew", "i8"),  # further cycles per warp of a block
    ("block_skew", "i8"),  # further cycles per block of the first wave
    ("selects", "i8"),  # 1: a selected warp that can't go at once is the next to go
    ("freezes", "i8"),  # 1: a stall for operands stops the stall counts of the scheduler's warps
    ("held", "i8"),  # cycles from service until a place in a queue is free
    ("turns", "i8"),  # a warp that pauses so long, or fills its queue, goes to the back of the order; 0: none
    ("selection_may_wait", "i8"),  # 1: a selected warp may have to wait
    ("codes", "i8"),  # 1: control codes say when an instruction may go
    ("yield_stall", "i8"),  # cycles from an issue that yields to the warp's next, at least
    ("register_banks", "i8"),  # 0: the register file is never late
    ("bank_of", "i8", (BANK_PERIOD,)),  # a register's bank, by its number modulo this
    ("carried", "i8"),  # 1: what the warp's instruction just before has read as well is not read again
    ("collecting", "i8"),  # instructions of a scheduler that collect operands at once, 0: no limit
    ("window", "i8"),  # cycles in which an instruction's reads must be done, 0: no limit
    ("reuse", "i8"),  # words of the reuse cache for each operand slot of a warp; 0 too where the program flags nothing
    ("fetches", "i8"),  # 1: instructions may be late
    ("ahead", "i8"),  # lines behind the one that a warp enters that are asked for with it
    ("levels", level_t, (LEVELS,)),  # from the nearest to the first that has every line
    ("instance", "i8", (SCHEDULERS, PIPES)),  # which one of each pipe a scheduler's warps use
    ("pipe_interval", "i8", (PIPES,)),  # cycles for which an instruction keeps each pipe
    ("units", unit_t, (UNITS,)),  # what an instruction of each unit class asks of the SM
    ("pairs", "i8", (UNITS,)),  # mask of the unit classes that may go beside each in a later port of its turn
])  # fmt: skip
