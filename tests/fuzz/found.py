"""Failures, stored as text in `tests/found/`, and run again by `tests/test_found.py`."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from fuzz import checks, inputs, pair, shrink
from fuzz.cuda import case as program
from fuzz.pair import Pair

_RAISED = re.compile(r"\w+Error:|no pair:")
FOLDER = Path(__file__).parent.parent / "found"


@dataclass(frozen=True)
class Found:
    """A pair that a check refuses, or a text on which a reader fails; `what` is the message."""

    check: str
    case: Pair | bytes
    what: str


def smaller(found: Found, seconds: float = shrink.SECONDS) -> Found:
    """Return the same failure of a smaller pair or text."""
    kind = found.what.partition(":")[0]

    def fails(case: Pair | bytes) -> bool:
        said = wrong(found.check, case)
        return bool(said) and _kin(said, kind)

    case = found.case
    made = shrink.smaller_pair if isinstance(case, Pair) else shrink.smaller_text
    made = program.smaller if found.check == program.CHECK else made
    case = made(case, fails, seconds)
    return Found(found.check, case, wrong(found.check, case) or found.what)


def _kin(said: str, kind: str) -> bool:
    """Whether a message is of the same kind: the same exception, or no exception as before, of a valid pair."""
    return said.partition(":")[0] == kind if kind.endswith("Error") else not _RAISED.match(said)


def wrong(check: str, case: Pair | bytes) -> str | None:
    """Return the fault of a pair by a check, of a text by its reader, or of a program of CUDA C."""
    if check == program.CHECK and isinstance(case, bytes):
        return program.wrong(case)
    return checks.wrong(check, case) if isinstance(case, Pair) else inputs.wrong(check, case)


def store(found: Found, folder: Path = FOLDER) -> Path:
    """Write a failure to a file of its own, named by its check and contents; return the path."""
    head = {"check": found.check, "what": found.what.splitlines()[0][:300] if found.what else ""}
    if isinstance(found.case, Pair):
        text = pair.as_text(found.case, head)
    else:
        lines = [f"{key} = {json.dumps(value)}\n" for key, value in head.items()]
        text = "".join([*lines, f"text = {json.dumps(found.case.decode('latin-1'))}\n"])
    name = "-".join([*found.check.replace(":", "").replace(",", "").split(), sha256(text.encode()).hexdigest()[:8]])
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return path


def load(path: Path) -> Found:
    """Return the failure that `store` wrote."""
    text = path.read_text(encoding="utf-8")
    table = tomllib.loads(text)
    case = table["text"].encode("latin-1") if "text" in table else pair.from_text(text)
    return Found(table["check"], case, table["what"])


def stored(folder: Path = FOLDER) -> Iterator[Path]:
    """Yield the files of all failures."""
    yield from sorted(folder.glob("*.toml"))
