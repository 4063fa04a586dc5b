"""Instructions of the GEMM stencil (see `stencil` and `stencil_plan`): pointers, reads, rank-1 updates, the loop, C.

A rank-1 update loads the shorter line of a thread's values, then as many values of the longer line as have registers;
after the multiply-adds of each of these, the next value is loaded. A complex multiply-add is four real ones;
conjugation changes the sign of their operands. The loop over k inside a tile is unrolled, for the last tile to the
steps that are left.
"""

from __future__ import annotations

from collections.abc import Iterator

from isa.instruction import Instruction
from isa.operands.operand import RZ, Predicate, Register
from isa.program import Program
from workloads.builder import Builder, at, instruction
from workloads.papers.kurzak.stencil_c import write_c
from workloads.papers.kurzak.stencil_plan import Operand, Plan

MORE, INSIDE = Predicate(0), Predicate(1)
SUFFIX = {1: "", 2: ".64", 4: ".128"}
PRECISE = 21  # bits of a quotient's factor: exact for thread numbers below 1024, and the product has 31 bits


def program(plan: Plan) -> Program:
    """Build the program; its constants are A, B, C and those of `stencil.gemm_stencil`."""
    shared = plan.b.base + plan.nbytes * plan.b.outer * plan.b.outer_stride
    b = Builder(shared_bytes=shared, local_bytes=4 * len(plan.spilled))
    _begin(b, plan)
    b.extend(_fetches(plan))
    for total in plan.registers["sums"]:
        b.emit("MOV", total, 0)
    b.extend(_stores(plan))
    b.emit("BAR.SYNC", 0)
    if plan.tiles > 1:
        _loop(b, plan)
    b.extend(_updates(plan, plan.rest))
    write_c(b, plan, SUFFIX[plan.words])
    return b.build()


def _loop(b: Builder, plan: Plan) -> None:
    b.label("loop")
    b.extend(_advance(plan))
    b.extend(_fetches(plan))
    b.extend(_updates(plan, plan.tuning.blk_k))
    *reloads, barrier = [*_reloads(plan), instruction("BAR.SYNC", 0)]
    b.extend([*reloads, barrier, *_shared_stores(plan), barrier])
    b.emit("BRA", "loop", guard=MORE)


def _begin(b: Builder, plan: Plan) -> None:
    """Compute the pointers while the registers of data are free."""
    data = [r for name in ("sums", "staging", "held", "streamed", "spare") for r in plan.registers[name]]
    x, y, thread, *free = data
    b.emit("S2R", x, "TID.X")
    b.emit("S2R", y, "TID.Y")
    b.emit("IMAD", thread, y, plan.tuning.dim_x, x)
    for operand, lane in ((plan.a, x), (plan.b, y)):
        _begin_operand(b, plan, operand, thread, free)
        b.emit("IMUL", plan.one(f"{operand.name}_load"), lane, operand.nbytes * operand.outer_stride)
    if plan.read != "tex2d":
        b.emit("MOV", plan.one("left"), "rounds")


