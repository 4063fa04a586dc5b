"""Results in flight on machines ordered by control codes or wait counters: an early read gets the old value.

An instruction is in flight from its issue until its result is written and its sources are read. Results are computed at
issue; they are effects on registers (sm/effects/effects.py), written when they are ready. There are three hazards,
each recorded with its pc, its register and the other pc:

* RAW: an instruction issues before a result that it reads is written;
* WAW: a result overwrites that of a later instruction, which was written sooner;
* WAR: a result is written before an earlier memory instruction has read the register.

With wait counters only the accesses that they count are in flight, and no source is overwritten before it is read.

The first two predicates that an instruction writes are followed; further ones of R2P are there at issue.

Hazards are found by lane: a result and a reader without a common lane cause none.
"""

from __future__ import annotations

from gpusim.sm.effects import effects
from gpusim.sm.jit import lane_words
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.memory import versions
from gpusim.sm.memory.memory_access import memory_access
from gpusim.sm.records import Effect, Memory, Numbers, Row, Sm, Table
from gpusim.sm.unit.capacities import GROUPS, HAZARDS, LANES, READ, REGISTERS
from gpusim.sm.unit.opcodes import LOAD
from isa.operands.operand import PT_INDEX

RAW, WAW, WAR = range(3)


@on_demand
def write_back(sm: Sm, g: int, now: int) -> None:
    """Write the results of warp slot g that are ready by now, the earliest first."""
    first = effects.first_due(sm, g, now, False)
    while first >= 0:
        _write_result(sm, g, sm.effects[g, first])
        first = effects.first_due(sm, g, now, False)
    _forget(sm, g, now)


@rule
def _write_result(sm: Sm, g: int, effect: Effect) -> None:
    """Write one result; record its hazards with the other instructions that use its registers."""
    effect.landed = 1
    instruction = sm.program[effect.pc]
    for i in range(instruction.writes):
        register = int(instruction.write[i])
        _meet(sm, g, effect, register)
        for half in range(sm.machine.groups):
            _write(sm.lanes[g * sm.machine.groups + half].registers, register, effect, half, i, _is_scalar(instruction))
        versions.new_version(sm, g, register)
    _write_predicate(sm, g, effect, instruction.predicate, effect.truth)
    _write_predicate(sm, g, effect, instruction.second_predicate, effect.second_truth)


@rule
def _write_predicate(sm: Sm, g: int, effect: Effect, predicate: int, truth: Numbers) -> None:
    if predicate < 0:
        return
    _meet(sm, g, effect, REGISTERS + int(predicate))
    for half in range(sm.machine.groups):
        predicates, mask = sm.lanes[g * sm.machine.groups + half].predicates, effect.mask[half]
        predicates[predicate] = (truth[half] & mask) | (predicates[predicate] & ~mask)


@rule
def _write(registers: Table, register: int, effect: Effect, half: int, i: int, scalar: bool) -> None:
    """Write the i-th register of an instruction in flight in the active lanes of one lane group."""
    if not scalar:
        lane_words.put(registers, register, effect.values[half, i], effect.mask[half])
        return
    for lane in range(LANES):
        if (effect.mask[half] >> lane) & 1:
            registers[register, lane] = effect.values[half, 0, i]


@rule
def _is_scalar(instruction: Row) -> bool:
    """Tell whether it is a scalar load: all lanes get the same, and word i is kept once, in the place of lane i."""
    return instruction.pipe >= 0 and instruction.action == LOAD


@rarely
def _meet(sm: Sm, g: int, effect: Effect, name: int) -> None:
    """Record WAW with a later result already written, and WAR with an earlier reader that is not done."""
    for i in range(sm.warps[g].effects):
        other = sm.effects[g, i]
        instruction = sm.program[other.pc]
        if _overlap(other.mask, effect.mask) and other.order != effect.order:
            if other.order > effect.order and other.landed and writes(instruction, name):
                _note(sm, WAW, other.pc, name, effect.pc)
            if other.order < effect.order and other.read > effect.lands and reads(instruction, name):
                _note(sm, WAR, effect.pc, name, other.pc)
                other.stale = 1


@rule
def _overlap(lanes: Numbers, others: Numbers) -> bool:
    """Tell whether the two have a lane in common, each given as a mask by lane group."""
    for half in range(GROUPS):  # noqa: SIM110  (compiled)
        if lanes[half] & others[half]:
            return True
    return False


