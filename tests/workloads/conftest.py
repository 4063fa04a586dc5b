"""Fixtures of the kernels' tests: run a kernel in program order and compare it with its promise."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pytest
from interpreter.interpret import interpret
from numpy.typing import NDArray

from isa.kernel import Expectation, Kernel
from isa.memory import bases, view
from workloads.gemm.problem import Values, numbers

Results = list[tuple[Expectation, NDArray[np.generic]]]


def run_blocks(kernel: Kernel, blocks: Iterable[int] | None = None) -> Results:
    """Run the blocks (None: all) and return the promise and the result of each."""
    chosen = list(range(kernel.blocks) if blocks is None else blocks)
    memory, where = interpret(kernel, chosen).memory, bases(kernel.buffers)
    contents = {b.name: view(memory, b, where[b.name]) for b in kernel.buffers}
    assert kernel.expected is not None
    promises = [kernel.expected(block) for block in chosen]
    return [(p, contents[p.buffer][p.index]) for p in promises]


def check_results(kernel: Kernel, blocks: Iterable[int] | None = None) -> None:
    """Fail unless the blocks leave every promised value, within its bound."""
    for promise, got in run_blocks(kernel, blocks):
        assert len(got)
        assert (np.abs(got.astype(np.float64) - promise.value) <= promise.bound).all(), (kernel.arguments, got)


@pytest.fixture(scope="session")
def check() -> Callable[..., None]:
    """Give the function that runs a kernel's blocks and compares them with its promise."""
    return check_results


@pytest.fixture(scope="session")
def check_bits() -> Callable[..., None]:
    """Give the function that compares a kernel's blocks with a fused reference bit for bit, and with their bound."""

    def compare(fused_reference: Callable[..., Values], kernel: Kernel, blocks: Iterable[int] | None = None) -> None:
        chosen = list(range(kernel.blocks) if blocks is None else blocks)
        for block, (promise, got) in zip(chosen, run_blocks(kernel, chosen), strict=True):
            assert got.tobytes() == numbers(fused_reference(kernel.arguments, block)).tobytes(), (
                kernel.arguments,
                block,
            )
            assert (np.abs(got.astype(np.float64) - promise.value) <= promise.bound).all(), (kernel.arguments, block)

    return compare


@pytest.fixture(scope="session")
def run() -> Callable[..., Results]:
    """Give the function that runs a kernel's blocks and returns promise and result of each."""
    return run_blocks
