"""Compare the memory after a launch with the values that its kernel expects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.sm_run import SmRun
from gpusim.engines.walks.program_order import walk
from gpusim.machine.machine import Machine
from gpusim.machine.simulated_sms import simulated_blocks
from gpusim.sm.jit.rule import COMPILED
from gpusim.support.document import Finite, doc
from isa.executing.places import lanes_in
from isa.kernel import Expectation, Kernel
from isa.memory import LINE_BYTES, bases, elements, image, length, view
from isa.row import Row, Unit

Scope = Literal["complete", "sampled", "none"]
VISIT_SECONDS = 15e-6 if COMPILED else 5e-3  # roughly, of one instruction for the warps of a block, on one core
PATIENCE_SECONDS = 1.0


@dataclass(frozen=True)
class Verification:
    """The result of a check of values. Complete: all values that the kernel promises; sampled: those of some blocks.

    Of a complete check's `blocks`, `in_program_order` were not timed.
    `error_bound` is the allowed error at the place of `max_error`; `worst_ratio` is the largest ratio of error to
    allowed error, infinite if no error is allowed or the value is no number. JSON has null for such numbers.
    """

    scope: Scope
    blocks: Annotated[int, doc("Blocks whose values were checked.")]
    in_program_order: Annotated[int, doc("Blocks of these that run without timing because another SM gets them.")]
    values: int
    wrong: int
    max_error: Finite
    error_bound: float
    worst_ratio: Finite
    first_wrong: Annotated[str, doc("Place and value of the first wrong one, in words; empty if none.")]

    @property
    def verified(self) -> bool:
        """True if values were checked and every one is right."""
        return self.values > 0 and self.wrong == 0


UNCHECKED = Verification("none", 0, 0, 0, 0, 0.0, 0.0, 0.0, "")


@dataclass(frozen=True, slots=True, eq=False)
class _Comparison:
    """The outcome of one expectation; arrays have an entry per value, `got` as doubles."""

    expectation: Expectation
    got: NDArray[np.float64]
    error: NDArray[np.float64]
    right: NDArray[np.bool_]


def verify(
    kernel: Kernel,
    memory: NDArray[np.uint32],
    blocks: Sequence[int],
    visits: float,
    lines: NDArray[np.bool_] | None = None,
) -> Verification:
    """Check the values of the `blocks` that ran and left `memory` in global memory.

    If only some `lines` of memory were filled (gpusim/engines/walks/touched_lines.py), the others count as filled, too.

    The grid's other blocks are run in program order if that is quick, `visits` being the instructions that one block's
    warps execute together; then the check is complete. A value must be right both if the others ran before those
    `blocks` and if they ran after them, so that neither hides wrong stores of the other. Atomics add to what others
    left: with these, the others run after them. A racy kernel is not checked. Raises the errors of `walk`.
    """
    if kernel.racy or (kernel.expected is None and kernel.outcome is None):
        return UNCHECKED
    if (kernel.blocks - len(blocks)) * visits * VISIT_SECONDS > PATIENCE_SECONDS:
        parts = [compare(kernel, memory, e, lines) for e in _of_blocks(kernel, blocks)]
        return _summary(parts, scope="sampled", blocks=len(blocks))
    others = sorted(set(range(kernel.blocks)) - set(blocks))
    memories = _in_either_order(kernel, memory, blocks, others, lines) if others else [memory]
    expectations = [*_of_blocks(kernel, range(kernel.blocks)), *(kernel.outcome() if kernel.outcome else ())]
    parts = [_worst([compare(kernel, memory, e) for memory in memories]) for e in expectations]
    return _summary(parts, scope="complete", blocks=kernel.blocks, in_program_order=len(others))


def verified(
    kernel: Kernel,
    machine: Machine,
    run: SmRun,
    lines: NDArray[np.bool_] | None = None,
    places: Sequence[int] | None = None,
) -> Verification:
    """Verify the values of a run of the SM's first blocks, or of those with these places; arguments as for `verify`."""
    every = simulated_blocks(kernel, machine, run.sms, run.first_sm)
    blocks = every[: run.blocks] if places is None else [every[place] for place in places]
    return verify(kernel, run.memory, blocks, run.warp_instructions / run.blocks / kernel.warps, lines)


