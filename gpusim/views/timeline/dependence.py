"""Dependences between instructions of a timeline, and the lifetime of each."""

from __future__ import annotations

from collections.abc import Mapping

from gpusim.sm.unit.stall import Stall, label
from gpusim.views.timeline.document import Issued, Line

# Reasons that wait for another instruction's work. The others wait for a place or a turn.
DEPENDENCES = frozenset(
    map(
        label, (Stall.BARRIER, Stall.WAIT, Stall.SHORT_SCOREBOARD, Stall.LONG_SCOREBOARD, Stall.WAR_HAZARD, Stall.DRAIN)
    )
)


def born(instruction: Issued) -> int:
    """Return the first cycle in which the warp waits for this instruction, or the one in which it issues."""
    return instruction.waits[0].start if instruction.waits else instruction.issue


def over(instruction: Issued) -> int:
    """Return the cycle from which the instruction is over: no pipe has it, and its result is there."""
    return max(instruction.issue + 1, instruction.end, instruction.done)


def producers(instruction: Issued, by_id: Mapping[int, Issued]) -> list[Issued]:
    """Return the instructions of the document that this one depends on and waited for, in order of issue."""
    blockers = {wait.blocker for wait in instruction.waits if wait.reason in DEPENDENCES}
    return [by_id[blocker] for blocker in sorted(blockers & by_id.keys())]


def name(instruction: Issued, program: Mapping[int, Line]) -> str:
    """Return the instruction's text, and its warp and pc, in one line without tabs."""
    return " ".join(f"{program[instruction.pc].text} (warp {instruction.warp}, pc {instruction.pc})".split())
