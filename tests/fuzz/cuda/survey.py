"""Kernels that compute every operator of the table, each into a word of its own, from many operands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from fuzz.cuda.expression import VARIABLES, filled
from fuzz.cuda.operators import CALLS, Operator
from fuzz.cuda.program import OUT, Program, head

ROUNDS = 12  # operands of each operator in each lane
BITS = {
    "u": "$", "i": "(u32)$", "q": "fold($)", "l": "fold((u64)$)", "f": "fb($)", "d": "fold(db($))", "h": "hb($)",
    "b": "bb_($)", "p": "pb($)", "r": "rb($)",
}  # fmt: skip


@dataclass(frozen=True)
class Surveyed:
    """A kernel, and the text that fills each word of a thread."""

    program: Program
    words: tuple[str, ...]


def survey(seed: int, since: int) -> Iterator[Surveyed]:
    """Yield kernels with all operators that an architecture computes exactly, with operands at random."""
    random = Random(seed)
    every = [(kind, one) for kind, each in CALLS.items() for one in each if one.since <= since]
    for n in range(0, len(every), OUT):
        words = tuple(_bits(random, kind, one) for kind, one in every[n : n + OUT])
        yield Surveyed(Program(f"s{seed}_{n}", _text(f"s{seed}_{n}", words), 1, (32, 1), seed), words)


def _bits(random: Random, kind: str, one: Operator) -> str:
    operands = [random.choice(VARIABLES[operand]) for operand in one.operands]
    return BITS[kind].replace("$", filled(random, one.text, operands))


def _text(name: str, words: tuple[str, ...]) -> str:
    lines = [*head(name, 32), "  u32 at = g * 37u, *o = out + 40u * g;", "  #pragma unroll 1"]
    lines += [f"  for (u32 z = 0; z < {ROUNDS}u; ++z) {{", "    NEW();"]
    lines += [f"    o[{n}] = o[{n}] * 31u + (u32)({text});" for n, text in enumerate(words)]
    return "\n".join([*lines, "  }", "}"]) + "\n"
