"""Program x Machine -> Decoded: one row of integers per instruction. Engines and rules never see a string."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim.launch.ability import check
from gpusim.launch.assign_codes import with_codes
from gpusim.launch.memory_costs import cached_in, memory_costs, read_cache
from gpusim.launch.scalar_registers import in_place
from gpusim.machine.machine import Machine
from gpusim.state.row import decoded_t
from gpusim.units import load_store
from gpusim.units.cache import TEXTURES
from gpusim.units.control_code import by_codes
from gpusim.units.every import EVERY
from gpusim.units.opcodes import (
    BARRIER,
    BRANCH,
    EXIT,
    FETCH,
    GROUPS,
    LOAD,
    LOOKUP,
    MEMORY_KINDS,
    NEARBY,
    NOTHING,
    QUEUED,
    SIGN_BIT,
    SPECIAL,
    STORE,
    TWOS_COMPLEMENT,
    UNIT_CODE,
    UPDATES,
    WHOLE,
)
from gpusim.units.pipe import choices, pipe_names, through_port
from gpusim.units.stall import Stall
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.memory import constants
from isa.operand import (
    PT,
    PT_INDEX,
    RZ_INDEX,
    SPECIALS,
    Address,
    Constant,
    Immediate,
    Label,
    Predicate,
    Register,
    Special,
    Texture,
)
from isa.table import Row, Unit


def decode(
    kernel: Kernel, machine: Machine, evaluate: NDArray[np.bool_], points: Mapping[int, int]
) -> np.recarray[Any, Any]:
    """The program's rows, and one more behind its end; `evaluate[pc]` says whose results are computed.

    `points` are the reconvergence_points of `isa.dataflow.divergence`.

    Raises UserError for a register above the machine's limit.
    """
    instructions = _instructions(kernel, machine)
    rows = np.zeros(len(instructions) + 1, decoded_t)
    known = {name: np.uint64(v & 0xFFFFFFFF) for name, v in constants(kernel).items()}
    first: dict[Instruction, int] = {}  # equal instructions have equal rows, but for what depends on their place
    for pc, instruction in enumerate(instructions):
        rows[pc] = rows[first.setdefault(instruction, pc)]
        if first[instruction] == pc:
            check(pc, instruction, machine)
            _fill(rows[pc], instruction, machine, known, kernel)
    accesses = np.array([i.row.unit in MEMORY_KINDS for i in instructions], np.bool_)
    rows["evaluate"][:-1] = evaluate
    rows["feed"][:-1] = np.where(accesses, np.cumsum(accesses) - 1, -1)
    _end(rows[-1])
    if machine.fetch:
        rows["line"] = np.arange(len(rows)) // machine.fetch.line
    _meetings(rows, points)
    _visits(rows)
    return rows.view(np.recarray)


def _end(row: Any) -> None:
    """Fill in the row behind the program's end, which exits and names nothing."""
    row["action"], row["guard"], row["unit"] = EXIT, PT_INDEX, UNIT_CODE[Unit.CONTROL]
    for name in ("pipe", "destination", "predicate", "selector", "pointer", "counter", "most"):
        row[name] = -1
    row["read_barrier"], row["write_barrier"] = -1, -1


def costs(form: Row, machine: Machine) -> Any:
    """Return a row in which only what each instruction of a table's row costs is filled in."""
    (row,) = np.zeros(1, decoded_t)
    _costs(row, form, machine)
    return row


def _instructions(kernel: Kernel, machine: Machine) -> Sequence[Instruction]:
    """The program's instructions, with control codes assigned where the machine needs them and there are none."""
    program = with_codes(kernel.program, machine) if by_codes(machine) else kernel.program
    return in_place(kernel, program, machine)


def _fill(row: Any, instruction: Instruction, machine: Machine, known: Mapping[str, Any], kernel: Kernel) -> None:
    """Fill in what does not depend on the instruction's place."""
    _costs(row, instruction.row, machine)
    _registers(row, instruction)
    _operands(row, instruction, known, kernel)
    for unit in EVERY:
        unit.decode(row, instruction, machine, kernel)


def _meetings(rows: NDArray[Any], points: Mapping[int, int]) -> None:
    """Note where lanes may part, and that a warp may go elsewhere where they meet and where they exit."""
    rows["reconvergence"] = -1
    if not points:
        return
    rows["reconvergence"][list(points)] = list(points.values())
    rows["eventful"] = rows["action"] == EXIT
    rows["eventful"][[pc - 1 for pc in points.values()]] = 1


def _visits(rows: NDArray[Any]) -> None:
    """Note whose outcome depends on values, and from each pc on the next one that a walk without time looks at."""
    always = (rows["guard"] == PT_INDEX) & (rows["guard_negated"] == 0)
    rows["eventful"] |= ~always | np.isin(rows["action"], (LOAD, STORE, FETCH, BRANCH))
    wanted = np.flatnonzero((rows["eventful"] == 1) | (rows["evaluate"] == 1) | (rows["action"] == EXIT))
    rows["visit"] = wanted[np.searchsorted(wanted, np.arange(len(rows)))]


