"""The dependence chain: the least time that one warp needs for its instructions, even with the SM to itself.

A warp's instructions issue in order. Each basic block is followed with the rules of the scoreboard and the warp's own
use of pipes and load/store unit, from a state with nothing pending; anything else in flight only adds time. Times of
basic blocks add up, weighted by how often the warps execute them. A loop of one basic block is followed until its state
recurs, relative to the clock: then its time per round is known exactly.

Only certain waits count: an instruction under a guard may do nothing, and then no instruction waits for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from gpusim.bounds.chain.access_cost import AccessCost
from gpusim.engines.walks.profile import Profile
from gpusim.sm.account.stall_accounting import stall_accounting
from gpusim.sm.front.barrier import barrier
from gpusim.sm.lanes.convergence.declaration import GO_INDIRECT, IF_PARTED
from gpusim.sm.records import MachineNumbers, Records, Row, Warp
from gpusim.sm.registers.control_code import control_code
from gpusim.sm.registers.scoreboard import scoreboard
from gpusim.sm.registers.wait_count import wait_count
from gpusim.sm.state.room import made, sizes
from gpusim.sm.state.unpacked import unpacked, unpacked_rows
from gpusim.sm.unit.capacities import COUNTED, COUNTERS, LANES, REGISTERS, UNITS_OF_MEMORY
from gpusim.sm.unit.dimensions import COUNT, COUNTER, REGISTER
from gpusim.sm.unit.opcodes import BARRIER, BRANCH, EXIT, FETCH, LOAD
from gpusim.sm.unit.stall import OWN, Stall

FRESH = made("warp", 1, sizes({REGISTER: REGISTERS, COUNTER: COUNTERS, COUNT: COUNTED}))[0]
ROUNDS = 12  # of a loop, at most, until its state must recur
PENDING = (
    "ready",
    "read_by",
    "read",
    "predicate",
    "let_go",
)  # times that a warp carries from one instruction to the next


@dataclass(frozen=True, slots=True)
class Code:
    """A decoded program as namespaces, its machine, the cost of its memory accesses, and the starts of basic blocks."""

    rows: Sequence[Row]
    pipes: Sequence[Sequence[int]]  # by pc, those that may take the instruction
    machine: MachineNumbers
    costs: Mapping[int, AccessCost]
    always: frozenset[int]  # pcs that did something whenever they were executed
    leaders: Sequence[int]


@dataclass(slots=True)
class SingleWarp:
    """A warp with the SM to itself: its record, when it may issue next, and when each unit that it uses is free again.

    `ports` of its last turn are still free; of the rules for several issues in a turn, only the number of ports counts.
    A pipe is occupied only by instructions that no other pipe takes. `counted`: when its last stall count is over.
    """

    warp: Warp
    next: int
    issued: int
    ports: int
    units: list[int]
    pipes: dict[int, int]
    counted: int = 0


def code(
    numbers: MachineNumbers, program: Records[Row], costs: Mapping[int, AccessCost], always: frozenset[int]
) -> Code:
    """Unpack a launch's machine and program, and find its basic blocks."""
    rows = unpacked_rows(program)
    after = {pc + 1 for pc, row in enumerate(rows) if row.action in (BRANCH, EXIT) or row.steers}
    met = {
        row.reconvergence for row in rows if row.reconvergence >= 0
    }  # once for all paths; the code before it, once for each
    leaders = {0, *after, *met, *(row.target for row in rows if row.action == BRANCH)}
    units = numbers.units
    pipes = [units[row.unit]["choice"][: units[row.unit]["choices"]].tolist() for row in rows]
    return Code(rows, pipes, unpacked(numbers), costs, always, sorted(pc for pc in leaders if pc < len(rows)))


