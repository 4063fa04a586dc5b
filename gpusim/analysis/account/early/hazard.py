"""A hazard: two instructions that come too close."""

from __future__ import annotations

from dataclasses import dataclass

from gpusim.support.plural import plural
from isa.kernel import Kernel


@dataclass(frozen=True, slots=True)
class Hazard:
    """A hazard between two instructions, by pc, how often it occurred, and what mends it.

    RAW: `pc` reads `register` before `other` has written it. WAW: `other` writes over the result of `pc`, which comes
    later in the program. WAR: `pc` overwrites `register` before `other` has read it. FENCE: `other` has written it, but
    `pc` may not see that. ARRIVE: a matrix instruction, `pc`, is not ordered behind `other`; this is -1 if it is the
    warp's first. In the place of a register may be a word of shared memory. `line` is 0 if there is no text.
    """

    kind: str
    register: str
    pc: int
    line: int
    other: int
    other_line: int
    times: int
    text: str
    mend: str

    def __str__(self) -> str:
        """Return the hazard as one line."""
        return f"{self.kind} {self.register}: {self.text} ({plural(self.times, 'time')}); {self.mend}"


def line_of(kernel: Kernel, pc: int) -> int:
    """Return the line of source of an instruction; 0 if there is none."""
    return kernel.program.source(pc)[1] if pc >= 0 else 0
