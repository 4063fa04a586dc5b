"""AMD's very low power GEMMs for Vega (readme of the VLP SGEMM, MI60): A through scalar registers, no shared memory.

A block is 1, 2 or 4 waves and computes 64 rows and a column for each thread. A step is 8 k, for which a thread has 8
elements of its column of B in registers, and the next 8 in flight. The rows of A come in groups: 64 scalar registers
hold 8 k of 8 rows in single precision, of 4 in double. One wait covers all loads of a group, as they return in any
order; then its multiply-adds follow, with a scalar source.

The readme has the instructions, and the sources that it names (fsword73/SGEMM_on_VEGA, `sgemm_64x256_sqc.s` and
`sgemm_64x256_sqc_sum_no_reuse.s`) have their order, which is restated here. As soon as the multiply-adds of a row are
issued its registers are loaded for the next group, so only the loads of the last rows are not covered by arithmetic. In
the order `forwarding` the 8 multiply-adds of one sum are consecutive, so that the sum stays in the pipe; `interleaved`
takes two rows in turn, and loads both afterwards. Rows of A and C and columns of B are `pad` elements longer than the
product, 16 in the readme's test, so that they don't all fall into a few sets of a cache; loads for a step past the last
one read there. C is read, times `beta`, and written.

The registers are the readme's. Addresses have 32 bits here: the second of the two scalar additions after each load of
B adds 0 where GCN adds a carry, and a vector addition gives the load its address. The readme has no listing in double
precision: its table counts chains of 8 there too, from which groups of 4 rows by 8 k follow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from isa.kernel import Kernel
from isa.operands.operand import FIRST_SCALAR, Register, scalar
from isa.program import Program
from workloads.builder import Builder, RegisterMap, at, double_words, float_bits
from workloads.check import factors, multiple, one_of
from workloads.gemm.problem import buffers, promise
from workloads.papers.vega.vega import LANES, ROWS, checked_product, product

ORDERS = ("forwarding", "interleaved")
STEP = 8  # k of a step
QUAD = 4  # words of a load of B
SCALARS = 64  # that hold a group of A
AHEAD = 16  # rows of C in flight
X, Y, NEXT, ROW, END, TEMPORARY, BETA = (scalar(i) for i in (0, 1, 2, 3, 4, 5, 6))
COLUMN_LOW, COLUMN_HIGH = scalar(20), scalar(21)  # the address of B's tile at the current k
ANY = 63  # a count that no wait is for

Blocks = Mapping[str, tuple[Register, ...]]


@dataclass(frozen=True, slots=True)
class Precision:
    """What differs between the precisions: words of an element, the first scalar register of A, and instructions."""

    name: str
    dtype: str
    words: int
    first_of_a: int
    multiply_add: str
    load_a: str
    load_c: str
    store_c: str

    @property
    def rows(self) -> int:
        """Rows of a group."""
        return SCALARS // (STEP * self.words)

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return 4 * self.words


SINGLE = Precision(
    "sgemm-vega-vlp", "f4", 1, 32, "V_FMA_F32", "S_LOAD_DWORDX8", "GLOBAL_LOAD_DWORD", "GLOBAL_STORE_DWORD"
)
DOUBLE = Precision(
    "dgemm-vega-vlp", "f8", 2, 24, "V_FMA_F64", "S_LOAD_DWORDX16", "GLOBAL_LOAD_DWORDX2", "GLOBAL_STORE_DWORDX2"
)


def vega_vlp(
    p: Precision,
    m: int = 128,
    n: int = 512,
    k: int = 64,
    threads: int = 256,
    order: str = "forwarding",
    pad: int = 16,
    beta: float = 1.0,
) -> Kernel:
    """Build the kernel for C = A B + beta C in a precision; `threads` of a block are as many columns of a tile.

    Raises UserError for sizes that don't tile (m 64, n `threads`, k 16, pad 8), unknown choices and matrices beyond
    32-bit addresses.
    """
    one_of(p.name, "threads", threads, (64, 128, 256))
    one_of(p.name, "order", order, ORDERS)
    multiple(p.name, "pad", pad, STEP)
    factors(p.name, beta=beta)
    problem = checked_product(p.name, product(m, n, k, pad, beta, p.dtype), columns=threads, depth=2 * STEP)
    row, row_of_c = p.size * (k + pad), p.size * (n + pad)
    scaled = {"beta": float_bits(beta)} if p is SINGLE else double_words("beta", beta)
    return Kernel(
        name=p.name,
        program=program(threads, order, p, reads_c=problem.reads_c),
        grid=(n // threads, m // ROWS, 1),
        block=(threads, 1, 1),
        parameters={
            "row_bytes": row,
            "tile_bytes": row * ROWS,
            "columns_bytes": row * threads,
            "k_bytes": p.size * k,
            "C_row_bytes": row_of_c,
            "C_tile_bytes": row_of_c * ROWS,
            **(scaled if problem.reads_c else {}),
        },
        buffers=buffers(problem),
        expected=promise(problem, threads, ROWS),
        flops=problem.flops,
        warp_size=LANES,
        arguments={"m": m, "n": n, "k": k, "threads": threads, "order": order, "pad": pad, "beta": beta},
    )


sgemm_vega_vlp, dgemm_vega_vlp = partial(vega_vlp, SINGLE), partial(vega_vlp, DOUBLE)


def register_map(p: Precision = SINGLE) -> RegisterMap:
    """Return the readme's vector registers (83 in single precision): thread, two pointers, 64 sums, B twice."""
    registers = RegisterMap(p.name)
    registers.one("thread")
    registers.block("pointers", 2, align=2)
    registers.block("sums", ROWS * p.words)
    registers.block("b", 2 * STEP * p.words, align=QUAD)
    return registers


