"""The effect of one instruction in one warp, by `interpreter.steps`, and its cost, by the definitions."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np
from interpreter import steps
from interpreter.frame import Frame, Group
from msgspec import structs
from neighbours import lifted, side_by_side

from gpusim.machine.schema import Machine
from gpusim.sm.memory.shared_memory.declaration import SharedMemory
from isa import memory
from isa.kernel import Kernel
from isa.operands.operand import Label
from isa.row import Unit

ENDLESS = 1 << 40  # banks: each word has its own


def execute(kernel: Kernel, frame: Frame, group: Group, pc: int) -> tuple[Any, Any]:
    """Compute an instruction for a group of one warp; returns its active lanes, and the addresses if it has any."""
    seen: list[Any] = [None]

    def observe(_pc: int, _warps: Any, addresses: Any, _active: Any) -> None:
        seen.append(addresses[0])

    lanes, mask = _mask(kernel, frame, group, pc)
    active = lanes.copy()  # the action may change the predicate
    action = steps.action(steps.Scope(kernel, pc, memory.constants(kernel), observe), compute=True)
    if active.any() and action is not None:
        with np.errstate(all="ignore"):
            action(frame, group, mask)
    return active[0], seen[-1]


def holds(kernel: Kernel, frame: Frame, group: Group, pc: int) -> bool:
    """Whether an instruction's guard holds in any lane of a group of one warp."""
    return bool(_mask(kernel, frame, group, pc)[0].any())


def _mask(kernel: Kernel, frame: Frame, group: Group, pc: int) -> tuple[Any, Any]:
    """The lanes in which the guard holds, and the same for the action: None for all of the group."""
    guard = steps.guard(kernel.program.instructions[pc].guard)
    mask = group.mask if guard is None else guard(frame, group)
    return group.live if mask is None else mask, mask


def target(kernel: Kernel, pc: int) -> int:
    """The pc that the branch at `pc` goes to."""
    label = kernel.program.instructions[pc].operands[0]
    assert isinstance(label, Label)
    return kernel.program.labels[label.name]


def load_store_cost(machine: Machine, row: Any, addresses: Any, active: Any) -> tuple[int, int, int]:
    """Cycles of the load/store unit, cycles on top of the latency, transactions."""
    cycles, later, moved = _cost(machine, row, addresses, active)
    least = machine.load_store.least_cycles if cycles and row.unit is not Unit.CONSTANT else 0
    return max(cycles, least), later, moved


