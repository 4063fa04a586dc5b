"""Instructions of the SGEMM of Lai and Seznec (see `lai`): register map, loop and instruction order.

Order inside a rank-1 update: all loads of A, then each load of B followed by the FFMAs that use it. There are registers
for only one load of B, so no load is moved ahead of its use; other warps hide its latency.

Order inside a tile: "base" puts the pointer updates and global loads first. Section 4.2 of the report moves two things:
"addresses" puts the pointer updates that lead to the next tile among the shared stores, between the barriers, and
"prefetch" spreads the global loads, with the updates between them, evenly over the FFMAs. "interleaved" does both.

The last tile fetches nothing: the loop's own condition predicates its global loads and shared stores off, so the loop
has one copy and each round has the published instruction counts.

Without prefetch the loop starts with the fetch, through the registers that hold A and B during the updates, in as many
turns as needed; "prefetch" then puts the first turn's loads before the barrier, not after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from isa.instruction import Instruction
from isa.operands.operand import PT, Predicate, Register
from isa.program import Program
from isa.row import Unit
from workloads.builder import Builder, RegisterMap, at, instruction
from workloads.gemm.tiles import DEPTH, SIDE, Tile, elements, row_of

MORE = Predicate(0)  # there is a tile after this one
ORDERS = ("base", "addresses", "prefetch", "interleaved")
SUFFIX = {1: "", 2: ".64", 4: ".128"}


@dataclass(frozen=True, slots=True)
class Operand:
    """One of A and B: its buffer, its tile, the axis of the grid along its rows, and its registers."""

    name: str
    axis: str
    tile: Tile
    base: int  # byte address of its tile in shared memory
    fetch: Register  # pointer into global memory
    store: Register  # pointer for shared stores
    load: Register  # pointer for shared loads
    line: tuple[Register, ...]  # its values during a rank-1 update


@dataclass(frozen=True, slots=True)
class Plan:
    """The kernel's two operands, its other registers, and the switches of its schedule."""

    a: Operand
    b: Operand
    end: Register
    sums: tuple[Register, ...]  # C, column by column
    staging: tuple[Register, ...]  # global elements in transfer to shared memory
    prefetch: bool
    addresses_moved: bool  # pointer updates among the shared stores
    loads_spread: bool  # global loads among the FFMAs

    @property
    def blocking(self) -> int:
        """Rows and columns of C per thread."""
        return self.a.tile.blocking


