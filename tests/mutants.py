"""Wrong rules, each planted in turn, and whether a scan of every cycle notices.

`NUMBA_DISABLE_JIT=1 python tests/mutants.py` prints one line for each mutant: its name, and `caught` or `survived`. The
twins would not notice: they share the rules.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from mutated import APART, BUSY, CHANGES, CHANNEL, CODES, COUNTERS, FETCH, REUSING, STORING, TAGS
from scan.every_cycle import scan
from timing import plain_machine
from twins import mistakes

from gpusim.engines.simulate import run_sm
from gpusim.launch.codes.assign_codes import with_codes
from gpusim.sm.account.stall_accounting import stall_accounting
from gpusim.sm.front.barrier import barrier
from gpusim.sm.front.block_scheduler import block_scheduler
from gpusim.sm.front.dispatch import dispatch
from gpusim.sm.front.fetch import fetch
from gpusim.sm.front.policies import policies
from gpusim.sm.front.selection import selection
from gpusim.sm.jit.rule import lowest_bit
from gpusim.sm.lanes.simt_stack import simt_stack
from gpusim.sm.memory import queues
from gpusim.sm.memory.cache import cache, requests, stores, tags
from gpusim.sm.memory.constant_operand import constant_operand
from gpusim.sm.memory.global_memory import global_memory
from gpusim.sm.memory.l2_atomic import l2_atomic
from gpusim.sm.memory.l2_channel import held_stores, l2_channel
from gpusim.sm.memory.memory_access import access_cost
from gpusim.sm.memory.shared_memory import shared_memory
from gpusim.sm.memory.tag_stage import tag_stage
from gpusim.sm.memory.texture import texture
from gpusim.sm.pipes.double_precision import double_precision
from gpusim.sm.pipes.instruction_replay import instruction_replay
from gpusim.sm.pipes.load_store import load_store, returns
from gpusim.sm.pipes.pipe import pipe
from gpusim.sm.registers.control_code import control_code
from gpusim.sm.registers.register_file import register_file
from gpusim.sm.registers.scoreboard import scoreboard
from gpusim.sm.registers.wait_count import wait_count
from gpusim.sm.registers.write_back import write_back
from gpusim.sm.unit.capacities import NEVER
from gpusim.sm.unit.opcodes import SHARED_MEMORY
from gpusim.sm.unit.stall import OWN, Stall
from isa.errors import DeadlockError, ExecutionError
from isa.kernel import Kernel
from isa.text.listing import read

global_memory_transactions = global_memory.transactions
settle_shared = stall_accounting.settle_shared
NO_MUTANT, NO_CODED_MUTANT, NO_TAGGED_MUTANT = "no mutant", "codes: no mutant", "tags: no mutant"
BY_YIELDS = policies._by_yields  # as it is, for its mutant
NO_CHANNEL_MUTANT = "channel: no mutant"


EACH_CYCLE: dict[str, int | str] = {
    **{f"outstanding.{memory}": 63 for memory in ("vector", "shared")},
    **{f"schedulers.{key}": 1 for key in ("interval", "issue_interval")},
}

NEAR_CONSTANTS: dict[str, int | str] = {
    "constant_operand.first_byte": 0,
    "constant_operand.line_bytes": 8,
    "constant_operand.latency": 9,
    "constant_operand.far_lines": 2,
    "constant_operand.far_latency": 90,
    "constant_operand.parameters_near": 1,
}

# Settings without which some mutants have no effect.
SHOWN_BY: dict[str, dict[str, int | str]] = {
    "sources of loads not held": {"memory_port.held": 0},
    "nothing carried": {"register_file.carried": 1, "register_file.reuse": 0},
    "what others keep is one's own": {"register_file.reuse": 2, "register_file.reuse_shared": 1},
    "one pass in a cycle": {"shared_memory.pass_cycles": 1, "shared_memory.passes_per_cycle": 2},
    "no least cycles": {"load_store.least_cycles": 5},
    "deferred barriers hold nobody": {"barrier.defers": 1},
    "apart: constants take the load/store unit": {"constant_path.cycles": 9, "constant_path.latency": 30},
    "results never waited for": {"write_back.patience": 0, "write_back.notice": 1},
    "results read before they are written": {"write_back.lead": 30},
    "parameters are far": NEAR_CONSTANTS,
    "blocks: handed out all at once": {"launch.refill_parts": 64000, "limits.blocks": 2},
    "blocks: no gap between them": {"launch.block_gap": 300, "limits.blocks": 2},
    "blocks: all begin on one scheduler": {"launch.rotates": 1, "limits.blocks": 2, "launch.warp_skew": 1},
    "lines of operands take no turns": NEAR_CONSTANTS | {"constant_operand.next_cycles": 30},
    "arrivals do not wait for each other": {"barrier.per_arrival": 40},
    "codes: a full queue is no yield": {"load_store.queue": 2},
    "codes: nobody rests": EACH_CYCLE,
    "codes: nobody goes to the back": EACH_CYCLE,
}


def taken_first(sm: Any, g: int, instruction: Any, active: Any, pc: int) -> None:
    """Lanes diverge as they should, but the other way goes first."""
    warp = sm.warps[g]
    simt_stack._wait(sm, g, instruction.reconvergence, warp.lanes, warp.reconvergence)
    simt_stack._wait(
        sm,
        g,
        pc + 1,
        [lanes & ~taken for lanes, taken in zip(warp.lanes, active, strict=True)],
        instruction.reconvergence,
    )
    warp.pc, warp.reconvergence, warp.lanes[:] = instruction.target, instruction.reconvergence, active


def busier(original: Callable[..., Any], position: int, more: int) -> Callable[..., Any]:
    """The function, called with one of its arguments raised."""

    def mutant(*arguments: Any) -> Any:
        changed = list(arguments)
        changed[position] += more
        return original(*changed)

    return mutant


def changed(original: Callable[..., Any], position: int, to: int) -> Callable[..., Any]:
    """The function, called with another one of its arguments."""
    return lambda *arguments: original(*arguments[:position], to, *arguments[position + 1 :])


def plus(original: Callable[..., Any], more: int) -> Callable[..., Any]:
    """The function, its result raised."""
    return lambda *arguments: original(*arguments) + more


def each_alone(sm: Any, units: int, now: int) -> int:
    """What a load asks for takes the L2 sector by sector."""
    sectors = units.bit_count()
    return int(l2_channel.ported(sm, sectors, sectors, l2_channel.LOADS, now))


def nothing(*_: Any) -> None:
    """A step left out."""


def arrivals_together(sm: Any, *arguments: Any, arrive: Callable[..., int] = barrier._arrive) -> int:
    """Arrivals take their time, but do not wait for each other."""
    sm.arrival_free = 0
    return arrive(sm, *arguments)


def full_goes_on(sm: Any, k: int, warp: Any, now: int, give: Callable[..., None] = control_code.give_way) -> None:
    """Only an instruction that yields lets others go first, not one that fills a queue, where the pc is ahead."""
    if sm.program[warp.pc].yields:
        give(sm, k, warp, now)


def only_written(sm: Any, k: int, now: int) -> None:
    """Results are written, and stop nobody."""
    write_back.settle(sm, sm.schedulers[k], now)


def ready_at_once(_sm: Any, *arguments: Any) -> Any:
    """Every unit is free now."""
    return arguments[-1]


def last_way(words: Any, kept: Any, line: int) -> int:
    """Where the line is kept, or the last way of its set."""
    ways = [kept.first + 1 + (line % kept.sets * kept.ways + i) * kept.stride for i in range(kept.ways)]
    return next((way for way in ways if words[way] == line + 1), ways[-1])


def dropped(_sm: Any, words: Any, way: int, line: int, _now: int) -> None:
    """Forget stored values."""
    if words[way] != line + 1:
        tags.clear(words, _sm.launch.caches[1], way, line)


def sooner(warp: Any, instruction: Any, ready: int, commit: Callable[..., None] = scoreboard.commit) -> None:
    """Every known result two cycles before its time."""
    commit(warp, instruction, ready - 2 if ready < NEVER else ready)


def first_queue(sm: Any, now: int) -> int:
    """The first queue with an entry, regardless of turns."""
    return next(
        y
        for y, queue in enumerate(sm.load_store.queues)
        if queue.count and max(queue.free, sm.load_store.free[queues.path(sm, y)]) <= now
    )


def lowest_first(_policy: int, _sm: Any, _k: int, eligible: int, _: int) -> int:
    """A policy that no machine has."""
    return lowest_bit(eligible)


def with_slots_used(machine: Any, scheduler: Any, warp: Any, stall: Any, now: int) -> None:
    """No slot is lost to the refusals of a unit class: as if warps had used all up to now."""
    used_until, scheduler.used_until = scheduler.used_until, now
    settle_shared(machine, scheduler, warp, stall, now)
    scheduler.used_until = used_until


def backwards(machine: Any, k: int, scheduler: Any, warp: Any, stall: Any) -> None:
    """The reasons charged from the last to the first."""
    reached, until, unused = warp.since, warp.ready_at, scheduler.used_until
    stall_accounting.lose(scheduler, Stall.NO_WARP, unused, reached, unused)
    for reason in reversed(range(OWN)):
        if warp.release_at[reason] > reached:
            release = min(stall_accounting.slot_from(machine, k, warp.release_at[reason]), until)
            stall[reason] += release - reached
            stall_accounting.lose(scheduler, reason, reached, release, unused)
            reached = release
    warp.since = until


MUTANTS: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    NO_MUTANT: (pipe, "commit", pipe.commit),
    "initiation interval one longer": (pipe, "interval", plus(pipe.interval, 1)),
    "last of the free pipes first": (pipe, "_chosen", lambda _sm, _k, needs, _now: needs.choice[needs.choices - 1]),
    "no other pipes": (pipe, "_others", nothing),
    "pipe never busy": (pipe, "earliest", lambda *_: 0),
    "results two cycles early": (scoreboard, "commit", sooner),
    "sources of loads not held": (scoreboard, "hold", nothing),
    "sources held one cycle longer": (scoreboard, "let_go", busier(scoreboard.let_go, 3, 2)),
    "queue takes one more": (load_store, "earliest", ready_at_once),
    "one queue until it is empty": (load_store, "_in_turn", first_queue),
    "barrier releases late": (barrier, "_arrive", plus(barrier._arrive, 2)),
    "arrivals do not wait for each other": (barrier, "_arrive", arrivals_together),
    "double precision not exclusive": (double_precision, "commit", nothing),
    "one pass more": (shared_memory, "passes", plus(shared_memory.passes, 1)),
    "one pass in a cycle": (access_cost, "service", lambda _machine, _instruction, cycles: cycles),
    "no least cycles": (
        access_cost,
        "service",
        lambda m, instruction, cycles: (
            access_cost.service_of(m, cycles) if instruction.memory_kind == SHARED_MEMORY else cycles
        ),
    ),
    "atomics as loads": (shared_memory, "turns", lambda *_: 1),
    "nothing issues again": (instruction_replay, "commit", nothing),
    "issues again once too often": (instruction_replay, "slots", plus(instruction_replay.slots, 1)),
    "one line more": (global_memory, "transactions", lambda *a: tuple(n + 1 for n in global_memory_transactions(*a))),
    "fetches move nothing": (texture, "commit", lambda _sm, now: now),
    "lanes do not share a sector": (global_memory, "sectors", lambda _sm, active: active.bit_count()),
    "reasons upside down": (stall_accounting, "settle_own", backwards),
    "shared reasons not settled": (stall_accounting, "settle_shared", nothing),
    "empty slots not blamed": (stall_accounting, "lose", nothing),
    "slots of refusals not lost": (stall_accounting, "settle_shared", with_slots_used),
    "one instruction in each turn": (dispatch, "goes_on", lambda *_: False),
    "any two instructions pair": (dispatch, "takes", lambda *_: True),
    "operands never late": (register_file, "earliest", ready_at_once),
    "operands collected at once": (register_file, "commit", lambda *_: 0),
    "results written in any cycle": (write_back, "commit", nothing),
    "results never waited for": (write_back, "look", only_written),
    "results read before they are written": (write_back, "_done_at", lambda *given: given[1].return_ready[0]),
    "an access is done with its first result": (write_back, "_is_last", lambda _: True),
    "any number of results under way": (write_back, "room_at", lambda _, now: now),
    "nothing kept for reuse": (register_file, "_keep", nothing),
    "nothing carried": (register_file, "_carried", lambda *_: False),
    "what others keep is one's own": (register_file, "_owner", lambda _machine, _warp: 1),
    "who takes a branch goes first": (simt_stack, "_diverge", taken_first),
    "no line asked for ahead": (fetch, "_holds", lambda *_: True),
    "ports pass all lines at once": (fetch, "_pass", lambda _cache, _parts, asked: asked),
    "next block a cycle late": (block_scheduler, "finish", busier(block_scheduler.finish, 2, 1)),
    "blocks: handed out all at once": (block_scheduler, "hand_out", lambda _chip, _parts, now: now),
    "blocks: no gap between them": (block_scheduler, "skew", lambda sm: sm.machine.block_skew),
    "blocks: all begin on one scheduler": (
        block_scheduler,
        "warp_slot",
        lambda sm, slot, i: slot * sm.launch.warps + i,
    ),
    "lines of operands take no turns": (constant_operand, "_turn", lambda _sm, now: now),
    "accesses never counted": (wait_count, "earliest", nothing),
    "accesses back out of order": (wait_count, "serve", busier(wait_count.serve, 3, -30)),
    NO_CODED_MUTANT: (pipe, "commit", pipe.commit),
    "codes: stall counts one longer": (control_code, "stall_of", plus(control_code.stall_of, 1)),
    "codes: nobody goes to the back": (control_code, "to_the_back", nothing),
    "codes: barriers let go at issue": (control_code, "let_go", nothing),
    "codes: loads hold no barrier": (control_code, "earliest", nothing),
    "codes: yields forgotten": (policies, "_by_yields", lambda _sm, _k, eligible: (eligible, eligible)),
    "codes: nobody rests": (policies, "_by_yields", lambda sm, k, eligible: (BY_YIELDS(sm, k, eligible)[0], eligible)),
    "codes: the oldest goes before the youngest": (policies, "youngest", policies.oldest),
    "codes: a full queue is no yield": (control_code, "give_way", full_goes_on),
    "codes: any number of accesses under way": (wait_count, "earliest", nothing),
    "codes: nothing freezes": (selection, "_freeze", nothing),
    "codes: pipes are asked before": (selection, "_unit_free", lambda *arguments: arguments[-1]),
    NO_TAGGED_MUTANT: (pipe, "commit", pipe.commit),
    "tags: the last way makes room": (tags, "way", last_way),
    "tags: the line that came first makes room": (tags, "use", nothing),
    "tags: lines on their way are there": (tags, "there", lambda *_: 0),
    "tags: a miss brings the line": (tags, "lost", lambda *_: 0xF),
    "tags: any number of lines are on their way": (tags, "wait_for", nothing),
    "tags: stored lines move nothing": (stores, "drop", dropped),
    "tags: stores stay in the L1": (stores, "far_store", lambda *arguments: arguments[-2]),
    "tags: all of the L2 is near": (cache, "_of_partition", cache._of_far),
    "tags: constants come together": (global_memory, "words", lambda *_: 1),
    "tags: scalar loads hit": (cache, "_note_scalar", nothing),
    NO_CHANNEL_MUTANT: (pipe, "commit", pipe.commit),
    "channel: stores go as loads do": (l2_channel, "ported", changed(l2_channel.ported, 2, 0)),
    "channel: stores never wait": (l2_channel, "free_for_stores", ready_at_once),
    "channel: no store is scattered": (l2_channel, "free_for_stores", changed(l2_channel.free_for_stores, 1, 0)),
    "channel: no store writes parts of sectors": (requests, "_note_parts", nothing),
    "channel: the L2 answers each sector alone": (l2_channel, "loaded", each_alone),
    "channel: slices do atomics in no time": (l2_atomic, "update", ready_at_once),
    "channel: any number of atomics wait": (l2_atomic, "room", lambda _sm, now: now),
    "channel: no store joins another": (held_stores, "find", lambda *_: -1),
    "channel: all slices are as far": (l2_channel, "distance", lambda *_: 0),
    "channel: the L2 has no end": (l2_channel, "_shared", ready_at_once),
    "channel: late lines are looked up once": (tag_stage, "comes_late", nothing),
    "channel: late loads are served at once": (returns, "waits", lambda *_: False),
    "channel: stores pass the tag stage by": (tag_stage, "take_store", nothing),
    "channel: loads pass the tag stage by": (tag_stage, "take_load", nothing),
    "channel: no constant comes with another": (cache, "_is_next", lambda *_: False),
    "channel: banks of the L1 never conflict": (shared_memory, "conflicts", lambda *_: 1),
    "apart: constants take the load/store unit": (queues, "_of_head", lambda *_: 0),
    "deferred barriers hold nobody": (barrier, "earliest", nothing),
    "parameters are far": (constant_operand, "_request_all", changed(constant_operand._request_all, 2, 0)),
    "lowest warp first": (policies, "choose", lowest_first),
}


def _yielding(kernel: Kernel) -> Kernel:
    """The kernel with assigned codes, of which every third yields."""
    coded = with_codes(kernel.program, plain_machine(CHANGES | CODES)).instructions
    codes = [replace(i.control, yields=pc % 3 == 0) for pc, i in enumerate(coded) if i.control]
    made = tuple(replace(i, control=code) for i, code in zip(coded, codes, strict=True))
    return replace(kernel, program=replace(kernel.program, instructions=made))


def verdict(name: str) -> str:
    """`caught` or `survived`."""
    module, attribute, mutant = MUTANTS[name]
    kernel, changes = read(BUSY), {wait_count: COUNTERS, fetch: FETCH}.get(module, {})
    if name.startswith("codes: "):
        kernel, changes = _yielding(kernel), CODES
    if name.startswith("tags: "):
        kernel, changes = read(REUSING), TAGS
    if name.startswith("apart: "):
        kernel = read(APART)
    if name.startswith("channel: "):
        kernel, changes = read(STORING), CHANNEL
    if name.startswith("blocks: "):
        kernel = read(".grid 12\n.block 64\nEXIT")
    machine = plain_machine(CHANGES | changes | SHOWN_BY.get(name, {}))
    resident = machine.limits.blocks if name.startswith("blocks: ") else 1
    with patch.object(module, attribute, mutant):
        try:
            run = run_sm(kernel, machine, trace=True)
        except (DeadlockError, ExecutionError):
            return "caught"
    return "caught" if mistakes(run, scan(kernel, machine, resident)) else "survived"


if __name__ == "__main__":
    for mutant_name in MUTANTS:
        sys.stdout.write(f"{mutant_name}: {verdict(mutant_name)}\n")
