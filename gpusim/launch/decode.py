"""Program x Machine -> Decoded: one row of integers per instruction. Engines and rules never see a string."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim.launch.ability import check
from gpusim.launch.assign_codes import with_codes
from gpusim.launch.memory_costs import cached_in, memory_costs, read_cache
from gpusim.launch.scalar_registers import in_place
from gpusim.machine import machine as model
from gpusim.machine.machine import Machine
from gpusim.machine.memory_schema import MemoryPaths, SharedAtomic
from gpusim.state.machine import TEXTURES, UNITS
from gpusim.state.row import decoded_t
from gpusim.state.stall import Stall
from isa.control import Control
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
from isa.table import ROWS, Row, Unit
from isa.values.semantics import atomic_add

# What the execution of an instruction consists of.
NOTHING, ARITHMETIC, ARITHMETIC64, COMPARISON, SPECIAL, LOAD, STORE, FETCH, BARRIER, BRANCH, EXIT = range(11)
LOOKUP, CROSS_LANE = 11, 12  # by truth table; from other lanes
# Where a memory instruction goes.
SHARED_SPACE, GLOBAL_SPACE, LOCAL_SPACE = range(3)

UNIT_CODE = {unit: code for code, unit in enumerate(Unit)}
COMPARISONS = tuple(dict.fromkeys(row.value for row in ROWS if row.value and row.compares))
VALUES64 = tuple(dict.fromkeys(row.value for row in ROWS if row.value and row.width == 64))
LOOKUPS = tuple(dict.fromkeys(row.value for row in ROWS if row.value and row.form[-1] == "n"))
WORDWISE = [row for row in ROWS if row.value and row.form[0] in "dD" and row.form[-1] != "n" and row.width == 32]
VALUES32 = tuple(dict.fromkeys(row.value for row in WORDWISE if row.value))
UPDATES = tuple(dict.fromkeys(row.update for row in ROWS if row.update))
ACROSS = tuple(dict.fromkeys(row.across for row in ROWS if row.across))
GROUPS: Mapping[int, tuple[Callable[..., Any], ...]] = {
    ARITHMETIC: VALUES32,
    ARITHMETIC64: VALUES64,
    COMPARISON: COMPARISONS,
    LOOKUP: LOOKUPS,
    CROSS_LANE: ACROSS,
}
QUEUED = {  # of the load/store unit
    Unit.SHARED: SHARED_SPACE,
    Unit.GLOBAL: GLOBAL_SPACE,
    Unit.CONSTANT: GLOBAL_SPACE,
    Unit.LOCAL: LOCAL_SPACE,
}
NEARBY = frozenset({Unit.SHARED, Unit.SMEM, Unit.CONSTANT})  # what these load is waited for, and counted, apart
SPACES = QUEUED | {Unit.SMEM: GLOBAL_SPACE}
COUNT_BITS = 8  # of the reads of one register bank
WHOLE = 2  # in the column guard_negated: the guard is that of the warp as a whole
SIGN_BIT, TWOS_COMPLEMENT = 1, 2  # the two meanings of a minus before a register


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
    accesses = np.array([i.row.unit in SPACES for i in instructions], np.bool_)
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
    program = with_codes(kernel.program, machine) if model.by_codes(machine) else kernel.program
    return in_place(kernel, program, machine)


def _fill(row: Any, instruction: Instruction, machine: Machine, known: Mapping[str, Any], kernel: Kernel) -> None:
    """Fill in what does not depend on the instruction's place."""
    _costs(row, instruction.row, machine)
    _registers(row, instruction)
    row["bank_reads"] = _by_bank(set(instruction.reads()), machine)
    if row["queued"] and machine.register_file:
        row["bank_returns"] = machine.register_file.returned * _by_bank(instruction.writes(), machine)
    _operands(row, instruction, known, kernel)
    if machine.shared_atomic and row["update"] >= 0:
        _atomic(row, instruction.row, machine.shared_atomic)
        row["port"] *= machine.memory_port is not None
    _control(row, instruction)
    _wait_counts(row, instruction, machine)


def _wait_counts(row: Any, instruction: Instruction, machine: Machine) -> None:
    """Fill in what counts the access, and for which counts the instruction waits; none where nothing is counted."""
    limits = machine.wait_counters or machine.outstanding
    counted = SPACES if machine.wait_counters else QUEUED  # scalar loads are counted by GCN's counters alone
    memory = instruction.row.unit in counted
    row["counter"], row["most"], row["tracked"] = -1, -1, not (memory and machine.wait_counters)
    if limits is None:
        return
    largest = limits.vector, limits.shared
    if memory:
        row["counter"] = counter = int(instruction.row.unit in NEARBY)
        row["counted"] = min(instruction.row.words, 2) if instruction.row.unit is Unit.SMEM else 1
        row["most"][counter] = max(0, largest[counter] - int(row["counted"]))
    elif instruction.row.mnemonic == "S_WAITCNT" and machine.wait_counters:
        row["most"] = [o.bits for o in instruction.operands if isinstance(o, Immediate)]


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
    rows["eventful"] |= ~always | np.isin(rows["action"], (LOAD, STORE, BRANCH))
    wanted = np.flatnonzero((rows["eventful"] == 1) | (rows["evaluate"] == 1) | (rows["action"] == EXIT))
    rows["visit"] = wanted[np.searchsorted(wanted, np.arange(len(rows)))]


