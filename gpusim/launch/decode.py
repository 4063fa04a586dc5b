"""Program x Machine -> Decoded: one row of integers per instruction. Engines and rules never see a string."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim.launch.ability import check_operands, check_row
from gpusim.launch.codes.assign_codes import with_codes
from gpusim.launch.memory_costs import cached_in, memory_costs, read_cache
from gpusim.launch.rows.drafts import Draft, batches, blank, copied, fill
from gpusim.launch.rows.like import is_like, takes_constant
from gpusim.launch.rows.visits import end, meetings, visits
from gpusim.launch.scalar_registers import in_place
from gpusim.machine.machine import Machine
from gpusim.sm.memory.async_copy import declaration as async_copy
from gpusim.sm.memory.cache.declaration import TEXTURES
from gpusim.sm.pipes.load_store import declaration as load_store
from gpusim.sm.pipes.pipe.declaration import choices, intervals, latency, pipe_names
from gpusim.sm.registers.control_code.declaration import by_codes
from gpusim.sm.registers.register_file.declaration import note_sources
from gpusim.sm.state.every import EVERY
from gpusim.sm.state.layout import Rows
from gpusim.sm.state.row import decoded_t
from gpusim.sm.unit.asks import through_port
from gpusim.sm.unit.opcodes import (
    BARRIER,
    BRANCH,
    COMPUTE,
    EXIT,
    FETCH,
    INDEX,
    LOAD,
    MEMORY_KINDS,
    NEARBY,
    NOTHING,
    QUEUED,
    STORE,
    UNIT_CODE,
    UPDATES,
    WHOLE,
    Function,
    Held,
    Of,
    done_aside,
    truth_of,
    value_of,
)
from gpusim.sm.unit.stall import Stall
from gpusim.support.stages import stage
from isa.architecture import nvidia
from isa.executing import barriers
from isa.instruction import PREDICATES_READ, PREDICATES_WRITTEN, Instruction
from isa.kernel import Kernel
from isa.memory import constants
from isa.operands.operand import (
    EVERY_SPECIAL,
    FIRST_UNIFORM,
    PT,
    RZ_INDEX,
    Address,
    BankConstant,
    Constant,
    Immediate,
    Label,
    Predicate,
    Register,
    Special,
    Texture,
)
from isa.operands.operand_change import Change, apply, change_of
from isa.operands.special import fixed
from isa.program import CODE_BYTES, WORD_BYTES
from isa.row import BEHIND, JOINS, Row, Unit
from isa.support.bulk import without_collection
from isa.values.cross_lane import Tile
from isa.values.semantics import mov

NONE_YET = (
    *("source", "destination", "predicate", "second_predicate", "more_predicates", "selector", "selectors", "pointer"),
    *("uniform_base", "value", "truth", "behind"),
)
ZEROS = -2  # in the place of a register whose words stand behind a source's: they are zeros
DECODERS = tuple(dict.fromkeys(unit.decode for unit in EVERY))  # one of most is that which does nothing


@stage("decode")
@without_collection()
def decode(kernel: Kernel, machine: Machine, evaluate: NDArray[np.bool_], points: Mapping[int, int]) -> Rows:
    """The program's rows, and one more behind its end; `evaluate[pc]` says whose results are computed.

    `points` are the reconvergence_points of `isa.dataflow.lanes.divergence`. Raises UserError for a register above the
    machine's limit.
    """
    instructions, known = _decoded(kernel, machine)
    rows = np.zeros(len(instructions) + 1, decoded_t)
    rows[:-1] = known
    accesses = np.array([i.row.unit in MEMORY_KINDS for i in instructions], np.bool_)
    rows["evaluate"][:-1] = evaluate
    rows["evaluate"] |= rows["value"] == INDEX[Held.MOVED]  # which decides where lanes meet
    rows["located"] = (rows["evaluate"] == 1) | (rows["cached"] != 0)
    rows["feed"][:-1] = np.where(accesses, np.cumsum(accesses) - 1, -1)
    rows["accounted"] = np.where(rows["accounted"], np.cumsum(rows["accounted"]), 0)
    end(rows[-1], kernel, NONE_YET)
    if not (rows["grouping"] & JOINS).any():
        rows["grouping"] = 0  # nothing is ever in a group, and nobody counts any
    if machine.fetch:
        rows["line"] = np.arange(len(rows)) // machine.fetch.line
    note_sources(rows, kernel.program.registers, machine)
    meetings(rows, points)
    visits(rows)
    return rows.view(Rows)


_Known = tuple[Kernel, Machine, tuple[Sequence[Instruction], NDArray[Any]]]
_LAST: list[_Known] = []
_MOST_KEPT = 8


def _decoded(kernel: Kernel, machine: Machine) -> tuple[Sequence[Instruction], NDArray[Any]]:
    """Return the instructions and their rows; of the last launches they are kept: walk, run and bound ask.

    Of a launch like one of these, only what takes constants is decoded again.
    """
    alike = None
    for of, on, found in _LAST:
        if of is kernel and on is machine:
            return found
        if on is machine and of.program is kernel.program and is_like(of, kernel):
            alike = found
    found = _with_constants(alike, kernel, machine) if alike else _decoded_anew(kernel, machine)
    _LAST[:] = [*_LAST[1 - _MOST_KEPT :], (kernel, machine, found)]
    return found


def _decoded_anew(kernel: Kernel, machine: Machine) -> tuple[Sequence[Instruction], NDArray[Any]]:
    instructions = _instructions(kernel, machine)
    return instructions, _rows(instructions, kernel, machine)


def _with_constants(
    alike: tuple[Sequence[Instruction], NDArray[Any]], kernel: Kernel, machine: Machine
) -> tuple[Sequence[Instruction], NDArray[Any]]:
    """Return instructions with their rows, of a launch that differs from another one in constants alone."""
    instructions, rows = alike[0], alike[1].copy()
    pcs = [pc for pc, one in enumerate(instructions) if takes_constant(one)]
    rows[pcs] = _rows([instructions[pc] for pc in pcs], kernel, machine)
    return instructions, rows


def _rows(instructions: Sequence[Instruction], kernel: Kernel, machine: Machine) -> NDArray[Any]:
    """Return the rows without what depends on their place: equal instructions have equal ones."""
    first: dict[Instruction, int] = {}
    equal = [first.setdefault(instruction, pc) for pc, instruction in enumerate(instructions)]
    number = {pc: number for number, pc in enumerate(first.values())}
    distinct = np.zeros(len(first), decoded_t)
    for start, drafts in batches(_drafts(first, kernel, machine)):
        fill(distinct[start : start + len(drafts)], drafts)
    return distinct[[number[pc] for pc in equal]]


def _drafts(places: Mapping[Instruction, int], kernel: Kernel, machine: Machine) -> Iterator[Draft]:
    """Yield the draft of each instruction, given with its pc."""
    known, bases = {name: v & 0xFFFFFFFF for name, v in constants(kernel).items()}, dict[Row, Draft]()
    for instruction, pc in places.items():
        form = instruction.row
        if form not in bases:
            check_row(kernel.program, pc, form, machine)
            _costs(bases.setdefault(form, blank(NONE_YET)), form, machine)
        check_operands(kernel.program, pc, instruction, machine)
        draft = copied(bases[form])
        _fill(draft, instruction, machine, known, kernel)
        yield draft


def costs(form: Row, machine: Machine) -> Any:
    """Return a row with the costs of each instruction of a table's row, and nothing else."""
    (row,) = np.zeros(1, decoded_t)
    _costs(row, form, machine)
    return row


