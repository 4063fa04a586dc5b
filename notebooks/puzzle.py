"""The puzzles of lesson 10: programs to make faster, and how an answer is marked.

An answer is right if it stores, in every buffer, what the puzzle's start stores; it passes if it takes few cycles, too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

import gpusim
from gpusim import Result, UserError
from gpusim.engines.walks.program_order import walk
from gpusim.engines.walks.races import races
from isa.kernel import Expectation, Kernel
from isa.memory import bases, view
from isa.text import listing

FOLDER = Path(__file__).with_name("puzzles")
NAME = "answer"  # of the listing in messages: answer:7:5 is line 7, column 5
MACHINE = "gtx580"
FREE = ".shared"  # the directive that an answer may change
MAX_CYCLES = 200_000  # an answer that takes more has an endless loop
_PLACE = re.compile(rf"{NAME}:(\d+):(\d+): (.*)", re.S)
_RAN = re.compile(r"\bline (\d+), pc ")


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A program to make faster: the answer takes at most `target` cycles."""

    number: int
    title: str
    target: int
    task: str
    hint: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """An answer: its simulation, or the errors that prevented one, each a line of text."""

    result: Result | None
    errors: tuple[str, ...] = ()


PUZZLES = (
    Puzzle(
        1,
        "Four loads",
        1_000,
        "Each thread loads four numbers, one after the other, and adds each before it loads the next.",
        "A load into a register of its own need not wait for the one before. Put all loads first.",
    ),
    Puzzle(
        2,
        "One long sum",
        1_200,
        "Each of 32 multiply-adds needs the sum that the one before it computes.",
        "Addition of integers may be done in any order: use four sums, and add these at the end.",
    ),
    Puzzle(
        3,
        "Rows in shared memory",
        6_000,
        "A warp's lanes read 32 rows at the same time, each its own. Rows have 32 words, so all begin in one bank.",
        "Let the rows be 33 words apart. Three numbers depend on this, and `.shared`, which you may change.",
    ),
    Puzzle(
        4,
        "Neighbours",
        2_500,
        "Each thread doubles eight neighbouring words, so the lanes of each access are 32 bytes apart.",
        "Which thread doubles which word is yours to choose: let neighbouring lanes access neighbouring words, or "
        "pieces of 16 bytes with `LDG.128`. A block has 8,192 bytes.",
    ),
    Puzzle(
        5,
        "A loop that waits",
        9_000,
        "Each of 64 rounds waits for its two loads, and two warps can't hide that.",
        "Unroll eight rounds, with a register for each load. In the loop, load for the next round before this round's "
        "multiply-adds, and finish the last round after the loop.",
    ),
)


def start(puzzle: Puzzle) -> str:
    """Return the program to make faster."""
    return (FOLDER / f"{puzzle.number}_start.asm").read_text(encoding="utf-8")


def solution(puzzle: Puzzle) -> str:
    """Return a program that passes."""
    return (FOLDER / f"{puzzle.number}_solution.asm").read_text(encoding="utf-8")


def attempted(puzzle: Puzzle, text: str) -> Attempt:
    """Simulate an answer, and compare the values that it stores with those of the start."""
    try:
        kernel = _kernel(puzzle, text)
        result = gpusim.simulate(kernel, MACHINE, max_cycles=MAX_CYCLES)
        _check_races(kernel)
        return Attempt(result)
    except UserError as error:
        return Attempt(None, (str(error), *error.further))


def passes(puzzle: Puzzle, attempt: Attempt) -> bool:
    """Tell whether an answer stores the right values, all of them, in few enough cycles."""
    result = attempt.result
    return bool(result and right(result) and result.cycles <= puzzle.target)


def right(result: Result) -> bool:
    """Tell whether every value of every block was checked, and is right."""
    found = result.verification
    return bool(found.scope == "complete" and found.verified)


def in_place(text: str, error: str) -> str:
    """Return an error above the line that it names, if any, and a mark below its column."""
    placed, ran = _PLACE.fullmatch(error), _RAN.search(error)
    if not placed:
        return f"{error}\n    {_line(text, int(ran[1]))}" if ran else error
    line, column = int(placed[1]), int(placed[2])
    return f"line {line}, column {column}: {placed[3]}\n    {_line(text, line)}\n    {' ' * (column - 1)}^"


def _line(text: str, number: int) -> str:
    """A line of a text; empty behind its end."""
    return next(iter(text.splitlines()[number - 1 : number]), "")


def _kernel(puzzle: Puzzle, text: str) -> Kernel:
    """An answer's kernel, which promises what the start stores; raises UserError for another launch than that."""
    kernel = listing.read(text, NAME)
    _check_directives(start(puzzle), text)
    return replace(kernel, outcome=_stored(puzzle))


def _check_races(kernel: Kernel) -> None:
    """Raise UserError if the values of a kernel that ends depend on which warp comes first."""
    found = races(kernel, range(kernel.blocks))
    if found:
        raise UserError(str(found[0]), map(str, found[1:]))


def _check_directives(given: str, text: str) -> None:
    """Raise UserError if an answer launches something else than the start."""
    kept, lines = _directives(given), _directives(text)
    asked = Counter(kept.values())
    for line, directive in lines.items():
        if not asked[directive]:
            raise UserError(f"{NAME}:{line}:1: {directive}: only {FREE} and instructions may change")
        asked[directive] -= 1
    for directive in asked.elements():
        raise UserError(f"{NAME}: {directive} is missing: only {FREE} and instructions may change")


def _directives(text: str) -> dict[int, str]:
    """By line the directives that must stay as they are, without comments and spare blanks."""
    lines = {line: " ".join(re.split("//|#", one)[0].split()) for line, one in enumerate(text.splitlines(), 1)}
    return {line: one for line, one in lines.items() if one.startswith(".") and one.split()[0] != FREE}


@cache
def _stored(puzzle: Puzzle) -> Callable[[], tuple[Expectation, ...]]:
    """What all buffers should hold in the end: what they hold after the start has run in program order."""
    kernel = listing.read(start(puzzle))
    memory, where = walk(kernel).memory, bases(kernel.buffers)
    expected = tuple(
        Expectation(
            buffer.name,
            np.arange(buffer.elements),
            view(memory, buffer, where[buffer.name]).astype(np.float64),
            np.zeros(buffer.elements),
        )
        for buffer in kernel.buffers
    )
    return lambda: expected
