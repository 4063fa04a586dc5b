"""Rates of both engines in warp instructions per second; `make bench` runs it, docs/performance.md explains it."""

from __future__ import annotations

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import gpusim
from benchmarks.conftest import Keep, Measure
from benchmarks.speed import ENGINES, FEEDS, Case, barrier, chain, lai, mix, sg4
from workloads.catalog import make

WHOLE = (sg4(), lai(2400), mix(16, 1 << 20), chain(1, 1 << 17), barrier(16, 1 << 17))
SHORT = (lai(32), mix(16, 1 << 14), chain(1, 1 << 13), barrier(16, 1 << 12))  # the reference engine is slow


def label(case: Case) -> str:
    """Return the case's name within a test's name."""
    return case.label.replace(" ", ",")


@pytest.mark.parametrize("case", WHOLE, ids=label)
@pytest.mark.parametrize("feed", FEEDS)
def test_compiled(measure: Measure, case: Case, feed: str) -> None:
    """Time the compiled engine on every feed."""
    measure(case, feed)


def test_simulate(benchmark: BenchmarkFixture, keep: Keep) -> None:
    """Time all of `gpusim.simulate` for sg4: launch, run with values, check of every value, bound."""
    kernel = make("sg4")
    result = benchmark.pedantic(gpusim.simulate, args=(kernel, "wide"), rounds=3, warmup_rounds=1)
    assert result.verification.verified
    keep(sg4().label, "simulate()", result.run.warp_instructions)


@pytest.mark.parametrize("case", SHORT, ids=label)
@pytest.mark.parametrize("engine", ENGINES)
def test_both_engines(measure: Measure, case: Case, engine: str) -> None:
    """Time the same launch on either engine, with values."""
    shorter = Case(f"{case.label}, short", case.kernel, case.parameters, case.machine, case.blocks)
    measure(shorter, "execution-driven", engine)
