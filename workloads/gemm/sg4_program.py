"""Instructions of `sg4`: register map, thread map, loop, and the end that writes C.

Shared memory has two buffers, each with a tile of A and one of B, k-major. While one is read the other is written, so
that a tile needs one barrier: between the last load of one buffer and the first of the other, both of which are loads
ahead of their use. An exclusive or with the buffer distance switches a pointer to the other buffer.

A is contiguous along its rows: 128 bits from global memory are 128 bits of a k-row. B is contiguous along k: 128 bits
are one word in each of four k-rows. Two neighbouring threads hold the eight k of a column, so a warp stores 16 columns
of two k-rows with distance four; PAD separates these by 16 banks, so that no store has a conflict.

The threads of a warp form 8 by 4, not 16 by 2: a half-warp's 128-bit loads of A are then 32 adjacent words.

The last tile fetches nothing: the loop's own condition predicates its fetches and stores off, and the loads after its
barrier.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from isa.instruction import Instruction
from isa.operands.operand import Predicate, Register
from isa.program import Program
from workloads.builder import Builder, RegisterMap, at, instruction

SIDE = 128  # rows and columns of a block's tile of C
DEPTH = 8  # k of a tile
THREADS = 256
BLOCKING = 8  # rows and columns of C per thread, in two groups of VECTOR
VECTOR = 4  # words of a 128-bit access
GROUP = SIDE // 2  # rows from a thread's first group to its second
PAD = 4  # words after a k-row of B
A_PITCH, B_PITCH = SIDE, SIDE + PAD  # words between k-rows
B_BASE = 4 * DEPTH * A_PITCH  # byte of B after A in a buffer
BUFFER = 16384  # bytes between the buffers: a power of two that no address inside a buffer contains
SHARED_BYTES = BUFFER + B_BASE + 4 * DEPTH * B_PITCH
MORE = Predicate(0)  # there is a tile after this one

Blocks = dict[str, tuple[Register, ...]]


def register_map() -> RegisterMap:
    """Return the registers: 64 sums, twice 8 + 8 operands of a rank-1 update, 8 in transfer, and 7 pointers."""
    registers = RegisterMap("sg4")
    registers.block("sums", BLOCKING * BLOCKING, VECTOR)  # C, column by column
    for name in ("a0", "b0", "a1", "b1"):  # operands of even and of odd k
        registers.block(name, BLOCKING, VECTOR)
    for name in ("a_staging", "b_staging"):
        registers.block(name, VECTOR, VECTOR)
    for name in ("a_fetch", "b_fetch", "a_store", "b_store", "a_load", "b_load", "end"):
        registers.one(name)
    return registers


def program() -> Program:
    """Build the program; its constants are A, B, C and those of `sg4.sg4`."""
    b, r = Builder(shared_bytes=SHARED_BYTES), register_map().blocks
    _pointers(b, r)
    b.extend(_fetch(r))
    b.extend(instruction("MOV", total, 0) for total in r["sums"])
    b.extend(_store(r))
    b.emit("BAR.SYNC", 0)
    b.extend(_load(r, 0))
    b.label("loop")
    b.emit("ISETP.LT.U32", MORE, r["a_fetch"][0], r["end"][0])
    b.extend(_guarded(_fetch(r)))
    for k in range(DEPTH):
        b.extend(_load(r, k + 1) if k < DEPTH - 1 else _change_tiles(r))
        b.extend(_update(r, k))
    b.emit("BRA", "loop", guard=MORE)
    _write_c(b, r)
    return b.build()


def _pointers(b: Builder, r: Blocks) -> None:
    thread, row, free = r["sums"][:3]
    b.emit("S2R", thread, "TID.X")
    b.emit("SHL", r["a_store"][0], thread, 4)  # 32 threads store a k-row of A
    _store_pointer_of_b(b, r["b_store"][0], thread, row, free)
    _load_pointers(b, r, thread, free)
    b.emit("S2R", free, "CTAID.X")
    b.emit("LOP.AND", row, thread, 31)
    b.emit("SHL", row, row, 2)
    b.emit("IMAD", row, free, SIDE, row)
    b.emit("SHR.U32", free, thread, 5)
    _to_address(b, r["a_fetch"][0], free, row, "A")
    b.emit("IADD", r["end"][0], r["a_fetch"][0], "A_extent")
    b.emit("S2R", free, "CTAID.Y")
    b.emit("SHR.U32", row, thread, 1)
    b.emit("IMAD", free, free, SIDE, row)
    b.emit("LOP.AND", row, thread, 1)
    b.emit("SHL", row, row, 2)
    _to_address(b, r["b_fetch"][0], free, row, "B")


def _store_pointer_of_b(b: Builder, pointer: Register, thread: Register, k: Register, column: Register) -> None:
    b.emit("LOP.AND", k, thread, 1)
    b.emit("SHR.U32", column, thread, 1)
    b.emit("SHL", column, column, 2)
    b.emit("IMAD", pointer, k, 4 * VECTOR * B_PITCH, column)
    b.emit("IADD", pointer, pointer, B_BASE)


def _load_pointers(b: Builder, r: Blocks, thread: Register, free: Register) -> None:
    for name, base in (("a", 0), ("b", B_BASE)):
        pointer = r[f"{name}_load"][0]
        _place(b, name, pointer, thread, free)
        b.emit("SHL", pointer, pointer, 4)
        if base:
            b.emit("IADD", pointer, pointer, base)


def _place(b: Builder, name: str, target: Register, thread: Register, free: Register) -> None:
    """Compute in `target` the thread's row ("a") or column ("b") of the 16 by 16: warps 2 by 4, lanes 8 by 4."""
    if name == "a":
        b.emit("LOP.AND", target, thread, 7)
        b.emit("SHR.U32", free, thread, 2)
        b.emit("LOP.AND", free, free, 8)
    else:
        b.emit("SHR.U32", target, thread, 3)
        b.emit("LOP.AND", target, target, 3)
        b.emit("SHR.U32", free, thread, 4)
        b.emit("LOP.AND", free, free, 12)
    b.emit("IADD", target, target, free)


