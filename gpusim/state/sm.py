"""The state of one SM: one nested record, a record type per hardware unit. Capacities are fixed, times are cycles.

All times are integer cycles of the SM's fastest clock (Fermi: shader clock). NEVER means: not known yet, wait to be
woken. Masks of warps are local to a scheduler: bit j of scheduler k is warp slot j * schedulers + k.
"""

from __future__ import annotations

from gpusim.machine.capacities import BANKS, BLOCKS, CACHED, QUEUE, SCHEDULERS, WARPS
from gpusim.state.layout import record
from gpusim.state.machine import LEVELS, PIPES, UNITS, machine_t
from gpusim.state.row import COUNTERS, decoded_t
from gpusim.state.stall import OWN, REASONS, SHARED

SMS = 256
SLOTS = 62  # warps of one scheduler: bits of a mask that never turns negative
REGISTERS = 256
PREDICATES = 8
BARRIERS = 16
QUEUES = 2 * SCHEDULERS
UNITS_OF_MEMORY = 2
BUFFERS = 64
PROGRAM = 8192  # instructions
FEED = 2048  # memory instructions
EVENTS = 65536  # of recorded streams
STREAMS = 512  # recorded ones that others are compared with
SCRIPTS = 32  # blocks whose accesses differ
DEPTHS = 4  # loops inside loops that a stream counts
LOG = 256  # placed blocks whose scripts are remembered
VISITS = 64_000_000  # instructions walked through to record streams: a few seconds
REGISTER_BANKS = 4
COLLECTING = 4  # instructions of a scheduler that collect operands at once
OPERANDS = 6  # slots a, b, c of 32 bits, then those of 64
REUSE = 2  # words that the reuse cache keeps for an operand slot
HOLDS = 18  # six dependency barriers, each by three reasons (rules/control_code.py)
FLIGHTS = 256  # instructions of a warp whose result or reads are under way
HAZARDS = 64  # that are noted
COUNTED = 64  # accesses that a wait counter may tell apart
PATHS = 128  # waiting ones of a warp: 64 lanes part at most 63 times, and each time at most two wait
TRACE = 16384  # records that may wait to be taken away
AGENTS = SCHEDULERS + 2
CALENDAR = 32  # issue slots ahead that a scheduler looks after
LANES = 32  # of a lane group, which values are computed for at once: a warp of 64 lanes has two
GROUPS = 2  # of a warp at most
REQUESTS = 256  # lines of an access: four words of local memory of each of 64 lanes
REQUEST_ROW = 2 * REQUESTS  # words that a queue entry's requests take
WAY_HEAD = 3  # words of a cache's way in front of those of its units
LANE_GROUPS = 80  # 64 warps of 32 lanes, or 40 of 64
NEVER = 1 << 60  # later than every cycle: wait to be woken
LAUNCHER = 0  # agents: the block scheduler, then the warp schedulers, then the load/store unit
FIRST_SCHEDULER = 1

cache_t = record([
    ("first", "i8"),  # word with the number of uses, behind which its ways lie
    ("sets", "i8"),  # 0: there is no such cache
    ("ways", "i8"),  # of a set
    ("stride", "i8"),  # words of a way
    ("sector", "i8"),  # parts of 32 bytes that come together
])  # fmt: skip

launch_t = record([
    ("grid", "i8", (3,)),
    ("block", "i8", (3,)),  # threads
    ("threads", "i8"),
    ("warps", "i8"),  # warps of a block
    ("resident", "i8"),  # blocks that fit at once
    ("next", "i8"),  # id of the next block to place
    ("stride", "i8"),  # from one block of this SM to its next
    ("end", "i8"),  # block ids end here
    ("buffers", "i8"),  # of global memory
    ("shared_word", "i8"),  # where shared memory begins in the memory array
    ("shared_words", "i8"),  # words of it per block
    ("local_word", "i8"),  # where local memory begins in the memory array
    ("local_words", "i8"),  # words of it per thread
    ("local_base", "i8"),  # byte address by which caches know it
    ("cache_word", "i8"),  # where what caches keep begins in the memory array
    ("cache_end", "i8"),
    ("requests", "i8"),  # word in there of the first queue entry's requests
    ("misses", "i8"),  # and of the times when lines on their way are there
    ("caches", cache_t, (6,)),  # as gpusim/state/machine.py numbers them
])  # fmt: skip