def compare(
    kernel: Kernel, memory: NDArray[np.uint32], expectation: Expectation, lines: NDArray[np.bool_] | None = None
) -> _Comparison:
    """Return the errors of the values in memory: right if equal or within the bound; NaN is wrong."""
    buffer = next(b for b in kernel.buffers if b.name == expectation.buffer)
    base = bases(kernel.buffers)[buffer.name]
    left = view(memory, buffer, base)[expectation.index]
    if lines is not None and buffer.fill is not None:
        index = expectation.index
        absent = ~lines[(base + index * left.itemsize) // LINE_BYTES]
        left[absent] = elements(buffer.fill, index[absent], buffer.dtype)
    with np.errstate(invalid="ignore"):
        got = left.astype(np.float64)
        error = np.where(got == expectation.value, 0.0, np.abs(got - expectation.value))
    return _Comparison(expectation, got, error, error <= expectation.bound)


def _of_blocks(kernel: Kernel, blocks: Iterable[int]) -> Iterator[Expectation]:
    return iter(()) if kernel.expected is None else map(kernel.expected, blocks)


def _in_either_order(
    kernel: Kernel,
    memory: NDArray[np.uint32],
    blocks: Sequence[int],
    others: Sequence[int],
    lines: NDArray[np.bool_] | None,
) -> list[NDArray[np.uint32]]:
    """Memory as the grid leaves it if the others ran before the `blocks` that left `memory`, and if they ran after."""
    ours, _ = _stored(kernel, blocks, addresses=True)
    if any(map(_is_global_atomic, (instruction.row for instruction in kernel.program.instructions))):
        after = walk(kernel, others, left=_filled(kernel, memory, lines)).memory
        return [after, np.where(ours, memory, after)]
    theirs, after = _stored(kernel, others)
    if lines is None:
        ours |= memory != image(kernel)  # a race may make the timed blocks store elsewhere
    return [np.where(ours, memory, after), np.where(ours & ~theirs, memory, after)]


def _stored(
    kernel: Kernel, blocks: Sequence[int], *, addresses: bool = False
) -> tuple[NDArray[np.bool_], NDArray[np.uint32]]:
    """The words of global memory that the blocks store to in program order, but for atomics, and their values."""
    rows, leaves = [instruction.row for instruction in kernel.program.instructions], kernel.program.leaves_global
    stored = np.zeros(length(kernel), np.bool_)

    def observe(pc: int, _warps: object, addresses: NDArray[np.uint32], active: NDArray[np.bool_]) -> None:
        if rows[pc].is_store and rows[pc].unit is Unit.GLOBAL and rows[pc].update is None:
            first = addresses[active]
            if leaves and rows[pc].generic:
                first = first[lanes_in(Unit.GLOBAL, first)]
            stored[first[:, None] // 4 + np.arange(rows[pc].words)] = True

    return stored, walk(kernel, blocks, observe, addresses=addresses).memory


def _is_global_atomic(row: Row) -> bool:
    return row.update is not None and row.unit is Unit.GLOBAL


def _filled(kernel: Kernel, memory: NDArray[np.uint32], lines: NDArray[np.bool_] | None) -> NDArray[np.uint32]:
    """Return memory with the lines, too, that were not filled."""
    if lines is None:
        return memory
    return np.where(np.repeat(lines, LINE_BYTES // 4)[: len(memory)], memory, image(kernel))


def _summary(parts: Sequence[_Comparison], *, scope: Scope, blocks: int, in_program_order: int = 0) -> Verification:
    values = sum(part.right.size for part in parts)
    if values == 0:
        return UNCHECKED
    error, bound, right = (np.concatenate(arrays) for arrays in zip(*map(_arrays, parts), strict=True))
    worst = int(np.argmax(error))  # NaN, if there is one
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


def _worst(candidates: Sequence[_Comparison]) -> _Comparison:
    """Each value from the candidate with the largest error; NaN counts as largest."""
    which = np.argmax([c.error for c in candidates], axis=0)[None]
    got, error, right = (
        np.take_along_axis(np.array(arrays), which, axis=0)[0]
        for arrays in zip(*((c.got, c.error, c.right) for c in candidates), strict=True)
    )
    return _Comparison(candidates[0].expectation, got, error, right)


def _arrays(part: _Comparison) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    return part.error, np.broadcast_to(part.expectation.bound, part.error.shape), part.right


def _ratio(error: NDArray[np.float64], bound: NDArray[np.float64]) -> NDArray[np.float64]:
    safe = np.divide(error, bound, out=np.full(error.shape, np.inf), where=bound > 0)
    return np.where(error == 0, 0.0, np.where(np.isnan(safe), np.inf, safe))


def _describe(part: _Comparison) -> str:
    first = int(np.argmin(part.right))
    expected = part.expectation
    got, value = (_shown(numbers[first]) for numbers in (part.got, expected.value))
    return f"{expected.buffer}[{expected.index[first]}] is {got}, not {value}"


def _shown(number: np.float64) -> str:
    """Return a number for people: an integer of 32 bits with all its digits."""
    return f"{number:.0f}" if number.is_integer() and abs(number) < 1 << 32 else f"{number:g}"