def _instructions(kernel: Kernel, machine: Machine) -> Sequence[Instruction]:
    """The program's instructions, with control codes assigned where the machine needs them and there are none."""
    program = with_codes(kernel.program, machine) if by_codes(machine) else kernel.program
    return in_place(kernel, program, machine)


def _fill(row: Any, instruction: Instruction, machine: Machine, known: Mapping[str, Any], kernel: Kernel) -> None:
    """Fill in what does not depend on the instruction's place, nor on its row alone."""
    _registers(row, instruction)
    _operands(row, instruction, known, kernel)
    for decode_columns in DECODERS:
        decode_columns(row, instruction, machine, kernel)


def _costs(row: Any, form: Row, machine: Machine) -> None:
    row["unit"] = UNIT_CODE[form.unit]
    row["words"], row["width"] = form.source.words, {32: 0, 64: 1}.get(form.path_width, 2)
    row["alignment"], row["intervals"] = form.alignment, intervals(machine, form)
    row["access_bytes"], row["update"] = form.accessed_bytes, -1 if form.update is None else UPDATES.index(form.update)
    row["action"] = _action(form)
    _functions(row, form)
    row["reason"], row["pipe"] = Stall.WAIT, -1
    row["queued"] = form.unit in QUEUED or through_port(machine, form.unit)
    row["memory_kind"] = MEMORY_KINDS.get(form.unit, 0)
    if form.unit in QUEUED:
        row["reason"] = Stall.SHORT_SCOREBOARD if form.unit in NEARBY else Stall.LONG_SCOREBOARD
        row["latency"], row["war"] = memory_costs(form, machine)
        if form.unit is Unit.CONSTANT and machine.constant_cache:
            row["distinct"] = row["later"] = machine.constant_cache.request_cycles
    elif form.unit is Unit.TEXTURE:
        row["latency"], row["reason"] = machine.texture.latency, Stall.LONG_SCOREBOARD
    elif form.unit.value in machine.unit:
        row["reason"] = Stall.SHORT_SCOREBOARD if form.unit in NEARBY else Stall.WAIT
        row["latency"] = latency(machine, form)
    row["cached"] = cached_in(form, machine)
    if row["cached"] > TEXTURES and (read := read_cache(form.unit, machine)):
        row["latency"] = read.latency
    load_store.costs(row, form, machine)
    async_copy.costs(row, form, machine)
    if (pipes := choices(machine, form.unit)) and not row["queued"]:
        row["pipe"] = pipe_names(machine).index(pipes[0])


