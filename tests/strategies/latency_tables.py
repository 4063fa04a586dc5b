"""Latencies for tests of the static scheduler: the paper's table, and drawn ones."""

from __future__ import annotations

from hypothesis import strategies as st

from isa.row import GLOBAL_UNITS, MEMORY_UNITS, Unit
from isa.schedule.schedule import Latencies, Latency
from isa.table import ROWS

FROM_MEMORY = {32: 26, 64: 38, 128: 46}


def _of_paper(row) -> Latency:
    if row.unit is Unit.SHARED and not row.is_store:
        return Latency(FROM_MEMORY[row.width], 46)
    if row.unit in MEMORY_UNITS | GLOBAL_UNITS:
        return Latency(0 if row.is_store else 1000, 46)
    return Latency(24 if row.unit in (Unit.DP, Unit.FP32, Unit.FMUL) else 18 if row.value else 0)


TABLE_3 = Latencies(
    {row.mnemonic: _of_paper(row) for row in ROWS}, issue_interval=6
)  # Tan et al., SC'11, tables 2 and 3


def latency_tables() -> st.SearchStrategy[Latencies]:
    """Tables with any latencies of the results and sources of each instruction."""
    each = st.builds(Latency, st.integers(0, 60), st.sampled_from((0, 0, 7, 46)))
    drawn = st.lists(each, min_size=7, max_size=7)
    of = drawn.map(lambda some: {row.mnemonic: some[n % len(some)] for n, row in enumerate(ROWS)})
    return st.builds(Latencies, of, st.sampled_from((1, 2, 6)))