warp_t = record([
    ("block", "i8"),  # block slot
    ("index", "i8"),  # warp within the block
    ("scheduler", "i8"),  # its warp scheduler
    ("place", "i8"),  # its bit in that scheduler's masks
    ("live", "i8"),  # 1: resident and not exited
    ("age", "i8"),  # order of placement, smaller is older
    ("order", "i8"),  # of placements and yields: whose is smaller goes first
    ("lanes", "i8", (GROUPS,)),  # masks of the lanes that go on; where none have parted, those that have a thread
    ("threads", "i8"),  # how many those are
    ("reconvergence", "i8"),  # pc where they wait for others, -1: nowhere
    ("depth", "i8"),  # paths that wait
    ("cursor", "i8"),  # replay: its next event
    ("laps", "i8", (DEPTHS,)),  # replay: rounds done of the loops around that event
    ("pc", "i8"),  # its next instruction
    ("waits_at", "i8"),  # pc of the barrier at which it arrived last
    ("line", "i8"),  # the line of that, or of its last instruction, where fetch counts
    ("unit", "i8"),  # unit class of that instruction
    ("since", "i8"),  # stalls are settled up to this cycle
    ("ready_at", "i8"),  # slot at which it became ready
    ("pending", "i8"),  # memory instructions issued and not served
    ("drained", "i8"),  # when the served ones, and texture fetches, are done
    ("release_at", "i8", (OWN,)),  # release time of each own reason of the order of stall reasons
    ("refused", "i8", (SHARED,)),  # its unit's running sums when it became ready
    ("ready", "i8", (REGISTERS,)),  # when each register's pending result is there
    ("held", "i8", (REGISTERS,)),  # when each register's last pending reader has read it
    ("read", "i8", (REGISTERS,)),  # when its readers that have been served have read it
    ("reader", "i8", (REGISTERS,)),  # number of its last reader in the load/store queue
    ("kind", "u1", (REGISTERS,)),  # reason that its pending result belongs to
    ("predicate", "i8", (PREDICATES,)),  # when each predicate is there
    ("issued_at", "i8"),  # cycle of its last issue
    ("version", "i8", (REGISTERS,)),  # number of the write that made each register's value
    ("holders", "i8", (HOLDS,)),  # memory instructions not served that hold a dependency barrier, by barrier and reason
    ("let_go", "i8", (HOLDS,)),  # when the other instructions that hold it release it, by barrier and reason
    ("flights", "i8"),  # instructions in flight, where they are followed
    ("deferred", "i8"),  # instructions followed so far
    ("kept", "i8", (OPERANDS, REUSE)),  # the reuse cache, by operand slot and width: register + 1, 0: nothing
    ("unserved", "i8", (COUNTERS,)),  # accesses issued and not known to be back, by counter
    ("returned", "i8", (COUNTERS, COUNTED)),  # when those of each are back, the latest first
    ("asked", "i8", (COUNTERS, COUNTED)),  # pc + 1 of the queued ones that are not known to be back, in order of issue
    ("served", "i8", (COUNTERS, COUNTED)),  # when each of these is done
    ("latest", "i8", (COUNTERS,)),  # when the last one that is known to be back is
], spread=True)  # fmt: skip

