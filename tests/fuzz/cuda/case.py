"""A program that differs as a text of its own: its launch and way in the first line; made smaller, run again."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
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
    """Return a text of fewer lines that still fails."""
    first, *rest = case.splitlines(keepends=True)

    def still(lines: list[bytes]) -> bool:
        body = b"".join(lines)
        return body.count(b"{") == body.count(b"}") and fails(first + body)

    return first + b"".join(shrink.fewer(rest, still, monotonic() + seconds))
