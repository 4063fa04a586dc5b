"""Consistent timeline documents, drawn at random, for tests of the views."""

from __future__ import annotations

import string
from collections.abc import Iterator, Sequence
from itertools import pairwise

import hypothesis.strategies as st
from msgspec import structs

from gpusim.sm.unit.stall import Stall, label
from gpusim.views.timeline.document import (
    NONE,
    Copy,
    Issued,
    Letter,
    Line,
    Lost,
    Phase,
    Resident,
    SourceFile,
    Timeline,
    Wait,
    Waiting,
)
from gpusim.views.timeline.file import part

LETTERS = tuple(
    Letter(label(reason), letter, reason.meaning)
    for reason, letter in zip(Stall, reversed(string.ascii_uppercase), strict=False)
)
RESULTS = tuple(map(label, (Stall.WAIT, Stall.SHORT_SCOREBOARD, Stall.LONG_SCOREBOARD, Stall.DRAIN)))
OTHERS = tuple(map(label, (Stall.WAR_HAZARD, Stall.BARRIER, Stall.MATH_PIPE_THROTTLE, Stall.MIO_THROTTLE)))
ALONE = tuple(map(label, (Stall.NO_INSTRUCTION, Stall.ISSUE_INTERVAL, Stall.LAUNCH_DELAY, Stall.BRANCH_RESOLVING)))
TEXTS = (
    *("FFMA R4, R2, R3, R4", "LDS.64 R2, [R1]", "LDG R3, [R8+4]", "@!P0 BRA loop", 'MOV R1, c[a, "b"]', "EXIT"),
    "HMMA.16816.F32 R4, R8, R12, R4",
)
PLACES = ("/a/k.cu", 2, "k", 16), ("/a/k.cu", 3, "k", 32), ("h.cuh", 70, "k", 48), ("", 0, "", NONE)
SOURCES = SourceFile("/a/k.cu", ("k() {", '  "<b>" & x;', "}")), SourceFile("h.cuh")
UNITS = "fp32", "shared", "global", "branch", "move", "exit", "tensor"


def by_hand(program: Sequence[Line], instructions: Sequence[Issued], cycles: int) -> Timeline:
    """Return a document of these instructions of warp 0 and scheduler 0, without blocks and lost slots."""
    names = {"kernel": "k", "machine": "m", "machine_name": "M", "policy": "lrr", "parameters": {}, "settings": {}}
    numbers = {"clock_mhz": 1.0, "interval": 1, "schedulers": 1, "warp_slots": 1, "cycles": cycles}
    window = {"start": 0, "end": cycles, "shown": (0,)}
    parts = {"letters": LETTERS, "program": tuple(program), "blocks": (), "lost": ()}
    return Timeline(**names, **numbers, **window, **parts, instructions=tuple(instructions))


@st.composite
def timelines(draw: st.DrawFn, most: int = 24) -> Timeline:
    """Documents of up to `most` instructions: whole runs and windows of them, whose blockers may be outside.

    Times, ids, waits, lost slots and blocks fit together as gpusim/views/timeline/document.py says; a warp's waits have
    any reason, with a blocker that was issued before the wait ended.
    """
    document = draw(_runs(most))
    if draw(st.booleans()):
        return document
    start = draw(st.integers(0, document.cycles - 1))
    end = draw(st.integers(start + 1, document.cycles))
    return part(document, start, end, draw(st.sets(st.sampled_from(document.shown), min_size=1)))


