from __future__ import annotations

import numpy as np

from isa.operands.operand import Register
from workloads.builder import Builder, RegisterMap, instruction
from workloads.microbench.probe import Geometry, IndexFill, RingFill, per_thread, repeat


def test_a_body_that_runs_once_has_no_loop():
    """One iteration is the body and nothing else; two are a loop with three instructions more per round."""
    body = [instruction("NOP")] * 5
    once, twice = Builder(), Builder()
    repeat(once, RegisterMap("test"), 1, body)
    repeat(twice, RegisterMap("test"), 2, body)
    assert [i.row.mnemonic for i in once.instructions] == ["NOP"] * 5
    assert [i.row.mnemonic for i in twice.instructions] == ["MOV", *["NOP"] * 5, "IADD", "ISETP.GT", "BRA"]
    assert twice.instructions[0].writes() == (Register(0).index,)


def test_a_ring_leads_through_all_elements_and_back():
    """Following word 0 of the elements visits 32 addresses before the first comes again."""
    ring = RingFill(base=4096, stride=8, words=2)
    words = ring(np.arange(64, dtype=np.int64))
    place, seen = 4096, []
    for _ in range(32):
        seen.append(place)
        place = int(words[(place - 4096) // 4])
    assert sorted(seen) == [4096 + 8 * i for i in range(32)]
    assert place == 4096
    assert not words[1::2].any()


def test_each_word_of_an_element_holds_its_index():
    """Elements of two words read 0 0 1 1 2 2."""
    assert IndexFill(2)(np.arange(6, dtype=np.int64)).tolist() == [0, 0, 1, 1, 2, 2]


def test_results_of_a_block_are_ordered_by_result_then_thread():
    """Result s of thread t of the launch is promised at s * threads + t, exactly."""
    promise = per_thread(lambda t: np.stack([t + 0.0, t + 0.5]), Geometry(warps=1, blocks=3))(2)
    assert promise.index.tolist() == [*range(64, 96), *range(160, 192)]
    assert promise.value.tolist() == [*range(64, 96), *(t + 0.5 for t in range(64, 96))]
    assert not promise.bound.any()
