"""Instructions of the DGEMM of Tan et al. (see `tan`): thread maps, and the order inside the loop.

In global memory a row of a tile (along m for A, along n for B) is contiguous; in shared memory the 64 elements of one k
are adjacent, k after k, A's tile before B's. An access moves one double of a thread (64 bits) or two. Threads fetch as
64 by 4 or 32 by 8 (the paper's figure 7), so thread t stores t accesses after thread 0. They compute as 16 by 16: with
64 bits thread t has rows t + 16 i, with 128 bits rows 2 t and 2 t + 1 of each 32. Another blocking has other numbers of
threads: 8 by 8, as the paper's section 5.3 asks, has 64.

The versions in machine language read A and B through textures (section 5), by the index of an element of 64 or 128 bits
in place of an address; the paper's table 3 names these reads ld.gm, and both cost a round the same instructions.

Choices that the paper leaves open: each fetch advances its pointer; the ten integer instructions of algorithm 3 in
table 3 are four of these, four that switch the load pointers to the other buffer, a counter and its comparison. Fetches
after the last tile are predicated off. Algorithm 1 moves A's tile to shared memory, then B's, as the paper's figure 1
has two statements for them; its text would allow fetching both first, which simulates 7 % faster. Version 3 has figure
9's order, the paper's example of what a search among 8 places of each load finds; version 4 adds the best of all places
for two fetches and two stores together.

Algorithm 2 needs 16 registers for fetched elements; of 63, the 48 of data and six pointers leave nine. Spilled elements
pass through a window of two doubles to local memory, and the rest stays in registers. The windows are spread evenly
over a tile's rank-1 updates, and each is stored just before the next is fetched, so that nothing waits for the fetch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain

from isa.instruction import Instruction
from isa.operands.operand import PT, RZ, Predicate, Register
from isa.program import Program
from isa.row import Unit
from isa.schedule.reorder import improved
from isa.schedule.schedule import Latencies, Latency, best_places
from workloads.builder import Builder, at, instruction
from workloads.papers.tan.tan_plan import B_BASE, BUFFER, DEPTH, HALF, ROW, SIDE, Held, Operand, Plan, places, registers

MORE = Predicate(0)  # there is a tile after this one
TOGETHER = 4  # shared loads that a search places together: those of a rank-1 update

# Table 3 of the paper, in cycles of the shader clock, for a load from global memory that misses all caches.
TABLE_3 = Latencies(
    dict.fromkeys(("LDG.128", "TEX.128"), Latency(1000, 46))
    | {"LDS.128": Latency(46, 46), "STS.128": Latency(0, 46), "DFMA": Latency(24)},
    issue_interval=6,
)


@cache
def program(plan: Plan, *, reads_c: bool) -> Program:
    """Build the program; `reads_c` when beta is not 0. Its constants are A, B, C and those of `tan.dgemm_tan`."""
    b = Builder(shared_bytes=2 * B_BASE, local_bytes=8 * plan.spilled if plan.variant == "alg2" else 0)
    r, _ = registers(plan)
    _pointers(b, plan, r)
    loops = {"alg1": _algorithm_1, "alg2": _algorithm_2, "v1": _version_1}
    loops.get(plan.variant, _algorithm_3)(b, plan, r)
    _write_c(b, plan, r, reads_c=reads_c)
    return b.build()


def _pointers(b: Builder, plan: Plan, r: Held) -> None:
    thread, row, k, free = r.sums[:4]
    lanes = SIDE // plan.doubles
    b.emit("S2R", thread, "TID.X")
    b.emit("SHL", r.store, thread, 2 + plan.doubles)
    b.emit("LOP.AND", row, thread, lanes - 1)
    b.emit("SHR.U32", k, thread, lanes.bit_length() - 1)
    b.emit("IMUL", row, row, plan.doubles)
    for x in (r.a, r.b):
        b.emit("S2R", free, x.axis)
        b.emit("IMAD", free, free, SIDE, row)
        b.emit("IMAD", x.fetch, k, f"{x.name}_pitch", free)
        _point(b, plan, x)
    b.emit("LOP.AND", r.a.load, thread, plan.across - 1)
    b.emit("SHR.U32", r.b.load, thread, plan.across.bit_length() - 1)
    for x in (r.a, r.b):
        b.emit("SHL", x.load, x.load, 2 + plan.doubles)
    b.emit("IADD", r.b.load, r.b.load, B_BASE)
    b.emit("MOV", r.left, "tiles")


def _point(b: Builder, plan: Plan, x: Operand) -> None:
    """Turn the index of a thread's first double into that of a texture's element, or into an address."""
    if not plan.textured:
        b.emit("SHL", x.fetch, x.fetch, 3)
        b.emit("IADD", x.fetch, x.fetch, x.name)
    elif plan.doubles > 1:
        b.emit("SHR.U32", x.fetch, x.fetch, 1)


def _clear(b: Builder, r: Held) -> None:
    for total in r.sums:
        b.emit("MOV", total, 0)
        b.emit("MOV", Register(total.index + 1), 0)


def _algorithm_1(b: Builder, plan: Plan, r: Held) -> None:
    moves = _moves(plan, r)
    operands = moves[: plan.fetches], moves[plan.fetches :]
    fill = [i for part in operands for i in _filling(plan, r, part, places(plan, r.a.line + r.b.line))]
    b.extend(fill)
    _clear(b, r)
    b.emit("BAR.SYNC", 0)
    b.label("loop")
    _count(b, r)
    b.extend(_updates(plan, r, range(DEPTH)))
    if plan.strict:
        b.emit("BAR.SYNC", 0)
    b.extend(_guarded(fill))
    b.emit("BAR.SYNC", 0)
    b.emit("BRA", "loop", guard=MORE)


def _version_1(b: Builder, plan: Plan, r: Held) -> None:
    staging, moves = places(plan, r.a.line + r.b.line), _moves(plan, r)
    _clear(b, r)
    b.label("loop")
    _count(b, r)
    b.extend(_fetch_all(plan, moves, staging))
    b.extend(_store_all(plan, moves, r, staging))
    b.emit("BAR.SYNC", 0)
    b.extend(_updates(plan, r, range(DEPTH)))
    if plan.strict:
        b.emit("BAR.SYNC", 0)
    b.emit("BRA", "loop", guard=MORE)


def _algorithm_2(b: Builder, plan: Plan, r: Held) -> None:
    free, moves = places(plan, r.a.line + r.b.line), _moves(plan, r)
    b.extend([*_fetch_all(plan, moves, free), *_store_all(plan, moves, r, free)])
    _clear(b, r)
    b.emit("BAR.SYNC", 0)
    b.label("loop")
    _count(b, r)
    kept = places(plan, r.kept)
    b.extend(_guarded(_fetch_all(plan, moves[: len(kept)], kept)))
    _updates_and_spills(b, plan, r, moves[len(kept) :])
    if plan.strict:
        b.emit("BAR.SYNC", 0)
    spilled = free[: len(moves) - len(kept)]
    b.extend(_guarded(_local(plan, "LDL", 0, spilled)))
    b.extend(_guarded(_store_all(plan, moves, r, [*kept, *spilled])))
    b.emit("BAR.SYNC", 0)
    b.emit("BRA", "loop", guard=MORE)


def _updates_and_spills(b: Builder, plan: Plan, r: Held, moves: Sequence[Move]) -> None:
    """Emit a tile's updates; meanwhile fetch window by window, and spill each to local memory as late as possible."""
    window = places(plan, r.window)
    spills = [moves[i : i + len(window)] for i in range(0, len(moves), len(window) or 1)]
    interval = DEPTH // max(1, len(spills))
    for k in range(DEPTH):
        i, behind = divmod(k, interval)
        if behind == 0 and i < len(spills):
            b.extend(_guarded(_fetch_all(plan, spills[i], window)))
        b.extend(_update(plan, r, k))
        if behind == interval - 1 and i < len(spills):
            b.extend(_guarded(_local(plan, "STL", i * len(window), window)))


