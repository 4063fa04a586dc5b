"""What machine code computes here is what an H200 computes, on every row of the table, to the bit."""

from dataclasses import replace

import numpy as np
import pytest
from draws import few

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from hardware import replay, table
from hardware.catalog import SNIPPETS
from hardware.inputs import SETS

GROUPS = sorted({one.group for one in SNIPPETS.values()})
MOST = 8  # snippets of a group that the compiled engine runs in the quick run
H200 = load("h200")


def of_group(group):
    return [one for one in SNIPPETS.values() if one.group == group]


@pytest.mark.parametrize("group", GROUPS)
def test_the_interpreter_computes_what_the_chip_computed(group):
    """Each snippet of a group gives the recorded results, all bits of all rows."""
    wrong = {one.name: replay.differences(one, replay.computed(one))[:3] for one in of_group(group)}
    assert {name: rows for name, rows in wrong.items() if rows} == {}


@pytest.mark.jit
@pytest.mark.parametrize("group", GROUPS)
def test_the_compiled_engine_computes_what_the_chip_computed(group):
    """Timed on the H200 by the codes of ptxas, the first block of each snippet gives the recorded results."""
    wrong = {one.name: timed(one)[:3] for one in few(of_group(group), MOST)}
    assert {name: rows for name, rows in wrong.items() if rows} == {}


def timed(one):
    """Return the differences of a snippet's first block in the compiled engine."""
    kernel, (_, lanes) = replace(replay.kernel(one), any_machine=True), table.launch(one)
    found = replay.columns(one, kernel, run_sm(kernel, H200, blocks=1).memory)
    return [row for row in replay.differences(one, found) if row.row < lanes]


def test_a_wrong_bit_is_found():
    """One bit that is changed in a recorded result is reported with its row and both values."""
    one = SNIPPETS["popc_b32"]
    changed = [column.copy() for column in table.results(one)]
    changed[0][7] ^= 1
    (found,) = replay.differences(one, changed)
    assert (found.row, found.ours ^ found.chip) == (7, 1)


def test_every_snippet_is_recorded():
    """The table has results of every snippet for every row of its inputs, of a million rows in all."""
    for one in SNIPPETS.values():
        assert {column.size for column in table.results(one)} == {SETS[one.inputs].rows}, one.name
    assert sum(SETS[one.inputs].rows for one in SNIPPETS.values()) > 1_000_000


def test_the_recorded_code_is_that_of_the_snippets():
    """The cubin has a kernel for each snippet, and no other."""
    assert set(replay.machine_code().sections) == set(SNIPPETS)


def test_inputs_are_drawn_as_often_as_they_say():
    """Each set of inputs has its rows, in columns of its bits, the same again from the same seed."""
    for name, one in SETS.items():
        columns = one.columns(1)
        assert [c.size for c in columns] == [one.rows] * 3, name
        assert [c.itemsize * 8 for c in columns] == list(one.bits), name
        assert all(map(np.array_equal, columns, one.columns(1))), name