def scalars_of_a(p: Precision = SINGLE) -> tuple[Register, ...]:
    """Return the scalar registers that hold a group of A, row by row."""
    return tuple(scalar(p.first_of_a + i) for i in range(SCALARS))


def program(threads: int, order: str, p: Precision = SINGLE, *, reads_c: bool = True) -> Program:
    """Build the program; its constants are A, B, C and those of the kernel's `parameters`."""
    b, r = Builder(), register_map(p).blocks
    _begin(b, r)
    _fetch(b, r, p, 0)
    for row in range(p.rows):
        _load_a(b, p, row)
    b.label("loop")
    for half in range(2):
        _fetch(b, r, p, 1 - half)
        _step(b, r, p, half, order)
    b.emit("S_CMP_LT_U32", NEXT, END)
    b.emit("S_CBRANCH_SCC1", "loop")
    b.emit("S_WAITCNT", 0, 0)
    _finish(b, r, p, threads, reads_c=reads_c)
    return b.build()


def _begin(b: Builder, r: Blocks) -> None:
    """Compute the addresses of the tile's first row of A and first column of B, and of the thread's column in it."""
    (thread,), (column, _) = r["thread"], r["pointers"]
    b.emit("S2R", thread, "TID.X")
    b.emit("S2R", X, "CTAID.X")
    b.emit("S2R", Y, "CTAID.Y")
    b.emit("S_MUL_I32", NEXT, Y, "tile_bytes")
    b.emit("S_ADD_U32", NEXT, NEXT, "A")
    b.emit("S_ADD_U32", END, NEXT, "k_bytes")
    b.emit("S_MOV_B32", ROW, NEXT)
    b.emit("S_MUL_I32", COLUMN_LOW, X, "columns_bytes")
    b.emit("S_ADD_U32", COLUMN_LOW, COLUMN_LOW, "B")
    b.emit("S_MOV_B32", COLUMN_HIGH, 0)
    b.emit("V_MUL_LO_U32", column, thread, "row_bytes")
    for total in r["sums"]:
        b.emit("V_MOV_B32", total, 0)


def _fetch(b: Builder, r: Blocks, p: Precision, half: int) -> None:
    """Load the thread's next 8 elements of B into that half of the buffer registers."""
    column, place = r["pointers"]
    size = STEP * p.words
    for i in range(0, size, QUAD):
        b.emit("V_ADD_U32", place, column, COLUMN_LOW)
        b.emit("GLOBAL_LOAD_DWORDX4", r["b"][half * size + i], at(place))
        b.emit("S_ADD_U32", COLUMN_LOW, COLUMN_LOW, 4 * QUAD)
        b.emit("S_ADD_U32", COLUMN_HIGH, COLUMN_HIGH, 0)