def cycles_of_warp(program: Code, profile: Profile, warps: int) -> Fraction:
    """Return the least cycles from a warp's start to its end, on the average over the block's warps."""
    exits = sum(int(count) for row, count in zip(program.rows, profile.counts, strict=False) if row.action == EXIT)
    total = Fraction(max(0, warps - exits) * program.machine.interval)  # a warp also exits after the last instruction
    return sum((_of_basic_block(program, profile, *span) for span in _spans(program)), total) / warps


def _spans(program: Code) -> Iterator[tuple[int, int]]:
    """Yield first pc and end of each basic block, without the row after the program."""
    ends = [*program.leaders[1:], len(program.rows)]
    for first, end in zip(program.leaders, ends, strict=True):
        if first < len(program.rows) - 1:
            yield first, min(end, len(program.rows) - 1)


def _of_basic_block(program: Code, profile: Profile, first: int, end: int) -> Fraction:
    """Return the cycles in a basic block, summed over the block's warps."""
    visits = int(profile.counts[first])
    if visits == 0:
        return Fraction(0)
    last = program.rows[end - 1]
    counted = last.action == BRANCH and last.narrows < IF_PARTED  # who goes on at BRA.DIV is active there, too
    taken = -(-int(profile.active[end - 1]) // (LANES * program.machine.groups)) if counted else 0
    onward, jump = _through(program, first, end)
    if taken and last.target == first and last.steers != GO_INDIRECT:
        return (
            max(Fraction(taken * jump), _rounds(program, first, end, taken, visits - taken)) + (visits - taken) * onward
        )
    return Fraction(visits * onward + taken * (jump - onward))


def _through(program: Code, first: int, end: int) -> tuple[int, int]:
    """Return the cycles from the first issue to the next basic block (or the warp's end), onward and by the branch."""
    single = start()
    follow(program, single, range(first, end))
    if program.rows[end - 1].action == EXIT:
        return single.issued + program.machine.interval, 0
    onward = single.issued if single.ports else slot(program, single.next)
    jump = max(single.next, single.counted, single.issued + program.machine.branch)
    return max(onward, slot(program, single.counted)), slot(program, jump)


def _rounds(program: Code, first: int, end: int, rounds: int, entries: int) -> Fraction:
    """Return the least cycles of that many rounds of a loop, summed over `entries` entries into it.

    Round k ends no earlier than k times the recurring time minus a head start, and each entry has one head start.
    """
    single, times, states = start(), [0], [_pending(start(), 0)]
    for _ in range(ROUNDS):
        follow(program, single, range(first, end))
        single.next = slot(program, max(single.next, single.issued + program.machine.branch))
        times.append(single.next)
        states.append(_pending(single, single.next))
        if states[-1] in states[:-1]:
            same = states.index(states[-1])
            rate = Fraction(times[-1] - times[same], len(times) - 1 - same)
            head_start = max(k * rate - time for k, time in enumerate(times))
            return rounds * rate - entries * head_start
    return Fraction(0)


def start() -> SingleWarp:
    """Return a warp with nothing pending, at cycle 0."""
    return SingleWarp(unpacked(FRESH), 0, 0, 0, [0] * UNITS_OF_MEMORY, {})


def follow(program: Code, single: SingleWarp, pcs: Sequence[int]) -> None:
    """Let the warp issue these instructions, each as soon as its own earlier ones allow."""
    for pc in pcs:
        row, warp = program.rows[pc], single.warp
        warp.release_at[:] = [0] * OWN
        warp.release_at[Stall.WAIT] = single.counted
        (control_code if program.machine.obeys_codes else scoreboard).earliest(warp, row)
        if program.machine.counts:
            wait_count.earliest(warp, row)
        if program.machine.barrier_defers:
            barrier.earliest(warp, row)
        warp.release_at[Stall.DRAIN] = warp.drained if row.action == EXIT else 0
        _issue(program, single, row, max(stall_accounting.latest(warp), _pipe_free(program, single, row, pc)))
        if pc in program.always:
            _occupy(program, single, row, pc)


def _pipe_free(program: Code, single: SingleWarp, row: Row, pc: int) -> int:
    """Return when the first of its pipes is free; 0 where an idle guard would not ask for one."""
    if pc not in program.always and not program.machine.units["asked"][row.unit]:
        return 0
    return min((single.pipes.get(pipe, 0) for pipe in program.pipes[pc]), default=0)


def _issue(program: Code, single: SingleWarp, row: Row, ready: int) -> None:
    """Issue in a further port of the last turn, or in the next turn."""
    machine = program.machine
    if single.ports and ready <= single.issued:
        single.ports -= 1
    else:
        single.issued = slot(program, max(ready, single.next))
        single.ports = machine.ports - 1 if machine.same_warp else 0
    if row.action in (BARRIER, BRANCH, EXIT):
        single.ports = 0
    single.next = single.issued + machine.issue_interval
    if machine.obeys_codes:
        single.counted = single.issued + control_code.stall_of(machine, row)


def slot(program: Code, cycle: int) -> int:
    """Return the start of the first issue slot at or after a cycle; a warp's slots are whole intervals apart."""
    return int(stall_accounting.slot_from(program.machine, 0, cycle))


def _occupy(program: Code, single: SingleWarp, row: Row, pc: int) -> None:
    """Note the units that the instruction occupies, and the registers that it makes later instructions wait for."""
    if row.pipe >= 0 or row.service:
        if len(program.pipes[pc]) == 1:
            single.pipes[row.pipe] = single.issued + program.machine.pipe_interval[row.pipe] * row.intervals
        fetched = row.action == FETCH and pc in program.costs
        ready = single.issued + (program.costs[pc].delay if fetched else row.latency)
        if row.counter >= 0:
            _counted(single, row, pc, ready)
        else:
            scoreboard.commit(single.warp, row, ready)
        control_code.let_go(single.warp, row, single.issued, ready)
        if row.action in (FETCH, LOAD):
            single.warp.drained = max(single.warp.drained, ready)
    elif pc in program.costs:
        _access(program, single, row, pc)
    elif row.action == BARRIER and not (program.machine.barriers_pass or row.goes_on or row.cluster_step):
        arrived = single.issued + program.machine.per_arrival
        released = arrived + max(1, program.machine.barrier) + program.machine.per_warp
        if program.machine.barrier_defers:
            single.warp.released_at = released
        else:
            single.next = max(single.next, released)


def _access(program: Code, single: SingleWarp, row: Row, pc: int) -> None:
    cost = program.costs[pc]
    path = int(row.path)
    served = max(single.issued, single.units[path])
    single.units[path] = served + cost.shortest
    single.warp.drained = max(single.warp.drained, served + cost.delay)
    scoreboard.hold(single.warp, row, 0)
    scoreboard.let_go(single.warp, row, 0, served + cost.hold)
    control_code.let_go(single.warp, row, served + cost.hold, served + cost.delay)
    if row.counter >= 0:
        _counted(single, row, pc, served + cost.delay)
    if row.tracked and row.action == LOAD:
        scoreboard.commit(single.warp, row, served + cost.delay)


def _counted(single: SingleWarp, row: Row, pc: int, back: int) -> None:
    wait_count.commit(single.warp, row, pc)
    if row.queued:
        wait_count.serve(single.warp, row.counter, pc, back)
        wait_count.settle(single.warp, row.counter)
    else:
        wait_count.load(single.warp, row, back)


def _pending(single: SingleWarp, now: int) -> tuple[tuple[int, ...], ...]:
    """Return what the warp still waits for, as cycles from now."""
    times = [getattr(single.warp, name) for name in PENDING]
    times += [*single.warp.returned, single.warp.latest]
    times += [list(single.pipes.values()), [*single.units, single.counted, single.warp.released_at]]
    return tuple(tuple(max(0, t - now) for t in some) for some in times)
