"""What the snippets cover: how many a group has, and in how many each mnemonic of machine code stands.

`python -m hardware.coverage` writes `data/coverage.json`, from which the docs are made.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from hardware import replay, table, texture_replay
from hardware.catalog import SNIPPETS
from hardware.inputs import SETS
from isa.nvidia.lowering import branch, spelling, syntax
from isa.nvidia.lowering.lower import mnemonic_of

COVERAGE = table.DATA / "coverage.json"


def groups() -> dict[str, dict[str, int]]:
    """Return of each group its snippets, the rows of inputs on which they ran, and the results that were recorded."""
    found: dict[str, dict[str, int]] = {}
    for one in SNIPPETS.values():
        rows = SETS[one.inputs].rows
        counts = found.setdefault(one.group, {"snippets": 0, "rows": 0, "results": 0})
        for name, more in {"snippets": 1, "rows": rows, "results": rows * len(one.results)}.items():
            counts[name] += more
    return dict(sorted(found.items()))


def mnemonics() -> dict[str, int]:
    """Return of each mnemonic with its modifiers the number of snippets in which it stands."""
    found = Counter[str]()
    for section in replay.machine_code().sections.values():
        texts = (branch.absolute(encoded) for encoded in section.instructions)
        found.update({mnemonic_of(text) for text in texts})
    for section in texture_replay.machine_code().sections.values():
        found.update({mnemonic for one in section.instructions if (mnemonic := fetch(one.text))})
    return dict(sorted(found.items()))


def fetch(text: str) -> str:
    """Return the table's mnemonic of a texture fetch, nothing of another instruction."""
    parsed = syntax.parse(text)
    return mnemonic_of(text) if parsed.mnemonic in spelling.FETCHES else ""


def counted() -> dict[str, Any]:
    """Return both, and where the results were recorded."""
    return {"about": table.about(), "groups": groups(), "mnemonics": mnemonics()}


if __name__ == "__main__":
    COVERAGE.write_text(json.dumps(counted(), indent=1) + "\n", encoding="utf-8")
