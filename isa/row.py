"""One row of the instruction table.

Form letters, in the order of the text:

    d        register written               P p    predicates written, and u v w r z
    a b c    register, immediate, constant  Q q x  predicates read, and e f g h
    m        memory address                 s      special register
    M        place in shared memory, written later than the address m is read
    l        label                          t      texture tex[name]
    D        register written, read as c    n N    numbers (barrier id, thread count, truth table, shift count, mask)
    B        convergence barrier                    k      number or register (barrier id, threads, mask, time)
    T        labels of an indirect branch           y      dependency barrier
    o        register written, the upper half of 256 bits, or upper channels of a texture object (its handle is t then)
    i j J    words of a tile behind those of a, b, c: places of a sparse matrix's numbers, scales; i may have two

`width` is the bits of each d, a, b, c operand: 64 takes an even register, 128 a multiple of 4 (vector registers of GCN:
any). `registers` has the 32-bit registers of operands whose count is another: "da2" of d and a two, "d4a4b2" of a tile.
Addresses, predicates and texture coordinates keep their own size. `flops` are per thread.

`value(a, b, c)` computes d, or the predicate P, from bit patterns (uint32, or uint64 at width 64); if the form has no
c, it receives `code`, and Q arrives as 0 or 1 in the place of c. A number at the end of the form is a fourth argument.
Rows with more results, predicates or mixed widths have `result` and `truth` instead: `result(a, b, c, p, n)` gives d,
`truth(a, b, c, p, n)` the predicates written, P in bit 0 and p in bit 1 (isa.values.general has what they take).
`across(a, b, c, active)` computes d from other lanes, and `across_truth` P (isa.values.cross_lane). `update(a, b, c)`
is the word that an atomic stores in the place of c (isa.values.atomic), at width 128 each half of 64 bits; d gets c,
and P, true everywhere, that the memory has done it; letters in `tested` tell whether a equals c instead. `implied` are
operands that the text does not have, by their letter, and `condition` is an implied guard.

What an instruction is stands in its row, so that nothing else lists mnemonics: `flow` is what it does to its warp's
lanes beside computing, `kind` what its sources are where the unit does not say. Rows of GCN (`gcn`) have its names,
operands in its order, and vector or scalar registers (see `isa.amd.text`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum
from functools import cache, cached_property
from typing import Any

from isa.operands.operand import Immediate, Predicate

JOINS, CLOSES, WAITS = 1, 2, 4  # bits: the open group of a warp's work of a kind; it; until few groups are under way
DRAINS = 8  # and one more: until no group of copies is under way, by its wait mask
WHOLE = 4  # in the code of a texture fetch: its coordinates are whole numbers (isa.values.texture.texture)
MATRIX_ROW = 16  # bytes of a row of a matrix of 8 x 8 halves
BEHIND = "ijJ"
LETTERS = "dabcmMlDBPpuvwrzQqxefghstnNkyTo" + BEHIND  # every form letter


class Groups(IntEnum):
    """The kinds of a warp's work that goes on in groups."""

    COPIES = 0  # into shared memory, by the load/store unit
    BULK = 1  # of whole tiles, by the copy engine
    MATRIX = 2  # of a warpgroup's tensor cores


class Signal(IntEnum):
    """What an instruction does to a barrier in shared memory."""

    NONE = 0
    BEGIN = 1  # sets its words, and gives the former ones
    FORGET = 2
    ARRIVE = 3  # brings arrivals and bytes
    LOOK = 4  # tells whether a phase is over
    AWAIT = 5  # tells so when it is
    FOLLOW = 6  # arrives when the copies that the warp has issued are done
    SEND = 7  # stores words in the shared memory of a block of the cluster, and brings their bytes


class Bulk(IntEnum):
    """What the copy engine is asked to do."""

    NONE = 0
    LOAD = 1  # from global to shared memory
    STORE = 2  # back
    REDUCE = 3  # the same, by updates
    NEARBY = 4  # from shared to shared memory
    PREFETCH = 5  # from global memory to the L2
    MAP = 6  # of tensor maps: fetch one, or forget it


