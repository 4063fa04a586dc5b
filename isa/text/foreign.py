"""Texts that are no listings, but that users give as such: what they look like, and what to do with them."""

from __future__ import annotations

import re

_LOOKS = (  # in this order: a disassembly may quote its source
    (
        re.compile(r"^\s*\.(version|target|address_size|visible|entry)\b|\b(ld|st)\.(param|global|shared)\.\w", re.M),
        "PTX, which the GPU does not execute; take the CUDA C that it was made from (k.cu), or a cubin (ptxas -cubin)",
    ),
    (
        re.compile(r"/\*[0-9a-f]{4,}\*/|/\* 0x[0-9a-f]{16} \*/|\.headerflags|^\s*Function :|c\[0x[0-9a-f]+\]\[", re.M),
        "SASS as disassemblers print it; let its name end in .sass and write a launch file: gpusim launch k.sass",
    ),
    (
        re.compile(r"\b__global__\b|#include\s*[<\"]"),
        "CUDA C; let its name end in .cu and write a launch file: gpusim launch k.cu",
    ),
)


def looks_like(text: str) -> str:
    """Return what a text that is no listing looks like, and what to do; empty if that is unknown."""
    return next((words for pattern, words in _LOOKS if pattern.search(text)), "")
