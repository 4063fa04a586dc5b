"""Texts that are no listings, but that users give as such: what they look like, and what to do with them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

_LOOKS = (  # in this order: a disassembly may quote its source
    (
        re.compile(r"^\s*\.(version|target|address_size|visible|entry)\b|\b(ld|st)\.(param|global|shared)\.\w", re.M),
        "PTX, which the GPU does not execute; take the CUDA C that it was made from (k.cu), or a cubin (ptxas -cubin)",
    ),
    (
        re.compile(r"/\*[0-9a-f]{4,}\*/|/\* 0x[0-9a-f]{16} \*/|\.headerflags|^\s*Function :|c\[0x[0-9a-f]+\]\[", re.M),
        "SASS as disassemblers print it; let its name end in .sass, keep the encodings, "
        "and write a launch file: gpusim launch {}.sass",
    ),
    (
        re.compile(r"\b__global__\b|#include\s*[<\"]"),
        "CUDA C; let its name end in .cu and write a launch file: gpusim launch {}.cu",
    ),
)


class Foreign(NamedTuple):
    """The line of a text that gives it away, from 1, what it looks like, and what to do."""

    line: int
    words: str


def looks_like(text: str, name: str) -> Foreign | None:
    """Return what a text of that name, which is no listing, looks like; None if that is unknown."""
    for pattern, words in _LOOKS:
        if found := pattern.search(text):
            return Foreign(text.count("\n", 0, found.end()) + 1, words.format(Path(name).stem))
    return None