@st.composite
def _runs(draw: st.DrawFn, most: int) -> Timeline:
    """Documents of whole runs."""
    schedulers, interval, share = draw(st.integers(1, 3)), draw(st.integers(1, 2)), draw(st.integers(1, 2))
    program = tuple(
        Line(pc, text, unit, draw(st.sampled_from(("", "loop"))), (), *draw(st.sampled_from(PLACES)))
        for pc, (text, unit) in enumerate(zip(TEXTS, UNITS, strict=True))
    )
    slots = schedulers * share
    halves = draw(st.sampled_from((((*range(slots),),), ((*range(0, slots, 2),), (*range(1, slots, 2),)))))
    issued, blocks, placed = [], [], 0
    for _ in range(draw(st.integers(1, 2))):  # blocks after one another in the same slots
        wave = [Resident(len(blocks) + n, n, warps, placed, NONE) for n, warps in enumerate(halves) if warps]
        issued += _issues(draw, wave, most // 2, schedulers, interval)
        placed = max([placed, *map(_over, issued)]) + draw(st.integers(1, 9))
        blocks += [structs.replace(block, retired=placed) for block in wave]
    instructions = _with_waits(draw, sorted(issued, key=lambda i: (i.issue, i.scheduler)), blocks)
    return Timeline(
        kernel=draw(st.sampled_from(("saxpy", 'a "name" & <more>'))),
        parameters={"n": 64, "layout": "nt", "prefetch": True, "alpha": 0.5},
        machine="gtx580",
        machine_name="GeForce GTX 580",
        settings=draw(st.sampled_from(({}, {"unit.fp32.latency": 9, "schedulers.policy": "gto"}))),
        policy="lrr",
        clock_mhz=1544.0,
        interval=interval,
        schedulers=schedulers,
        warp_slots=slots,
        cycles=placed,
        start=0,
        end=placed,
        shown=tuple(range(slots)),
        letters=LETTERS,
        program=program,
        blocks=tuple(blocks),
        instructions=instructions,
        lost=tuple(sorted(_lost(instructions, schedulers, interval), key=lambda lost: (lost.start, lost.scheduler))),
        sources=draw(st.sampled_from(((), SOURCES))),
        copies=tuple(_copies(draw, instructions)),
        phases=tuple(_phases(draw, instructions, blocks)),
    )


def _copies(draw: st.DrawFn, instructions: Sequence[Issued]) -> Iterator[Copy]:
    """Up to three copies, each of an instruction, one asked for after the other."""
    free = 0
    for one in instructions[: draw(st.integers(0, 3))]:
        start = max(free, one.issue + draw(st.integers(1, 3)))
        free = start + draw(st.integers(1, 6))
        barrier = draw(st.sampled_from((NONE, 0, 1024)))
        landed = free + draw(st.integers(0, 9))
        yield Copy(one.id, one.warp, one.block, one.pc, 16 * draw(st.integers(1, 99)), start, free, landed, barrier)


def _phases(draw: st.DrawFn, instructions: Sequence[Issued], blocks: Sequence[Resident]) -> Iterator[Phase]:
    """Phases of up to two barriers of each block, from its launch until it leaves, for which its instructions wait."""
    for block in blocks:
        for barrier in draw(st.sampled_from(((), (0,), (8, 1024)))):
            ends = sorted(draw(st.sets(st.integers(block.placed + 1, block.retired), max_size=3)) | {block.retired})
            own = [one for one in instructions if one.block == block.id]
            for number, (start, end) in enumerate(pairwise((block.placed, *ends))):
                during = [one for one in own if start <= one.issue < end and draw(st.booleans())]
                waiting = tuple(Waiting(one.warp, one.id, one.issue) for one in during)
                by = draw(st.sampled_from([NONE, *(one.id for one in own)]))
                size = 16 * draw(st.integers(0, 9))
                yield Phase(barrier, block.slot, block.id, number, start, end, 1, size, by, waiting)


def _over(instruction: Issued) -> int:
    return max(instruction.issue + 1, instruction.end, instruction.done)


def _issues(draw: st.DrawFn, wave: Sequence[Resident], most: int, schedulers: int, interval: int) -> Iterator[Issued]:
    """Instructions without ids and waits: each scheduler issues one at most in a slot, each warp in order."""
    home = {warp: block for block in wave for warp in block.warps}
    turn = dict.fromkeys(range(schedulers), wave[0].placed)
    ready = {warp: block.placed for warp, block in home.items()}
    for warp in draw(st.lists(st.sampled_from(sorted(home)), max_size=most)):
        k = warp % schedulers
        issue = max(turn[k], ready[warp]) + draw(st.sampled_from((0, 0, 1, 3, 8)))
        turn[k], ready[warp] = issue + interval, issue + 1
        pc, used = draw(st.integers(0, len(TEXTS) - 1)), draw(st.integers(0, 3))
        begin = issue + draw(st.integers(0, 4)) if used else NONE
        end = begin + draw(st.integers(1, 4)) if used else NONE
        done = max(end, issue + 1) + draw(st.integers(0, 20)) if used > 1 else NONE
        lanes, conflicts = draw(st.integers(0, 32)), draw(st.integers(0, 31)) if used else 0
        late = draw(st.integers(0, 9)) if conflicts else 0
        yield Issued(NONE, warp, home[warp].id, pc, k, issue, begin, end, done, lanes, conflicts=conflicts, late=late)


def _with_waits(draw: st.DrawFn, issued: Sequence[Issued], blocks: Sequence[Resident]) -> tuple[Issued, ...]:
    """The instructions with ids from 0, and with waits from each warp's previous issue or its block's launch on."""
    free = {(block.id, warp): block.placed for block in blocks for warp in block.warps}
    made: list[Issued] = []
    for instruction in issued:
        whose = instruction.block, instruction.warp
        waits = tuple(_waits(draw, made, instruction, free[whose])) if free[whose] < instruction.issue else ()
        free[whose] = instruction.issue + 1
        made.append(structs.replace(instruction, id=len(made), waits=waits))
    return tuple(made)


def _waits(draw: st.DrawFn, made: Sequence[Issued], waiting: Issued, start: int) -> Iterator[Wait]:
    """Up to four waits from `start` to the issue; each blocker was issued before the wait ended."""
    inner = draw(st.sets(st.integers(start, waiting.issue), max_size=3))
    for begin, end in pairwise(sorted({start, *inner, waiting.issue})):
        before = [i for i in made if i.issue < end]
        done = [(reason, i.id) for i in before if i.warp == waiting.warp and NONE < i.done <= end for reason in RESULTS]
        busy = [(reason, i.id) for i in before for reason in OTHERS]
        same = [(label(Stall.NOT_SELECTED), i.id) for i in before if i.scheduler == waiting.scheduler]
        causes = [*((reason, NONE) for reason in ALONE), *done[-4:], *busy[-4:], *same[-1:]]
        reason, blocker = draw(st.sampled_from(causes))
        yield Wait(reason, begin, end, blocker)


def _lost(instructions: Sequence[Issued], schedulers: int, interval: int) -> Iterator[Lost]:
    """The cycles between the issues of each scheduler, by the last reason of the instruction that ended them."""
    for k in range(schedulers):
        free = 0
        for instruction in (i for i in instructions if i.scheduler == k):
            if free < instruction.issue:
                reason = instruction.waits[-1].reason if instruction.waits else label(Stall.NO_WARP)
                yield Lost(k, reason, free, instruction.issue, instruction.id)
            free = instruction.issue + interval
