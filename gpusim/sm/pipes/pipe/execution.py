"""Execution in a pipe: the instruction occupies it, and its result is there a fixed latency later.

The latency of a texture fetch counts from the cycle at which its data has left the memory channel.
"""

from __future__ import annotations

from gpusim.sm.account.record import record
from gpusim.sm.effects import effects
from gpusim.sm.jit.rule import NEVER, rarely, rule
from gpusim.sm.memory.texture import texture
from gpusim.sm.pipes.pipe import pipe
from gpusim.sm.pipes.warpgroup import warpgroup
from gpusim.sm.records import Row, Sm
from gpusim.sm.registers import questions
from gpusim.sm.registers.control_code import control_code
from gpusim.sm.registers.register_file import register_file
from gpusim.sm.registers.scoreboard import scoreboard
from gpusim.sm.registers.wait_count import wait_count
from gpusim.sm.unit.opcodes import FETCH, LOAD


@rule
def commit(sm: Sm, k: int, g: int, instruction: Row, now: int, behind: int) -> None:
    """Let warp slot g's instruction take its pipe; its operands are `behind` cycles late (register_file.py)."""
    warp, machine = sm.warps[g], sm.machine
    least = register_file.reading(machine, behind)
    if sm.multiplies and instruction.unhurried and sm.products.ends > now:
        least = max(least, warpgroup.held(sm, instruction))
    taken = pipe.commit(sm, k, instruction, now, least)
    gone = texture.commit(sm, instruction, now) if instruction.action == FETCH else now
    ready = max(gone + instruction.latency, sm.outcome.ready) + register_file.late(machine, behind)
    if sm.ahead.on and instruction.action == FETCH and sm.outcome.transactions:
        _ask(sm, g, instruction, register_file.late(machine, behind), ready, now)
        return
    if sm.tracing:
        record.occupied(sm, taken, pipe.instance(sm, k, taken).free, ready)
    if instruction.counter >= 0:
        _counted(sm, g, instruction, now, ready)
    elif machine.obeys_codes == 0:
        scoreboard.commit(warp, instruction, ready)
    if machine.obeys_codes:
        _signal(sm, g, instruction, now, ready)
    if instruction.action == FETCH or instruction.action == LOAD:  # noqa: PLR1714  (compiles to two compares)
        warp.drained = max(warp.drained, ready)


@rarely
def _ask(sm: Sm, g: int, instruction: Row, late: int, soonest: int, now: int) -> None:
    """Where the SM runs ahead, the chip will say when the fetch's data has left the channel, as of an access."""
    warp, outcome = sm.warps[g], sm.outcome
    outcome.cycles, outcome.extra, outcome.near = 0, late, 0
    warp.pending += 1
    scoreboard.commit(warp, instruction, NEVER)
    if sm.machine.obeys_codes:
        control_code.hold(warp, instruction)
        control_code.release_read(warp, instruction, now)
    questions.ask(sm, g, warp.pc - 1, outcome, 0, soonest, now)


@rarely
def _signal(sm: Sm, g: int, instruction: Row, now: int, ready: int) -> None:
    """Where control codes are obeyed, the instruction's barriers tell when its result is there."""
    control_code.let_go(sm.warps[g], instruction, now, ready)
    if sm.defers and not instruction.uniform:
        effects.last(sm, g, now, ready - int(instruction.sooner))


@rarely
def _counted(sm: Sm, g: int, instruction: Row, now: int, ready: int) -> None:
    """A scalar load is back by itself; programs wait for the count."""
    wait_count.commit(sm.warps[g], instruction, 0)
    wait_count.load(sm.warps[g], instruction, ready)
    if sm.defers:
        effects.last(sm, g, now, ready)