scheduler_t = record([
    ("waiting", "i8"),  # warps that are not ready
    ("ready", "i8"),  # warps past all own reasons
    ("units", "i8"),  # unit classes that ready warps need
    ("ready_for", "i8", (UNITS,)),  # ready warps by the unit class they need
    ("holding", "i8", (UNITS,)),  # the shared reason for which each unit class's warps wait
    ("since", "i8", (UNITS,)),  # up to when that has been charged
    ("refused", "i8", (UNITS, SHARED)),  # running sums of cycles by unit class and shared reason, up to then
    ("idle_since", "i8", (UNITS,)),  # first empty slot at which warps of the class were ready, since one was used
    ("refused_before", "i8", (UNITS, SHARED)),  # the sums then
    ("due", "i8", (SLOTS,)),  # issue slot from which each waiting warp is ready
    ("calendar", "i8", (CALENDAR,)),  # waiting warps by the number of that slot modulo CALENDAR (rules/wakeup.py)
    ("filled", "i8"),  # mask of the entries that are not empty
    ("later", "i8"),  # waiting warps that are due further ahead
    ("later_due", "i8"),  # slot of the first of these
    ("last", "i8"),  # local index of the warp that issued last
    ("active", "i8"),  # warps among which `two_level` chooses
    ("yielded", "i8"),  # 1: it yielded
    ("selected", "i8"),  # warp that was selected and could not go yet, -1: none
    ("used_until", "i8"),  # end of the last issue slot that was used
    ("issued_at", "i8"),  # cycle of the last issue
    ("dispatched", "i8"),  # instructions in the turn of the last issue
    ("beside", "i8"),  # unit classes that a later port of that turn takes
    ("lost", "i8", (REASONS,)),  # cycles of unused issue slots by reason
    ("issued", "i8"),  # warp instructions
    ("bank_free", "i8", (REGISTER_BANKS,)),  # when each register bank has done the reads so far
    ("collected", "i8", (COLLECTING,)),  # when each of the last instructions had its operands, the last one first
    ("reader", "i8"),  # warp slot and pc of the last instruction that read operands: slot * PROGRAM + pc, -1: none
    ("stalled_until", "i8"),  # nothing dispatches until then, for lack of operands
])  # fmt: skip

pipe_t = record([("free", "i8"), ("busy", "i8")])  # first cycle it takes a warp again; cycles it was taken

instruction_cache_t = record([
    ("free", "i8"),  # when its port takes the next request
    ("owed", "i8"),  # and how many parts of a cycle later than that
    ("held", "i8", (CACHED,)),  # set by set, lines + 1 by their last use, the latest first; 0: none
    ("there", "i8", (CACHED,)),  # when each of them has come
])  # fmt: skip

path_t = record([("pc", "i8"), ("lanes", "i8", (GROUPS,)), ("reconvergence", "i8")])  # of lanes that wait, as in warp_t

barrier_t = record([
    ("arrived", "i8"),  # warps
    ("expected", "i8"),  # warps that release it, as the first to arrive said
    ("waiting", "i8", (SCHEDULERS,)),  # masks of warps
])  # fmt: skip

block_t = record([
    ("id", "i8"),
    ("live", "i8"),  # warps that have not exited
    ("state", "i8"),  # FREE, RUNNING or DONE
    ("script", "i8"),  # replay: what its warps do
    ("finished", "i8"),  # when the last warp left
    ("barriers", barrier_t, (BARRIERS,)),
])  # fmt: skip

entry_t = record([
    ("number", "i8"),  # counts up
    ("warp", "i8"), ("pc", "i8"),
    ("cycles", "i8"),  # that it occupies the load/store unit
    ("extra", "i8"),  # cycles on top of the latency (bank conflicts)
    ("transactions", "i8"),  # lines it moves to or from global memory
    ("requests", "i8"),  # lines that it asks caches for
])  # fmt: skip

queue_t = record([
    ("head", "i8"),
    ("count", "i8"),  # entries that wait
    ("free", "i8"),  # when its port lets the unit have the next
    ("left", "i8", (QUEUE,)),  # when each place is free that has been served
    ("entries", entry_t, (QUEUE,)),
])  # fmt: skip

load_store_t = record([
    ("free", "i8", (UNITS_OF_MEMORY,)),  # when the unit can serve the next, and that of shared memory if it lies apart
    ("busy", "i8"),  # cycles it has served
    ("entered", "i8"),  # entries so far
    ("channel", "i8"),  # when the memory channel is free, in parts of a cycle
    ("turn", "i8"),  # queue that is asked first at the next service
    ("port", "i8"),  # when the channel to the L2 is free, in parts of a cycle
    ("waited", "i8"),  # cycles for which the last access held the unit until a line was back
    ("arrived", "i8"),  # when the last line asked for is there
    ("queues", queue_t, (QUEUES,)),  # one for the SM, or one for each scheduler, and those to shared memory
])  # fmt: skip

outcome_t = record([
    ("cycles", "i8"),  # of the load/store unit; of shared memory as many as if no cycle had several passes
    ("extra", "i8"),
    ("transactions", "i8"),
    ("requests", "i8"),
    ("ready", "i8"),  # when what a cache that is only read was asked for is there
    ("active", "i8", (GROUPS,)),  # by lane group, mask of the lanes whose guard holds
    ("threads", "i8"),  # how many those are
    ("onward", "i8"),  # replay: pc where the warp goes on, of a program whose lanes may part
    ("left", "i8"),  # replay: threads that go on there
])  # fmt: skip