def pipe_names(machine: Machine) -> tuple[str, ...]:
    """The machine's pipes in the order of their index."""
    return tuple(machine.pipe)


def _costs(row: Any, form: Row, machine: Machine) -> None:
    row["unit"] = UNIT_CODE[form.unit]
    row["words"], row["width"] = form.source.words, {32: 0, 64: 1}.get(form.width, 2)
    row["alignment"], row["intervals"] = form.alignment, form.intervals
    row["access_bytes"], row["update"] = form.nbytes, -1 if form.update is None else UPDATES.index(form.update)
    row["action"] = _action(form)
    row["reason"] = Stall.WAIT
    row["double"] = form.unit is Unit.DP
    row["pipe"] = -1
    row["queued"] = form.unit in QUEUED or model.through_port(machine, form.unit)
    row["space"] = SPACES.get(form.unit, 0)
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
    _port(row, form, machine)
    if (pipes := model.choices(machine, form.unit)) and not row["queued"]:
        row["pipe"] = pipe_names(machine).index(pipes[0])


def _port(row: Any, form: Row, machine: Machine) -> None:
    """Fill in how long the instruction keeps its scheduler's port, and the load/store unit if no address says so."""
    if machine.memory_paths and row["queued"]:
        _path(row, form, machine.memory_paths)
    port = machine.memory_port
    if port is None or not row["queued"]:
        return
    waits_for_l2 = form.unit is Unit.GLOBAL and machine.cache is not None and machine.cache.hits == "l2"
    row["port_cycles"] = 1 if waits_for_l2 and form.is_load else port.cycles
    if form.unit not in SPACES:
        row["service"] = model.initiation_interval(machine, model.choices(machine, form.unit)[0])
        row["reason"], row["war"] = Stall.SHORT_SCOREBOARD, machine.shared_memory.war_32
    elif not form.is_load:
        row["port"] = port.global_store if form.unit is Unit.GLOBAL else getattr(port, f"store_{form.width}")


def _path(row: Any, form: Row, paths: MemoryPaths) -> None:
    """Fill in how long the instruction keeps the port of its queue, where shared memory lies apart."""
    if form.unit is Unit.SHARED:
        row["port"] = 0 if form.is_load else getattr(paths, f"shared_store_{form.width}")
        row["port_cycles"] = paths.shared_load
    else:
        row["port"] = getattr(paths, f"load_{form.width}") if form.is_load else paths.store


def _counts(row: Any) -> bool:
    """Whether an atomic only adds 1 and hands nothing back: lanes that want one word go together."""
    return bool(
        UPDATES[row["update"]] is atomic_add
        and row["destination"] < 0
        and row["source"][0] < 0
        and row["constant"][0] == 1
    )


def _atomic(row: Any, form: Row, costs: SharedAtomic) -> None:
    swaps = form.update is not atomic_add
    row["port"], row["war"] = costs.port, costs.war
    row["turns"] = 0 if _counts(row) else costs.swap_turns if swaps else costs.add_turns
    row["latency"] = costs.swap_latency if swaps else costs.add_latency


def _action(form: Row) -> int:
    function = form.value or form.across
    if function is not None:
        return next(action for action, group in GROUPS.items() if function in group)
    if form.unit in SPACES:
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


def _by_bank(registers: Iterable[int], machine: Machine) -> int:
    """How many of the registers lie in each bank of the register file, a byte for each bank."""
    return sum(1 << COUNT_BITS * model.register_bank(machine, register) for register in registers)


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


def _control(row: Any, instruction: Instruction) -> None:
    code = instruction.control or Control(0)
    row["stall_count"], row["yields"], row["wait_mask"] = code.stall, code.yields, code.waits
    row["read_barrier"], row["write_barrier"] = (
        -1 if b is None else b for b in (code.read_barrier, code.write_barrier)
    )
    held = ((letter, o) for letter, o in instruction.slots() if letter in "abc" and isinstance(o, Register))
    row["reuse"] = sum(o.reuse << "abc".index(letter) for letter, o in held)


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
            row["constant"][position] = 1 << (form.width - 1)  # minus zero


assert len(UNIT_CODE) <= UNITS