@rule
def _forget(sm: Sm, g: int, now: int) -> None:
    """Drop finished entries, unless a result of an earlier instruction may still overwrite theirs."""
    warp, i = sm.warps[g], 0
    while i < warp.effects:
        effect = sm.effects[g, i]
        if effect.landed and effect.read <= now and not _may_be_overwritten(sm, g, effect):
            effects.drop(sm, g, i)
        else:
            i += 1


@rarely
def _may_be_overwritten(sm: Sm, g: int, effect: Effect) -> bool:
    instruction = sm.program[effect.pc]
    for i in range(sm.warps[g].effects):
        other = sm.effects[g, i]
        if other.landed == 0 and other.order < effect.order:
            early = sm.program[other.pc]
            if _writes_predicate(instruction, early.predicate):
                return True
            if _writes_predicate(instruction, early.second_predicate):
                return True
            for j in range(early.writes):
                if writes(instruction, int(early.write[j])):
                    return True
    return False


@rule
def _writes_predicate(instruction: Row, predicate: int) -> bool:
    found = instruction.predicate == predicate or instruction.second_predicate == predicate  # noqa: PLR1714  (compiled)
    return predicate >= 0 and found


@rarely
def writes(instruction: Row, name: int) -> bool:
    """Tell whether the instruction writes a register, or a predicate: REGISTERS and its index."""
    if name >= REGISTERS:
        return _writes_predicate(instruction, name - REGISTERS)
    for i in range(instruction.writes):  # noqa: SIM110  (compiled)
        if instruction.write[i] == name:
            return True
    return False


@rarely
def reads(instruction: Row, name: int) -> bool:
    """Tell whether the instruction reads a register."""
    for i in range(instruction.reads):  # noqa: SIM110  (compiled)
        if instruction.read[i] == name:
            return True
    return False


@rarely
def look(sm: Sm, g: int, pc: int) -> None:
    """Record the registers that the issuing instruction reads although their result is not written."""
    instruction, active = sm.program[pc], sm.outcome.active
    if instruction.guard != PT_INDEX:
        _look_at(sm, g, pc, REGISTERS + int(instruction.guard), sm.warps[g].lanes)
    if sm.outcome.threads == 0:
        return
    for place in range(READ):
        if instruction.selectors[place] >= 0:
            _look_at(sm, g, pc, REGISTERS + int(instruction.selectors[place]), active)
    for i in range(instruction.reads):
        _look_at(sm, g, pc, int(instruction.read[i]), active)
    if not _is_deferred(sm, instruction):
        for i in range(instruction.writes):
            _written_over(sm, g, pc, int(instruction.write[i]), active)


@rarely
def _written_over(sm: Sm, g: int, pc: int, name: int, lanes: Numbers) -> None:
    """Record earlier results that will overwrite this one."""
    for i in range(sm.warps[g].effects):
        effect = sm.effects[g, i]
        if effect.landed == 0 and _overlap(lanes, effect.mask) and writes(sm.program[effect.pc], name):
            _note(sm, WAW, pc, name, effect.pc)


@rarely
def _look_at(sm: Sm, g: int, pc: int, name: int, lanes: Numbers) -> None:
    for i in range(sm.warps[g].effects):
        effect = sm.effects[g, i]
        under_way = effect.landed == 0 and _overlap(lanes, effect.mask) and writes(sm.program[effect.pc], name)
        if under_way and _missing(sm, g, effect, name, lanes):
            _note(sm, RAW, pc, name, effect.pc)


@rarely
def _missing(sm: Sm, g: int, effect: Effect, name: int, lanes: Numbers) -> bool:
    """Tell whether some of the lanes need this result, because no later one has been written there."""
    for half in range(GROUPS):  # noqa: SIM110  (compiled)
        if lanes[half] & effect.mask[half] & ~_covered(sm, g, half, effect.order, name):
            return True
    return False


@rarely
def _covered(sm: Sm, g: int, half: int, order: int, name: int) -> int:
    """Return the lanes of a lane group in which a later result has been written."""
    mask = 0
    for i in range(sm.warps[g].effects):
        other = sm.effects[g, i]
        if other.landed and other.order > order and writes(sm.program[other.pc], name):
            mask |= other.mask[half]
    return mask


