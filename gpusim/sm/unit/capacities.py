"""What does not grow with a launch: ranges of machine files, limits of codes and masks, how much is kept or tried."""

from __future__ import annotations

from isa.row import Groups, Unit

NEVER = 1 << 60  # a time later than every cycle: not known yet

# Ranges of machine files. Of a machine's numbers there is room for as many.
SCHEDULERS = 8
PORTS = 6  # instructions that one scheduler issues in one turn
PIPES = 12
CHOICES = 4  # pipes that may execute one unit class
WARPS = 128
BLOCKS = 40
QUEUE = 64  # memory instructions
CACHED = 2048  # lines of one instruction cache
CHANNELS = 16  # of the DRAM
SLICES = 128  # of the L2, that do atomics
HELD_LINES = 64  # of stores that later ones may join

# Limits of codes: bits of a mask that never turns negative, names, what an instruction has.
SLOTS = 62  # warps of one scheduler
CONSTANT_LINES = 62  # of the constant cache
UNITS = len(Unit)
BARRIERS = 16
LANES = 32  # of a lane group, which values are computed for at once: a warp of 64 lanes has two
GROUPS = 2  # of a warp at most
REGISTERS = 320  # of a thread, and those that a warp shares: their names; those of predicates follow
PREDICATES = 15  # of a thread, then those that a warp shares
READ, WRITTEN = 7, 7  # predicates of an instruction
OPERANDS = 6  # slots a, b, c of 32 bits, then those of 64
OPERAND_WORDS = 16  # of one operand: its registers
REGISTER_BANKS = 4
REUSE = 2  # words that the reuse cache keeps for an operand slot
HOLDS = 18  # six dependency barriers, each by three reasons (sm/registers/control_code/control_code.py)
COUNTERS = 2  # of a warp's accesses under way: vmcnt, lgkmcnt
COUNTED = 64  # accesses that a wait counter may tell from each other
GROUPED = 16  # groups of a warp's work of one kind that are told apart
GROUP_KINDS = len(Groups)
PRODUCTS = 1024  # matrix instructions of all warpgroups that have not begun
UNITS_OF_MEMORY = 3
AT_HAND = 7  # agents of an SM of four schedulers, the common case: checking all each cycle would cost a few percent

# How much is kept or tried, in any launch.
COLLECTING = 4  # instructions of a scheduler that collect operands at once
RETURNING = 32  # results of a scheduler that wait to be written to its register file
EFFECTS = 256  # of a warp's instructions, that have not landed or are still needed
AWAITED = 6  # phases of barriers in shared memory that a warp waits for at once
COPIES = 256  # of the copy engine of an SM, under way or asked for
PIECES = 1024  # of copies, on their way
MAPS = 8  # tensor maps that a copy engine has at hand
HAZARDS = 64  # that are noted
TOLD = 64  # phases of other blocks' barriers that an SM ends in a cycle
WAVES = 16  # of blocks, that are told from each other where one SM stands for all
QUESTIONS = 256  # of an SM to the chip that have no answer yet: a power of two
SERVED = 32  # more than one cycle may add to them
LATE_LINES = 1024  # a power of two, twice as many as an SM asks for that have not come
RETURNS = 512  # loads whose lines have not come
REQUESTS = 256  # lines of an access: four words of local memory of each of 64 lanes
CALENDAR = 32  # issue slots ahead that a scheduler looks after
REMEMBERED_BITS = 9
REMEMBERED = 1 << REMEMBERED_BITS  # accesses of a warp whose cost is remembered at once
FEED = 2048  # places whose range a recorded block keeps
EVENTS = 65536  # of recorded streams
STREAMS = 512  # recorded ones that others are compared with
SCRIPTS = 32  # blocks whose accesses differ
DEPTHS = 4  # loops inside loops that a stream counts
LOG = 256  # placed blocks whose scripts are remembered
ENDS = 4096  # blocks of which it is remembered when they left
RECORDED = 1 << 20  # words of the requests that go with them, where caches keep tags
VISITS = 64_000_000  # instructions walked through to record streams: a few seconds
TRACE = 16384  # records that may wait to be taken away
TRACE_MARGIN = 1024  # more trace records than one cycle can write