def _action(form: Row) -> int:
    if aside := done_aside(form):
        return aside
    if value_of(form) or truth_of(form):
        return COMPUTE
    if form.unit in MEMORY_KINDS:
        return LOAD if form.is_load else STORE
    if form.is_branch or form.is_exit:
        return BRANCH if form.is_branch else EXIT
    return {Unit.TEXTURE: FETCH, Unit.BARRIER: BARRIER}.get(form.unit, NOTHING)


def _functions(row: Any, form: Row) -> None:
    """Fill in the functions of the row, and how many words these take of each source."""
    value, truth = value_of(form), truth_of(form)
    row["value"], row["truth"] = (INDEX[one] if one else -1 for one in (value, truth))
    if form.unit is Unit.WARPGROUP:
        return
    takes = max([one.takes for one in (value, truth) if one], default=1)
    for place, letter in enumerate("abc"):
        row["counts"][place] = form.words_of("D" if letter == "c" and "D" in form.form else letter)
        row["taken"][place] = max(takes, row["counts"][place])
    by_number = isinstance(value, Function) and (value.of is Of.NUMBER or isinstance(value.function, Tile))
    row["selects"] = len(PREDICATES_READ) if form.is_general else by_number - 1


def _registers(row: Any, instruction: Instruction) -> None:
    reads, writes = tuple(dict.fromkeys(instruction.reads())), instruction.writes()
    if instruction.row.unit is Unit.WARPGROUP:
        reads, writes = instruction.descriptors(), ()  # others are the tensor cores' until its group is done
    waits = tuple(dict.fromkeys(reads + writes))
    row["reads"], row["waits"], row["writes"] = len(reads), len(waits), len(writes)
    row["read"][: len(waits)] = waits
    row["write"][: len(writes)] = writes


def _operands(row: Any, instruction: Instruction, known: Mapping[str, Any], kernel: Kernel) -> None:
    guard = instruction.guard
    row["guard"], row["guard_negated"] = guard.index, guard.negated + WHOLE * guard.whole
    form, row["scale"] = instruction.row, 1
    if "c" not in form.form:
        row["constant"][2] = form.code
    _numbers(row, instruction, kernel)
    for letter, operand in instruction.slots():
        if letter in BEHIND and isinstance(operand, Register):
            for word, place in enumerate((BEHIND.index(letter), len(BEHIND))[: form.words_of(letter)]):
                row["behind"][place] = ZEROS if operand.index == RZ_INDEX else operand.index + word
        else:
            _operand(row, letter, operand, form, known, kernel)
    if form.is_general:
        row["number"] = instruction.number()
    written = max(row["second_predicate"], *row["more_predicates"])
    row["others"] = max((written, *(one for one in row["selectors"][1:] if one != PT.index))) >= 0
    if max(row["predicate"], written) < 0:
        row["truth"] = -1  # nobody asks
    row["uniform"] = any(r >= kernel.program.registers for r in instruction.writes()) or bool(
        instruction.predicates_written() and min(instruction.predicates_written()) >= FIRST_UNIFORM
    )


def _numbers(row: Any, instruction: Instruction, kernel: Kernel) -> None:
    row["arrivals"] = kernel.warps
    if isinstance(instruction.row.across, Tile):
        sums = nvidia(kernel.target.architecture if kernel.target else 0).sums.packed
        row["number"] = sums | instruction.number() >> 32 << 32
    elif row["action"] == BARRIER:
        row["barrier"], row["arrivals"] = barriers.wanted(kernel, instruction)
    elif isinstance(function := value_of(instruction.row), Function) and function.of is Of.NUMBER:
        (row["number"],) = [o.bits for letter, o in instruction.slots() if letter == "n" and isinstance(o, Immediate)]


