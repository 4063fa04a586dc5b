"""The end of the GEMM stencil: C = alpha A B + beta C, for the part of each block inside C."""

from __future__ import annotations

from isa.operands.operand import PT, RZ, Predicate, Register
from workloads.builder import Builder, RegisterMap, Value, at
from workloads.papers.kurzak.stencil_plan import Plan
from workloads.papers.kurzak.stencil_tuning import NAME

STORED = Predicate(0)


def write_c(b: Builder, plan: Plan, suffix: str) -> None:
    """Append the code that scales the sums, adds beta C if beta is not 0, stores them and exits.

    All registers except the sums' are free. If a block may reach over the edges of C, each store compares its row and
    column with them.
    """
    r = RegisterMap(NAME, count=len(plan.registers["sums"]))
    alpha, beta = _factors(b, plan, r)
    result, old = (r.block(name, plan.words, plan.words)[0] for name in ("result", "old"))
    row, column, limit, pointer = map(r.one, ("row", "column", "limit", "pointer"))
    _place(b, plan, row, column, pointer, limit)
    for number, total in enumerate(plan.registers["sums"][:: plan.words]):
        j, i = divmod(number, plan.tuning.thr_m)
        if i == 0:
            _next_column(b, plan, j, column, limit, pointer)
        if plan.border:
            if i:
                b.emit("IADD", limit, limit, -plan.tuning.dim_x)
            b.emit("ISETP.LT", STORED, row, limit)
        guard, place = STORED if plan.border else PT, at(pointer, plan.nbytes * plan.tuning.dim_x * i)
        if plan.problem.reads_c:
            b.emit(f"LDG{suffix}", old, place, guard=guard)
        _scale(b, plan, result, total, alpha)
        if plan.problem.reads_c:
            _add(b, plan, result, old, beta)
        b.emit(f"STG{suffix}", place, result, guard=guard)
    b.emit("EXIT")


def _factors(b: Builder, plan: Plan, r: RegisterMap) -> list[list[Value]]:
    """Return real and imaginary part of alpha and of beta: constants, doubles in registers."""
    named = [[f"{name}_{part}" for part in ("re", "im")[: plan.problem.parts]] for name in ("alpha", "beta")]
    return [[_number(b, plan, r, name) for name in names] for names in named]


def _number(b: Builder, plan: Plan, r: RegisterMap, name: str) -> Value:
    if not plan.double:
        return name
    low, high = r.block(name, 2, 2)
    if name.startswith("alpha") or plan.problem.reads_c:
        b.emit("MOV", low, f"{name}_low")
        b.emit("MOV", high, f"{name}_high")
    return low


def _place(b: Builder, plan: Plan, row: Register, column: Register, pointer: Register, free: Register) -> None:
    """Compute row and column of the thread's first element of C, and its address."""
    for x, index in ((plan.a, row), (plan.b, column)):
        b.emit("S2R", index, x.thread)
        b.emit("S2R", free, x.axis)
        b.emit("IMAD", index, free, x.outer, index)
    b.emit("IMAD", pointer, column, "C_pitch", row)
    b.emit("SHL", pointer, pointer, plan.nbytes.bit_length() - 1)
    b.emit("IADD", pointer, pointer, "C")


def _next_column(b: Builder, plan: Plan, number: int, column: Register, limit: Register, pointer: Register) -> None:
    """Advance to the thread's next column; `limit` is the end of its rows, 0 if the column is beyond the last."""
    if number:
        b.emit("IADD", pointer, pointer, "C_step")
    if not plan.border:
        return
    if number:
        b.emit("IADD", column, column, plan.tuning.dim_y)
    b.emit("ISETP.LT", STORED, column, "C_columns")
    b.emit("SEL", limit, "C_rows", RZ, STORED)


def _scale(b: Builder, plan: Plan, result: Register, total: Register, alpha: list[Value]) -> None:
    multiply, fma, size = ("DMUL", "DFMA", 2) if plan.double else ("FMUL", "FFMA", 1)
    for part in range(plan.problem.parts):
        b.emit(multiply, _part(result, size * part), _part(total, size * part), alpha[0])
    if plan.problem.parts == 2:
        b.emit(fma, result, _part(total, size, negated=True), alpha[1], result)
        imaginary = _part(result, size)
        b.emit(fma, imaginary, total, alpha[1], imaginary)


def _add(b: Builder, plan: Plan, result: Register, old: Register, beta: list[Value]) -> None:
    fma, size = ("DFMA", 2) if plan.double else ("FFMA", 1)
    for part in range(plan.problem.parts):
        b.emit(fma, _part(result, size * part), _part(old, size * part), beta[0], _part(result, size * part))
    if plan.problem.parts == 2:
        b.emit(fma, result, _part(old, size, negated=True), beta[1], result)
        imaginary = _part(result, size)
        b.emit(fma, imaginary, old, beta[1], imaginary)


def _part(element: Register, words: int, *, negated: bool = False) -> Register:
    return Register(element.index + words, negated=negated)