class Unit(StrEnum):
    """The hardware that an instruction needs; a machine maps each class to a pipe, a latency or a path."""

    FP32 = "fp32"
    FMUL = "fmul"
    MINMAX = "minmax"
    INT = "int"
    IMUL = "imul"
    WIDE = "wide"
    SHIFT = "shift"
    LOGIC = "logic"
    PERMUTE = "permute"
    BITS = "bits"
    DOT = "dot"
    CONVERT = "convert"
    FP16 = "fp16"
    FP16M = "fp16m"
    SHUFFLE = "shuffle"
    VOTE = "vote"
    REDUCE = "reduce"
    COMPARE = "compare"
    MOVE = "move"
    UNIFORM = "uniform"
    SMEM = "smem"
    DP = "dp"
    SFU = "sfu"
    SPECIAL = "special"
    SHARED = "shared"
    GLOBAL = "global"
    LOCAL = "local"
    CONSTANT = "constant"
    TEXTURE = "texture"
    BARRIER = "barrier"
    CONTROL = "control"
    TENSOR = "tensor"
    WARPGROUP = "warpgroup"
    SYNC = "sync"


class Flow(StrEnum):
    """What an instruction does to the lanes of its warp, beside computing."""

    NONE = "none"
    BRANCH = "branch"
    IF_ANY = "branch if any"  # of all lanes, if the guard holds in any
    IF_PARTED = "branch if parted"  # if others than a mask's lanes run, or fail the guard
    IF_WHOLE = "branch if whole"  # if no others do
    CALL = "call"
    RETURN = "return"
    EXIT = "exit"
    EXPECT = "expect"  # names the lanes that meet at a convergence barrier
    MEET = "meet"  # waits for them there
    TAKE_AWAY = "take away"  # takes lanes from a convergence barrier
    MOVE = "move"  # between a convergence barrier and a register
    GATHER = "gather"  # waits for the lanes of a mask
    GATHER_ALL = "gather all"
    PART = "part"  # lets one lane after the other go on alone
    COLLECT = "collect"  # gathers lanes for a collective at its label
    DISPERSE = "disperse"  # ends the collective
    GIVE_WAY = "give way"
    TRAP = "trap"
    LOCATE = "locate"  # gives the code address of a label
    FIND = "find"  # gives what a barrier of the block has found
    AWAIT = "await"  # waits until counts of accesses under way are low


class Kind(StrEnum):
    """What the sources of an instruction are."""

    INTEGER = "integer"
    REAL = "real"  # IEEE numbers of the operands' width
    UPPER = "upper"  # upper words of doubles; a number in the text is the whole double
    SMALL = "small"  # halves or bfloats, one in a word
    HALVES = "halves"  # two of these
    SHORTS = "shorts"  # two integers of 16 bits


class Gcn(StrEnum):
    """The part of a compute unit of GCN for which an instruction is."""

    VECTOR = "vector"
    SCALAR = "scalar"
    MEMORY = "memory"  # of lanes


