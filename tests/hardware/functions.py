"""Snippets of the functions that the hardware interpolates in tables (MUFU)."""

from collections.abc import Iterator
from itertools import product

from hardware.snippet import HALF, WORD, Snippet, snippet

INPUTS = {"rcp": "rcp", "rsqrt": "rsq", "sqrt": "rsq", "lg2": "lg2", "ex2": "ex2", "sin": "sin", "cos": "sin"}


def snippets() -> Iterator[Snippet]:
    """Yield each function of singles, with and without flush, and of halves."""
    for (name, inputs), flush in product(INPUTS.items(), (".ftz", "")):
        yield snippet("function", inputs, f"{name}.approx{flush}.f32", (WORD,))
    yield snippet("function", "tanh", "tanh.approx.f32", (WORD,))
    for name in ("ex2.approx", "tanh.approx"):
        yield snippet("half function", "every_half", f"{name}.f16x2", (WORD,))
        flush = ".ftz" if name == "ex2.approx" else ""
        yield snippet("half function", "every_half", f"{name}{flush}.bf16x2", (WORD,))
        yield snippet("half function", "from_f16", f"{name}.f16", (HALF,), (HALF,))
