from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from draws import draws, few
from hypothesis import given, settings
from hypothesis import strategies as st

from isa.errors import UserError
from isa.operand import scalar
from workloads.gemm.vega_vlp import FIRST_OF_A, ORDERS, fused_reference, program, register_map, sgemm_vega_vlp


@pytest.mark.parametrize(("threads", "order"), few(product((64, 128, 256), ORDERS), 4))
def test_the_result_is_the_fused_reference_to_the_last_bit(check_bits, threads, order):
    """One, two or four warps, either order, one round of the loop or three: right bit for bit."""
    check_bits(fused_reference, sgemm_vega_vlp(64, threads, 16, threads, order))
    check_bits(fused_reference, sgemm_vega_vlp(64, threads, 48, threads, order))


@settings(max_examples=draws(8), deadline=None)
@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.sampled_from([64, 128]), st.sampled_from(ORDERS))
def test_every_block_of_every_shape_keeps_the_bits(check_bits, rows, columns, rounds, threads, order):
    """Grids that are not square, any number of rounds: each block is right to the last bit."""
    check_bits(fused_reference, sgemm_vega_vlp(64 * rows, threads * columns, 16 * rounds, threads, order))


def test_a_block_of_a_large_product_is_checked_alone(check_bits):
    """One block in the middle of 1024 by 1024 by 64 is made and checked without the others."""
    check_bits(fused_reference, sgemm_vega_vlp(1024, 1024, 64), [37])


@pytest.mark.parametrize("order", ORDERS)
def test_a_step_of_8_k_has_the_instructions_of_the_readme(order):
    """Per 8 k 64 scalar loads of 8 words, 8 waits for them, 512 multiply-adds, two loads of B; no LDS, no barrier."""
    built = program(256, order)
    loop = built.instructions[built.labels["loop"] :]
    counts = Counter(
        i.row.mnemonic for i in loop[: next(n for n, i in enumerate(loop) if i.row.mnemonic == "GLOBAL_STORE_DWORD")]
    )
    waits = [i for i in loop if i.row.mnemonic == "S_WAITCNT"]
    assert counts["S_LOAD_DWORDX8"] == 2 * 64
    assert counts["V_FMA_F32"] == 2 * 512
    assert counts["GLOBAL_LOAD_DWORDX4"] == 2 * 2
    assert sum(i.operands[1].bits == 0 for i in waits) == 2 * 8
    assert sum(i.operands[0].bits == 0 for i in waits) == 2
    assert {i.row.mnemonic.split("_", maxsplit=1)[0] for i in built.instructions} == {"S", "V", "GLOBAL", "S2R"}
    assert "S_BARRIER" not in counts


@pytest.mark.parametrize(("order", "run_length"), [("forwarding", 8), ("interleaved", 1)])
def test_the_order_sets_how_many_multiply_adds_of_a_sum_follow_each_other(order, run_length):
    """With `forwarding` the eight multiply-adds of a sum follow each other; with `interleaved` no two do."""
    instructions = program(64, order).instructions
    sums = [i.operands[0].index if i.row.mnemonic == "V_FMA_F32" else None for i in instructions]
    starts = [n for n, index in enumerate(sums) if index is not None and sums[n - 1] != index]
    assert len(starts) == 1024 // run_length
    assert all(len(set(sums[n : n + run_length])) == 1 for n in starts)


def test_the_registers_are_those_of_the_readme():
    """83 vector registers, of which v4 to v67 are sums and v68 to v83 hold B; A is in s32 to s95."""
    blocks = register_map().blocks
    assert sum(len(block) for block in blocks.values()) == 83
    assert [r.index for r in blocks["sums"]] == list(range(4, 68))
    assert [r.index for r in blocks["b"]] == list(range(68, 84))
    written = [i.operands[0] for i in program(256, "forwarding").instructions if i.row.mnemonic == "S_LOAD_DWORDX8"]
    assert {w.index for w in written} == {scalar(s).index for s in range(FIRST_OF_A, 96, 8)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"m": 100}, "m=100 is not a positive multiple of 64; the nearest is 128"),
        ({"n": 384}, "n=384 is not a positive multiple of 256; the nearest is 512"),
        ({"k": 24}, "k=24 is not a positive multiple of 16; the nearest is 32"),
        ({"threads": 192}, "threads=192 is not allowed; give one of 64, 128, 256"),
        ({"order": "base"}, "order=base is not allowed; give one of forwarding, interleaved"),
        ({"m": 65536, "n": 65536}, "m=65536 n=65536 k=64: "),
    ],
)
def test_bad_arguments_are_refused_in_one_line(arguments, message):
    """The message has the rule and what to give instead."""
    with pytest.raises(UserError, match=rf"^sgemm-vega-vlp: {message}") as caught:
        sgemm_vega_vlp(**arguments)
    assert "\n" not in str(caught.value)