def _costs(row: Any, form: Row, machine: Machine) -> None:
    row["unit"] = UNIT_CODE[form.unit]
    row["words"], row["width"] = form.source.words, {32: 0, 64: 1}.get(form.width, 2)
    row["alignment"], row["intervals"] = form.alignment, form.intervals
    row["access_bytes"], row["update"] = form.nbytes, -1 if form.update is None else UPDATES.index(form.update)
    row["action"] = _action(form)
    row["reason"] = Stall.WAIT
    row["pipe"] = -1
    row["queued"] = form.unit in QUEUED or through_port(machine, form.unit)
    row["memory_kind"] = MEMORY_KINDS.get(form.unit, 0)
    if form.unit in QUEUED:
        row["reason"] = Stall.SHORT_SCOREBOARD if form.unit in NEARBY else Stall.LONG_SCOREBOARD
        row["latency"], row["war"] = memory_costs(form, machine)
        if form.unit is Unit.CONSTANT and machine.constant_cache:
            row["distinct"] = machine.constant_cache.request_cycles
    elif form.unit is Unit.TEXTURE:
        row["latency"], row["reason"] = machine.texture.latency, Stall.LONG_SCOREBOARD
    elif form.unit.value in machine.unit:
        row["reason"] = Stall.SHORT_SCOREBOARD if form.unit in NEARBY else Stall.WAIT
        row["latency"] = machine.unit[form.unit.value].latency
    row["cached"] = cached_in(form, machine)
    if row["cached"] > TEXTURES and (read := read_cache(form.unit, machine)):
        row["latency"] = read.latency
    load_store.costs(row, form, machine)
    if (pipes := choices(machine, form.unit)) and not row["queued"]:
        row["pipe"] = pipe_names(machine).index(pipes[0])


def _action(form: Row) -> int:
    function = form.value or form.across
    if function is not None:
        return next(action for action, group in GROUPS.items() if function in group)
    if form.unit in MEMORY_KINDS:
        return LOAD if form.is_load else STORE
    if form.is_branch or form.is_exit:
        return BRANCH if form.is_branch else EXIT
    by_unit = {Unit.SPECIAL: SPECIAL, Unit.TEXTURE: FETCH, Unit.BARRIER: BARRIER}
    return by_unit.get(form.unit, NOTHING)


def _registers(row: Any, instruction: Instruction) -> None:
    reads, writes = tuple(dict.fromkeys(instruction.reads())), instruction.writes()
    waits = tuple(dict.fromkeys(reads + writes))
    row["reads"], row["waits"], row["writes"] = len(reads), len(waits), len(writes)
    row["read"][: len(waits)] = waits
    row["write"][: len(writes)] = writes


def _operands(row: Any, instruction: Instruction, known: Mapping[str, Any], kernel: Kernel) -> None:
    guard = instruction.guard
    row["guard"], row["guard_negated"] = guard.index, guard.negated + WHOLE * guard.whole
    row["source"], row["destination"], row["predicate"], row["selector"], row["pointer"] = -1, -1, -1, -1, -1
    if "c" not in instruction.row.form:
        row["constant"][2] = instruction.row.code
    function = instruction.row.value or instruction.row.across
    if function is not None:
        row["value"] = GROUPS[int(row["action"])].index(function)
    _numbers(row, instruction, kernel)
    for letter, operand in instruction.slots():
        _operand(row, letter, operand, instruction.row, known, kernel)


def _numbers(row: Any, instruction: Instruction, kernel: Kernel) -> None:
    row["arrivals"] = kernel.warps
    if row["action"] == BARRIER:
        row["barrier"], threads = instruction.barrier()
        row["arrivals"] = kernel.warps if threads is None else threads // kernel.warp_size
    elif row["action"] == LOOKUP:
        (row["table"],) = [o.bits for letter, o in instruction.slots() if letter == "n" and isinstance(o, Immediate)]


def _operand(row: Any, letter: str, operand: Any, form: Row, known: Mapping[str, Any], kernel: Kernel) -> None:
    match operand:
        case Register() if letter in "dD":
            row["destination"] = -1 if operand.index == RZ_INDEX else operand.index
            if letter == "D":
                _source(row, 2, operand, form)
        case Register():
            _source(row, "abc".index(letter), operand, form)
        case Immediate() if letter in "abc":
            row["constant"]["abc".index(letter)] = operand.bits
        case Constant():
            row["constant"]["abc".index(letter)] = known[operand.name]
        case Address():
            row["pointer"] = -1 if operand.base.index == RZ_INDEX else operand.base.index
            row["offset"] = operand.offset
        case Predicate() if letter == "P":
            row["predicate"] = -1 if operand == PT else operand.index
        case Predicate():
            row["selector"], row["selector_negated"] = operand.index, operand.negated
        case Special():
            row["special"] = SPECIALS.index(operand.name)
        case Label():
            row["target"] = kernel.program.labels[operand.name]
        case Texture():
            buffer = next(b for b in kernel.buffers if b.name == operand.name)
            row["offset"], row["limit"] = known[operand.name], buffer.nbytes // form.nbytes
            row["constant"][2] = row["limit"]  # a single row, unless c says how long rows are


def _source(row: Any, position: int, register: Register, form: Row) -> None:
    row["source"][position] = -1 if register.index == RZ_INDEX else register.index
    if register.negated:
        row["negated"][position] = SIGN_BIT if form.is_float else TWOS_COMPLEMENT
        if register.index == RZ_INDEX and form.is_float:
            row["constant"][position] = 1 << (form.source.width - 1)  # minus zero