def _load_a(b: Builder, p: Precision, row: int) -> None:
    """Load 8 k of the next row of A into the registers of that row of a group."""
    b.emit(p.load_a, scalars_of_a(p)[row * STEP * p.words], at(ROW))
    b.emit("S_ADD_U32", ROW, ROW, "row_bytes")


def _step(b: Builder, r: Blocks, p: Precision, half: int, order: str) -> None:
    """Multiply 64 rows by 8 k of A with the thread's 8 elements of B, and load the group that follows each."""
    together = 1 if order == "forwarding" else 2
    for first in range(0, ROWS, p.rows):
        if first + p.rows == ROWS:
            b.emit("S_ADD_U32", NEXT, NEXT, STEP * p.size)
            b.emit("S_MOV_B32", ROW, NEXT)
        b.emit("S_WAITCNT", ANY, 0)
        if first == 0:
            b.emit("S_WAITCNT", STEP * p.words // QUAD, ANY)
        for row in range(0, p.rows, together):
            rows = range(row, row + together)
            for k, each in ((k, each) for k in range(STEP) for each in rows):
                _multiply_add(b, r, p, half, first, each, k)
            for each in rows:
                _load_a(b, p, each)


def _multiply_add(b: Builder, r: Blocks, p: Precision, half: int, first: int, row: int, k: int) -> None:
    """Add one product to the sum of that row of the group whose first row is given."""
    total = r["sums"][(first + row) * p.words]
    factor = r["b"][(half * STEP + k) * p.words]
    b.emit(p.multiply_add, total, factor, scalars_of_a(p)[(row * STEP + k) * p.words], total)


def _finish(b: Builder, r: Blocks, p: Precision, threads: int, *, reads_c: bool) -> None:
    """Write the sums, each added to beta times the old element, which is loaded 16 rows ahead."""
    (thread,), (ahead, place) = r["thread"], r["pointers"]
    b.emit("S_MUL_I32", TEMPORARY, X, threads)
    b.emit("V_ADD_U32", place, thread, TEMPORARY)
    b.emit("V_LSHLREV_B32", place, 1 + p.words, place)
    b.emit("S_MUL_I32", TEMPORARY, Y, "C_tile_bytes")
    b.emit("S_ADD_U32", TEMPORARY, TEMPORARY, "C")
    b.emit("V_ADD_U32", place, place, TEMPORARY)
    if reads_c:
        b.emit("V_MOV_B32", ahead, place)
        for i, name in enumerate(("beta",) if p is SINGLE else ("beta_low", "beta_high")):
            b.emit("S_MOV_B32", scalar(BETA.index - FIRST_SCALAR + i), name)
    _write_c(b, r, p, reads_c=reads_c)
    b.emit("S_ENDPGM")


def _write_c(b: Builder, r: Blocks, p: Precision, *, reads_c: bool) -> None:
    """Emit, for each row, the wait for the old element, the multiply-add, the load 16 rows ahead and the store."""
    ahead, place = r["pointers"]
    accesses: list[tuple[str, int]] = []

    def load(row: int) -> None:
        b.emit(p.load_c, r["b"][row % AHEAD * p.words], at(ahead))
        b.emit("V_ADD_U32", ahead, ahead, "C_row_bytes")
        accesses.append(("load", row))

    for row in range(AHEAD if reads_c else 0):
        load(row)
    for row in range(ROWS):
        total, old = r["sums"][row * p.words], r["b"][row % AHEAD * p.words]
        if reads_c:
            b.emit("S_WAITCNT", len(accesses) - 1 - accesses.index(("load", row)), ANY)
            b.emit(p.multiply_add, total, old, BETA, total)
        if reads_c and row + AHEAD < ROWS:
            load(row + AHEAD)
        b.emit(p.store_c, at(place), total)
        b.emit("V_ADD_U32", place, place, "C_row_bytes")
        accesses.append(("store", row))
