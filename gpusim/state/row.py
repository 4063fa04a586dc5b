"""One decoded instruction: a row of integers, and what is counted of it (`gpusim.launch.decode` fills it)."""

from __future__ import annotations

from gpusim.state.layout import record
from gpusim.state.stall import REASONS

COUNTERS = 2  # of a warp's accesses under way: vmcnt, lgkmcnt

decoded_t = record([  # what every issue reads stands first, in few cache lines with what it counts
    ("latency", "i4"),  # cycles to its result, where that is fixed; from its service, if it is queued
    ("feed", "i4"),  # place among the memory instructions, and comparisons, whose reach is remembered (-1: none)
    ("action", "i1"),
    ("unit", "i1"),  # unit class
    ("pipe", "i1"),  # index of the first of its pipes, -1: none
    ("reason", "i1"),  # stall reason of whoever waits for its result
    ("double", "i1"),  # 1: double precision
    ("queued", "i1"),  # 1: goes through the load/store unit
    ("space", "i1"),
    ("cached", "i1"),  # the cache it asks first, counted from 1; 0: none keeps tags of it
    ("width", "i1"),  # 0, 1, 2 for 32, 64, 128 bits
    ("eventful", "i1"),  # 1: its outcome depends on values
    ("evaluate", "i1"),  # 1: its result is computed
    ("counter", "i1"),  # that counts it while it is under way, -1: none
    ("counted", "i1"),  # by how much
    ("tracked", "i1"),  # 1: registers that it writes are pending until it is back
    ("most", "i1", (COUNTERS,)),  # accesses under way with which it may issue, by counter, -1: any number
    ("guard", "i1"),
    ("selector", "i1"),  # predicate handed to the value function as c, -1: none
    ("predicate", "i1"),  # predicate written, -1: none
    ("reads", "i1"),  # how many of `read` count
    ("waits", "i1"),  # how many of `read` it waits for: behind those read stand those that are only written
    ("writes", "i1"),
    ("read", "u1", (17,)),  # registers read
    ("write", "u1", (16,)),  # registers written
    ("issued", "i8"),  # warp instructions issued
    ("active", "i8"),  # thread instructions whose guard held
    ("passes", "i8"),  # load/store cycles it took
    ("stall", "i8", (REASONS,)),  # warp-cycles by reason while it was the warp's next instruction
    ("service", "i4"),  # load/store cycles, where its addresses do not say them
    ("port", "i4"),  # least cycles from its service to the next one of its scheduler's
    ("port_cycles", "i4"),  # or so many for each of its load/store cycles
    ("war", "i4"),  # cycles from service until its source registers may be overwritten
    ("words", "i4"),  # 32-bit words per operand, of a texture fetch per coordinate
    ("access_bytes", "i4"),  # bytes that a lane accesses
    ("alignment", "i4"),  # bytes of which an address is a multiple
    ("intervals", "i4"),  # initiation intervals for which it keeps its pipe
    ("update", "i4"),  # index of what an atomic does to its word, -1: no atomic
    ("turns", "i4"),  # passes of an atomic for each lane in the fullest bank, 0: as a load
    ("distinct", "i4"),  # load/store cycles for each distinct word, 0: its lines say
    ("value", "i4"),  # index into the action's group of value functions
    ("source", "i4", (3,)),  # first register of a, b, c; -1: the constant below
    ("constant", "u8", (3,)),
    ("negated", "i4", (3,)),  # 0, SIGN_BIT or TWOS_COMPLEMENT
    ("destination", "i4"),  # first register written, -1: none
    ("selector_negated", "i4"),
    ("guard_negated", "i4"),  # 1: negated; 2 more: whether it is true in any lane
    ("pointer", "i4"),  # address register, -1: none
    ("special", "i4"),  # index into SPECIALS
    ("offset", "i8"),  # bytes
    ("limit", "i8"),  # texture: elements
    ("table", "i4"),  # truth table of a bitwise function
    ("bias", "i8"),  # comparison: added to both numbers, their order is that of unsigned ones
    ("target", "i4"),  # pc of a branch's target
    ("reconvergence", "i4"),  # pc where lanes meet that part here, -1: none do
    ("barrier", "i4"),
    ("arrivals", "i4"),  # warps that release the barrier
    ("stall_count", "i4"),  # control code: cycles until the warp's next issue; 0 too where there is no code
    ("yields", "i4"),  # 1: the scheduler may turn to another warp
    ("read_barrier", "i4"),  # let go when the sources have been read, -1: none
    ("write_barrier", "i4"),  # let go when the result is there, -1: none
    ("wait_mask", "i4"),  # mask of the barriers waited for
    ("bank_reads", "i4"),  # registers read from each bank, a byte for each bank
    ("bank_returns", "i4"),  # cycles that what comes back through the queue takes of each bank, a byte for each
    ("reuse", "i4"),  # mask of the sources a, b, c that stay for the next instruction
    ("line", "i4"),  # of the program, as instruction caches have it
    ("visit", "i4"),  # the first pc from here on that decides addresses, guards or branches, or depends on them
])  # fmt: skip