def _algorithm_3(b: Builder, plan: Plan, r: Held) -> None:
    staging = places(plan, r.a.line + r.b.line)
    halves = [_half(plan, r, half) for half in range(2)]
    b.extend(_filling(plan, r, halves[0], staging))
    _clear(b, r)
    b.emit("BAR.SYNC", 0)
    b.label("loop")
    _count(b, r)
    if plan.variant == "v4":
        _scheduled(b, plan, r, halves)
        return
    for half in range(2):
        filling = _filling(plan, r, halves[1 - half], staging)
        b.extend(_guarded(filling) if half else filling)
        b.extend(_updates(plan, r, range(HALF)) if plan.variant != "v3" else _woven(plan, r))
        b.emit("BAR.SYNC", 0)
        for x in (r.a, r.b):
            b.emit("LOP.XOR", x.load, x.load, BUFFER)
    b.emit("BRA", "loop", guard=MORE)


def _scheduled(b: Builder, plan: Plan, r: Held, halves: Sequence[Sequence[Move]]) -> None:
    """Version 4: place two fetches and two stores together where one warp stalls least, then the barrier.

    All places of the four are compared. Figure 9's order is kept among the others.
    """
    staging = places(plan, r.staging)
    for half in range(2):
        moves, stream = halves[1 - half], _woven(plan, r)
        fetches = [_read(plan, x, to) for (x, _), to in zip(moves, staging, strict=True)]
        moved = [*fetches, *_store_all(plan, moves, r, staging)]
        moved = _guarded(moved) if half else moved
        for place, each in reversed(list(zip(best_places(stream, moved, TABLE_3), moved, strict=True))):
            stream.insert(place, each)
        last = max(i for i, each in enumerate(stream) if each.row.unit is Unit.SHARED) + 1
        b.extend([*stream[:last], instruction("BAR.SYNC", 0), *stream[last:]])
        steps = [instruction("IADD", x.fetch, x.fetch, f"{x.name}_step") for x, _ in moves]
        b.extend(_guarded(steps) if half else steps)
        for x in (r.a, r.b):
            b.emit("LOP.XOR", x.load, x.load, BUFFER)
    b.emit("BRA", "loop", guard=MORE)


