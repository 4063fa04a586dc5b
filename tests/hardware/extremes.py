"""Snippets of extremes of sums and of three numbers."""

from collections.abc import Iterator
from itertools import product

from hardware.snippet import WORD, Snippet, written


def snippets() -> Iterator[Snippet]:
    """Yield extremes of sums and of three numbers, alone and two in a word, with and without a floor of 0."""
    for kind, name, relu in product(("s32", "u32", "s16x2", "u16x2"), ("min", "max"), ("", ".relu")):
        if kind[0] == "u" and relu:
            continue
        floor = relu.replace(".", " ")
        body = f"add.{kind} t0, a, b; {name}{relu}.{kind} d0, t0, c;"
        yield written("extreme", "b32", f"{name} of sum {kind}{floor}", body, (WORD,) * 3)
        body = f"{name}.{kind} t0, a, b; {name}{relu}.{kind} d0, t0, c;"
        yield written("extreme", "b32", f"{name} of three {kind}{floor}", body, (WORD,) * 3)
