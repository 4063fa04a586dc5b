"""The data layout of the GEMM stencil: its tiles in global and shared memory, and its registers.

In shared memory A is stored k by k, as [blk_k][blk_m + 1], and B column by column, as [blk_n][blk_k + 1]. A thread's
values of A have a distance of dim_x rows, those of B of dim_y columns.

Data take the registers first: C, the elements in transfer to shared memory, the shorter of the thread's two lines of a
rank-1 update, and as many values of the longer line as fit, at least one. Pointers follow: into global memory (with 2D
textures column and row), for shared stores, for shared loads, and a counter (with 2D textures a coordinate serves as
one). Pointers without a register stay in local memory and are loaded at their use into registers of the lines, which
are then idle: at 63 registers this happens in two of the published kernels in double and complex precision.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from isa.memory import bases
from isa.operands.operand import Register
from workloads.builder import RegisterMap
from workloads.gemm.problem import Problem, buffers
from workloads.papers.kurzak.stencil_tuning import NAME, Tuning

Registers = tuple[Register, ...]
SPARE = 8  # registers that the start of the program needs beside pointers


@dataclass(frozen=True, slots=True)
class Operand:
    """A or B. Its tile has `outer` rows of C (columns, for B) and `depth` along k."""

    name: str
    buffer: str  # the matrix that it reads: the other one if the product is row-major
    axis: str  # of the grid, along the outer side
    outer: int
    depth: int
    along: bool  # the columns of the stored matrix run along the outer side
    across: int  # threads that read along stored columns
    down: int  # threads from column to column
    outer_stride: int  # elements of shared memory between rows of C
    depth_stride: int  # the same along k
    base: int  # byte of shared memory
    thread: str  # special register that selects the values of a thread's computation
    lanes: int  # threads along the outer side during computation
    nbytes: int  # of an element
    pitch: int  # elements between stored columns
    end: int  # byte after the matrix
    ragged: bool  # whether a tile may reach over the matrix's edges
    conjugated: bool

    @property
    def values(self) -> int:
        """Values of a thread in a rank-1 update."""
        return self.outer // self.lanes

    @property
    def columns(self) -> int:
        """Elements that a thread reads along a stored column."""
        return (self.outer if self.along else self.depth) // self.across

    @property
    def rows(self) -> int:
        """Stored columns from which a thread reads."""
        return (self.depth if self.along else self.outer) // self.down

    @property
    def fetches(self) -> int:
        """Elements that a thread reads of a tile."""
        return self.columns * self.rows

    @property
    def strides(self) -> tuple[int, int]:
        """Bytes of shared memory along a stored column, and between columns."""
        bytes_outer, bytes_depth = self.nbytes * self.outer_stride, self.nbytes * self.depth_stride
        return (bytes_outer, bytes_depth) if self.along else (bytes_depth, bytes_outer)

    def offset(self, column: int, row: int) -> int:
        """Return the elements of global memory from a thread's first element of a tile to another that it reads."""
        return self.across * column + self.down * row * self.pitch

    def place(self, column: int, row: int) -> int:
        """Return the byte of shared memory, relative to the thread's store pointer, of an element that it reads."""
        return self.base + self.across * column * self.strides[0] + self.down * row * self.strides[1]

    def value(self, k: int, number: int) -> int:
        """Return the byte of shared memory, relative to the thread's load pointer, of one of its values at k."""
        return self.base + self.nbytes * (k * self.depth_stride + self.lanes * number * self.outer_stride)

    def constants(self, read: str) -> dict[str, int]:
        """Return the program's constants for the matrix, by name: in bytes if it is read plainly, else in elements."""
        tile = self.depth * (self.pitch if self.along else 1)
        known = {"pitch": self.pitch}
        if read == "plain":
            known |= {"step": self.nbytes * self.offset(0, 1), "end": self.end}
            known["next"] = self.nbytes * (tile - self.offset(0, self.rows - 1))
        elif read == "tex1d":
            known |= {f"{i}_{j}": self.offset(i, j) for j in range(self.rows) for i in range(self.columns)}
            known["next"] = tile
        return {f"{self.name}_{name}": value for name, value in known.items()}