def _count(b: Builder, r: Held) -> None:
    b.emit("IADD", r.left, r.left, 0xFFFFFFFF)
    b.emit("ISETP.GT", MORE, r.left, 0)


Move = tuple[Operand, int]  # an operand and the shared byte, from the store pointer, of one access


def _moves(plan: Plan, r: Held) -> list[Move]:
    """Return a thread's moves for a tile, access by access."""
    return [(x, x.base + ROW * plan.fetched_rows * i) for x in (r.a, r.b) for i in range(plan.fetches)]


def _half(plan: Plan, r: Held, half: int) -> list[Move]:
    """Return a thread's moves for the first or second half of a tile."""
    accesses = plan.fetches // 2
    first = half * accesses
    return [(x, x.base + ROW * plan.fetched_rows * (first + i)) for x in (r.a, r.b) for i in range(accesses)]


def _fetch_all(plan: Plan, moves: Sequence[Move], staging: Sequence[Register]) -> list[Instruction]:
    return list(chain.from_iterable(_fetch(plan, x, to) for (x, _), to in zip(moves, staging, strict=False)))


def _fetch(plan: Plan, x: Operand, to: Register) -> Iterator[Instruction]:
    yield _read(plan, x, to)
    yield instruction("IADD", x.fetch, x.fetch, f"{x.name}_step")


def _read(plan: Plan, x: Operand, to: Register) -> Instruction:
    if plan.textured:
        return instruction(f"TEX{plan.suffix}", to, x.name, x.fetch)
    return instruction(f"LDG{plan.suffix}", to, at(x.fetch))


def _store_all(plan: Plan, moves: Sequence[Move], r: Held, staging: Sequence[Register]) -> list[Instruction]:
    return [
        instruction(f"STS{plan.suffix}", at(r.store, place), held)
        for (_, place), held in zip(moves, staging, strict=False)
    ]


def _filling(plan: Plan, r: Held, moves: Sequence[Move], staging: Sequence[Register]) -> list[Instruction]:
    return [*_fetch_all(plan, moves, staging), *_store_all(plan, moves, r, staging)]


def _local(plan: Plan, way: str, first: int, held: Sequence[Register]) -> list[Instruction]:
    """Spill accesses from the first-th on to local memory (STL), or load them back (LDL)."""
    addresses = [at(RZ, 8 * plan.doubles * (first + i)) for i in range(len(held))]
    if way == "LDL":
        return [instruction(f"LDL{plan.suffix}", p, a) for p, a in zip(held, addresses, strict=True)]
    return [instruction(f"STL{plan.suffix}", a, p) for p, a in zip(held, addresses, strict=True)]


def _updates(plan: Plan, r: Held, steps: Sequence[int]) -> list[Instruction]:
    """Return rank-1 updates: all loads of one, then its DFMAs."""
    return list(chain.from_iterable(_update(plan, r, k) for k in steps))


def _update(plan: Plan, r: Held, k: int) -> list[Instruction]:
    loads = [_load(plan, x, k, i) for x in (r.a, r.b) for i in range(0, plan.blocking, plan.doubles)]
    return [*loads, *chain.from_iterable(_quadrant(plan, r, *first) for first in plan.quadrants)]


