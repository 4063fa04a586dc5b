"""How much of what a machine and a program may have fits into the records of the state."""

from __future__ import annotations

SMS = 256
SCHEDULERS = 8
PORTS = 6  # instructions that one scheduler issues in one turn
WARPS = 64
SLOTS = 62  # warps of one scheduler: bits of a mask that never turns negative
BLOCKS = 40
BARRIERS = 16
UNITS = 32  # unit classes
PIPES = 12
CHOICES = 4  # pipes that may execute one unit class
AT_HAND = 6  # agents of an SM of four schedulers, the common case: checking ten each cycle would cost a few percent
NEVER = 1 << 60  # a time later than every cycle: not known yet

LANES = 32  # of a lane group, which values are computed for at once: a warp of 64 lanes has two
GROUPS = 2  # of a warp at most
LANE_GROUPS = 80  # 64 warps of 32 lanes, or 40 of 64
REGISTERS = 320  # of a thread, and those that a warp shares
PREDICATES = 15  # of a thread, then those that a warp shares
READ, WRITTEN = 7, 7  # predicates of an instruction
REGISTER_BANKS = 4
COLLECTING = 4  # instructions of a scheduler that collect operands at once
RETURNING = 32  # results of a scheduler that wait to be written to its register file
OPERANDS = 6  # slots a, b, c of 32 bits, then those of 64
REUSE = 2  # words that the reuse cache keeps for an operand slot
STACK_ENTRIES = 128  # waiting ones of a warp: 64 lanes diverge at most 63 times, and each time at most two wait
PARTED = 96  # groups of a warp that do not run: of 32 lanes, some of which are also in a collective

CONSTANT_LINES = 62  # of the constant cache: bits of a mask that never turns negative
HOLDS = 18  # six dependency barriers, each by three reasons (sm/registers/control_code/control_code.py)
COUNTERS = 2  # of a warp's accesses under way: vmcnt, lgkmcnt
COUNTED = 64  # accesses that a wait counter may tell from each other
IN_FLIGHT = 256  # instructions of a warp whose result or reads are under way
HAZARDS = 64  # that are noted

QUEUE = 64  # memory instructions
QUEUES = 2 * SCHEDULERS
UNITS_OF_MEMORY = 2
CHANNELS = 16  # of the DRAM
SLICES = 128  # of the L2, that do atomics
WAVES = 16  # of blocks, that are told from each other where one SM stands for all
BANKS = 128  # of shared memory
QUESTIONS = 256  # of an SM to the chip that have no answer yet: a power of two
SERVED = 32  # more than one cycle may add to them
REQUESTS = 256  # lines of an access: four words of local memory of each of 64 lanes
CACHED = 2048  # lines of one instruction cache
CALENDAR = 32  # issue slots ahead that a scheduler looks after

PROGRAM = 32769  # rows: 32,768 instructions, and one behind their end
BUFFERS = 64
TEXTURES = 64  # texture objects, and one that is none
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
TRACE_MARGIN = 512  # more trace records than one cycle can write