fault_t = record([("code", "i8"), ("pc", "i8"), ("warp", "i8"), ("lane", "i8"), ("address", "i8")])

lanes_t = record([
    ("registers", "u4", (REGISTERS, LANES)),
    ("predicates", "i8", (PREDICATES,)),  # mask of lanes
])  # fmt: skip

feed_t = record([
    ("version", "i8"),  # of the address register behind the remembered outcome (0: none)
    ("mask", "i8"),  # lanes it was computed for
    ("cycles", "i4"),
    ("transactions", "i4"),
    ("low", "i8"),  # lowest byte accessed
    ("high", "i8"),  # behind the highest
    ("residue", "i8"),  # place of the first active lane's address in a row of banks and lines
    ("step", "i4", (LANES,)),  # each active lane's distance from that address
])  # fmt: skip

event_t = record([
    ("pc", "i4"),  # of the instruction; or what else stands here (see rules/stream.py)
    ("threads", "i4"),  # whose guard holds
    ("cycles", "i4"),  # the access's, as in outcome_t
    ("extra", "i4"),
    ("transactions", "i4"),
    ("onward", "i4"),  # where lanes may part: pc where the warp goes on, and with how many threads
    ("left", "i4"),
    ("rounds", "i4"),  # marker: further rounds of the part before it
    ("length", "i4"),  # marker: items of that part
    ("depth", "i4"),  # marker: loops inside it
])  # fmt: skip

stream_t = record([("first", "i8"), ("length", "i8"), ("digest", "i8")])  # one warp's items

script_t = record([
    ("block", "i8"),  # the block it was recorded from
    ("first", "i8", (WARPS,)),  # first event of each of its warps
    ("low", "i8", (FEED,)),  # lowest byte of global memory accessed, or number compared
    ("high", "i8", (FEED,)),  # behind the highest
])  # fmt: skip

flight_t = record([  # of an instruction whose result is not written, or whose sources are not read
    ("pc", "i8"),
    ("order", "i8"),  # counts up
    ("mask", "i8", (GROUPS,)),  # active lanes, by lane group
    ("written", "i8"),  # when its result is
    ("read", "i8"),  # when its sources are
    ("written_back", "i8"),  # 1: the result has been written
    ("stale", "i8"),  # 1: a source was overwritten before it was read
    ("truth", "i8", (GROUPS,)),  # its predicate, as masks of lanes
    ("values", "u4", (GROUPS, 4, LANES)),  # its registers
])  # fmt: skip

hazard_t = record([
    ("kind", "i8"),  # as in rules/in_flight.py
    ("pc", "i8"),
    ("name", "i8"),  # register; or REGISTERS and the index of a predicate
    ("other", "i8"),  # pc of the instruction that it has it with
    ("times", "i8"),
])  # fmt: skip

buffer_t = record([("start", "i8"), ("end", "i8")])  # byte addresses

trace_t = record([
    ("cycle", "i8"),
    ("kind", "i8"),  # one of TRACE_KINDS
    ("agent", "i8"),
    ("warp", "i8"),  # slot
    ("block", "i8"),  # id in the grid
    ("pc", "i8"),
    # issue, refuse: slot at which it was ready; serve: cycles of the unit; release, select, replay: until when;
    # hold: the shared reason; block: its slot
    ("detail", "i8"),
    ("unit", "i8"),  # issue: the pipe it takes; serve: the queue it comes from; hold: the unit class; else -1
    ("lanes", "i8"),  # issue: threads whose guard holds
    ("end", "i8"),  # issue, serve: when the pipe, or the load/store unit, has done with it
    ("read", "i8"),  # serve: when its source registers may be overwritten
    ("done", "i8"),  # issue, serve: when its result is there, or its store has left
    ("back", "i8"),  # serve: when what counts the warp's accesses under way has it back
    ("release_at", "i8", (OWN,)),  # issue, refuse: release time of each own reason
])  # fmt: skip