@rarely
def _note(sm: Sm, kind: int, pc: int, name: int, other: int) -> None:
    """Count a hazard at `pc`, in a register, with the instruction at `other`; of too many, keep the first ones."""
    for i in range(sm.hazardous):
        hazard = sm.hazards[i]
        if hazard.kind == kind and hazard.pc == pc and hazard.name == name and hazard.other == other:
            hazard.times += 1
            return
    if sm.hazardous < HAZARDS:
        hazard = sm.hazards[sm.hazardous]
        hazard.kind, hazard.pc, hazard.name, hazard.other, hazard.times = kind, pc, name, other, 1
        sm.hazardous += 1


@rarely
def enter(sm: Sm, g: int, pc: int) -> bool:
    """Store the old values of the registers that the instruction at `pc` will write; false: too much is in flight."""
    warp, instruction = sm.warps[g], sm.program[pc]
    if not effects.has_room(sm, g, pc):
        return False
    effect = sm.effects[g, warp.effects]
    for half in range(sm.machine.groups):
        lanes = sm.lanes[g * sm.machine.groups + half]
        for i in range(instruction.writes):
            if _is_scalar(instruction):
                effect.values[half, 0, i] = lanes.registers[instruction.write[i], 0]
            else:
                lane_words.copy(effect.values[half, i], lanes.registers, instruction.write[i])
        if instruction.predicate >= 0:
            effect.truth[half] = lanes.predicates[instruction.predicate]
        if instruction.second_predicate >= 0:
            effect.second_truth[half] = lanes.predicates[instruction.second_predicate]
    return True


@rule
def _is_deferred(sm: Sm, instruction: Row) -> bool:
    """Tell whether only the program waits for the instruction: with wait counters, whether one counts it.

    Registers that a warp shares are waited for without a code: ptxas lets a reader follow a ULDC by two cycles.
    """
    if sm.machine.obeys_codes == 0:
        return instruction.counter >= 0
    return bool(instruction.queued or instruction.pipe >= 0) and not instruction.uniform


@rarely
def defer(sm: Sm, g: int, pc: int) -> None:
    """Put the computed results of the instruction at `pc` in flight, and restore the old values."""
    instruction = sm.program[pc]
    if sm.outcome.threads == 0 or not _is_deferred(sm, instruction):
        return
    effect = effects.post(sm, g, pc)
    _exchange(sm, g, instruction, effect)
    for half in range(sm.machine.groups):
        predicates = sm.lanes[g * sm.machine.groups + half].predicates
        _exchange_predicate(predicates, instruction.predicate, effect.truth, half)
        _exchange_predicate(predicates, instruction.second_predicate, effect.second_truth, half)


@rule
def _exchange_predicate(predicates: Numbers, predicate: int, truth: Numbers, half: int) -> None:
    if predicate >= 0:
        held = predicates[predicate]
        predicates[predicate] = truth[half]
        truth[half] = held


@rarely
def _exchange(sm: Sm, g: int, instruction: Row, effect: Effect) -> None:
    """Swap the contents of the written registers with the values stored for the instruction in flight."""
    for half in range(sm.machine.groups):
        registers = sm.lanes[g * sm.machine.groups + half].registers
        for i in range(instruction.writes):
            if _is_scalar(instruction):
                _exchange_scalar(registers[instruction.write[i]], effect, half, i)
            else:
                lane_words.exchange(registers, instruction.write[i], effect.values[half, i])


@rule
def _exchange_scalar(row: Numbers, effect: Effect, half: int, i: int) -> None:
    """Do the same for a word that all lanes share; lane 0 of a half is live if any lane of it is."""
    held = row[0]
    for lane in range(LANES):
        row[lane] = effect.values[half, 0, i]
    effect.values[half, 0, i] = held


@on_demand
def read_again(sm: Sm, memory: Memory, g: int, number: int, now: int) -> None:
    """Reread the sources of an access by its number, about to be served: overwritten ones have their new values.

    This excludes an atomic, which would update twice, what writes memory later, and an instruction that only computes
    (a queued SHFL), whose hazard is recorded. A store has been done at issue; it is done once more.
    """
    write_back(sm, g, now)
    place = effects.of_access(sm, g, number)
    if place < 0:
        return
    warp, effect = sm.warps[g], sm.effects[g, place]
    instruction = sm.program[effect.pc]
    again = instruction.update < 0 and not effects.to_memory(effect)
    if effect.stale and again and memory_access.accesses(instruction):
        following, warp.pc = warp.pc, effect.pc
        _exchange(sm, g, instruction, effect)
        for half in range(sm.machine.groups):
            if effect.mask[half]:
                memory_access.access(sm, memory, g, g * sm.machine.groups + half, effect.mask[half])
        _exchange(sm, g, instruction, effect)
        warp.pc = following
