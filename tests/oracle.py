"""Issue cycles of a single warp: the longest path of its dependence graph (isa/dataflow/dependence.py).

Nodes are the executed instructions (`issue`, i), the services of loads and stores (`serve`, i) and the transfers over
the memory channel (`channel`, i). Times are in 1/64 cycles, in which the channel counts. Some waits are
no path lengths: an issue waits for its scheduler's next slot, for the issue interval unless a dispatch port of the last
turn takes it, and for one of its pipes; a transfer waits for those that begin before it, which a texture fetch may
although it issues after a load; and caches that keep tags answer by their contents (scan/caches.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import networkx as nx
import numpy as np
from executed import execute, load_store_cost, own_cycles, replays, target
from interpreter.frame import group_of, new_frame
from msgspec import structs
from scan import simt_stack
from scan.barriers import stays_behind
from scan.caches import Caches, Request
from scan.dram import from_memory, sector_parts
from scan.empty_caches import caches
from scan.requests import places, requests
from scan.state import Warp
from unrolled import unrolled

from gpusim.machine.machine import Machine
from gpusim.sm.memory.cache.declaration import tagged
from gpusim.sm.memory.global_memory.declaration import line_cycles
from gpusim.sm.pipes.pipe.declaration import initiation_interval, intervals
from isa import memory
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.operands.operand import Immediate
from isa.row import MEMORY_UNITS, Unit

TICKS = 64  # of a cycle
NOT_A_PATH = ["fetch", "constant_operand", "register_file", "write_back", "dependence", "memory_port", "memory_paths"]
NOT_A_PATH += ["shared_atomic", "global_atomic", "constant_path", "fence"]
NEVER = 1 << 60
NEARBY = (Unit.SHARED, Unit.CONSTANT)  # whose accesses count together
Node = tuple[str, int]


def on_the_path(machine: Machine, *sections: str) -> Machine:
    """The machine with path lengths only: no full queue, no late operand or load, caches with tags or none.

    `sections` are further ones to leave out.
    """
    left_out = [*NOT_A_PATH, "texture_cache", "scalar_cache", *([] if tagged(machine) else ["cache"]), *sections]
    queue = structs.replace(machine.load_store, queue=64)
    stage = structs.replace(machine.tag_stage, late_asks=0) if machine.tag_stage else None
    return structs.replace(machine, load_store=queue, tag_stage=stage, **dict.fromkeys(left_out))


@dataclass(frozen=True)
class Executed:
    """An instruction as the warp executed it; the last six are empty unless it accesses memory, or fetches."""

    pc: int
    instruction: Instruction
    active: bool
    cycles: int = 0
    extra: int = 0
    lines: int = 0
    again: int = 0  # issue slots that it takes again
    requests: tuple[Request, ...] = ()  # to caches that keep tags
    own: int = 0  # cycles that its lanes need

    @property
    def queued(self) -> bool:
        """Whether it went through the load/store unit."""
        return self.active and self.instruction.row.unit in MEMORY_UNITS - {Unit.TEXTURE}

    @property
    def fetches(self) -> bool:
        """Whether it was a texture fetch."""
        return self.active and self.instruction.row.unit is Unit.TEXTURE


def executed(kernel: Kernel, machine: Machine) -> list[Executed]:
    """The instructions that the only warp of a kernel executes, in order, up to its last EXIT."""
    unused = np.zeros(len(kernel.program), np.int64)
    frame = new_frame(kernel, 0, memory.image(kernel), unused, unused.copy(), [])
    warp = Warp(slot=0, block=0, index=0, age=0, start=0, frame=frame, group=group_of(frame, (0,)))
    stream: list[Executed] = []
    while not warp.exited:
        stream.append(_next(kernel, machine, warp))
    return stream


def _next(kernel: Kernel, machine: Machine, warp: Warp) -> Executed:
    """Execute the warp's next instruction; lanes that diverge go their ways one after the other."""
    pc = warp.pc
    instruction = kernel.program.instructions[pc]
    lanes, addresses = execute(kernel, warp.frame, warp.group, pc)
    row = instruction.row
    onward = target(kernel, pc) if row.is_branch else None if row.is_exit else pc + 1
    simt_stack.move(kernel.program, warp, pc, lanes, onward)
    done = Executed(pc, instruction, bool(lanes.any()))
    if done.fetches:
        groups = places(0, row, addresses, lanes, 0)
        sectors = sum(len({byte // 32 for byte in group if byte is not None}) for group in groups)
        asked = tuple(requests(machine, row, groups)) if tagged(machine) else ()
        return Executed(pc, instruction, True, lines=sectors, requests=asked)
    if not done.queued:
        return done
    cost, again = load_store_cost(machine, row, addresses, lanes), replays(machine, row, addresses, lanes)
    asked = _requests(kernel, machine, done, addresses, lanes)
    return Executed(pc, instruction, True, *cost, again, asked, own_cycles(machine, row, addresses, lanes))


def _requests(kernel: Kernel, machine: Machine, done: Executed, addresses: Any, lanes: Any) -> tuple[Request, ...]:
    levels = {Unit.GLOBAL: True, Unit.LOCAL: machine.l1, Unit.CONSTANT: machine.constant_cache}
    if not (done.queued and tagged(machine) and levels.get(done.instruction.row.unit)):
        return ()
    where = places(0, done.instruction.row, addresses, lanes, kernel.program.local_bytes // 4)
    return tuple(requests(machine, done.instruction.row, where))


def issue_cycles(kernel: Kernel, machine: Machine) -> list[tuple[int, int]]:
    """(pc, cycle) of each issue of a kernel of one warp, on a machine whose load/store queue never fills."""
    stream = executed(kernel, machine)
    graph = timing_graph(stream, machine)
    turn, pipes, memory_side = Turn(machine), Pipes(machine), MemorySide(kernel, machine)
    when: dict[Node, int] = {}
    before = {node: graph.in_degree(node) for node in graph}
    able = {node: machine.launch.begin * TICKS for node, count in before.items() if count == 0}
    while able:
        node = min(able, key=lambda node: memory_side.order(node, stream[node[1]], able[node]))
        done, when[node] = stream[node[1]], able.pop(node)
        if node[0] == "issue":
            ready = when[node]
            when[node] = turn.issue(done, max(ready, pipes.chosen(done)), max(ready, pipes.free_at(done)))
            pipes.take(done, when[node])
        else:
            when[node] = memory_side.answer(node, done, when[node])
        for _, after in graph.out_edges(node):
            before[after] -= 1
            if before[after] == 0:
                able[after] = max(when[one] + w for one, _, w in graph.in_edges(after, data="weight"))
    return [(done.pc, when["issue", i] // TICKS) for i, done in enumerate(stream)]


@dataclass
class MemorySide:
    """The channel, and the load/store unit with caches that keep tags: they say when a request's data is available."""

    kernel: Kernel
    machine: Machine
    free: int = 0  # the cycle from which the unit serves the next
    channel: int = 0  # the tick at which the channel is free
    there: dict[int, int] = field(default_factory=dict)
    caches: Caches | None = None

    def __post_init__(self) -> None:
        self.caches = caches(self.machine, self.kernel)

    def answer(self, node: Node, done: Executed, earliest: int) -> int:
        """The tick of a service, or of the end of its transfer, which could begin at `earliest`."""
        kind, i = node
        if kind == "channel" and not done.requests:
            self.channel = max(self.channel, earliest) + self._moves(done)
            return self.channel
        if self.caches is None:
            return earliest
        if kind == "channel" and done.fetches:
            return self.caches.fetch(list(done.requests), earliest // TICKS) * TICKS
        if kind == "channel":
            return max(earliest, self.there[i] * TICKS)
        start = now = max(-(-earliest // TICKS), self.free)
        row = done.instruction.row
        if done.requests and row.is_load:
            there, start = self.caches.load(row, list(done.requests), now, done.cycles, own=done.own)
            self.there[i] = there + done.extra
        elif done.requests:
            left, start = self.caches.store(row, list(done.requests), now, done.cycles)
            served = start + done.cycles  # it may wait in the unit for room in the cache
            self.there[i] = served if self.caches.keeps_stores else max(left, served)
        self.free = start + done.cycles
        return now * TICKS

    def order(self, node: Node, done: Executed, earliest: int) -> tuple[bool, int, bool]:
        """The key by which nodes follow each other: those that take the channel by time, fetches first, and last."""
        if node[0] == "serve" and self.caches:
            return True, max(earliest, self.free * TICKS), True
        return node[0] == "channel", earliest, not done.fetches

    def _moves(self, done: Executed) -> int:
        """Ticks for which the lines of an access, or the sectors of a fetch, occupy the channel."""
        parts = sector_parts(self.machine) if done.fetches else round(TICKS * line_cycles(self.machine))
        if self.machine.memory and not done.fetches and not done.instruction.row.is_load:
            parts = round(parts * self.machine.memory.written / 1000)
        return done.lines * parts


@dataclass
class Pipes:
    """When the scheduler's pipes are free (ticks); a warp whose guard is false waits for one and does not take it.

    The pipes of classes that keep a selected warp's slot are asked after the choice, and not for such a warp; a later
    port asks before it takes an instruction.
    """

    machine: Machine
    free: dict[str, int] = field(default_factory=dict)

    def choices(self, done: Executed) -> list[str]:
        """The pipes that may take the instruction."""
        unit = done.instruction.row.unit
        if unit is Unit.TEXTURE:
            return self.machine.texture.pipe.split()
        return self.machine.unit[unit].pipe.split() if unit in self.machine.unit else []

    def chosen(self, done: Executed) -> int:
        """The tick from which the first port issues it: at once if it needs no more than its turn."""
        selection = self.machine.selection
        kept = selection and done.instruction.row.unit in selection.keeps.split()
        return 0 if kept and not done.active else self.free_at(done)

    def free_at(self, done: Executed) -> int:
        """The tick from which a pipe takes it and the joint pipe is free too."""
        unit = done.instruction.row.unit
        joint = self.free.get(self.machine.joint.get(unit, ""), 0)
        return max(joint, min((self.free.get(pipe, 0) for pipe in self.choices(done)), default=0))

    def take(self, done: Executed, now: int) -> None:
        """The first free pipe takes it, the joint pipe for as long; the blocked pipe is taken a cycle later."""
        if done.active and (choices := self.choices(done)):
            unit, pipe = done.instruction.row.unit, next(pipe for pipe in choices if self.free.get(pipe, 0) <= now)
            busy = initiation_interval(self.machine, pipe) * intervals(self.machine, done.instruction.row) * TICKS
            self.free |= dict.fromkeys((pipe, self.machine.joint.get(unit, pipe)), now + busy)
            if blocked := self.machine.blocked.get(unit):
                self.free[blocked] = max(self.free.get(blocked, 0), now + TICKS + busy)


@dataclass
class Turn:
    """The scheduler's last turn: its instructions, its tick, and the tick up to which double precision is alone.

    Slots that its accesses take again follow it, up to `again`.
    """

    machine: Machine
    issued: list[Executed] = field(default_factory=list)
    now: int = -NEVER
    alone: int = 0
    again: int = 0

    def issue(self, done: Executed, earliest: int, later_port: int) -> int:
        """The tick at which an instruction issues that could at `earliest`, or through a later port at `later_port`."""
        slot, issue_interval = self.machine.schedulers.interval * TICKS, self.machine.schedulers.issue_interval * TICKS
        if later_port > self.now or not self.takes(done):
            self.issued, self.now = [], -(-max(earliest, self.now + issue_interval, self.again) // slot) * slot
        self.issued.append(done)
        if done.queued:
            self.again = max(self.again, self.now + slot) + done.again * slot
        if done.active and done.instruction.row.unit is Unit.DP:
            span = {"off": 0, "issue": slot, "flight": self.machine.unit["dp"].latency * TICKS}
            self.alone = self.now + span[self.machine.double.exclusive]
        return self.now

    def takes(self, done: Executed) -> bool:
        """Whether a further dispatch port takes the instruction in this turn."""
        machine, unit, rows = self.machine, done.instruction.row.unit, [d.instruction.row for d in self.issued]
        port = machine.issue.pairing == "same-warp" and len(rows) < machine.schedulers.dispatch_ports
        paired = all(unit in machine.pairing.get(row.unit, " ".join(Unit)).split() for row in rows)
        ended = any(row.is_branch or row.is_exit or row.unit is Unit.BARRIER for row in rows)
        exclusive = machine.double.exclusive != "off" and (unit is Unit.DP or self.now < self.alone)
        return port and paired and not ended and not exclusive


def timing_graph(stream: list[Executed], machine: Machine) -> nx.MultiDiGraph:
    """All constraints of a stream as weighted edges between its nodes."""
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(("issue", i) for i in range(len(stream)))
    for edges in (_order(stream, machine), _queue(stream, machine), _counted(stream, machine)):
        graph.add_weighted_edges_from((u, v, w * TICKS) for u, v, w in edges)
    graph.add_edges_from(_channel(stream, machine), weight=0)
    dependences = unrolled([done.instruction for done in stream]).edges(data=True)
    for before, after, data in dependences:
        if stream[before].active:
            for node, weight in _dependence(stream[before], before, data, machine):
                graph.add_edge(node, ("issue", after), weight=weight * TICKS)
    return graph


def _order(stream: list[Executed], machine: Machine) -> Iterator[tuple[Node, Node, int]]:
    """In-order issue, later after a taken branch or a barrier."""
    for i, done in enumerate(stream[:-1]):
        gap = machine.branch.latency if done.active and done.instruction.row.is_branch else 0
        if done.active and done.instruction.row.unit is Unit.BARRIER and not _pass(machine):
            held = max(machine.barrier.latency, 1) + machine.barrier.per_warp + machine.barrier.per_arrival
            later = (j for j in range(i + 1, len(stream)) if stays_behind(stream[j].instruction.row))
            yield ("issue", i), ("issue", next(later) if machine.barrier.defers else i + 1), held
        yield ("issue", i), ("issue", i + 1), gap


def _pass(machine: Machine) -> bool:
    """Whether warps pass barriers without waiting, as a what-if."""
    return machine.what_if is not None and machine.what_if.barriers == "pass"


def _queue(stream: list[Executed], machine: Machine) -> Iterator[tuple[Node, Node, int]]:
    """Loads and stores are served in order; an EXIT, whatever its guard, waits for all before it and for fetches."""
    previous = None
    exits = [i for i, done in enumerate(stream[:-1]) if done.instruction.row.is_exit]
    for i, done in enumerate(stream):
        exit_node = "issue", next((j for j in exits if j > i), len(stream) - 1)
        if done.fetches:
            yield _source(done, i), exit_node, _latency(done, machine)
        if done.active and done.instruction.row.unit is Unit.SMEM:
            yield ("issue", i), exit_node, machine.unit[Unit.SMEM].latency
        if not done.queued:
            continue
        yield ("issue", i), ("serve", i), 0
        if previous is not None:
            yield ("serve", previous), ("serve", i), stream[previous].cycles
        previous = i
        if done.instruction.row.is_load:
            yield _source(done, i), exit_node, _latency(done, machine)
        else:
            yield ("serve", i), exit_node, done.cycles
            yield _source(done, i), exit_node, 0


def _counted(stream: list[Executed], machine: Machine) -> Iterator[tuple[Node, Node, int]]:
    """All accesses but the last n are back before an instruction that waits for that, or may have only n under way."""
    under_way: dict[bool, list[int]] = {False: [], True: []}  # shared memory or not
    for i, done in enumerate(stream):
        for kind, n in _wanted(done.instruction, machine).items():
            for before in under_way[kind][: max(0, len(under_way[kind]) - n)]:
                load = stream[before].instruction.row.is_load
                yield _source(stream[before], before), ("issue", i), _latency(stream[before], machine) if load else 0
                yield ("serve", before), ("issue", i), 0 if load else stream[before].cycles
        if done.queued:
            under_way[done.instruction.row.unit in NEARBY].append(i)


def _wanted(instruction: Instruction, machine: Machine) -> dict[bool, int]:
    """The accesses to shared memory (True) and others that may be under way when the instruction issues, if limited."""
    limits, row = machine.wait_counters or machine.outstanding, instruction.row
    if limits and row.unit in MEMORY_UNITS - {Unit.TEXTURE}:
        shared = row.unit in NEARBY
        return {shared: (limits.shared if shared else limits.vector) - 1}
    if machine.wait_counters and row.mnemonic == "S_WAITCNT":
        return dict(zip((False, True), (o.bits for o in instruction.operands if isinstance(o, Immediate)), strict=True))
    return {}


def _channel(stream: list[Executed], machine: Machine) -> Iterator[tuple[Node, Node]]:
    """Lines go through the SM's share of the memory channel when they are asked for, and so do sectors of fetches."""
    for i, done in enumerate(stream):
        moves = done.queued and done.instruction.row.unit is Unit.GLOBAL and not tagged(machine)
        if done.fetches:
            yield ("issue", i), ("channel", i)
        elif done.requests or moves:
            yield ("serve", i), ("channel", i)


def _source(done: Executed, i: int) -> Node:
    """The node from which the latency of a result counts."""
    if not done.queued:
        return "channel" if done.fetches else "issue", i
    return ("channel" if done.requests or done.instruction.row.unit is Unit.GLOBAL else "serve"), i


def _latency(done: Executed, machine: Machine) -> int:
    row = done.instruction.row
    if done.requests:
        return 0
    if row.unit is Unit.SHARED:
        return int(getattr(machine.shared_memory, f"latency_{row.path_width}")) + done.extra
    if row.unit is Unit.CONSTANT and machine.constant_cache:
        return machine.constant_cache.latency + done.extra
    fixed = {Unit.LOCAL: machine.local_memory.latency, Unit.TEXTURE: machine.texture.latency}
    fixed[Unit.GLOBAL] = from_memory(machine)
    return fixed[row.unit] if row.unit in fixed else (machine.matrix.get(row.matrix) or machine.unit[row.unit]).latency


def _dependence(done: Executed, i: int, data: Any, machine: Machine) -> Iterator[tuple[Node, int]]:
    """The node and delay after which an instruction that depends on `done` may issue; a WAR only on memory sources.

    The graph has no WAR after an atomic that overwrites its own source, but the source is held as well.
    """
    if data["kind"] != "WAR" and not (done.queued and machine.wait_counters):
        yield _source(done, i), _latency(done, machine)
    own = data["kind"] == "WAW" and data["register"] in {f"R{register}" for register in done.instruction.reads()}
    if done.queued and data["register"].startswith("R") and (data["kind"] == "WAR" or own):
        yield ("serve", i), max(1, _source_hold(done, machine))


def _source_hold(done: Executed, machine: Machine) -> int:
    row = done.instruction.row
    if row.unit is Unit.GLOBAL:
        return machine.global_memory.war
    return int(getattr(machine.shared_memory, f"war_{row.path_width}")) if row.unit is Unit.SHARED else 0
