"""What the lessons show before anything is simulated: `make precomputed` computes it anew, and stores it as JSON."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

from teaching import LESSONS, PRECOMPUTED


def computed(name: str = "") -> dict[str, Any]:
    """Return by lesson, in plain JSON values, what its `precompute` gives: a minute of simulations; or of one alone."""
    names = {str(one.number): one.file.removesuffix(".py") for one in LESSONS}
    modules = {number: import_module(each) for number, each in names.items() if name in ("", each)}
    found = {number: module.precompute() for number, module in modules.items() if hasattr(module, "precompute")}
    plain: dict[str, Any] = json.loads(json.dumps(found))
    return plain


def main() -> None:
    """Write the file, each lesson on a line."""
    lines = ",\n".join(f"{json.dumps(number)}: {json.dumps(value)}" for number, value in computed().items())
    PRECOMPUTED.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