def _woven(plan: Plan, r: Held) -> list[Instruction]:
    """Return half a tile's updates in the order of figure 9: each load four DFMAs or more before its use.

    If searched, loads stand instead at those of their places, 9 at most each, at which one warp stalls least, as a
    search finds it that moves each alone and four neighbours together.
    """
    if plan.searched:
        plain = Program(tuple(_updates(plan, r, range(HALF))))
        return [plain.instructions[pc] for pc in improved(plain, TABLE_3, together=TOGETHER)]
    out = [*_loads(plan, r.a, 0, 0), *_loads(plan, r.b, 0, 0), *_loads(plan, r.b, 0, 2)]
    for k in range(HALF):
        following = ((r.a, k, 2), (r.a, k + 1, 0), (r.b, k + 1, 0), (r.b, k + 1, 2))
        for (row, column), (x, step, i) in zip(plan.quadrants, following, strict=True):
            out += _quadrant(plan, r, row, column)
            out += _loads(plan, x, step, i) if step < HALF else []
    return out


def _loads(plan: Plan, x: Operand, k: int, first: int) -> list[Instruction]:
    """Load two of the four doubles."""
    return [_load(plan, x, k, i) for i in range(first, first + 2, plan.doubles)]


def _load(plan: Plan, x: Operand, k: int, i: int) -> Instruction:
    place = 8 * plan.across * i  # double i of thread t: row t + 16 i, or with its neighbour rows 2 t, 2 t + 1 from 16 i
    return instruction(f"LDS{plan.suffix}", x.line[i], at(x.load, ROW * k + place))


def _quadrant(plan: Plan, r: Held, row: int, column: int) -> list[Instruction]:
    """Return the four DFMAs of two rows and two columns."""
    return [
        instruction("DFMA", total := r.sums[plan.blocking * j + i], r.a.line[i], r.b.line[j], total)
        for i in (row, row + 1)
        for j in (column, column + 1)
    ]


def _guarded(instructions: Sequence[Instruction]) -> list[Instruction]:
    return [Instruction(i.row, i.operands, MORE if i.guard == PT else i.guard) for i in instructions]


def _write_c(b: Builder, plan: Plan, r: Held, *, reads_c: bool) -> None:
    pointer, alpha, beta, old = r.a.fetch, r.a.line[0], r.a.line[1], r.b.line
    _pointer_to_c(b, plan, r, pointer)
    for name, pair in (("alpha", alpha), ("beta", beta)) if reads_c else (("alpha", alpha),):
        b.emit("MOV", pair, f"{name}_low")
        b.emit("MOV", Register(pair.index + 1), f"{name}_high")
    for column in range(plan.blocking):
        sums = r.sums[plan.blocking * column :][: plan.blocking]
        addresses = [at(pointer, 8 * plan.across * i) for i in range(0, plan.blocking, plan.doubles)]
        if reads_c:
            b.extend(instruction(f"LDG{plan.suffix}", *x) for x in zip(places(plan, old), addresses, strict=True))
        b.extend(instruction("DMUL", total, total, alpha) for total in sums)
        if reads_c:
            b.extend(instruction("DFMA", total, old[i], beta, total) for i, total in enumerate(sums))
        b.extend(instruction(f"STG{plan.suffix}", *x) for x in zip(addresses, places(plan, sums), strict=True))
        if column < plan.blocking - 1:
            b.emit("IADD", pointer, pointer, "C_skip" if (column + 1) % plan.doubles == 0 else "C_step")
    b.emit("EXIT")


def _pointer_to_c(b: Builder, plan: Plan, r: Held, pointer: Register) -> None:
    thread, column, free = r.store, r.b.fetch, r.left
    b.emit("S2R", thread, "TID.X")
    b.emit("LOP.AND", pointer, thread, plan.across - 1)
    b.emit("SHR.U32", column, thread, plan.across.bit_length() - 1)
    for x, index in ((r.a, pointer), (r.b, column)):
        b.emit("SHL", index, index, plan.doubles - 1)
        b.emit("S2R", free, x.axis)
        b.emit("IMAD", index, free, SIDE, index)
    b.emit("IMAD", pointer, column, "C_pitch", pointer)
    b.emit("SHL", pointer, pointer, 3)
    b.emit("IADD", pointer, pointer, "C")
