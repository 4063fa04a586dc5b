from __future__ import annotations

from dataclasses import replace

import pytest
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter.interpret import interpret
from strategies.launches import REPEATABLE, looping_kernels

from gpusim.engines.walks.disjoint import disjoint
from isa.row import LOAD_UNITS, memory_of
from isa.schedule.reorder import spans
from isa.text.listing import read
from workloads.papers.tan.tan import dgemm_tan

TEXT = """
.shared 512
    S2R R0, TID.X
    SHL R1, R0, 2
    STS [R1], R0
    LDS R2, [R1+{}]
    EXIT
"""


def pairs_by_definition(kernel):
    """Return the pairs of accesses to one memory, one a store, whose bytes no pass of a warp ever shared."""
    code, last, touched, met = kernel.program.instructions, {}, {}, set()

    def observe(pc, warps, addresses, active):
        for warp, at, lanes in zip(warps.tolist(), addresses, active, strict=True):
            if pc <= last.get(warp, -1) or not any(
                f <= last.get(warp, -1) and pc < e for f, e in spans(kernel.program)
            ):
                touched[warp] = []
            bytes_ = {int(a) + i for a in at[lanes] for i in range(code[pc].row.nbytes)}
            met.update((other, pc) for other, them in touched[warp] if them & bytes_)
            touched[warp].append((pc, bytes_))
            last[warp] = pc

    interpret(kernel, [0], observe, released=lambda _: None)
    return {
        (i, j)
        for first, end in spans(kernel.program)
        for j in range(first, end)
        for i in range(first, j)
        if {code[i].row.unit, code[j].row.unit} <= LOAD_UNITS
        and memory_of(code[i].row.unit) is memory_of(code[j].row.unit)
        and (code[i].row.is_store or code[j].row.is_store)
        and (i, j) not in met
    }


@settings(REPEATABLE, max_examples=draws(12))
@given(kernel=looping_kernels())
def test_pairs_are_those_that_no_pass_saw_meet(kernel):
    """Of any program with loops: the accesses whose bytes never overlapped in one pass of one warp."""
    assert disjoint(kernel, [0]) == pairs_by_definition(replace(kernel, grid=(1, 1, 1)))


def test_lanes_of_one_warp_meet():
    """A load of the neighbour's word overlaps the store, and is no pair; a load after all stored words is one."""
    assert disjoint(read(TEXT.format(4)), [0]) == frozenset()
    assert disjoint(read(TEXT.format(128)), [0]) == {(2, 3)}


@pytest.mark.jit
@settings(REPEATABLE, max_examples=draws(4))
@given(variant=st.sampled_from(["alg3", "v2", "v3", "v4"]))
def test_two_buffers_are_apart(variant):
    """Stores of algorithm 3 fill one buffer while its loads read the other: in the loop all of them are apart."""
    kernel = dgemm_tan(64, 64, 48, variant)
    code = kernel.program.instructions
    first, end = next(s for s in spans(kernel.program) if s[0] == kernel.program.labels["loop"])
    barriers = [pc for pc in range(first, end) if code[pc].row.mnemonic == "BAR.SYNC"]
    halves = [range(first, barriers[0]), range(barriers[0], barriers[1])]
    wanted = {
        (min(s, t), max(s, t))
        for half in halves
        for s in half
        for t in half
        if code[s].row.mnemonic == "STS.128" and code[t].row.mnemonic == "LDS.128"
    }
    assert 100 < len(wanted) <= 2 * 2 * 32  # version 4 has stores behind a barrier and the branch
    assert wanted <= disjoint(kernel, [0])


def test_loaded_addresses_and_long_walks_give_no_pairs():
    """A kernel whose addresses come from memory, and one beyond the limit of 100, have no pairs."""
    pointer = ".buffer X i32 64\nMOV R2, c[X]\nLDG R3, [R2]\nIADD R3, R3, R2\nSTG [R3], R2\nEXIT\n"
    assert disjoint(read(pointer), [0]) == frozenset()
    assert disjoint(dgemm_tan(64, 64, 48, "v2"), [0], limit=100) == frozenset()
