"""The form in which a hardware unit declares what is particular to it, as plain data.

Machine files, their checks and reference, the packed machine, the record of the SM, what fast-forward compares, the
settings that do nothing and the limit study are assembled from the declarations in `gpusim/sm/state/every.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from dataclasses import field as attribute
from enum import Enum, auto
from math import prod
from typing import Any, NamedTuple, TypeAlias

from gpusim.sm.records import Columns, MachineNumbers
from isa.instruction import Instruction
from isa.kernel import Kernel

# A gpusim.machine.schema.Machine, which is put together from the units; so it lies above them, and has no type here.
Machine: TypeAlias = Any
Reads = Callable[[Any], bool]  # of a launch, as gpusim.analysis.settings.given.Given has it
Setting = int | str


class Role(Enum):
    """What a word of the state is to time: how fast-forward compares two states, and moves one to a later time."""

    SAME = auto()  # neither a time nor a count; equal states have it equal
    TIME = auto()  # a cycle that matters only while it lies ahead
    MOMENT = auto()  # a cycle in the past that matters itself
    STAMP = auto()  # a cycle in the past that matters only when nothing more happens to its slot; states may differ
    TOTAL = auto()  # grows by what has happened
    NUMBER = auto()  # one of the values that a total has had
    SPECIAL = auto()  # has a rule of its own in sm/replay/fast_forward/fast_forward.py
    FREE = auto()  # written before it is read, or read only by the trace or an error
    FIXED = auto()  # never changes while a launch is trace-driven
    UNCOMPARED = auto()  # changes, but where its unit has it (`Declaration.compared`), states are not compared at all


class Extent(NamedTuple):
    """How large a launch is, and what it does."""

    machine: MachineNumbers  # as rules read them
    pipes: int
    warps: int  # warp slots of the SM
    warp_size: int
    blocks: int  # resident ones
    grid: int  # blocks of it
    rows: int  # of the program
    registers: int
    buffers: int
    textures: int  # with the one that is none
    accesses: int  # instructions that access memory
    accounted: int  # those, texture fetches and copies of the copy engine
    ranges: int  # that a recorded block has
    diverges: bool
    independent: bool  # lanes are scheduled by convergence barriers
    traces: bool
    defers: bool  # results are written when they are there
    ahead: bool  # SMs run ahead of each other
    grouped: bool  # work goes on in groups, for which a program waits
    multiplies: bool  # warpgroups have matrix instructions
    replays: bool  # streams are recorded
    signals: bool  # there are barriers in shared memory
    bulk: bool  # there are bulk or tensor copies
    tagged: bool  # caches keep tags


@dataclass(frozen=True)
class Dimension:
    """How many of something a launch has; `most` in a record itself, or as many as the launch has apart from it."""

    most: int | None
    used: Callable[[Extent], int]


@dataclass(frozen=True)
class Field:
    """A number, an array of numbers, or an inner record: `kind` is a NumPy type or the name of a record.

    A number of a machine with a `key` has that key's value, where the machine has its section. A field without a role
    has that of the record that it is part of. A NUMBER is a value of the total at path `of`, taken anew at the moment
    `renewed`, and matters only while the time `awaited` is unknown, where these are given. An UNCOMPARED time counts
    in so many `parts` of a cycle: the product of these, or of the machine's numbers with these names.
    """

    name: str
    meaning: str
    sizes: tuple[Dimension | int, ...] = ()
    kind: str = "i8"
    role: Role | None = None
    key: str = ""
    of: str = ""
    renewed: str = ""
    awaited: str = ""
    parts: tuple[str | int, ...] = ()

    @property
    def apart(self) -> bool:
        """Whether there are as many as a launch has: they do not lie in the record itself."""
        return any(isinstance(size, Dimension) and size.most is None for size in self.sizes)

    @property
    def shape(self) -> tuple[int, ...]:
        """Room for how many, by dimension, in the record itself."""
        return tuple(size.most or 0 if isinstance(size, Dimension) else size for size in self.sizes)

    @property
    def count(self) -> int:
        """Room for how many in the record itself."""
        return prod(self.shape)


def field(name: str, meaning: str, *sizes: Dimension | int, **rest: Any) -> Field:
    """Return a field of so many, by dimension; `rest` as the Field's attributes."""
    return Field(name, meaning, sizes, **rest)


def packed_key(key: str, name: str = "") -> Field:
    """Return the number of a machine that has the value of a key, and its name but for another."""
    return Field(name or key.rpartition(".")[2], f"`{key}` of the machine's file", key=key)


@dataclass(frozen=True)
class Condition:
    """Keys by pattern, the numbers or columns they become, whether a launch reads these, and what to say if not."""

    keys: str
    fields: str
    reads: Reads
    why: str


def _nothing(*_: object) -> None:
    """Add nothing."""


def _always(_: Machine) -> bool:
    """Tell that it is so on every machine."""
    return True


@dataclass(frozen=True)
class Declaration:
    """A hardware unit: `pack` fills in its numbers from the machine, `decode` its columns of an instruction's row.

    `fields` are its parts of each record by the record's name; `limits` the settings that lift each limit. `compared`
    tells whether fast-forward compares all of its state that changes, on a machine; elsewhere there is no fast-forward.
    """

    name: str
    fields: Mapping[str, tuple[Field, ...]] = attribute(default_factory=dict)
    pack: Callable[[MachineNumbers, Machine], None] = _nothing
    decode: Callable[[Columns, Instruction, Machine, Kernel], None] = _nothing
    conditions: tuple[Condition, ...] = ()
    limits: Mapping[str, Mapping[str, Setting]] = attribute(default_factory=dict)
    compared: Callable[[Machine], bool] = _always