def _to_address(b: Builder, target: Register, column: Register, row: Register, matrix: str) -> None:
    """Compute the address of an element of a column-major matrix."""
    b.emit("IMAD", target, column, f"{matrix}_pitch", row)
    b.emit("SHL", target, target, 2)
    b.emit("IADD", target, target, matrix)


def _fetch(r: Blocks) -> Iterator[Instruction]:
    """Load the thread's part of the next tiles, and move the pointers."""
    yield instruction("LDG.128", r["a_staging"][0], at(r["a_fetch"][0]))
    yield instruction("LDG.128", r["b_staging"][0], at(r["b_fetch"][0]))
    yield instruction("IADD", r["a_fetch"][0], r["a_fetch"][0], "A_step")
    yield instruction("IADD", r["b_fetch"][0], r["b_fetch"][0], 4 * DEPTH)


def _store(r: Blocks) -> Iterator[Instruction]:
    """Store it to a buffer, and switch to the other buffer."""
    yield instruction("STS.128", at(r["a_store"][0]), r["a_staging"][0])
    for k, word in enumerate(r["b_staging"]):
        yield instruction("STS", at(r["b_store"][0], 4 * k * B_PITCH), word)
    yield from _other_buffer(r["a_store"][0], r["b_store"][0])


def _change_tiles(r: Blocks) -> Iterator[Instruction]:
    yield from _guarded(_store(r))
    yield from _other_buffer(r["a_load"][0], r["b_load"][0])
    yield instruction("BAR.SYNC", 0)
    yield from _guarded(_load(r, 0))


def _other_buffer(*pointers: Register) -> Iterator[Instruction]:
    return (instruction("LOP.XOR", pointer, pointer, BUFFER) for pointer in pointers)


def _load(r: Blocks, k: int) -> Iterator[Instruction]:
    """Load the operands of rank-1 update `k` of the tile."""
    for name, pitch in (("a", A_PITCH), ("b", B_PITCH)):
        for group in range(2):
            target = r[f"{name}{k % 2}"][VECTOR * group]
            yield instruction("LDS.128", target, at(r[f"{name}_load"][0], 4 * (k * pitch + GROUP * group)))


def _update(r: Blocks, k: int) -> Iterator[Instruction]:
    for column, b in enumerate(r[f"b{k % 2}"]):
        for a, total in zip(r[f"a{k % 2}"], _column(r, column), strict=True):
            yield instruction("FFMA", total, a, b, total)


def _column(r: Blocks, column: int) -> Sequence[Register]:
    return r["sums"][BLOCKING * column :][:BLOCKING]


def _guarded(instructions: Iterator[Instruction]) -> Iterator[Instruction]:
    return (Instruction(i.row, i.operands, MORE) for i in instructions)


def _write_c(b: Builder, r: Blocks) -> None:
    thread, row, column, free, pointer = r["a0"][:5]
    b.emit("S2R", thread, "TID.X")
    for name, target, axis in (("a", row, "CTAID.X"), ("b", column, "CTAID.Y")):
        _place(b, name, target, thread, free)
        b.emit("SHL", target, target, 2)
        b.emit("S2R", free, axis)
        b.emit("IMAD", target, free, SIDE, target)
    _to_address(b, pointer, column, row, "C")
    for number in range(BLOCKING):
        for group in range(2):
            b.emit("STG.128", at(pointer, 4 * GROUP * group), _column(r, number)[VECTOR * group])
        b.emit("IADD", pointer, pointer, "C_skip" if number == VECTOR - 1 else "C_step")
    b.emit("EXIT")
