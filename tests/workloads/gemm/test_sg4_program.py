from __future__ import annotations

from collections import Counter

import pytest

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from gpusim.machine.occupancy import occupancy
from workloads.gemm.sg4 import sg4
from workloads.gemm.sg4_program import BUFFER, MORE, program, register_map


def loop_body():
    """Return the instructions of the loop, its branch included."""
    built = program()
    branch = next(pc for pc, i in enumerate(built.instructions) if i.row.mnemonic == "BRA")
    return built.instructions[built.labels["loop"] : branch + 1]


def test_a_tile_takes_64_ffmas_and_4_loads_per_k_5_stores_and_1_barrier():
    """A tile takes eight k steps, 2 LDG.128, 5 stores, 1 barrier, and 8 instructions for pointers and loop: 560."""
    counts = Counter(i.row.mnemonic for i in loop_body())
    assert counts == {
        **{"FFMA": 8 * 64, "LDS.128": 8 * 4},
        **{"LDG.128": 2, "STS.128": 1, "STS": 4, "BAR.SYNC": 1},
        **{"IADD": 2, "LOP.XOR": 4, "ISETP.LT.U32": 1, "BRA": 1},
    }


@pytest.mark.jit
def test_the_default_executes_2298880_warp_instructions():
    """32 warps execute 160 instructions each outside of the loop and 560 in each of 128 tiles; 91 % are FFMAs."""
    assert len(program()) - len(loop_body()) == 160
    run = run_sm(sg4(k=16), load("wide"), feed="address-only")
    assert run.warp_instructions == 32 * (160 + 2 * 560)
    assert 32 * (160 + 128 * 560) == 2298880


def test_registers_leave_room_for_two_blocks():
    """111 registers per thread and 24,704 bytes of shared memory: two blocks fit the what-if machine."""
    assert (program().registers, register_map().count, program().shared_bytes) == (111, 111, 24704)
    assert occupancy(sg4(), load("wide")).blocks == 2


def test_buffers_differ_in_one_bit_of_the_address():
    """A buffer is no larger than BUFFER, the one address bit in which the two buffers differ."""
    assert program().shared_bytes - BUFFER <= BUFFER
    assert BUFFER.bit_count() == 1


def test_fetches_and_stores_for_a_next_tile_are_predicated():
    """Fetches, stores, their pointer updates and the loads after the barrier have the loop's own condition."""
    guarded = Counter(i.row.mnemonic for i in loop_body() if i.guard == MORE)
    assert guarded == {"LDG.128": 2, "IADD": 2, "STS.128": 1, "STS": 4, "LOP.XOR": 2, "LDS.128": 4, "BRA": 1}
