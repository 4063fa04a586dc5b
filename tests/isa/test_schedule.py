from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import REPEATABLE

from isa.interpret import interpret
from isa.listing import read
from isa.operand import Register
from isa.schedule import Latencies, Latency, best_place, improved, stalls
from workloads.builder import at, instruction
from workloads.gemm.lai import sgemm_lai

TABLE_3 = Latencies(  # of Tan et al., SC'11, cycles of the shader clock
    {
        **{
            "LDG": Latency(1000, 46),
            "LDS": Latency(46, 46),
            "LDS.64": Latency(46, 46),
            "STS": Latency(0, 46),
            "STG": Latency(0, 46),
        },
        **{name: Latency(24) for name in ("FFMA", "FMUL", "DFMA")},
        **{name: Latency(18) for name in ("IADD", "IMAD", "MOV", "SHL", "SHR.U32", "LOP.AND", "S2R", "ISETP.LT.U32")},
        **{name: Latency(0) for name in ("BAR.SYNC", "BRA", "EXIT", "NOP")},
    },
    reissue=6,
)
R = [Register(i) for i in range(16)]


def adds(*registers):
    """Return independent additions to registers."""
    return [instruction("IADD", R[r], R[r], 1) for r in registers]


def test_the_papers_example_stalls_970_cycles():
    """A store of what was loaded four independent instructions before waits 1000 - (4 * 6 + 6) cycles."""
    stream = [instruction("LDG", R[2], at(R[1])), *adds(3, 4, 5, 6), instruction("STS", at(R[7]), R[2])]
    assert stalls(stream, TABLE_3) == [0, 0, 0, 0, 0, 970]


def test_a_register_is_not_overwritten_before_it_is_read():
    """A load's pointer moves on 46 cycles behind it: 40 more than the reissue. A second write waits for the first."""
    load, step = instruction("LDS", R[2], at(R[1])), instruction("IADD", R[1], R[1], 4)
    assert stalls([load, step], TABLE_3) == [0, 40]
    assert stalls([load, instruction("MOV", R[2], 0)], TABLE_3) == [0, 40]
    assert stalls([*adds(1), *adds(1)], TABLE_3) == [0, 12]


def test_the_best_place_of_a_load_is_where_its_use_no_longer_waits():
    """46 cycles before its use are eight instructions: place 2 of 10; without so many, the very first."""
    use = instruction("FFMA", R[0], R[9], R[9], R[0])
    load = instruction("LDS", R[9], at(R[10]))
    stream = [*adds(1, 2, 3, 4, 5, 6, 7, 8, 11, 12), use]
    places = [sum(stalls([*stream[:p], load, *stream[p:]], TABLE_3)) for p in range(11)]
    assert places == [0, 0, 0, 0, 4, 10, 16, 22, 28, 34, 40]
    assert best_place(stream, load, TABLE_3, last=10) == 0
    assert best_place(stream, load, TABLE_3, first=5, last=10) == 5
    store = instruction("STS", at(R[10]), R[0])
    assert best_place(stream, store, TABLE_3, first=11) == 11


LISTING = """
.kernel late
.block 32
.buffer X f32 64 = hash 1
.buffer Y f32 64
    S2R R0, TID.X
    SHL R1, R0, 2
    IADD R2, R1, c[X]
    IADD R3, R1, c[Y]
    MOV R6, 0
    MOV R7, 0
    MOV R8, 0
    LDG R4, [R2]
    FMUL R5, R4, 2.0
    STG [R3], R5
    LDG R4, [R2+128]
    STG [R3+128], R4
    EXIT
"""


def test_a_listing_gets_better_and_computes_the_same():
    """Loads move up to where their pointer is there; stores keep their order, and memory holds the same."""
    kernel = read(LISTING)
    better = improved(kernel.program, TABLE_3)
    before, after = (sum(stalls(p.instructions, TABLE_3)) for p in (kernel.program, better))
    assert after < before
    assert sorted(map(str, better.instructions)) == sorted(map(str, kernel.program.instructions))
    found = interpret(replace(kernel, program=better)).memory
    assert (found == interpret(kernel).memory).all()


@settings(REPEATABLE, max_examples=8)
@given(layout=st.sampled_from(["nn", "nt", "tn", "tt"]), order=st.sampled_from(["base", "interleaved"]))
def test_a_kernel_keeps_its_meaning(layout, order):
    """The SGEMM of Lai and Seznec, blocked 2 by 2, leaves the same memory in any layout, and never stalls longer."""
    kernel = sgemm_lai(32, 32, 32, layout, blocking=2, order=order)
    better = improved(kernel.program, TABLE_3)
    assert sum(stalls(better.instructions, TABLE_3)) <= sum(stalls(kernel.program.instructions, TABLE_3))
    same = np.array_equal(interpret(replace(kernel, program=better)).memory, interpret(kernel).memory)
    assert same


def test_what_has_been_done_is_told():
    """`tell` hears of each part between labels, branches and barriers, and of how many there are."""
    told = []
    improved(read(LISTING).program, TABLE_3, lambda done, total: told.append((done, total)))
    assert told[-1][0] == told[-1][1] == len(told)


def test_an_unknown_mnemonic_is_an_error():
    """A table without an instruction of the stream is the caller's mistake."""
    with pytest.raises(KeyError):
        stalls([instruction("MUFU.RCP", R[0], R[1])], TABLE_3)