def _cost(machine: Machine, row: Any, addresses: Any, active: Any) -> tuple[int, int, int]:
    words = row.words
    where = [int(a) if on else None for a, on in zip(addresses, active, strict=True)]
    if row.matrices:  # the first lanes name rows, others none
        active = active & (np.arange(len(active)) % 32 < 8 * row.matrices)
        where = [a if on else None for a, on in zip(where, active, strict=True)]
    halves = [where[i : i + 32] for i in range(0, len(where), 32) if any(active[i : i + 32])]
    if row.unit is Unit.SHARED:
        shared = machine.shared_memory
        passes = sum(_passes_of(machine, row, half) for half in halves)
        return -(-passes * shared.pass_cycles // shared.passes_per_cycle), _later(machine, row.path_width, passes), 0
    if row.unit is Unit.CONSTANT:
        assert machine.constant_cache
        each = machine.constant_cache.request_cycles
        cycles = each * sum(len({a // 4 for a in half if a is not None}) for half in halves)
        return cycles, cycles - each, 0
    if row.unit is Unit.LOCAL:
        return len(halves) * words * machine.local_memory.request_cycles, 0, 0
    halves = [side_by_side(machine, row, half) for half in halves]
    each = [_coalesced(half, words, machine.global_memory.rule, machine.global_memory.line_bytes) for half in halves]
    requests, moved = (sum(part) for part in zip(*each, strict=True))
    if row.update is not None:
        return _atomic(machine, row, halves, requests, moved)
    if row.is_load and looks_up_lines(machine):
        together = machine.l1.lines_per_cycle if machine.l1 else 1
        lines = [-(-n // together) for n, _ in each]
        turns = [max(_conflicts(machine, half, words), n) for half, n in zip(halves, lines, strict=True)]
        return _hitting(machine, sum(turns), moved, machine.l1.least_cycles if machine.l1 else 1)
    return _hitting(machine, requests, moved) if row.is_load else (_storing(machine, words, halves, each), 0, moved)


def _storing(machine: Machine, words: int, halves: list[list[int | None]], each: list[tuple[int, int]]) -> int:
    """Cycles of a store: requests of each 32 lanes; with a tag stage passes through banks, or lookups of lines."""
    stage, near, cache = machine.tag_stage, machine.l1, machine.cache
    turns = [n for n, _ in each]
    if stage and near and cache and cache.hits == "tags":
        lines = [-(-n // max(1, near.lines_per_cycle)) for n in turns]
        turns = [max(_conflicts(machine, half, words), n) for half, n in zip(halves, lines, strict=True)]
    return sum(turns) * machine.global_memory.request_cycles


def looks_up_lines(machine: Machine) -> bool:
    """Whether loads from global memory come through an L1 of banks, which looks up several lines in a cycle."""
    near, hits = machine.l1, machine.cache.hits if machine.cache else "none"
    return bool(near and near.lines_per_cycle and (hits == "l1" or (hits == "tags" and near.global_loads)))


def _conflicts(machine: Machine, half: list[int | None], words: int) -> int:
    """Cycles in which banks deliver the words of 32 lanes, as many lanes together as have 32 words."""
    size = 32 // words
    assert machine.l1
    banks, least = machine.shared_memory.banks, machine.l1.least_cycles
    groups = [half[i : i + size] for i in range(0, 32, size)]
    return sum(max(least, _ways(group, range(words), banks)) for group in groups if any(a is not None for a in group))


def own_cycles(machine: Machine, row: Any, addresses: Any, active: Any) -> int:
    """Cycles of the load/store unit that an access's lanes need, fewer than each takes at least."""
    least = structs.replace(machine.load_store, least_cycles=1)
    return load_store_cost(structs.replace(machine, load_store=least), row, addresses, active)[0]


def replays(machine: Machine, row: Any, addresses: Any, active: Any) -> int:
    """Issue slots that an access takes again, for its passes or requests beyond those of one without conflicts."""
    replay, shared = machine.instruction_replay, machine.shared_memory
    if replay and row.unit is Unit.SHARED:
        free = {32: shared.free_passes_32, 64: shared.free_passes_64, 128: shared.free_passes_128}
        least = row.matrices or free[row.path_width]  # a matrix needs a pass of its own
        one_by_one = structs.replace(machine, shared_memory=structs.replace(shared, pass_cycles=1, passes_per_cycle=1))
        return replay.pass_slots * max(0, _cost(one_by_one, row, addresses, active)[0] - least)
    if replay and row.unit is Unit.GLOBAL:
        cycles = _cost(machine, row, addresses, active)[0]
        least = row.words * machine.limits.warp_size // 32
        return replay.request_slots * max(0, cycles // machine.global_memory.request_cycles - least)
    return 0


def _passes_of(machine: Machine, row: Any, where: list[int | None]) -> int:
    """Passes through shared memory of 32 lanes."""
    shared, ideal = machine.shared_memory, machine.what_if.shared_memory if machine.what_if else "banks"
    if ideal == "one-pass":
        return 1
    banks = ENDLESS if ideal == "conflict-free" else shared.banks
    if row.matrices:
        return sum(_ways(where[8 * m : 8 * m + 8], range(4), banks) for m in range(row.matrices))
    if machine.shared_atomic and row.update is not None:
        turns = machine.shared_atomic.swap_turns if "b" in row.form else machine.shared_atomic.add_turns
        words = [a // 4 for a in where if a is not None]
        words = list(set(words)) if lifted(machine, "atomics", "at-once") else words
        waiting = [word % shared.banks for word in words]
        return turns * (1 if ideal == "conflict-free" else max(Counter(waiting).values()))
    return max(1, passes(where, row.words, shared, banks, load=row.is_load))


def _atomic(
    machine: Machine, row: Any, halves: list[list[int | None]], requests: int, moved: int
) -> tuple[int, int, int]:
    """The same for an atomic on global memory, which no L1 serves."""
    rules, cycles = machine.global_atomic, requests * machine.global_memory.request_cycles
    if rules is None:
        extra = _hitting(machine, requests, moved)[1] if row.is_load else 0
        return cycles, extra, moved
    if machine.l2_atomic and machine.l2 and machine.cache and machine.cache.hits == "tags" and not row.is_load:
        return len(halves) * machine.global_memory.request_cycles, 0, moved
    once = lifted(machine, "atomics", "at-once")
    line = machine.global_memory.line_bytes
    each = [-(-packets(row, half, line, once=once) * rules.packet_parts // 64) for half in halves]
    least = [n * machine.global_memory.request_cycles for n in _requests_of(machine, row, halves)]
    cycles = sum(max(pair) for pair in zip(each, least, strict=True))
    return cycles, cycles, moved


def _requests_of(machine: Machine, row: Any, halves: list[list[int | None]]) -> list[int]:
    rules = machine.global_memory
    return [_coalesced(half, row.words, rules.rule, rules.line_bytes)[0] for half in halves]


def packets(row: Any, where: list[int | None], line_bytes: int, *, once: bool = False) -> int:
    """Packets of an atomic: of each line, the lanes that are first at their word go together, then the second ones.

    `once`: all lanes of a line go together.
    """
    before, passes = Counter[int](), defaultdict[tuple[int, int], list[int]](list)
    for address in where:
        if address is not None:
            passes[address // line_bytes, before[address]].append(address)
            before[address] += not once
    operands, back = len(set(row.form) & set("ab")), int(row.is_load)
    data = [len({a // 32 for a in lanes}) * operands if len(lanes) > 1 else 0 for lanes in passes.values()]
    return sum(1 + back + each for each in data)


def _missing(machine: Machine, requests: int, moved: int) -> tuple[int, int, int]:
    return requests * machine.global_memory.request_cycles, 0, moved


def _hitting(machine: Machine, requests: int, sectors: int, least: int = 1) -> tuple[int, int, int]:
    """The same for a load, which may hit a cache that takes so many cycles at least."""
    cache = machine.cache
    if cache is None or cache.hits in ("none", "tags"):
        return _missing(machine, requests, sectors)
    cycles = requests * machine.global_memory.request_cycles
    if cache.hits == "l1":
        return cycles, (requests // least - 1) * cache.l1_late, 0
    return cycles, (requests - 1) * cache.l2_late, sectors


def _later(machine: Machine, width: int, passes: int) -> int:
    """Cycles by which a load's result comes later than with the free passes."""
    port, beyond = machine.memory_port, passes - int(getattr(machine.shared_memory, f"free_passes_{width}"))
    if port is None:
        return -(-max(0, beyond) * machine.shared_memory.pass_cycles // machine.shared_memory.passes_per_cycle)
    return beyond * port.late_cycles if beyond >= 0 else -{32: 0, 64: port.early_64, 128: port.early_128}[width]


def _coalesced(where: list[int | None], words: int, rule: str, line_bytes: int) -> tuple[int, int]:
    """Requests of a global access, and lines, or sectors of 32 bytes, that move."""
    size = 16 if rule == "gt200" else 32 // words
    groups = [[a for a in where[i : i + size] if a is not None] for i in range(0, 32, size)]
    lines = [{a // line_bytes for a in group} for group in groups]
    requests = sum(map(len, lines))
    if rule == "fermi":
        return requests, requests
    if rule == "sectors":
        return requests, sum(len({a // 32 for a in group}) for group in groups)
    spans = [
        {b % line_bytes for a in group for b in (a, a + 4 * words - 1) if a // line_bytes == line}
        for group, touched in zip(groups, lines, strict=True)
        for line in touched
    ]
    return requests, sum(_segment(span, line_bytes) // 32 for span in spans)


def _segment(span: set[int], line_bytes: int) -> int:
    """The smallest aligned power-of-two stretch of at least 32 bytes that holds these bytes of a segment."""
    return next(
        size for size in (32 << i for i in range(9)) if size >= line_bytes or len({b // size for b in span}) == 1
    )


def passes(where: list[int | None], words: int, shared: SharedMemory, banks: int, *, load: bool) -> int:
    """Passes of all parts that are served together; a part takes the most words that it has in one of so many banks."""
    rules = {
        "fermi": _fermi,
        "gt200": _gt200,
        "kepler": _kepler,
        "volta": _volta if load else _quarters,
        "gcn": _quarters,
    }
    return rules[shared.rule](where, words, shared, banks)


def _fermi(where: list[int | None], words: int, shared: SharedMemory, banks: int) -> int:
    if words == 1:
        return _ways(where, range(1), banks)
    halves = [where[:16], where[16:]]
    if words == 4 and shared.merge_halves and halves[0] == halves[1]:
        halves = halves[:1]
    if words * 32 <= shared.banks:
        halves = [where]
    wide = {64: 4, 128: 4}.get(shared.banks, 2)  # words of each lane in a pass
    parts = [range(first, first + min(words, wide)) for first in range(0, words, wide)]
    return sum(_ways(half, part, banks) for half in halves for part in parts)


def _gt200(where: list[int | None], words: int, shared: SharedMemory, banks: int) -> int:
    wide = {32: 2, 64: 4, 128: 4}.get(shared.banks, 1)
    groups = [where] if words * 32 <= shared.banks else [where[:16], where[16:]]
    waiting = [
        [a // 4 + offset for a in group if a is not None for offset in range(first, min(words, first + wide))]
        for group in groups
        for first in range(0, words, wide)
    ]
    return sum(min(1, len(wanted)) if banks == ENDLESS else _broadcasts(wanted, banks) for wanted in waiting)


def _broadcasts(waiting: list[int], banks: int) -> int:
    """Passes of words served together: the first word goes to all its lanes, each other bank serves its first lane."""
    passes = 0
    while waiting:
        first = {word % banks: i for i, word in reversed(list(enumerate(waiting)))}
        served = {i for bank, i in first.items() if bank != waiting[0] % banks}
        waiting = [word for i, word in enumerate(waiting) if i not in served and word != waiting[0]]
        passes += 1
    return passes


def _kepler(where: list[int | None], words: int, shared: SharedMemory, banks: int) -> int:
    row = 2 * shared.banks  # words
    size, passes = min(32, row // words), 0
    for group in (where[i : i + size] for i in range(0, 32, size)):
        wanted = {a // 4 + offset for a in group if a is not None for offset in range(words)}
        rows = {(word * 4 // shared.bank_bytes % banks, word // row) for word in wanted}
        passes += max(Counter(bank for bank, _ in rows).values(), default=0)
    return passes


def _volta(where: list[int | None], words: int, shared: SharedMemory, banks: int) -> int:
    def agree(distance: int) -> bool:
        pairs = [(where[lane], where[lane ^ distance]) for lane in range(32)]
        return all(a == b for a, b in pairs if a is not None and b is not None)

    size = min(32, _together(words, shared) * (2 if agree(1) or agree(2) else 1))
    return sum(_ways(where[i : i + size], range(words), banks) for i in range(0, 32, size))


def _quarters(where: list[int | None], words: int, shared: SharedMemory, banks: int) -> int:
    size = _together(words, shared)
    return sum(_ways(where[i : i + size], range(words), banks) for i in range(0, 32, size))


def _together(words: int, shared: SharedMemory) -> int:
    """Lanes whose words fill a pass: of 128 bytes, more if there are more banks."""
    return {64: min(32, 64 // words), 128: 32}.get(shared.banks, 32 // words)


def _ways(where: list[int | None], part: range, banks: int) -> int:
    words = {a // 4 + offset for a in where if a is not None for offset in part}
    return max(Counter(word % banks for word in words).values(), default=0)
