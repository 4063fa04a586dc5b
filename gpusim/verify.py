"""Compare what a launch left in memory with what its kernel says it should have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from isa.interpret import interpret
from isa.kernel import Expectation, Kernel
from isa.memory import bases, view

Scope = Literal["complete", "sampled", "none"]
VISIT_SECONDS = 15e-6  # of one instruction for the warps of a block in program order, on one core: rough
PATIENCE_SECONDS = 1.0


@dataclass(frozen=True)
class Verification:
    """How the values compare. Complete: all that the kernel promises for its grid was checked; sampled: some blocks.

    `error_bound` is the error allowed where `max_error` is; `worst_ratio` is the largest error over the error allowed
    of any value, infinite where none is allowed or the value is no number.
    """

    scope: Scope
    blocks: int  # whose values were checked
    in_program_order: int  # of them, run without timing because another SM gets them
    values: int
    wrong: int
    max_error: float
    error_bound: float
    worst_ratio: float
    first_wrong: str  # where and what, in words; empty if nothing is wrong

    @property
    def verified(self) -> bool:
        """True if values were checked and every one is right."""
        return self.values > 0 and self.wrong == 0


UNCHECKED = Verification("none", 0, 0, 0, 0, 0.0, 0.0, 0.0, "")


@dataclass(frozen=True, slots=True)
class _Comparison:
    """One expectation's outcome; arrays have an entry per value, `got` as doubles."""

    expectation: Expectation
    got: NDArray[np.float64]
    error: NDArray[np.float64]
    right: NDArray[np.bool_]


def verify(kernel: Kernel, memory: NDArray[np.uint32], blocks: Sequence[int], visits: float) -> Verification:
    """Check the values of the `blocks` that ran, `memory` being what they left in global memory.

    The grid's other blocks are run in program order first if that is quick, `visits` being the instructions that one
    block's warps go through together; then the check is complete. Raises what `interpret` raises.
    """
    if kernel.expected is None and kernel.outcome is None:
        return UNCHECKED
    if (kernel.blocks - len(blocks)) * visits * VISIT_SECONDS > PATIENCE_SECONDS:
        return _summary(kernel, memory, _of_blocks(kernel, blocks), scope="sampled", blocks=len(blocks))
    others = sorted(set(range(kernel.blocks)) - set(blocks))
    complete = _merged(kernel, memory, others) if others else memory
    expectations = [*_of_blocks(kernel, range(kernel.blocks)), *(kernel.outcome() if kernel.outcome else ())]
    return _summary(
        kernel, complete, expectations, scope="complete", blocks=kernel.blocks, in_program_order=len(others)
    )


def compare(kernel: Kernel, memory: NDArray[np.uint32], expectation: Expectation) -> _Comparison:
    """Errors of the values in memory: right if equal, or within the bound; what is no number is wrong."""
    buffer = next(b for b in kernel.buffers if b.name == expectation.buffer)
    elements = view(memory, buffer, bases(kernel.buffers)[buffer.name])
    with np.errstate(invalid="ignore"):
        got = elements[expectation.index].astype(np.float64)
        error = np.where(got == expectation.value, 0.0, np.abs(got - expectation.value))
    return _Comparison(expectation, got, error, error <= expectation.bound)


def _of_blocks(kernel: Kernel, blocks: Iterable[int]) -> Iterator[Expectation]:
    return iter(()) if kernel.expected is None else map(kernel.expected, blocks)


def _merged(kernel: Kernel, memory: NDArray[np.uint32], others: Sequence[int]) -> NDArray[np.uint32]:
    """Memory with what the other blocks change, run in program order from the same beginning."""
    before = interpret(kernel, []).memory
    after = interpret(kernel, others).memory
    return np.where(after != before, after, memory)


def _summary(
    kernel: Kernel,
    memory: NDArray[np.uint32],
    expectations: Iterable[Expectation],
    *,
    scope: Scope,
    blocks: int,
    in_program_order: int = 0,
) -> Verification:
    parts = [compare(kernel, memory, e) for e in expectations]
    values = sum(part.right.size for part in parts)
    if values == 0:
        return UNCHECKED
    error, bound, right = (np.concatenate(arrays) for arrays in zip(*map(_arrays, parts), strict=True))
    worst = int(np.argmax(np.where(np.isnan(error), np.inf, error)))
    return Verification(
        scope=scope,
        blocks=blocks,
        in_program_order=in_program_order,
        values=values,
        wrong=int(np.count_nonzero(~right)),
        max_error=float(error[worst]),
        error_bound=float(bound[worst]),
        worst_ratio=float(_ratio(error, bound).max()),
        first_wrong=next((_describe(part) for part in parts if not part.right.all()), ""),
    )


def _arrays(part: _Comparison) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    return part.error, np.broadcast_to(part.expectation.bound, part.error.shape), part.right


def _ratio(error: NDArray[np.float64], bound: NDArray[np.float64]) -> NDArray[np.float64]:
    safe = np.divide(error, bound, out=np.full(error.shape, np.inf), where=bound > 0)
    return np.where(error == 0, 0.0, np.where(np.isnan(safe), np.inf, safe))


def _describe(part: _Comparison) -> str:
    first = int(np.argmin(part.right))
    expected = part.expectation
    return f"{expected.buffer}[{expected.index[first]}] is {part.got[first]:g}, not {expected.value[first]:g}"
