"""Fixtures that measure a rate, and a table of all rates, printed after pytest-benchmark's table of times."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.speed import ENGINES, Case, prepared

RATES = pytest.StashKey[dict[str, dict[str, float]]]()  # warp instructions per second, by row and column
Keep = Callable[[str, str, int], None]
Measure = Callable[..., None]


@pytest.fixture
def keep(benchmark: BenchmarkFixture, pytestconfig: pytest.Config) -> Keep:
    """Give a function that records the rate of the benchmark just timed, from row, column and warp instructions."""

    def into_the_table(row: str, column: str, instructions: int) -> None:
        rate = instructions / benchmark.stats.stats.min
        benchmark.extra_info["warp instructions per second"] = rate
        pytestconfig.stash.setdefault(RATES, {}).setdefault(row, {})[column] = rate

    return into_the_table


@pytest.fixture
def measure(benchmark: BenchmarkFixture, keep: Keep) -> Measure:
    """Give a function that times an engine on a case and a feed, without preparation, and keeps the best round."""

    def run(case: Case, feed: str, engine: str = "compiled", rounds: int = 3) -> None:
        done = benchmark.pedantic(
            ENGINES[engine], setup=lambda: ((prepared(case, feed),), {}), rounds=rounds, warmup_rounds=1
        )
        assert not done.sm.fault.code
        assert not any(block.state for block in done.sm.blocks)
        keep(case.label, feed if engine == "compiled" else engine, int(done.program.issued.sum()))

    return run


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the rates, a row for each case."""
    table = config.stash.get(RATES, {})
    if not table:
        return
    columns = list(dict.fromkeys(column for row in table.values() for column in row))
    terminalreporter.section("warp instructions per second, best of the rounds")
    terminalreporter.write_line(" " * 20 + "".join(f"{column:>14}" for column in columns))
    for name, row in table.items():
        cells = (f"{row[column]:>14,.0f}" if column in row else " " * 14 for column in columns)
        terminalreporter.write_line(f"{name:20}" + "".join(cells))