def _begin_operand(b: Builder, plan: Plan, x: Operand, thread: Register, free: list[Register]) -> None:
    column, row, start, store = free[:4]
    b.emit("IMUL", row, thread, (1 << PRECISE) // x.across + 1)
    b.emit("SHR.U32", row, row, PRECISE)
    b.emit("IMAD", column, row, -x.across, thread)
    b.emit("IMUL", store, column, x.strides[0])
    b.emit("IMAD", store, row, x.strides[1], store)
    _keep(b, plan, f"{x.name}_store", store)
    outer = column if x.along else row
    b.emit("S2R", start, x.axis)
    b.emit("IMAD", outer, start, x.outer, outer)
    if plan.read == "tex2d":
        _keep(b, plan, f"{x.name}_outer", outer)
        _keep(b, plan, f"{x.name}_k", row if x.along else column)
        return
    fetch = plan.one(f"{x.name}_fetch")
    b.emit("IMAD", fetch, row, f"{x.name}_pitch", column)
    if plan.read == "plain":
        b.emit("SHL", fetch, fetch, x.nbytes.bit_length() - 1)
        b.emit("IADD", fetch, fetch, x.buffer)


def _keep(b: Builder, plan: Plan, name: str, value: Register) -> None:
    if name in plan.spilled:
        b.emit("STL", at(RZ, 4 * plan.spilled.index(name)), value)
    else:
        b.emit("MOV", plan.one(name), value)


def _found(plan: Plan, name: str, idle: Register) -> tuple[Register, list[Instruction]]:
    """Return the register of a pointer, and the code that loads it from local memory."""
    if name not in plan.spilled:
        return plan.one(name), []
    return idle, [instruction("LDL", idle, at(RZ, 4 * plan.spilled.index(name)))]


def _advance(plan: Plan) -> Iterator[Instruction]:
    """Advance to the next tile, and test whether another follows it."""
    for x in (plan.a, plan.b):
        where = plan.one(f"{x.name}_k" if plan.read == "tex2d" else f"{x.name}_fetch")
        yield instruction("IADD", where, where, x.depth if plan.read == "tex2d" else f"{x.name}_next")
    if plan.read == "tex2d":
        yield instruction("ISETP.LT.U32", MORE, plan.one("A_k"), "last_k")
        return
    left = plan.one("left")
    yield instruction("IADD", left, left, -1)
    yield instruction("ISETP.GT", MORE, left, 0)


def _fetches(plan: Plan) -> Iterator[Instruction]:
    """Read a tile of A and one of B to registers."""
    read = {"plain": _plain, "tex1d": _texture_1d, "tex2d": _texture_2d}[plan.read]
    staging = plan.registers["staging"][:: plan.words]
    yield from read(plan, plan.a, staging[: plan.a.fetches])
    yield from read(plan, plan.b, staging[plan.a.fetches :])


def _plain(plan: Plan, x: Operand, staging: tuple[Register, ...]) -> Iterator[Instruction]:
    """Read with loads; if a tile may reach over the matrix, leave out elements beyond its end."""
    pointer, idle, load = plan.one(f"{x.name}_fetch"), plan.idle[0], f"LDG{SUFFIX[plan.words]}"
    for number, to in enumerate(staging):
        row, column = divmod(number, x.columns)
        if row and not column:
            yield instruction("IADD", pointer, pointer, f"{x.name}_step")
        offset = x.nbytes * x.across * column
        if not x.ragged:
            yield instruction(load, to, at(pointer, offset))
            continue
        if column:
            yield instruction("IADD", idle, pointer, offset)
        where = idle if column else pointer
        yield instruction("ISETP.LT.U32", INSIDE, where, f"{x.name}_end")
        yield instruction(load, to, at(where), guard=INSIDE)


def _texture_1d(plan: Plan, x: Operand, staging: tuple[Register, ...]) -> Iterator[Instruction]:
    """Read by index; the index is in the element's destination register."""
    first = plan.one(f"{x.name}_fetch")
    for number, to in enumerate(staging):
        row, column = divmod(number, x.columns)
        if number:
            yield instruction("IADD", to, first, f"{x.name}_{column}_{row}")
        yield instruction(f"TEX{SUFFIX[plan.words]}", to, x.buffer, to if number else first)


def _texture_2d(plan: Plan, x: Operand, staging: tuple[Register, ...]) -> Iterator[Instruction]:
    """Read by column and row; the column's offset is in the element's destination register."""
    outer, reload = _found(plan, f"{x.name}_outer", plan.idle[0])
    yield from reload
    k, lower = plan.one(f"{x.name}_k"), plan.idle[1]
    left, top = (outer, k) if x.along else (k, outer)
    for number, to in enumerate(staging):
        row, column = divmod(number, x.columns)
        if row and not column:
            yield instruction("IADD", lower, top, x.down * row)
        if column:
            yield instruction("IADD", to, left, x.across * column)
        place = (to if column else left, lower if row else top)
        yield instruction(f"TEX.2D{SUFFIX[plan.words]}", to, x.buffer, *place, f"{x.name}_pitch")


def _stores(plan: Plan) -> Iterator[Instruction]:
    yield from _reloads(plan)
    yield from _shared_stores(plan)


def _reloads(plan: Plan) -> Iterator[Instruction]:
    """Load the spilled pointers of shared stores."""
    for x, idle in zip((plan.a, plan.b), plan.idle, strict=False):
        yield from _found(plan, f"{x.name}_store", idle)[1]


def _shared_stores(plan: Plan) -> Iterator[Instruction]:
    staging = iter(plan.registers["staging"][:: plan.words])
    for x, idle in zip((plan.a, plan.b), plan.idle, strict=False):
        pointer, _ = _found(plan, f"{x.name}_store", idle)
        for number in range(x.fetches):
            row, column = divmod(number, x.columns)
            yield instruction(f"STS{SUFFIX[plan.words]}", at(pointer, x.place(column, row)), next(staging))


def _updates(plan: Plan, steps: int) -> Iterator[Instruction]:
    """Do the rank-1 updates of a tile."""
    for k in range(steps):
        yield from _update(plan, k)


def _update(plan: Plan, k: int) -> Iterator[Instruction]:
    held, streamed = plan.lines
    line, window = (plan.registers[name][:: plan.words] for name in ("held", "streamed"))
    for number, to in enumerate(line):
        yield _shared_load(plan, held, k, number, to)
    for number, to in enumerate(window):
        yield _shared_load(plan, streamed, k, number, to)
    for number in range(streamed.values):
        value, following = window[number % len(window)], number + len(window)
        yield from _multiply_adds(plan, number, line, value)
        if following < streamed.values:
            yield _shared_load(plan, streamed, k, following, value)


def _shared_load(plan: Plan, x: Operand, k: int, number: int, to: Register) -> Instruction:
    return instruction(f"LDS{SUFFIX[plan.words]}", to, at(plan.one(f"{x.name}_load"), x.value(k, number)))


def _multiply_adds(plan: Plan, number: int, line: tuple[Register, ...], value: Register) -> Iterator[Instruction]:
    """Multiply one value of the longer line with all of the shorter."""
    sums, rows, a_held = plan.registers["sums"][:: plan.words], plan.tuning.thr_m, plan.lines[0] is plan.a
    mnemonic, size = ("DFMA", 2) if plan.double else ("FFMA", 1)
    for part_a, part_b, part, negated in _products(plan):
        for other, held in enumerate(line):
            a, b = (held, value) if a_held else (value, held)
            total = sums[rows * number + other if a_held else rows * other + number]
            target = Register(total.index + size * part)
            left = Register(a.index + size * part_a, negated=negated)
            yield instruction(mnemonic, target, left, Register(b.index + size * part_b), target)


def _products(plan: Plan) -> tuple[tuple[int, int, int, bool], ...]:
    """Return the real products of a step: the parts of A, B and the sum, and whether the product is subtracted."""
    if plan.problem.parts == 1:
        return ((0, 0, 0, False),)
    a, b = plan.a.conjugated, plan.b.conjugated
    return ((0, 0, 0, False), (0, 1, 1, b), (1, 1, 0, a == b), (1, 0, 1, a))
