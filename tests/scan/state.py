"""The state of the SM in a scan of every cycle (`every_cycle.py`): plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from gpusim.machine.machine import Machine
from gpusim.sm.unit.stall import Stall
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.nvidia.control import BARRIERS
from isa.row import Row
from scan.caches import Caches, Request, Work

LATER = 1 << 60
Holder = Callable[[], int]  # of a dependency barrier: the cycle at which it lets go
Event = tuple[int, str, int, int, int, int, int]  # cycle, kind, agent, warp slot, block, pc, detail


@dataclass(eq=False)
class Access:
    """A load, store or texture fetch from its issue on; LATER: not served yet."""

    warp: Warp
    pc: int
    cycles: int
    extra: int
    lines: int
    read: int = LATER
    done: int = LATER
    number: int = 0  # in the order of issue
    there: int = 0  # when it would be done if all its results had been written in time
    unwritten: int = 0
    requests: list[Request] = field(default_factory=list)  # to caches that keep tags
    comes: int = 0  # the cycle in which its last line does, of a load that waits for lines
    updates: Work = field(default_factory=dict)  # of an atomic
    idle: bool = False  # no lane makes it
    own: int = 0  # cycles that its lanes need; 0: as many as the unit serves it


@dataclass(eq=False)
class Result:
    """What a load/store unit brings back: from when on its banks can be written, and whether shared memory did."""

    at: int
    banks: set[int]
    shared: bool
    access: Access


@dataclass(eq=False)
class Warp:
    """A resident warp: the ends of its waits, and why it did not issue in each slot (`log`)."""

    slot: int
    block: int
    index: int
    age: int  # order of placement
    start: int
    frame: Any
    group: Any
    pc: int = 0
    barrier: int = 0
    branch: int = 0
    issue_interval: int = 0
    refused: int = 0
    order: int = -1  # of placements and yields
    yielded: int = -(10**9)  # when it issued last, if it did so then
    forks: list[Any] = field(default_factory=list)  # where its lanes have diverged (scan/simt_stack.py)
    groups: Any = None  # of independent lanes (interpreter.lanes.convergence)
    leads: int = 0  # the lane whose way it has time for, if lanes are packed (scan/packed.py)
    kept: dict[tuple[str, int], int] = field(default_factory=dict)  # reuse cache: (operand slot, word) to register
    line: int = -2  # of the instruction caches
    fetched: int = 0  # when its line has come
    constants: int = 0  # when those of its next instruction have come
    exited: bool = False
    ready_at: int = LATER
    reason: Stall | None = None  # of the slot that runs
    charged: int = 0  # pc that the slot is charged to
    results: dict[str, tuple[Access | int, Stall]] = field(default_factory=dict)
    readers: dict[str, list[Access]] = field(default_factory=dict)
    accesses: list[Access] = field(default_factory=list)
    copies: list[tuple[int, Access]] = field(default_factory=list)  # each with its group
    closed: int = 0  # groups of copies
    loaded: bool = False  # from global memory since its last fence
    stores_left: list[int] = field(default_factory=list)  # when each of its stores has left the SM
    shared_back: int = 0  # when the last of its loads from shared memory is back
    counted: int = 0  # when the stall count of its last instruction is over
    under_way: list[tuple[Access, Any]] = field(default_factory=list)  # with their lanes
    holders: list[list[tuple[Holder, Stall]]] = field(default_factory=lambda: [[] for _ in range(BARRIERS)])
    log: dict[int, Stall | None] = field(default_factory=dict)


@dataclass(eq=False)
class Scheduler:
    """A warp scheduler; `idle` are (begin, cycles) of the slots since the last one used."""

    last: int = -1
    active: list[Warp] = field(default_factory=list)
    yielded: bool = False
    issued_at: int = -LATER
    turn: list[Row] = field(default_factory=list)  # issued in the last turn that was used
    idle: list[tuple[int, int]] = field(default_factory=list)
    replays: int = 0  # slots that accesses take again, from the next slot on
    stalled: int = 0  # nothing dispatches until then
    selected: Warp | None = None  # chosen, but it could not go
    before: tuple[Warp, int] | None = None  # the last instruction that read operands
    reading: dict[int, int] = field(default_factory=dict)  # by register bank: the cycle of its last read
    collected: list[int] = field(default_factory=list)  # when each instruction had its operands
    kept: dict[tuple[str, int], tuple[Warp, int]] = field(default_factory=dict)  # the reuse cache that warps share
    addressed: int | None = None  # bank of the address that the last instruction read, unless it took longer
    matrix_reads: set[tuple[int, int]] = field(default_factory=set)  # (bank, cycle) of matrix instructions' reads
    matrix_writes: set[int] = field(default_factory=set)  # cycles in which their results take all banks
    matrix_memory: int = 0  # from when on a memory instruction issues
    leaves: int = 0  # a matrix instruction leaves its pipe at this cycle at the earliest
    matrix_until: int = 0  # from when on neither matters
    writing: set[int] = field(default_factory=set)  # register banks that a pipe's result takes in this cycle
    results: list[Result] = field(default_factory=list)  # that came back and are not written, in order
    wrote: int = -LATER  # the last cycle in which one was written
    asked: set[int] = field(default_factory=set)  # cycles in which the first had waited for long


@dataclass(eq=False)
class Scan:
    """The SM and the counts so far."""

    kernel: Kernel
    machine: Machine
    resident: int
    code: tuple[Instruction, ...]  # with control codes if the machine obeys them
    memory: Any
    warps: list[Warp | None]
    schedulers: list[Scheduler]
    blocks: dict[int, tuple[int, list[Warp]]] = field(default_factory=dict)  # slot: id and warps
    finished: dict[int, int] = field(default_factory=dict)  # slot: when its last warp leaves
    placed: int = 0
    entered: int = 0  # accesses so far
    late: list[Access] = field(default_factory=list)  # loads that wait for lines
    queues: dict[int, list[Access]] = field(default_factory=dict)  # by number: the SM's, or each scheduler's
    ports: dict[int, int] = field(default_factory=dict)  # by number: when its next instruction may be served
    leaving: dict[int, list[int]] = field(default_factory=dict)  # by number: when each served entry gives up its place
    turn: int = 0  # queue that is asked first
    free: dict[int, int] = field(default_factory=dict)  # by unit: when it can serve again
    channel: int = 0  # 1/64 cycles
    caches: Caches | None = None  # if tags say what hits
    pipes: dict[tuple[str, int], int] = field(default_factory=dict)
    instruction_caches: dict[tuple[str, int], dict[int, int]] = field(default_factory=dict)  # lines, oldest first
    passed: dict[str, Fraction] = field(default_factory=dict)  # by cache: when its port is free
    constants: dict[tuple[str, int, int], int] = field(default_factory=dict)  # by cache, bank, line: when it comes
    served_until: int = -(10**9)  # until when the next cache serves the line of constants before
    handed_until: Fraction = Fraction()  # until when the chip hands out the block before
    exclusive: int = 0
    early: list[tuple[int, str]] = field(default_factory=list)  # pc, and a name that it touched too early
    ordered: int = 0  # warps placed, and yields
    barriers: dict[int, Any] = field(default_factory=dict)  # by block, those in use
    arrived: int = 0  # when the barrier unit has seen all arrivals
    last_arrivals: dict[int, int] = field(default_factory=dict)  # by barrier in use: when it has seen the last one
    stalls: Counter[tuple[int, Stall]] = field(default_factory=Counter)
    lost: Counter[tuple[int, Stall]] = field(default_factory=Counter)
    empty: int = 0
    cycles: int = 0
    events: list[Event] = field(default_factory=list)
    ends: list[tuple[int, int]] = field(default_factory=list)  # of blocks: when, and how many instructions before that
    registers: dict[int, Any] = field(default_factory=dict)  # warp slot: [register, lane] of its last warp's threads


def registers_of(sm: Scan, warp: Warp) -> Any:
    """[register, lane] of a warp's threads."""
    return warp.frame.registers[:, warp.index, : sm.kernel.threads - warp.index * sm.kernel.warp_size]
