"""Execution pipes, and which of them an instruction takes."""

from __future__ import annotations

from typing import Annotated

import msgspec
import numpy as np

from gpusim.sm.records import MachineNumbers, UnitNumbers
from gpusim.sm.unit.asks import through_port
from gpusim.sm.unit.capacities import CHOICES, PIPES, SCHEDULERS, UNITS
from gpusim.sm.unit.declare import Declaration, Machine, Role, field
from gpusim.sm.unit.dimensions import PIPE, SCHEDULER
from gpusim.sm.unit.opcodes import UNIT_CODE
from gpusim.sm.unit.ranges import Count, Positive
from isa.row import Row
from isa.row import Unit as UnitClass

Reading = Annotated[int, msgspec.Meta(ge=0, le=24)]  # what a mask of cycles holds
Writing = Annotated[int, msgspec.Meta(ge=0, le=44)]


class Pipe(msgspec.Struct, frozen=True):
    """An execution pipe; a warp instruction occupies it for warp_size / lanes cycles, its initiation interval."""

    lanes: Positive  # thread instructions that it takes each cycle
    schedulers: Positive  # that share one pipe: 1 a pipe each, 2 neighbours in pairs, `schedulers.count` one for the SM


class UnitCost(msgspec.Struct, frozen=True):
    """Where a unit class of the instruction table executes."""

    pipe: str  # a pipe, or several, in the order in which they are tried: the first that is free takes the instruction
    latency: Positive  # cycles from issue until a dependent instruction may issue (RAW)


class MatrixCost(msgspec.Struct, frozen=True):
    """What a kind of matrix instruction takes; kinds are named by result, rows, and bytes of a row of A."""

    interval: Positive  # cycles for which it keeps its pipe, where that takes a warp instruction each cycle
    latency: Positive  # cycles from issue until a dependent instruction may issue (RAW)
    sparse: Count = 0  # cycles for which it keeps its pipe if A is sparse; 0: as long as others
    depth: Count = 0  # cycles by which its way through the pipe is longer than the shortest; results come in order
    memory: Count = 0  # cycles behind its issue in which no memory instruction issues; of no use without `written`
    first: Reading = 0  # cycles from issue until the first registers of A are read; of no use without `written`
    second: Reading = 0  # cycles from issue until those of B are
    addend: Reading = 0  # cycles from issue until those of C are
    written: Writing = 0  # cycles from issue until its results take all banks; 0: reads and writes are as others'


def initiation_interval(machine: Machine, pipe: str) -> int:
    """Cycles for which a warp instruction keeps the pipe from the next one."""
    return int(max(1, machine.limits.warp_size // machine.pipe[pipe].lanes))


def lanes(machine: Machine, unit: UnitClass) -> int:
    """Thread instructions of this unit class per cycle that all pipes of one SM take together; 0 if it has none."""
    return sum(machine.pipe[name].lanes * instances(machine, name) for name in choices(machine, unit))


def choices(machine: Machine, unit: UnitClass) -> tuple[str, ...]:
    """Return the pipes that execute a unit class, in the order in which they are tried; none where it is absent."""
    if unit is UnitClass.TEXTURE:
        return tuple(machine.texture.pipe.split())
    return tuple(machine.unit[unit].pipe.split()) if unit in machine.unit else ()


def is_sparse(form: Row) -> bool:
    """Tell whether it is a matrix instruction with a register that says which numbers A has: before scales, if any."""
    return "i" in form.form and ("j" not in form.form or form.words_of("i") == 2)


def intervals(machine: Machine, form: Row) -> int:
    """Initiation intervals for which an instruction keeps its pipe."""
    cost = machine.matrix.get(form.matrix)
    return int((is_sparse(form) and cost.sparse) or cost.interval) if cost else form.intervals


def latency(machine: Machine, form: Row) -> int:
    """Cycles until the result of an instruction of a pipe's unit class is there; 0 if the machine has no such class."""
    if form.matrix in machine.matrix:
        return int(machine.matrix[form.matrix].latency)
    return int(machine.unit[form.unit].latency) if form.unit in machine.unit else 0


def instances(machine: Machine, pipe: str) -> int:
    """How many there are of a pipe in one SM."""
    return int(-(-machine.schedulers.count // machine.pipe[pipe].schedulers))


def pipe_names(machine: Machine) -> tuple[str, ...]:
    """The machine's pipes in the order of their index."""
    return tuple(machine.pipe)


def pipes_of(machine: Machine, unit: UnitClass) -> tuple[str, ...]:
    """Return the pipes that a unit class takes: none where it goes through the memory ports in their place."""
    return () if through_port(machine, unit) else choices(machine, unit)


def pack(packed: MachineNumbers, machine: Machine) -> None:
    """The pipes, and which of them each unit class takes."""
    for index, name in enumerate(pipe_names(machine)):
        packed.instance[:, index] = np.arange(SCHEDULERS) // machine.pipe[name].schedulers
        packed.pipe_interval[index] = initiation_interval(machine, name)
    for unit, code in UNIT_CODE.items():
        _pack_unit(packed.units[code], unit, machine)


def _pack_unit(packed: UnitNumbers, unit: UnitClass, machine: Machine) -> None:
    names, pipes = pipe_names(machine), pipes_of(machine, unit)
    packed.choices, packed.choice[: len(pipes)] = len(pipes), [names.index(name) for name in pipes]
    packed.joint, packed.blocked = (
        names.index(named[unit.value]) if unit.value in named else -1 for named in (machine.joint, machine.blocked)
    )
    packed.single_pipe = len(pipes) == 1 and packed.joint < 0 and packed.blocked < 0


UNIT = Declaration(
    "pipe",
    fields={
        "machine": (
            field("instance", "which one of each pipe a scheduler's warps use", SCHEDULERS, PIPES),
            field("pipe_interval", "cycles for which an instruction keeps each pipe", PIPES),
            field("units", "what an instruction of each unit class asks of the SM", UNITS, kind="unit_class"),
        ),
        "unit_class": (
            field("choices", "pipes that may execute it, 0: none"),
            field("choice", "these, in the order in which they are tried", CHOICES),
            field("single_pipe", "1: one pipe, and no other is joint or blocked"),
            field("joint", "a further pipe that is needed and occupied with the first one, -1: none"),
            field("blocked", "a pipe that takes nothing for an initiation interval behind the issue, -1: none"),
        ),
        "row": (
            field("pipe", "index of the first of its pipes, -1: none", kind="i1"),
            field("intervals", "initiation intervals for which it keeps its pipe", kind="i4"),
        ),
        "sm": (field("pipes", "by instance", SCHEDULER, PIPE, kind="pipe"),),
        "pipe": (
            field("free", "first cycle at which it takes a warp instruction again", role=Role.TIME),
            field("busy", "cycles it was taken", role=Role.TOTAL),
        ),
    },
    pack=pack,
    limits={
        "latency": {"unit.*.latency": 1, "matrix.*.latency": 1},
        "tensor cores": {"matrix.*.interval": 1, "matrix.*.sparse": 1},
        "pipes": {"pipe.*.lanes": "limits.warp_size", "pipe.*.schedulers": 1},
    },
)
