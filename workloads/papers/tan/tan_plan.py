"""Numbers, thread map and registers of the DGEMM of Tan et al. (see `tan` and `tan_program`)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from isa.operands.operand import Register
from workloads.builder import RegisterMap

NAME = "dgemm-tan"
SIDE = 64  # of a tile of C
DEPTH = 16  # of a tile along k
HALF = DEPTH // 2
BLOCKING = 4  # the paper's: rows and columns of C of a thread
ROW = 8 * SIDE  # bytes of a tile's k in shared memory
B_BASE = DEPTH * ROW
BUFFER = HALF * ROW  # the bit of a load pointer that selects the buffer
FEWEST_SPILLED = 6  # doubles: 54 registers, the two that stay, and the window are 62
WINDOW = 2  # doubles in transfer to local memory
SUFFIX = {1: ".64", 2: ".128"}

Registers = tuple[Register, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """A variant, and its choices.

    They are doubles per access, whether it has every barrier, doubles that algorithm 2 spills, whether it reads A and B
    through textures, the rows and columns of C of a thread, and whether shared loads stand where the search puts them.
    """

    variant: str
    doubles: int
    strict: bool
    spilled: int
    textured: bool = False
    blocking: int = BLOCKING
    searched: bool = False

    @property
    def suffix(self) -> str:
        """Suffix of the mnemonics of memory accesses."""
        return SUFFIX[self.doubles]

    @property
    def across(self) -> int:
        """Threads along each side of a tile of C: 16 in the paper."""
        return SIDE // self.blocking

    @property
    def threads(self) -> int:
        """Threads of a block: 256 in the paper."""
        return self.across**2

    @property
    def fetched_rows(self) -> int:
        """Number of k that all threads fetch of a tile with one access each: 4 or 8 in the paper."""
        return self.threads * self.doubles // SIDE

    @property
    def fetches(self) -> int:
        """Accesses with which a thread fetches its part of one operand's tile: 4 or 2 in the paper."""
        return DEPTH // self.fetched_rows

    @property
    def quadrants(self) -> tuple[tuple[int, int], ...]:
        """First row and column of each 2 by 2 of a thread's values, in order."""
        firsts = range(0, self.blocking, 2)
        return tuple(product(firsts, firsts))

    @property
    def column_skip(self) -> int:
        """Columns between a thread's last in one group of `across` threads and its first in the next."""
        return self.across * self.doubles - self.doubles + 1


@dataclass(frozen=True, slots=True)
class Operand:
    """A or B: its name, the axis of the grid along its rows, its place in shared memory, and its registers."""

    name: str
    axis: str
    base: int
    fetch: Register
    load: Register
    line: Registers  # its doubles of one rank-1 update, each by its even register


@dataclass(frozen=True, slots=True)
class Held:
    """The registers of a plan."""

    a: Operand
    b: Operand
    store: Register
    left: Register  # tiles
    sums: Registers
    window: Registers
    kept: Registers
    staging: Registers


def registers(plan: Plan) -> tuple[Held, int]:
    """Return a plan's registers, with a double named by its even one, and their number."""
    r = RegisterMap(NAME)
    size = plan.blocking
    sums, a, b = r.block("sums", 2 * size**2, 2), r.block("a", 2 * size, 4), r.block("b", 2 * size, 4)
    held = (8 - plan.spilled if plan.variant == "alg2" else 0, WINDOW if plan.variant == "alg2" and plan.spilled else 0)
    kept, window = r.block("kept", 2 * held[0], 2 * plan.doubles), r.block("window", 2 * held[1], 4)
    staging = r.block("staging", 8 if plan.variant == "v4" else 0, 4)
    fetch_a, fetch_b, store, load_a, load_b, left = map(
        r.one, ("fetch_a", "fetch_b", "store", "load_a", "load_b", "left")
    )
    operands = (
        Operand("A", "CTAID.X", 0, fetch_a, load_a, a[::2]),
        Operand("B", "CTAID.Y", B_BASE, fetch_b, load_b, b[::2]),
    )
    return Held(*operands, store, left, sums[::2], window[::2], kept[::2], staging[::2]), r.count


def places(plan: Plan, doubles: Registers) -> list[Register]:
    """Return the first register of each access to these doubles."""
    return list(doubles[:: plan.doubles])
