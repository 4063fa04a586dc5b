from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from draws import few

from gpusim.reproduction.lai.equations import ffma_share
from isa.instruction import Instruction
from isa.operands.operand import Register
from isa.row import Unit
from workloads.papers.lai.lai import LAYOUTS, sgemm_lai
from workloads.papers.lai.lai_program import MORE, ORDERS, register_map

UPDATES = {"nt": 4, "nn": 8, "tt": 8, "tn": 12}  # of the global pointers, per tile
LOADS = {32: ("LDS", 192), 64: ("LDS.64", 96), 128: ("LDS.128", 64)}


def loop_body(program) -> tuple[Instruction, ...]:
    """Return the main loop, its branch included."""
    last = max(pc for pc, i in enumerate(program.instructions) if i.row.mnemonic == "BRA")
    return program.instructions[program.labels["loop"] : last + 1]


def counts(instructions) -> Counter[str]:
    """Return how often each mnemonic occurs."""
    return Counter(i.row.mnemonic for i in instructions)


@pytest.mark.parametrize(
    ("layout", "lds", "order", "prefetch"), few(product(LAYOUTS, LOADS, ORDERS, (True, False)), 13)
)
def test_a_tile_takes_the_published_instructions(layout, lds, order, prefetch):
    """A tile has 576 FFMAs, their loads, 24 transfers, 4 to 12 pointer updates, and 4 for loop and barriers."""
    load, number = LOADS[lds]
    body = counts(loop_body(sgemm_lai(layout=layout, lds=lds, order=order, prefetch=prefetch).program))
    expected = {"FFMA": 576, load: number, "LDG": 12, "STS": 12, "IADD": UPDATES[layout]}
    assert body == {**expected, "ISETP.LT.U32": 1, "BRA": 1, "BAR.SYNC": 2}


@pytest.mark.parametrize(("layout", "total"), [("nt", 704), ("nn", 708), ("tt", 708), ("tn", 712)])
def test_a_tile_with_64_bit_loads_takes_704_to_712_instructions(layout, total):
    """The loop has 704 instructions in layout nt, 708 in nn and tt, and 712 in tn."""
    assert len(loop_body(sgemm_lai(layout=layout).program)) == total