def _operand(row: Any, letter: str, operand: Any, form: Row, known: Mapping[str, Any], kernel: Kernel) -> None:
    match operand:
        case Register() if letter in "dD":
            row["destination"] = -1 if operand.index == RZ_INDEX else operand.index
            if letter == "D":
                _source(row, 2, operand, form)
        case Register() if letter in "abc":
            _source(row, "abc".index(letter), operand, form)
        case BankConstant() if letter in "abc":
            _bank_constant(row, letter, operand, form, kernel)
        case Immediate() if letter in "abc":
            row["constant"]["abc".index(letter)] = operand.bits
        case Constant():
            row["constant"]["abc".index(letter)] = known[operand.name]
        case Address() if letter != "M":
            _address(row, operand, form, kernel)
        case Predicate() if letter in PREDICATES_WRITTEN:
            _told(row, PREDICATES_WRITTEN.index(letter), operand)
        case Predicate():
            _selector(row, PREDICATES_READ.index(letter), operand)
        case Special():
            row["special"] = EVERY_SPECIAL.index(operand.name)
            _fixed(row, fixed(kernel, operand.name))
        case Label():
            _label(row, letter, kernel.program.labels[operand.name])
        case Texture():
            buffer = next(b for b in kernel.buffers if b.name == operand.name)
            row["offset"], row["limit"] = known[operand.name], buffer.nbytes // form.nbytes
            row["constant"][2] = row["limit"]  # a single row, unless c says how long rows are


def _fixed(row: Any, value: int | None) -> None:
    """Let a special register that the launch decides be a constant, unless it fills two registers."""
    if value is not None and row["writes"] == 1:
        row["value"] = INDEX[Function(Of.LANES, mov)]
        row["constant"][0] = value


def _label(row: Any, letter: str, pc: int) -> None:
    """Fill in a place in the program: the target of a branch, or its code address as an operand."""
    if letter == "a":
        row["constant"][0] = CODE_BYTES * pc
    else:
        row["target"] = pc


def _source(row: Any, position: int, register: Register, form: Row) -> None:
    row["source"][position] = -1 if register.index == RZ_INDEX else register.index
    row["change"][position] = change_of(register, form)
    if register.index == RZ_INDEX:
        row["constant"][position] = _changed(0, register, "abc"[position], form)


def _bank_constant(row: Any, letter: str, operand: BankConstant, form: Row, kernel: Kernel) -> None:
    nbytes = WORD_BYTES * form.words_of(letter)
    held = kernel.banks.get(operand.bank, b"")[operand.offset : operand.offset + nbytes]
    bits = int.from_bytes(held, "little")  # beyond the bank: gpusim/launch/undefined.py says so
    row["constant"]["abc".index(letter)] = _changed(bits, operand, letter, form)


def _changed(bits: int, operand: Register | BankConstant, letter: str, form: Row) -> int:
    """Return a constant after the changes that its text asks for."""
    change, words = change_of(operand, form), form.words_of(letter)
    if change == Change.NONE:
        return bits
    if form.is_general and change == Change.NEGATIVE and words == 1:
        return (1 << 32) - bits
    kind = np.uint32 if words == 1 else np.uint64
    with np.errstate(over="ignore"):
        return int(apply(kind(bits), change, 32 * words))


def _told(row: Any, place: int, operand: Predicate) -> None:
    index = -1 if operand == PT else operand.index
    if place > 1:
        row["more_predicates"][place - 2] = index
    else:
        row["second_predicate" if place else "predicate"] = index


def _selector(row: Any, place: int, operand: Predicate) -> None:
    row["selectors"][place] = operand.index
    row["selectors_negated"] |= operand.negated << place
    if place == 0:
        row["selector"], row["selector_negated"] = operand.index, operand.negated


def _address(row: Any, operand: Address, form: Row, kernel: Kernel) -> None:
    row["pointer"] = -1 if operand.base.index == RZ_INDEX else operand.base.index
    row["offset"], row["scale"] = operand.offset, operand.scale
    row["wide_address"], row["pointer_pair"] = operand.wide, operand.pair and row["pointer"] >= 0
    if operand.uniform is not None and operand.uniform.index != RZ_INDEX:
        row["uniform_base"], row["base_pair"] = operand.uniform.index, operand.uniform_pair
    if operand.bank is not None and not operand.registers:
        row["known"] = 1
        held = kernel.banks.get(operand.bank.bank, b"")[operand.bank.offset :][: form.nbytes]
        row["constant"][0], row["constant"][1] = (int.from_bytes(held[at : at + 8], "little") for at in (0, 8))
