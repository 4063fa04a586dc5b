"""A program that differs as a text of its own: its launch and way in the first line; made smaller, run again."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from time import monotonic

from fuzz import shrink
from fuzz.cuda.batch import Difference, Failed, compared
from fuzz.cuda.program import Program
from fuzz.cuda.simulate import Way

CHECK = "CUDA C"


def text(found: Difference) -> bytes:
    """Return the program with a first line that says how it is launched and compiled."""
    one, way = found.program, found.way
    head = {"name": one.name, "grid": one.grid, "block": one.block, "seed": one.seed}
    head |= {"architecture": way.architecture, "options": way.options}
    return f"// {json.dumps(head)}\n{one.text}".encode()


def wrong(case: bytes) -> str:
    """Return how a text that `text` made differs; empty if it doesn't, or if a compiler refuses it."""
    first, _, rest = case.decode().partition("\n")
    head = json.loads(first.removeprefix("// "))
    one = Program(head["name"], rest, head["grid"], tuple(head["block"]), head["seed"])
    way = Way(head["architecture"], tuple(head["options"]))
    try:
        found = compared([one], [way]).differences
    except (Failed, subprocess.TimeoutExpired):
        return ""
    return found[0].what if found else ""


def smaller(case: bytes, fails: Callable[[bytes], bool], seconds: float) -> bytes:
    """Return a text of fewer blocks and lines that still fails."""
    first, *rest = case.splitlines(keepends=True)
    until = monotonic() + seconds

    def still(lines: Sequence[bytes]) -> bool:
        body = b"".join(lines)
        return body.count(b"{") == body.count(b"}") and fails(first + body)

    return first + b"".join(shrink.fewer(_of_fewer_blocks(rest, still, until), still, until))


def _of_fewer_blocks(lines: list[bytes], still: Callable[[Sequence[bytes]], bool], until: float) -> list[bytes]:
    """Return the lines without blocks in braces, or without the braces around them, with which it still fails."""
    place = 0
    while place < len(lines) and monotonic() < until:
        end = _end(lines, place)
        tries = (lines[:place] + lines[end:], lines[:place] + lines[place + 1 : end - 1] + lines[end:])
        kept = next((one for one in tries if end > place + 1 and still(one)), None)
        place, lines = (place, kept) if kept is not None else (place + 1, lines)
    return lines


def _end(lines: Sequence[bytes], place: int) -> int:
    """Return where the block ends that a line opens: behind that line if it opens none."""
    depth = 0
    for n, line in enumerate(lines[place:], place + 1):
        depth += line.count(b"{") - line.count(b"}")
        if depth <= 0:
            return n
    return place + 1
