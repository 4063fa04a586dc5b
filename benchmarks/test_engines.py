"""Speed of both engines on the main loop of the Lai SGEMM with 16 warps, in warp instructions per second.

`make bench` runs it. The three groups use the same kernel and machine, so their rates can be compared; the last test
prints the ratio of the engines, measured turn by turn in one run.
"""

from __future__ import annotations

import time

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from gpusim.engines import compiled, reference
from gpusim.launch import Launch, launch
from gpusim.machine import load
from gpusim.state import NEVER
from isa.kernel import Kernel
from workloads.catalog import make

MACHINE = load("gtx580-1566")
BLOCKS = 2  # what fits at once: 16 warps


def lai(k: int) -> Kernel:
    """Two blocks' worth of SGEMM with an inner dimension of `k`; the loop takes nearly all of the time."""
    return make("sgemm-lai", {"m": "384", "n": "1536", "k": str(k)})


def prepared(kernel: Kernel, *, values: bool) -> Launch:
    """The launch, ready to run."""
    return launch(kernel, MACHINE, values=values, blocks=BLOCKS)


def rate(started: Launch, seconds: float) -> float:
    """Warp instructions per second."""
    return float(started.program.issued.sum() / seconds)


def tell(capsys: pytest.CaptureFixture[str], line: str) -> None:
    """Print a line beside the table of times, which knows no rates."""
    with capsys.disabled():
        print(f"\n{line}")  # noqa: T201  (its purpose)


def run_compiled(started: Launch) -> Launch:
    """Run a launch to its end, compiled."""
    compiled.run(started.sms, started.memory, NEVER)
    return started


def run_reference(started: Launch) -> Launch:
    """Run a launch to its end on SimPy."""
    reference.run(reference.start(started), NEVER)
    return started


@pytest.mark.parametrize("values", [False, True], ids=["time only", "with values"])
def test_compiled(benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str], values: bool) -> None:
    """The compiled engine's rate, without and with values."""
    kernel = lai(2400)
    run_compiled(prepared(lai(32), values=values))
    result = benchmark.pedantic(run_compiled, setup=lambda: ((prepared(kernel, values=values),), {}), rounds=5)
    best = benchmark.extra_info["warp instructions per second"] = rate(result, benchmark.stats.stats.min)
    tell(
        capsys,
        f"compiled, {'with values' if values else 'time only'}: {best / 1e6:.3f} million warp instructions per second",
    )
    assert not any(block.state for block in result.sm.blocks)


def test_reference(benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]) -> None:
    """The reference engine's rate, with values."""
    kernel = lai(48)
    run_reference(prepared(lai(16), values=True))
    result = benchmark.pedantic(run_reference, setup=lambda: ((prepared(kernel, values=True),), {}), rounds=3)
    best = benchmark.extra_info["warp instructions per second"] = rate(result, benchmark.stats.stats.min)
    tell(capsys, f"reference, with values: {best / 1e6:.3f} million warp instructions per second")
    assert not any(block.state for block in result.sm.blocks)


def test_ratio_of_the_engines(capsys: pytest.CaptureFixture[str], benchmark: BenchmarkFixture) -> None:
    """Both engines in turn on the same launch: the compiled one is the faster."""
    kernel = lai(48)
    ratios = benchmark.pedantic(lambda: [_ratio(kernel) for _ in range(3)], rounds=1)
    tell(capsys, f"compiled : reference = {sorted(ratios)[1]:.0f} : 1 (with values)")
    assert min(ratios) > 1


def _ratio(kernel: Kernel) -> float:
    rates = []
    for run in (run_compiled, run_reference):
        started = prepared(kernel, values=True)
        begin = time.process_time()
        run(started)
        rates.append(rate(started, time.process_time() - begin))
    return rates[0] / rates[1]
