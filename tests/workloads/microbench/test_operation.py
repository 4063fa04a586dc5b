from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from isa.table import TABLE
from workloads.builder import Builder, RegisterMap
from workloads.microbench.operation import BITS, OPERATIONS, TRUTH_TABLE, load_sources, load_value, step


@pytest.mark.parametrize("mnemonic", OPERATIONS)
def test_the_closed_form_is_the_value_function_repeated(mnemonic):
    """The promised result after n steps is that of the table's value function applied n times, for n to 40."""
    operation = OPERATIONS[mnemonic]
    bits = {1: np.uint32, 2: np.uint64}[operation.words]
    to_bits = BITS[operation.dtype]
    sources = [bits(to_bits(s)) for s in operation.sources]
    row = TABLE[mnemonic]
    sources += [bits(0)] * (1 - len(sources))
    sources += [bits(1 if "Q" in row.form else row.code)] * (2 - len(sources))  # 1: PT
    sources += [bits(TRUTH_TABLE)] * row.form.count("n")
    x = bits(to_bits(operation.start))
    with np.errstate(all="ignore"):
        for n in range(41):
            assert int(x) == to_bits(operation.result(n)), n
            x = bits(row.value(np.array(x), *map(np.array, sources))[()])


@pytest.mark.parametrize("mnemonic", OPERATIONS)
def test_steps_form_a_chain(mnemonic):
    """Each step reads the result of the one before."""
    b, registers = Builder(), RegisterMap("test")
    x = load_value(b, registers, "x", OPERATIONS[mnemonic], OPERATIONS[mnemonic].start)
    steps = [step(OPERATIONS[mnemonic], x, load_sources(b, registers, OPERATIONS[mnemonic]))] * 2
    assert all(set(before.writes()) <= set(after.reads()) for before, after in pairwise(steps))


def test_every_arithmetic_row_has_an_operation():
    """Each row of the table that computes a register from ones as wide has an operation, except GCN's own."""
    rows = {m for m, row in TABLE.items() if row.value is not None and row.form.startswith("d") and not row.is_gcn}
    assert {m for m in rows if not TABLE[m].sources} == set(OPERATIONS)