def register_map(blocking: int, width: int, prefetch: bool) -> RegisterMap:
    """Return the registers of section 4.1 for loads of `width` words: 63 at blocking 6, width 2, with prefetch.

    R1, the stack pointer of compiled code, holds the loop's end. Raises UserError if registers beyond R254, the last,
    are needed.
    """
    registers = RegisterMap("sgemm-lai")
    for name in ("a_fetch", "end", "b_fetch", "a_store"):
        registers.one(name)
    registers.block("a_line", width * -(-blocking // width), width)
    registers.block("b_line", width, width)
    for name in ("b_store", "a_load", "b_load"):
        registers.one(name)
    registers.block("prefetch", 2 * blocking if prefetch else 0)
    registers.block("sums", blocking * blocking)
    return registers


def plan_of(layout: str, blocking: int, width: int, *, prefetch: bool, order: str) -> Plan:
    """Return tiles and registers of a layout (n or t for A, then for B); raises UserError for too many registers.

    `order` is one of ORDERS.
    """
    r = register_map(blocking, width, prefetch).blocks
    tile_a = Tile(blocking, width, contiguous=layout[0] == "n")
    tile_b = Tile(blocking, width, contiguous=layout[1] == "t")

    def operand(name: str, axis: str, tile: Tile, base: int) -> Operand:
        fetch, store, load = (r[f"{name.lower()}_{use}"][0] for use in ("fetch", "store", "load"))
        return Operand(name, axis, tile, base, fetch, store, load, r[f"{name.lower()}_line"])

    a, b = operand("A", "CTAID.X", tile_a, 0), operand("B", "CTAID.Y", tile_b, tile_a.shared_bytes)
    staging = r["prefetch"] if prefetch else a.line + b.line
    moved, spread = (order in (name, "interleaved") for name in ("addresses", "prefetch"))
    return Plan(a, b, r["end"][0], r["sums"], staging, prefetch, moved, spread)


def program_of(plan: Plan, *, reads_c: bool) -> Program:
    """Build the program; `reads_c` when beta is not 0."""
    b = Builder(shared_bytes=plan.a.tile.shared_bytes + plan.b.tile.shared_bytes)
    _pointers(b, plan)
    if plan.prefetch:
        _loop(b, plan)
    else:
        _loop_without_prefetch(b, plan)
    _write_c(b, plan, reads_c=reads_c)
    return b.build()


def _pointers(b: Builder, plan: Plan) -> None:
    thread, row, step, free = plan.a.line[0], plan.b.line[0], plan.sums[0], plan.end
    b.emit("S2R", thread, "TID.X")
    for x in (plan.a, plan.b):
        near, far = (row, step) if x.tile.contiguous else (step, row)
        lanes = x.tile.span if x.tile.contiguous else DEPTH
        b.emit("LOP.AND", near, thread, lanes - 1)
        b.emit("SHR.U32", far, thread, _log2(lanes))
        _store_pointer(b, x, row, step, free)
        b.emit("S2R", free, x.axis)
        b.emit("IMAD", row, free, x.tile.rows, row)
        b.emit("IMAD", x.fetch, far, f"{x.name}_pitch", near)
        b.emit("SHL", x.fetch, x.fetch, 2)
        b.emit("IADD", x.fetch, x.fetch, x.name)
    b.emit("LOP.AND", plan.a.load, thread, SIDE - 1)
    b.emit("SHR.U32", plan.b.load, thread, _log2(SIDE))
    for x in (plan.a, plan.b):
        b.emit("SHL", x.load, x.load, _log2(4 * x.tile.width))
        b.emit("IADD", x.load, x.load, x.base)
    b.emit("IADD", plan.end, plan.a.fetch, "A_extent")


def _store_pointer(b: Builder, x: Operand, row: Register, step: Register, free: Register) -> None:
    chunk, width = x.tile.chunk, x.tile.width
    b.emit("LOP.AND", x.store, row, chunk - 1)
    b.emit("SHR.U32", free, row, _log2(chunk))
    b.emit("IMAD", x.store, free, width, x.store)  # the place of the row, see tiles.place_of
    b.emit("SHL", x.store, x.store, 2)
    b.emit("IMAD", x.store, step, 4 * x.tile.pitch, x.store)
    b.emit("IADD", x.store, x.store, x.base)


def _loop(b: Builder, plan: Plan) -> None:
    updates, fetches = _updates(plan), _flat(_fetches(plan, MORE))
    b.extend(_flat(_fetches(plan, PT)))
    _clear(b, plan)
    b.extend(_between_barriers(plan, PT))
    b.emit("BAR.SYNC", 0)
    b.label("loop")
    if not plan.addresses_moved:
        b.extend(_advance(plan))
    b.extend([_more(plan)])
    b.extend(_weave(updates, fetches, Unit.FP32) if plan.loads_spread else [*fetches, *updates])
    b.emit("BAR.SYNC", 0)
    b.extend(_between_barriers(plan, MORE))
    b.emit("BAR.SYNC", 0)
    b.emit("BRA", "loop", guard=MORE)


def _between_barriers(plan: Plan, guard: Predicate) -> list[Instruction]:
    stores = _stores(plan, guard)
    return _weave(stores, _advance(plan), Unit.SHARED) if plan.addresses_moved else stores


def _loop_without_prefetch(b: Builder, plan: Plan) -> None:
    fetches, stores, turn = _fetches(plan, PT), _stores(plan, PT), len(plan.staging)
    barrier = instruction("BAR.SYNC", 0)
    _clear(b, plan)
    b.label("loop")
    first = _flat(fetches[:turn])
    b.extend([*first, barrier] if plan.loads_spread else [barrier, *first])
    b.extend(stores[:turn])
    for start in range(turn, len(stores), turn):
        b.extend(_flat(fetches[start : start + turn]))
        b.extend(stores[start : start + turn])
    b.extend([barrier, *_advance(plan), *_updates(plan), _more(plan)])
    b.emit("BRA", "loop", guard=MORE)


def _clear(b: Builder, plan: Plan) -> None:
    for total in plan.sums:
        b.emit("MOV", total, 0)


def _fetches(plan: Plan, guard: Predicate) -> list[list[Instruction]]:
    """Return the global loads of a tile of A and B, each with the pointer update that the next one needs."""
    out: list[list[Instruction]] = []
    for x in (plan.a, plan.b):
        for i, element in enumerate(elements(x.tile)):
            target = plan.staging[len(out) % len(plan.staging)]
            out.append([instruction("LDG", target, at(x.fetch, element.fetch_offset), guard=guard)])
            if element.last_of_run and i < plan.blocking - 1:
                out[-1].append(instruction("IADD", x.fetch, x.fetch, f"{x.name}_step"))
    return out


def _stores(plan: Plan, guard: Predicate) -> list[Instruction]:
    places = [(x.store, element.store_offset) for x in (plan.a, plan.b) for element in elements(x.tile)]
    return [
        instruction("STS", at(pointer, offset), plan.staging[i % len(plan.staging)], guard=guard)
        for i, (pointer, offset) in enumerate(places)
    ]


def _advance(plan: Plan) -> list[Instruction]:
    """Return the updates of the global pointers from the last run of a tile to the next tile."""
    return [instruction("IADD", x.fetch, x.fetch, f"{x.name}_next") for x in (plan.a, plan.b)]


def _flat(lists: Iterable[list[Instruction]]) -> list[Instruction]:
    return list(chain.from_iterable(lists))


def _more(plan: Plan) -> Instruction:
    return instruction("ISETP.LT.U32", MORE, plan.a.fetch, plan.end)


def _updates(plan: Plan) -> list[Instruction]:
    """Return all rank-1 updates of a tile."""
    return [i for k in range(DEPTH) for i in _update(plan, k)]


def _update(plan: Plan, k: int) -> list[Instruction]:
    out = [
        _shared_load(plan.a, k, group, plan.a.line[group * plan.a.tile.width]) for group in range(plan.a.tile.groups)
    ]
    width = plan.b.tile.width
    for group in range(plan.b.tile.groups):
        out.append(_shared_load(plan.b, k, group, plan.b.line[0]))
        for column in range(group * width, min((group + 1) * width, plan.blocking)):
            for row in range(plan.blocking):
                total = plan.sums[column * plan.blocking + row]
                out.append(instruction("FFMA", total, plan.a.line[row], plan.b.line[column - group * width], total))
    return out


def _shared_load(x: Operand, k: int, group: int, target: Register) -> Instruction:
    offset = 4 * (k * x.tile.pitch + SIDE * x.tile.width * group)
    return instruction("LDS" + SUFFIX[x.tile.width], target, at(x.load, offset))


def _weave(stream: Sequence[Instruction], items: Sequence[Instruction], unit: Unit) -> list[Instruction]:
    """Spread `items`, in order, evenly before the instructions of `unit` in `stream`, the first before its first."""
    hosts = [i for i, each in enumerate(stream) if each.row.unit is unit]
    out: list[Instruction] = []
    start = 0
    for number, item in enumerate(items):
        place = hosts[number * len(hosts) // len(items)]
        out += [*stream[start:place], item]
        start = place
    return [*out, *stream[start:]]


def _write_c(b: Builder, plan: Plan, *, reads_c: bool) -> None:
    tile, old = plan.a.tile, plan.a.line
    pointer = plan.a.fetch
    _pointer_to_c(b, plan, pointer, plan.b.fetch, plan.end)
    for column in range(plan.blocking):
        sums = plan.sums[column * plan.blocking :][: plan.blocking]
        offsets = [4 * row_of(tile, 0, row) for row in range(plan.blocking)]
        if reads_c:
            b.extend(instruction("LDG", old[i], at(pointer, offset)) for i, offset in enumerate(offsets))
        b.extend(instruction("FMUL", total, total, "alpha") for total in sums)
        if reads_c:
            b.extend(instruction("FFMA", total, old[i], "beta", total) for i, total in enumerate(sums))
        b.extend(instruction("STG", at(pointer, offset), total) for offset, total in zip(offsets, sums, strict=True))
        if column < plan.blocking - 1:
            b.emit("IADD", pointer, pointer, "C_skip" if (column + 1) % tile.chunk == 0 else "C_step")
    b.emit("EXIT")


def _pointer_to_c(b: Builder, plan: Plan, row: Register, column: Register, free: Register) -> None:
    """Compute in `row` the address of the thread's first element of C."""
    b.emit("S2R", free, "TID.X")
    b.emit("LOP.AND", row, free, SIDE - 1)
    b.emit("SHR.U32", column, free, _log2(SIDE))
    for x, index in ((plan.a, row), (plan.b, column)):
        b.emit("SHL", index, index, _log2(x.tile.chunk))
        b.emit("S2R", free, x.axis)
        b.emit("IMAD", index, free, x.tile.rows, index)
    b.emit("IMAD", row, column, "C_pitch", row)
    b.emit("SHL", row, row, 2)
    b.emit("IADD", row, row, "C")


def _log2(power: int) -> int:
    return power.bit_length() - 1