@dataclass(frozen=True, slots=True)
class Plan:
    """The input of a program: the problem, its tuning and way of reading, operands and registers."""

    problem: Problem
    tuning: Tuning
    read: str
    a: Operand
    b: Operand
    registers: Mapping[str, Registers]
    spilled: tuple[str, ...]  # pointers in local memory, one word each

    @property
    def words(self) -> int:
        """Registers of an element."""
        return self.nbytes // 4

    @property
    def nbytes(self) -> int:
        """Bytes of an element."""
        return self.a.nbytes

    @property
    def double(self) -> bool:
        """Whether numbers have 64 bits."""
        return self.problem.dtype == "f8"

    @property
    def lines(self) -> tuple[Operand, Operand]:
        """The operand whose values of a rank-1 update all have registers, and the other one."""
        return in_order(self.a, self.b)

    @property
    def tiles(self) -> int:
        """Tiles along k, the last one perhaps partly filled."""
        return -(-self.problem.k // self.tuning.blk_k)

    @property
    def rest(self) -> int:
        """Rank-1 updates of the last tile."""
        return self.problem.k - (self.tiles - 1) * self.tuning.blk_k

    @property
    def border(self) -> bool:
        """Whether a block may reach over the edges of C."""
        return bool(self.problem.m % self.tuning.blk_m or self.problem.n % self.tuning.blk_n)

    @property
    def length(self) -> int:
        """Multiply-adds and shared loads of the program: all but some dozens of its instructions."""
        t = self.tuning
        update = self.problem.parts**2 * t.thr_m * t.thr_n + t.thr_m + t.thr_n
        return update * (self.rest + (t.blk_k if self.tiles > 1 else 0))

    @property
    def idle(self) -> Registers:
        """Registers of the lines, which are empty between rank-1 updates."""
        return self.registers["held"] + self.registers["streamed"]

    def one(self, name: str) -> Register:
        """Return the register of a pointer; KeyError if it is in local memory."""
        return self.registers[name][0]


def plan_of(problem: Problem, tuning: Tuning, read: str, *, skew: bool, registers: int) -> Plan:
    """Return operands and registers; raises UserError if there are more than an instruction can name."""
    a, b = _operands(problem, tuning, int(skew))
    blocks, spilled = _registers(a, b, tuning, read, registers)
    return Plan(problem, tuning, read, a, b, blocks, spilled)


def in_order(a: Operand, b: Operand) -> tuple[Operand, Operand]:
    """Return the operand with fewer values per thread, then the other."""
    return (a, b) if a.values <= b.values else (b, a)


def _operands(problem: Problem, t: Tuning, skew: int) -> tuple[Operand, Operand]:
    nbytes = problem.parts * int(problem.dtype[1])
    where, (left, right) = bases(buffers(problem)), problem.buffers
    ends = {x.name: where[x.name] + x.nbytes for x in buffers(problem)}
    short = problem.k % t.blk_k != 0
    a = Operand(
        name="A", buffer=left, axis="CTAID.X", outer=t.blk_m, depth=t.blk_k, along=problem.layout[0] == "n",
        across=t.dim_xa, down=t.dim_ya, outer_stride=1, depth_stride=t.blk_m + skew, base=0,
        thread="TID.X", lanes=t.dim_x, nbytes=nbytes, pitch=problem.lda, end=ends[left],
        ragged=short or problem.m % t.blk_m != 0, conjugated=problem.layout[0] == "c",
    )  # fmt: skip
    b = Operand(
        name="B", buffer=right, axis="CTAID.Y", outer=t.blk_n, depth=t.blk_k, along=problem.layout[1] != "n",
        across=t.dim_xb, down=t.dim_yb, outer_stride=t.blk_k + skew, depth_stride=1,
        base=nbytes * t.blk_k * (t.blk_m + skew), thread="TID.Y", lanes=t.dim_y, nbytes=nbytes,
        pitch=problem.ldb, end=ends[right], ragged=short or problem.n % t.blk_n != 0,
        conjugated=problem.layout[1] == "c",
    )  # fmt: skip
    return a, b


def _registers(a: Operand, b: Operand, t: Tuning, read: str, most: int) -> tuple[dict[str, Registers], tuple[str, ...]]:
    words, (held, streamed) = a.nbytes // 4, in_order(a, b)
    pointers = _pointers(read)
    data = {"sums": t.thr_m * t.thr_n, "staging": a.fetches + b.fetches, "held": held.values}
    room = most - words * sum(data.values()) - len(pointers)
    data["streamed"] = min(max(room // words, 1), streamed.values)
    spilled = _spillable(read)[: max(0, words * data["streamed"] - room)]
    r = RegisterMap(NAME)
    for name, elements in data.items():
        r.block(name, words * elements, words)
    for name in pointers:
        if name not in spilled:
            r.one(name)
    r.block("spare", max(0, SPARE - words * sum(data.values())))
    return r.blocks, spilled


def _pointers(read: str) -> tuple[str, ...]:
    where = ("A_outer", "A_k", "B_outer", "B_k") if read == "tex2d" else ("A_fetch", "B_fetch", "left")
    return (*where, "A_store", "B_store", "A_load", "B_load")


def _spillable(read: str) -> tuple[str, ...]:
    """Return the pointers that a tile needs once, the cheapest to spill first."""
    return ("B_store", "A_store", *(("B_outer", "A_outer") if read == "tex2d" else ()))
