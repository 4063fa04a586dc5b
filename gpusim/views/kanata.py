"""A timeline in Kanata 0004, the format of the pipeline viewer Konata.

Rows are instructions in the order in which their warps began to wait for them: Konata draws no row that begins before
the one above. Lane 0 has the stages, lane 1 the waits, lane 2 the time for which the pipe is occupied. Konata draws an
arrow from the end of the producer's last stage with an `X` in its name to the start of the consumer's. So one stage
`X...` lasts from the cycle in which the pipe takes an instruction until its result is there.

Facts of the format: docs/kanata-log-format.md and src/core/onikiri_parser.ts of github.com/shioyadan/Konata.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from gpusim.support.plural import plural
from gpusim.views.timeline.dependence import born, name, over, producers
from gpusim.views.timeline.document import NONE, Issued, Line, Timeline, Wait

STAGES, WAITS, PIPE = range(3)  # lanes
LABEL, TOOLTIP, OF_STAGE = range(3)  # types of text
BORN, ENDED, STARTED, WOKEN, RETIRED = range(5)  # order of the events of one cycle


class _Names(NamedTuple):
    """Names of instructions: their rows, letters of reasons, lines of the program, and the instructions by id."""

    rows: Mapping[int, int]
    letters: Mapping[str, str]
    program: Mapping[int, Line]
    instructions: Mapping[int, Issued]


class _Stage(NamedTuple):
    lane: int
    name: str
    start: int
    end: int
    note: str = ""


def kanata(timeline: Timeline) -> Iterator[bytes]:
    """Yield the file in pieces, in order of time.

    The clock starts at `C= 0` and is moved on from there: the viewer ignores the cycle of `C=`.
    """
    now = 0
    yield b"Kanata\t0004\nC=\t0\n"
    for cycle, _, _, text in sorted(_events(timeline)):
        if cycle > now:
            yield f"C\t{cycle - now}\n".encode()
            now = cycle
        yield text.encode()


def _events(timeline: Timeline) -> Iterator[tuple[int, int, int, str]]:
    """Cycle, order within it, row and lines of each event of an instruction."""
    rows = sorted(timeline.instructions, key=lambda i: (born(i), i.id))
    names = _Names(
        {i.id: row for row, i in enumerate(rows)},
        {letter.name: letter.letter.replace("X", "x") for letter in timeline.letters},  # Konata would read X as a stage
        {line.pc: line for line in timeline.program},
        {i.id: i for i in rows},
    )
    retired = {i.id: n for n, i in enumerate(sorted(rows, key=lambda i: (over(i), names.rows[i.id])))}
    for row, i in enumerate(rows):
        label, tooltip = name(i, names.program), _tooltip(i, names)
        head = f"I\t{row}\t{i.id}\t{i.warp}\nL\t{row}\t{LABEL}\t{label}\nL\t{row}\t{TOOLTIP}\t{tooltip}\n"
        yield born(i), BORN, row, head
        for stage in _stages(i, names):
            start = f"S\t{row}\t{stage.lane}\t{stage.name}\n"
            note = f"L\t{row}\t{OF_STAGE}\t{stage.note}\n" if stage.note else ""
            yield stage.start, STARTED, row, start + note
            yield stage.end, ENDED, row, f"E\t{row}\t{stage.lane}\t{stage.name}\n"
        for producer in producers(i, names.instructions):
            if over(producer) <= i.issue:  # a source read before the result is there would draw an arrow backwards
                yield i.issue, WOKEN, row, f"W\t{row}\t{names.rows[producer.id]}\t0\n"
        yield over(i), RETIRED, retired[i.id], f"R\t{row}\t{retired[i.id]}\t0\n"


def _stages(i: Issued, names: _Names) -> Iterator[_Stage]:
    """Waits by letter, issue `Is`, queue `Q`, `X` and the unit class until the result is there, and the pipe's part."""
    for wait in i.waits:
        yield _Stage(WAITS, names.letters.get(wait.reason, "?"), wait.start, wait.end, wait.reason)
    unit = names.program[i.pc].unit
    executes = i.issue if i.begin == NONE else i.begin
    times = i.issue, min(i.issue + 1, executes), executes, over(i)
    for what, (start, end) in zip(("Is", "Q", f"X{unit}"), pairwise(times), strict=True):
        if start < end:
            yield _Stage(STAGES, what, start, end)
    if NONE < i.begin < i.end < over(i):
        yield _Stage(PIPE, unit, i.begin, i.end)


def _tooltip(i: Issued, names: _Names) -> str:
    """The text that the label leaves out, with line breaks as the format writes them."""
    line = names.program[i.pc]
    times = {"issued": i.issue, "pipe from": i.begin, "to": i.end, "done": i.done}
    lines = [
        f"block {i.block}, scheduler {i.scheduler}, {i.lanes} lanes, {' '.join((line.unit, line.region)).strip()}",
        ", ".join(f"{what} {cycle}" for what, cycle in times.items() if cycle != NONE),
        *([f"conflicts add {i.conflicts} passes or requests"] if i.conflicts else []),
        *([f"done {plural(i.late, 'cycle')} later than its latency: memory is busy"] if i.late else []),
        *(_described(wait, names) for wait in i.waits),
    ]
    return "\\n".join(lines)


def _described(wait: Wait, names: _Names) -> str:
    """A wait's cycles, its reason, and its blocker if the document has it."""
    blocker = names.instructions.get(wait.blocker)
    return f"waited {wait.end - wait.start}: {wait.reason}" + (f", {name(blocker, names.program)}" if blocker else "")