@pytest.mark.parametrize(("lds", "share"), [(32, 75.0), (64, 85.7), (128, 90.0)])
def test_rank_1_updates_have_the_published_share_of_ffmas(lds, share):
    """Of loads and FFMAs, 75 / 85.7 / 90.0 % are FFMAs: figure 1 with whole loads at blocking 6."""
    body = counts(loop_body(sgemm_lai(lds=lds).program))
    counted = body["FFMA"] / (body["FFMA"] + body[LOADS[lds][0]])
    assert round(100 * counted, 1) == share
    assert counted == pytest.approx(ffma_share(6, lds // 32, whole_loads=True))


@pytest.mark.parametrize(
    ("lds", "prefetch", "registers"),
    [(32, True, 62), (64, True, 63), (64, False, 51), (128, True, 67), (128, False, 55)],
)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_thread_needs_the_published_registers(lds, prefetch, registers, layout):
    """63 registers with 64-bit loads and prefetch in every layout, 67 with 128-bit ones, 12 less without prefetch."""
    assert sgemm_lai(layout=layout, lds=lds, prefetch=prefetch).program.registers == registers


def test_the_map_is_that_of_section_4_1():
    """36 sums, 12 for prefetch, 6 for A, 2 for B, 2 + 2 + 2 pointers, and the loop's end in R1."""
    blocks = register_map(6, 2, prefetch=True).blocks
    sizes = {name: len(block) for name, block in blocks.items()}
    pointers = dict.fromkeys(("a_fetch", "b_fetch", "a_store", "b_store", "a_load", "b_load"), 1)
    assert sizes == {"sums": 36, "prefetch": 12, "a_line": 6, "b_line": 2, "end": 1, **pointers}
    assert blocks["end"] == (Register(1),)
    assert sorted(r.index for block in blocks.values() for r in block) == list(range(63))


@pytest.mark.parametrize("lds", LOADS)
def test_nothing_is_spilled(lds):
    """No instruction touches local memory."""
    assert not any(i.row.unit is Unit.LOCAL for i in sgemm_lai(lds=lds).program.instructions)


def test_base_order_has_updates_and_global_loads_first():
    """The loop starts with the pointer updates and the global loads; only shared stores are between the barriers."""
    mnemonics = [i.row.mnemonic for i in loop_body(sgemm_lai(order="base").program)]
    assert Counter(mnemonics[:17]) == {"LDG": 12, "IADD": 4, "ISETP.LT.U32": 1}
    first, second = (pc for pc, m in enumerate(mnemonics) if m == "BAR.SYNC")
    assert set(mnemonics[first + 1 : second]) == {"STS"}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_interleaved_order_spreads_the_global_loads_over_the_ffmas(layout):
    """FFMAs between two items of the global stream differ by at most one run; the last updates are among the stores."""
    body = loop_body(sgemm_lai(layout=layout).program)
    mnemonics = [i.row.mnemonic for i in body]
    barrier = mnemonics.index("BAR.SYNC")
    items = [pc for pc in range(barrier) if mnemonics[pc] in ("LDG", "IADD")]
    gaps = [counts(body[a:b])["FFMA"] for a, b in zip(items, [*items[1:], barrier], strict=True)]
    assert len(items) == 10 + UPDATES[layout]
    assert max(gaps) - min(gaps) <= 1
    assert counts(body[barrier:])["IADD"] == 2


def halves(order) -> tuple[list[str], list[str]]:
    """Return the mnemonics of the loop up to its first barrier, and from there to the second."""
    mnemonics = [i.row.mnemonic for i in loop_body(sgemm_lai(order=order).program)]
    first, second = (pc for pc, m in enumerate(mnemonics) if m == "BAR.SYNC")
    return mnemonics[:first], mnemonics[first:second]


def test_section_4_2_moves_addresses_and_prefetch_each_by_itself():
    """Each order has one half of the loop as in `base`, and the other, apart from the updates, as in `interleaved`."""
    base, both = halves("base"), halves("interleaved")
    addresses, prefetch = halves("addresses"), halves("prefetch")
    assert addresses == (base[0][2:], both[1])
    assert prefetch == (["IADD", "IADD", *both[0]], base[1])


def test_fetches_and_stores_for_a_next_tile_are_predicated():
    """All global loads and shared stores of the loop, and its branch, have the loop's condition; nothing else has."""
    body = loop_body(sgemm_lai().program)
    assert {i.row.mnemonic for i in body if i.guard == MORE} == {"LDG", "STS", "BRA"}
    assert all(i.guard == MORE for i in body if i.row.mnemonic in ("LDG", "STS"))


@pytest.mark.parametrize(("beta", "loads", "sums"), [(0.0, 0, 0), (2.0, 36, 36)])
def test_the_end_writes_each_element_of_c_once(beta, loads, sums):
    """A thread has 36 products and stores, and 36 loads and sums of the old C unless beta is 0."""
    program = sgemm_lai(beta=beta).program
    tail = counts(program.instructions[program.labels["loop"] + len(loop_body(program)) :])
    assert (tail["LDG"], tail["FMUL"], tail["FFMA"], tail["STG"], tail["EXIT"]) == (loads, 36, sums, 36, 1)


def test_two_blocks_fit_the_shared_memory_of_an_sm():
    """64-bit loads take 12,288 bytes, NT; the widest padded layout takes 16,896: two fit 48 KB."""
    assert sgemm_lai().program.shared_bytes == 12288
    assert max(sgemm_lai(layout=x, lds=128).program.shared_bytes for x in LAYOUTS) == 16896
