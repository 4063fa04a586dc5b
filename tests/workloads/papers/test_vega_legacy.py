from __future__ import annotations

from collections import Counter

import fused
import numpy as np
import pytest
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter.interpret import interpret

from isa.errors import UserError
from workloads.papers.vega.vega_legacy import program, register_map, sgemm_vega_legacy


@settings(max_examples=draws(8), deadline=None)
@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 5))
def test_every_block_of_every_shape_keeps_the_bits(check_bits, rows, columns, rounds):
    """Grids that are not square, one step along k or several: each block is the fused reference to the last bit."""
    check_bits(fused.vega_legacy, sgemm_vega_legacy(64 * rows, 64 * columns, 8 * rounds))


def test_a_block_of_a_large_product_is_checked_alone(check_bits):
    """One block in the middle of 1024 by 1024 by 64 is made and checked without the others."""
    check_bits(fused.vega_legacy, sgemm_vega_legacy(1024, 1024, 64), [119])


def test_a_step_of_8_k_has_the_readmes_accesses():
    """Per k 64 multiply-adds and 16 words from the LDS; per 8 k 16 words fetched and written there, one barrier."""
    built = program()
    counts = Counter(i.row.mnemonic for i in built.instructions[built.labels["loop"] :])
    assert counts["V_FMA_F32"] == 8 * 64
    assert counts["DS_READ_B128"] == 8 * 4
    assert counts["DS_WRITE_B32"] == 16
    assert counts["GLOBAL_LOAD_DWORDX4"] == 4
    assert counts["S_BARRIER"] == 1
    assert built.shared_bytes == 2 * 64 * 8 * 4
    assert register_map().count == 8 + 16 + 16 + 64


def test_no_access_to_the_lds_has_a_bank_conflict():
    """Writes are 64 words in a row; eight neighbouring threads read 128 bytes in a row, or the same 16."""
    seen = []
    kernel = sgemm_vega_legacy(64, 64, 8)
    interpret(kernel, [0], lambda pc, _, addresses, __: seen.append((pc, addresses)))
    names = [i.row.mnemonic for i in kernel.program.instructions]
    reads = [w for pc, a in seen if names[pc] == "DS_READ_B128" for w in a]
    writes = [w for pc, a in seen if names[pc] == "DS_WRITE_B32" for w in a]
    assert len(reads) == 8 * 4
    assert len(writes) == 2 * 8
    assert all((np.diff(lanes) == 4).all() for lanes in writes)
    for lanes in reads:
        rows = lanes.reshape(-1, 8)
        assert all((np.diff(row) == 16).all() or (row == row[0]).all() for row in rows)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"m": 100}, "m=100 is not a positive multiple of 64; the nearest is 128"),
        ({"n": 32}, "n=32 is not a positive multiple of 64; the nearest is 64"),
        ({"k": 4}, "k=4 is not a positive multiple of 8; the nearest is 8"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(arguments, message):
    """The message has the rule and what to give instead."""
    with pytest.raises(UserError, match=rf"^sgemm-vega-legacy: {message}") as caught:
        sgemm_vega_legacy(**arguments)
    assert "\n" not in str(caught.value)