@dataclass(frozen=True)
class Row:
    """One instruction of the machine language; what follows from its fields is computed once."""

    mnemonic: str
    form: str
    unit: Unit
    width: int = 32
    flops: int = 0
    value: Callable[..., Any] | None = None
    code: int = 0
    optional: int = 0  # trailing operands that may be left out
    across: Callable[..., Any] | None = None
    update: Callable[..., Any] | None = None
    implied: tuple[tuple[str, Predicate | Immediate], ...] = ()
    condition: Predicate | None = None
    result: Callable[..., Any] | None = None
    truth: Callable[..., Any] | None = None
    registers: str = ""
    memory_bits: int = 0  # that a lane accesses, where they are less than a word
    signed: bool = False  # whether these are sign-extended
    across_truth: Callable[..., Any] | None = None
    tested: str = ""  # letters of an atomic that tell whether it has swapped: d, P
    matrix: str = ""  # kind of a matrix instruction: result, rows, and bytes of a row that are multiplied
    generic: bool = False  # its address says in which memory each lane's access is (isa.operands.windows)
    near: tuple[Unit, ...] = ()  # of a generic access: the memories beside the global one that can do it
    texel: Callable[..., Any] | None = None  # a fetch by a texture object (isa.values.texture.texture.fetched)
    by_values: bool = False  # how long it takes may depend on how many values its lanes compare
    shifts: bool = False  # a is shifted first, a minus before it comes after that
    flow: Flow = Flow.NONE
    kind: Kind | None = None  # where the unit does not say
    gcn: Gcn | None = None
    shared: str = ""  # letters of operands that are uniform registers or uniform predicates alone
    most: int = 0  # the largest number that it takes, where that is not said by what the number is for
    negates: bool = False  # a listing may negate its sources, integers though they are
    drops_signs: bool = False  # its function does what |a| asks for, as it needs the signs
    spoils_scc: bool = False  # it changes SCC, to what is not computed here
    matrices: int = 0  # that it moves, 8 x 8 halves: lane 8 m + r has the address of row r of matrix m, 16 bytes
    transposed: bool = False  # a lane gets parts of columns of these, not of rows
    bypasses: bool = False  # a copy that does not ask the L1
    anew: bool = False  # a load that takes nothing that the L1 holds: other SMs may have stored it
    fills: bool = False  # a copy whose address leaves out bytes at the end, by its lowest bits: zeros take their place
    grouping: int = 0  # what it has to do with groups of work under way: JOINS, CLOSES, WAITS
    groups: Groups = Groups.COPIES  # of this kind; a wait for copies is one for bulk copies too
    signal: Signal = Signal.NONE
    bulk: Bulk = Bulk.NONE

    def __hash__(self) -> int:
        """Return the hash of its mnemonic: a program hashes its rows often."""
        return hash(self.mnemonic)

    @property
    def is_gcn(self) -> bool:
        """Whether it belongs to GCN: its registers are vector and scalar ones, and its text has no guard."""
        return self.gcn is not None

    @cached_property
    def is_branch(self) -> bool:
        """Whether it goes to a label, or to an address in registers."""
        return self.flow in BRANCHES

    @cached_property
    def is_indirect(self) -> bool:
        """Whether it is a branch to an address in registers, which may differ between lanes."""
        return self.is_branch and "a" in self.form

    @property
    def asks(self) -> bool:
        """Whether it is a branch that asks which lanes are together."""
        return self.flow in (Flow.IF_PARTED, Flow.IF_WHOLE)

    @property
    def needs_independent_lanes(self) -> bool:
        """Whether only machines whose lanes are scheduled by convergence barriers, from Volta on, have it."""
        return self.flow in INDEPENDENT or self.is_indirect

    @property
    def is_exit(self) -> bool:
        """Whether it ends its threads."""
        return self.flow is Flow.EXIT

    @property
    def compares(self) -> bool:
        """Whether it writes a predicate."""
        return self.form[:1] == "P" or any(letter == "P" for letter, _ in self.implied)

    def words_of(self, letter: str) -> int:
        """32-bit registers of the operand of a form letter."""
        return self._words_by_letter[letter]

    @cached_property
    def _words_by_letter(self) -> Mapping[str, int]:
        source = 1 if self.unit is Unit.TEXTURE else self.words
        usual = dict.fromkeys(LETTERS, 1) | dict.fromkeys("dD", self.words) | dict.fromkeys("abc", source) | {"o": 0}
        said = re.findall(r"(\D+)(\d+)", self.registers)
        return usual | {letter: int(count) for letters, count in said for letter in letters}

    def at(self, letter: str) -> Row:
        """Return the row with the width of the operand of a form letter."""
        return _resized(self, 32 * self.words_of(letter)) if letter in "dDabco" else self

    @cached_property
    def reads_special(self) -> bool:
        """Whether it reads a special register."""
        return self.form[-1:] == "s"

    @property
    def reads_barrier(self) -> bool:
        """Whether it reads what a barrier of the block has found."""
        return self.flow is Flow.FIND

    @cached_property
    def steers(self) -> bool:
        """Whether it acts on the groups of a warp with independent lanes, beside branches and exits."""
        return self.flow in STEERING

    @cached_property
    def is_general(self) -> bool:
        """Whether it has `result` and `truth` functions."""
        return self.result is not None or self.truth is not None

    @property
    def words(self) -> int:
        """32-bit registers of each d, a, b, c operand."""
        return self.width // 32

    @cached_property
    def source(self) -> Row:
        """The row for its sources, where its value function gives a result of another width, and for coordinates."""
        return self.at("a") if self.value or self.unit is Unit.TEXTURE else self

    @property
    def sources(self) -> int:
        """Bits of each source of such a value function, 0 where they are the width's."""
        return 0 if self.source.width == self.width else self.source.width

    @property
    def nbytes(self) -> int:
        """Bytes of memory that a lane accesses."""
        return (self.memory_bits or self.width) // 8

    @property
    def accessed_bytes(self) -> int:
        """Bytes from a lane's address on that are accessed: where lanes exchange them, not those that it gets."""
        return MATRIX_ROW if self.matrices else self.nbytes

    @property
    def path_width(self) -> int:
        """Bits of each lane that are served at once: matrices go one after the other, 256 count as 128 (a guess)."""
        return 32 if self.matrices else min(self.width, 128)

    @property
    def intervals(self) -> int:
        """Initiation intervals for which it keeps its pipe: a texture's one per word, scalar loads' as for four.

        Of texture objects up to two words take one, by real coordinates two (measured on an H200).
        """
        if self.texel is not None:
            return -(-(self.words + self.words_of("o")) // 2) * (1 if self.code & WHOLE else 2)
        if self.unit is Unit.TEXTURE:
            return self.words
        return max(1, self.width // 128) if self.unit is Unit.SMEM else 1

    @property
    def alignment(self) -> int:
        """Bytes of which an address must be a multiple; scalar loads need only whole words."""
        if self.fills:
            return 1
        return 4 if self.unit is Unit.SMEM else self.accessed_bytes

    @property
    def numbers(self) -> Kind:
        """What its sources are."""
        return self.kind or _OF_UNIT.get(self.unit, Kind.INTEGER)

    @cached_property
    def is_float(self) -> bool:
        """Whether it takes its sources as IEEE numbers, one in each operand."""
        return self.numbers in (Kind.REAL, Kind.UPPER, Kind.SMALL)

    @cached_property
    def is_load(self) -> bool:
        """Whether it reads memory into registers, or into shared memory."""
        return self.unit in LOAD_UNITS and ("d" in self.form or self.copies)

    @cached_property
    def copies(self) -> bool:
        """Whether it copies from memory to shared memory, later than it issues."""
        return "M" in self.form

    @cached_property
    def is_store(self) -> bool:
        """Whether it writes registers to memory; an atomic does, and is a load too."""
        return self.unit in MEMORY_UNITS and (self.form[0] == "m" or self.update is not None)


_REALS, _HALVES = (Unit.FP32, Unit.FMUL, Unit.DP, Unit.SFU), (Unit.FP16, Unit.FP16M)
_OF_UNIT = {**dict.fromkeys(_REALS, Kind.REAL), **dict.fromkeys(_HALVES, Kind.HALVES)}
GLOBAL_UNITS = frozenset({Unit.GLOBAL, Unit.CONSTANT, Unit.SMEM})  # at byte addresses of global memory
MEMORY_UNITS = frozenset(  # of lanes, each at its own address
    {Unit.SHARED, Unit.GLOBAL, Unit.LOCAL, Unit.CONSTANT, Unit.TEXTURE}
)
ASYNCHRONOUS = frozenset({Unit.WARPGROUP, Unit.SYNC})  # warpgroups, the copy engine, barriers in shared memory
LOAD_UNITS = MEMORY_UNITS | {Unit.SMEM}
GENERIC = (Unit.SHARED, Unit.LOCAL, Unit.GLOBAL)  # in the order in which a generic access goes to them
_READERS = {**dict.fromkeys((Unit.TEXTURE, Unit.CONSTANT, Unit.SMEM), Unit.GLOBAL), Unit.WARPGROUP: Unit.SHARED}
BRANCHES = frozenset({Flow.BRANCH, Flow.IF_ANY, Flow.IF_PARTED, Flow.IF_WHOLE, Flow.CALL, Flow.RETURN})
_OF_VOLTA = frozenset(
    {Flow.TAKE_AWAY, Flow.MOVE, Flow.GATHER_ALL, Flow.PART, Flow.COLLECT, Flow.DISPERSE, Flow.GIVE_WAY}
)
INDEPENDENT = frozenset(_OF_VOLTA | BRANCHES - {Flow.BRANCH})
STEERING = frozenset(_OF_VOLTA | {Flow.EXPECT, Flow.MEET, Flow.GATHER, Flow.TRAP})


@cache
def _resized(row: Row, width: int) -> Row:
    return row if width == row.width else replace(row, width=width)


def memory_of(unit: Unit) -> Unit:
    """Return the unit class whose stores write the memory that an instruction of this one reads."""
    return _READERS.get(unit, unit)