scratch_t = record([
    ("seen", "i8", (BANKS, LANES)),  # words seen per bank
    ("depth", "i8", (BANKS,)),  # how many
    ("line", "i8", (4 * LANES,)),
    *[(name, "u4", (LANES,)) for name in ("address", "flag", "a", "b", "c", "d")],
    *[(name, "u8", (LANES,)) for name in ("a64", "b64", "c64", "d64")],
])  # fmt: skip

sm_t = record([
    ("now", "i8"),
    ("cycles", "i8"),  # when the last block finished
    ("agenda", "i8", (AGENTS,)),  # when each agent acts next
    ("agents", "i8"),
    ("load_store_agent", "i8"),
    ("placed", "i8"),  # blocks so far
    ("aged", "i8"),  # warps so far
    ("ordered", "i8"),  # warps and yields so far
    ("writes", "i8"),  # register writes so far
    ("defers", "i8"),  # 1: results are written when they are there (rules/in_flight.py)
    ("hazardous", "i8"),  # hazards noted
    ("replaying", "i8"),  # 1: outcomes come from recorded streams
    ("provable", "i8"),  # 1: global addresses are all that depends on the block, by `block_step`
    ("memory_feeds", "i8"),  # memory instructions of the program
    ("feeds", "i8"),  # those, and comparisons that move with the block
    ("recorded", "i8"),  # items of streams
    ("streamed", "i8"),  # streams
    ("scripted", "i8"),  # scripts
    ("visits", "i8"),  # instructions walked through
    ("diverges", "i8"),  # 1: lanes of a warp may part
    ("forwarding", "i8"),  # 1: events are watched for the state to come back
    ("event", "i8"),  # of this cycle, as in rules/stream.py
    ("marker", "i8"),  # warp slot whose way round its loop is watched, -1: none yet
    ("skipped", "i8"),  # cycles taken at once
    ("log", "i8", (LOG,)),  # scripts of the last blocks placed
    ("tracing", "i8"),  # 1: keep trace records
    ("traced", "i8"),  # those that wait to be taken away
    ("exclusive_until", "i8"),  # one issue per slot for the whole SM until then
    ("empty", "i8"),  # warp-slot cycles without a block
    ("empty_since", "i8", (WARPS,)),
    ("warp_slots", "i8"),
    ("machine", machine_t), ("launch", launch_t), ("outcome", outcome_t), ("fault", fault_t),
    ("load_store", load_store_t),
    ("schedulers", scheduler_t, (SCHEDULERS,)),
    ("pipes", pipe_t, (SCHEDULERS, PIPES)),  # by instance
    ("lines", "i8"),  # of the program
    ("instruction_caches", instruction_cache_t, (LEVELS - 1 + SCHEDULERS,)),  # the SM's, then the schedulers' own
    ("blocks", block_t, (BLOCKS,)),
    ("warps", warp_t, (WARPS,)),
    ("lanes", lanes_t, (LANE_GROUPS,)),
    ("simt_stack", path_t, (WARPS, PATHS)),
    ("scratch", scratch_t),
    ("buffers", buffer_t, (BUFFERS,)),
    ("program", decoded_t, (PROGRAM,)),  # and how often each instruction issued and why warps waited at it
    ("feed", feed_t, (LANE_GROUPS, FEED)),  # what the addresses of each lane group's memory instructions cost
    ("block_step", "i8", (FEED, 3)),  # bytes by which an address moves from a block to its neighbour in x, y, z
    ("events", event_t, (EVENTS,)),
    ("in_flight", flight_t, (WARPS, FLIGHTS)),
    ("hazards", hazard_t, (HAZARDS,)),
    ("streams", stream_t, (STREAMS,)),
    ("scripts", script_t, (SCRIPTS,)),
    ("records", trace_t, (TRACE,)),
])  # fmt: skip

# What the SMs of one chip share, handed to the SM that acts.
chip_t = record([
    ("next", "i8"),  # id of the next block to place behind the first wave
    ("end", "i8"),  # block ids end here
    ("channel", "i8"),  # when the memory channel is free, in parts of a cycle
])  # fmt: skip

TRACE_MARGIN = 512  # more trace records than one cycle can write
FREE, RUNNING, DONE = range(3)

TRACE_KINDS = ("place", "issue", "refuse", "serve", "release", "retire", "hold", "select", "replay")
PLACE, ISSUE, REFUSE, SERVE, RELEASE, RETIRE, HOLD, SELECT, REPLAY = range(len(TRACE_KINDS))
