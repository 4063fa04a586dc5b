"""The claims of CME213's slides 20 to 23: which instructions a GTX 480 has more of in a cycle than of others.

Each expression of C is the sequence of instructions of `workloads/papers/cme213/expressions.py`. The slides give no
numbers. No machine number and no sequence was changed in sight of a result. Where the slower
expression has the instructions of the faster one, or takes their place with more, what comes out is put in.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpusim.engines.walks.program_order import walk
from gpusim.reproduction.bench import Bench, Job, Run
from gpusim.reproduction.finding import Finder, Finding, counted, given, predicted, registrar
from isa.kernel import WARP_SIZE
from isa.memory import bases, view
from workloads.catalog import make
from workloads.papers.cme213.expression import arguments_of, instructions
from workloads.papers.cme213.expressions import EXPRESSIONS

CLAIMS: dict[str, Finder] = {}
claim = registrar(CLAIMS)

CARD, KERNEL = "gtx480", "expression"
WARPS, LENGTH = 32, 64
ROUNDS = 2, 6  # of the loop: their difference has neither beginning nor end
DIVISOR = 8


@claim("CM18")
def single_precision(bench: Bench) -> Finding:
    """Multiply-adds in single and double precision, which have pipes of so many lanes: what comes out is put in."""
    lanes = bench.machine(CARD).pipe["dp"].lanes
    note = f"; that the card has {lanes} lanes for doubles is a guess, from which this follows"
    return _faster(bench, ("single", "double"), note=note, kind=given)


@claim("CM19")
def bitwise_operations(bench: Bench) -> Finding:
    """Division and modulo of integers by 8, where only the launch knows that it is 8, and where the compiler does."""
    return _faster(bench, ("shift", "int-div"), ("mask", "int-mod"), kind=given)


@claim("CM20")
def reciprocal_square_root(bench: Bench) -> Finding:
    """Both steps at once, and one after the other."""
    return _faster(bench, ("rsqrtf", "1/sqrtf"), kind=given)


@claim("CM21")
def constants_in_single_precision(bench: Bench) -> Finding:
    """A single times pi, as a single, and as a double with two conversions around it."""
    return _faster(bench, ("pi-f", "pi"), kind=given)


@claim("CM22")
def intrinsics(bench: Bench) -> Finding:
    """Division and exponential of the hardware, and as IEEE 754 and the library have them.

    These have the reciprocal and the power of two of the hardware, too, and more.
    """
    return _faster(bench, ("__fdividef", "divide"), ("__expf", "expf"), kind=given)


@claim("CM26")
def sine(bench: Bench) -> Finding:
    """Sine of the hardware, and of the library, which has none of it: many instructions of faster pipes."""
    return _faster(bench, ("__sinf", "sinf"))


@claim("CM23")
def accuracy_of_intrinsics(bench: Bench) -> Finding:
    """Errors over the arguments of the kernel, whose MUFU rounds correctly, as the hardware's does not."""
    pairs = ("__fdividef", "divide"), ("__expf", "expf")
    found = bench.results(*(Job(largest_error, (op,)) for pair in pairs for op in pair))
    errors = list(zip(found[::2], found[1::2], strict=True))
    shown = "; ".join(
        f"{fast} {low:.1f}, {slow} {high:.1f}" for (fast, slow), (low, high) in zip(pairs, errors, strict=True)
    )
    note = (
        f"largest error in units in the last place: {shown}; of our sequences of instructions, as no compiler's are "
        "here. MUFU is rounded correctly here, less exact in hardware, so what __sinf loses can't be told"
    )
    worse = all(fast > slow for fast, slow in errors)
    return counted("lower" if worse else "not lower", note=note, passed=worse)


def largest_error(op: str) -> float:
    """Return the largest error of an expression's results, in units in the last place of the exact ones."""
    kernel = make(KERNEL, {"op": op, "length": "1", "iterations": "1"})
    result = next(buffer for buffer in kernel.buffers if buffer.name == "out")
    got = view(walk(kernel).memory, result, bases(kernel.buffers)["out"]).astype(np.float64)
    exact = EXPRESSIONS[op].exact(*arguments_of(op, DIVISOR, np.arange(kernel.threads, dtype=np.int64)))
    return float((np.abs(got - exact) / np.spacing(np.abs(exact).astype(np.float32))).max())


def _faster(bench: Bench, *pairs: tuple[str, str], note: str = "", kind: Callable[..., Finding] = predicted) -> Finding:
    """Speed of the first over that of the second of each pair, which must be above 1."""
    rates = _rates(bench, [op for pair in pairs for op in pair])
    ratios = [rates[fast] / rates[slow] for fast, slow in pairs]
    shown = "; ".join(f"{op} {rates[op]:.2f} of {_count(op)}" for pair in pairs for op in pair)
    text = f"results per cycle and SM, instructions of each: {shown}{note}"
    return kind(" / ".join(f"{ratio:.1f}" for ratio in ratios), note=text, passed=all(r > 1 for r in ratios))


def _count(op: str) -> str:
    count = instructions(op)
    return f"{count} instruction{'s' * (count != 1)}"


def _rates(bench: Bench, ops: list[str]) -> dict[str, float]:
    """Return results per cycle and SM; values are checked in the shorter runs."""
    shape = {"warps": WARPS, "length": LENGTH, "divisor": DIVISOR}
    runs = [
        Run(KERNEL, CARD, {**shape, "op": op, "iterations": rounds}, values=rounds == ROUNDS[0])
        for op in ops
        for rounds in ROUNDS
    ]
    cycles = [run.cycles for run in bench.runs(*runs)]
    results = WARPS * WARP_SIZE * LENGTH * (ROUNDS[1] - ROUNDS[0])
    return {op: results / (long - short) for op, short, long in zip(ops, cycles[::2], cycles[1::2], strict=True)}
