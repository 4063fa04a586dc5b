"""Small programs of convergence, and which lanes an H200 had at each of their places (tests/measured/convergence.txt).

A program is `= name`, whether it ends, its notes in order (place:lanes), and its text: a listing in which `T n` notes
the lanes that run at place n, and `IN mask P0` sets a predicate in the lanes of a mask.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from interpreter.interpret import interpret
from read.fenced import ROOT

from isa import memory
from isa.kernel import Buffer, Kernel
from isa.text.assembler import assemble

PATH = ROOT / "tests" / "measured" / "convergence.txt"
MOST = 64  # notes of a lane
# R2 the address of a lane's next note, R10 its bit, R4 to R9 scratch
PROLOGUE = "S2R R11, LANEID\nMOV R8, 1\nSHL R10, R8, R11\nSHL R2, R11, 2\nMOV R3, c[notes]\nIADD R2, R2, R3\n"
NOTE = "VOTE.BALLOT R4, PT\nMOV R6, {}\nSTG [R2], R4\nSTG [R2+128], R6\nIADD R2, R2, 256"


@dataclass(frozen=True)
class Measured:
    """A program, whether it ended on the chip, and the places and lanes that it noted, in order."""

    name: str
    ends: bool
    notes: tuple[tuple[int, int], ...]
    text: str


def measured() -> dict[str, Measured]:
    """Return the programs by name."""
    found = [_measured(part) for part in PATH.read_text().split("\n= ")]
    return {one.name: one for one in found}


def _measured(part: str) -> Measured:
    head, notes, *text = part.removeprefix("= ").splitlines()
    name, ends = head.split()
    places = tuple((int(place), int(lanes, 16)) for place, lanes in (note.split(":") for note in notes.split()))
    return Measured(name, ends == "ends", places, "\n".join(text))


def kernel(one: Measured) -> Kernel:
    """Return a launch of a program by one warp."""
    text = re.sub(r"^(\w+:)? *T (\d+)$", lambda m: f"{m[1] or ''}\n{NOTE.format(m[2])}", one.text, flags=re.M)
    text = re.sub(r"\bIN (\w+) (P\d)", r"LOP.AND R9, R10, \1\nISETP.NE \2, R9, 0", text)
    program = replace(assemble(PROLOGUE + text.replace(": ", ":\n")), independent=True)
    return Kernel(one.name, program, (1, 1, 1), (32, 1, 1), buffers=(Buffer("notes", "<u4", MOST * 64),))


def in_order(launched: Kernel) -> tuple[tuple[int, int], ...]:
    """Return the places and lanes that the interpreter notes, in order."""
    stores = list[tuple[int, int]]()
    places = {pc for pc, i in enumerate(launched.program.instructions) if i.row.mnemonic == "STG"}

    def observe(pc: int, _warps: Any, addresses: Any, active: Any) -> None:
        lanes = np.flatnonzero(active[0])
        if pc in places and len(lanes):
            stores.append((int(addresses[0, lanes[0]]), sum(1 << int(lane) for lane in lanes)))

    words = interpret(launched, observe=observe).memory
    first = memory.bases(launched.buffers)["notes"]
    return tuple((int(words[at // 4]), lanes) for at, lanes in stores if (at - first) // 128 % 2)


def by_lane(notes: Any) -> Any:
    """Return [number, what, lane] of the notes in memory, or those of pairs of place and lanes in order."""
    if isinstance(notes, np.ndarray):
        return notes.view(np.uint32).reshape(MOST, 2, 32)
    found, count = np.zeros((MOST, 2, 32), np.uint32), [0] * 32
    for place, lanes in notes:
        for lane in range(32):
            if lanes >> lane & 1:
                found[count[lane], :, lane] = lanes, place
                count[lane] += 1
    return found
