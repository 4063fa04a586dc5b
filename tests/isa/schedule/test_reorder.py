from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter.interpret import interpret
from strategies.latency_tables import TABLE_3, latency_tables
from strategies.launches import REPEATABLE, kernels, looping_kernels, programs

from gpusim.engines.walks.disjoint import disjoint
from gpusim.engines.walks.races import races
from isa.dataflow import dependence
from isa.program import Program
from isa.schedule.reorder import improved, moved, places, put, regions, reordered, spans, static_stalls
from isa.text.listing import read
from workloads.papers.lai.lai import sgemm_lai

SOME = settings(REPEATABLE, max_examples=draws(15))
FEW = settings(REPEATABLE, max_examples=draws(8))


def shuffled(program, seed, pairs=(), moves=200):
    """Return the order of old pcs after this many moves in each region, each to a place that `places` allows."""
    draw, order = Random(seed), []
    for region in regions(program, pairs):
        inside = list(range(len(region.code)))
        for _ in range(moves if len(inside) > 1 else 0):
            index = draw.randrange(len(inside))
            inside = put(inside, index, draw.choice(places(region, inside, index)))
        order += [region.first + index for index in inside]
    return order


def blocks_of(kernel):
    return range(kernel.blocks)


def in_old_pcs(program, order):
    """Return the dependences through registers of a reordered program, by the pcs of the old one."""
    edges = dependence.graph(reordered(program, order)).edges(data=True)
    return {(order[u], order[v], d["kind"], d["register"], d["distance"]) for u, v, d in edges}


@SOME
@given(kernel=kernels(), seed=st.integers(0, 99))
def test_a_reordering_computes_the_same(kernel, seed):
    """Whatever is moved where it may, on whatever program: memory is the same to the last bit."""
    other = reordered(kernel.program, shuffled(kernel.program, seed))
    assert np.array_equal(interpret(replace(kernel, program=other)).memory, interpret(kernel).memory)


@FEW
@given(kernel=looping_kernels(), seed=st.integers(0, 99))
def test_accesses_that_never_met_may_change_places(kernel, seed):
    """Where a walk saw that accesses lie apart, moving them past each other leaves memory as it was, without a race."""
    pairs = disjoint(kernel, blocks_of(kernel))
    other = replace(kernel, program=reordered(kernel.program, shuffled(kernel.program, seed, pairs)))
    assert np.array_equal(interpret(other).memory, interpret(kernel).memory)
    assert races(other) == []


@SOME
@given(program=programs(), seed=st.integers(0, 99))
def test_a_reordering_keeps_every_dependence(program, seed):
    """The graph of dependences is the same, loop-carried ones included, though instructions have other pcs."""
    order = shuffled(program, seed)
    bare = replace(program, instructions=tuple(replace(i, control=None) for i in program.instructions))
    assert in_old_pcs(bare, order) == in_old_pcs(bare, range(len(program)))


@SOME
@given(program=programs())
def test_regions_are_the_program_and_labels_stay(program):
    """Spans follow each other from the first instruction to the last, and every label begins one."""
    found = spans(program)
    assert [pc for first, end in found for pc in range(first, end)] == list(range(len(program)))
    assert set(program.labels.values()) <= {first for first, _ in found} | {len(program)}


@SOME
@given(program=programs(), latencies=latency_tables(), together=st.integers(1, 3))
def test_the_static_sum_of_stalls_never_grows(program, latencies, together):
    """Of no region, and so of no program; nothing is lost or doubled, also where loads move together."""
    order = improved(program, latencies, together=together)
    better = reordered(program, order)
    assert sorted(order) == list(range(len(program)))
    assert static_stalls(better, latencies) <= static_stalls(program, latencies)


@pytest.mark.long
@settings(REPEATABLE, max_examples=draws(3))
@given(
    layout=st.sampled_from(["nn", "nt", "tn", "tt"]),
    order=st.sampled_from(["base", "interleaved"]),
    together=st.integers(1, 3),
)
def test_a_kernel_keeps_its_meaning(layout, order, together):
    """The SGEMM of Lai and Seznec, blocked 2 by 2, leaves the same memory in any layout, and stalls less."""
    kernel = sgemm_lai(32, 32, 32, layout, blocking=2, order=order)
    better = reordered(kernel.program, improved(kernel.program, TABLE_3, disjoint(kernel, [0]), together=together))
    assert static_stalls(better, TABLE_3) < static_stalls(kernel.program, TABLE_3)
    same = np.array_equal(interpret(replace(kernel, program=better)).memory, interpret(kernel).memory)
    assert same


LISTING = """
.kernel late
.buffer X f32 64 = hash 1
.buffer Y f32 64
.shared 256
    S2R R0, TID.X
    SHL R1, R0, 2
    IADD R2, R1, c[X]
    IADD R3, R1, c[Y]
    MOV R6, 2
loop:
    LDG R4, [R2]
    FMUL R5, R4, 2.0
    STG [R3], R5
    STS [R1], R4
    LDS R7, [R1+128]
    BAR.SYNC 0
    IADD R2, R2, 128
    IADD R3, R3, 128
    IADD R6, R6, -1
    ISETP.GT P0, R6, 0
    @P0 BRA loop
    EXIT
"""


def may_stand(kernel, mnemonic, pairs=()):
    """Return the places of the first instruction of that name in its region."""
    pc = next(pc for pc, i in enumerate(kernel.program.instructions) if i.row.mnemonic == mnemonic)
    region = next(r for r in regions(kernel.program, pairs) if r.first <= pc < r.first + len(r.code))
    return places(region, range(len(region.code)), pc - region.first)


def test_dependences_bound_the_places_of_an_instruction():
    """Registers, accesses to the same memory, and barriers bound the places of loads and stores."""
    kernel = read(LISTING)
    assert may_stand(kernel, "SHL") == range(1, 2)
    assert may_stand(kernel, "LDG") == range(1)  # its value, and the store to global memory, come after it
    assert may_stand(kernel, "STS") == range(1, 4)  # after the load of its word, before the load from shared
    assert may_stand(kernel, "LDS") == range(4, 5)  # after the store, before the barrier
    assert may_stand(kernel, "BAR.SYNC") == range(5, 10)
    pairs = disjoint(kernel, [0])
    assert may_stand(kernel, "LDS", pairs) == range(5)
    assert may_stand(kernel, "STS", pairs) == range(1, 5)


def test_a_loop_is_a_region_that_repeats():
    """A loop is one region from its label to its branch; the instructions before and after it make others."""
    assert [(r.first, len(r.code), r.repeats) for r in regions(read(LISTING).program)] == [
        (0, 5, False), (5, 11, True), (16, 1, False),
    ]  # fmt: skip


def test_loads_that_are_counted_keep_their_order():
    """With S_WAITCNT in the program two loads do not change places; without it they may."""
    text = "MOV R2, c[X]\nLDG R4, [R2]\nLDG R5, [R2+4]\n{}\nEXIT"
    head = ".buffer X f32 64\n"
    spaced = [read(head + text.format(wait)) for wait in ("IADD R6, R6, 1", "S_WAITCNT vmcnt(0)")]
    assert [len(may_stand(kernel, "LDG")) for kernel in spaced] == [3, 1]


def test_counted_accesses_keep_their_order_though_they_never_meet():
    """A load may pass a store to other words, unless the program has an S_WAITCNT, which counts both."""
    head = ".buffer X f32 64\n.buffer Y f32 64\n"
    text = "MOV R2, c[X]\nMOV R3, c[Y]\nSTG [R3], R2\nLDG R5, [R2]\n{}\nEXIT"
    free, counted = (read(head + text.format(wait)) for wait in ("IADD R6, R6, 1", "S_WAITCNT vmcnt(0)"))
    assert [may_stand(kernel, "LDG", ((2, 3),)) for kernel in (free, counted)] == [range(1, 5), range(3, 4)]


def test_codes_and_reuse_flags_fit_one_order():
    """Control codes and reuse flags are dropped with a new order, and stay with the old one."""
    text = "[B------:R-:W-:-:S04] MOV R1, 3\n[B------:R-:W-:-:S04] FADD R3, R2.reuse, 1.0\n[B------:R-:W-:-:S01] EXIT\n"
    program = read(text).program
    assert reordered(program, [0, 1, 2]) is program
    other = reordered(program, [1, 0, 2])
    assert [i.control for i in other.instructions] == [None] * 3
    assert not other.instructions[0].operands[1].reuse


@pytest.mark.parametrize(
    ("order", "taken"), [([0, 1, 2], []), ([2, 0, 1], [2]), ([1, 2, 3, 0], [0]), ([3, 2, 1, 0], [1, 2, 3]), ([], [])]
)
def test_the_fewest_instructions_count_as_moved(order, taken):
    """The instructions moved are all but the longest part that stays in order."""
    assert sorted(moved(order)) == taken


def test_progress_is_reported():
    """`tell` is called after each of the three regions with its number and their count."""
    reported = []
    improved(read(LISTING).program, TABLE_3, (), lambda done, total: reported.append((done, total)))
    assert reported == [(1, 3), (2, 3), (3, 3)]


def test_an_empty_program_has_no_region():
    """A program without instructions has no region, an empty order and no stall."""
    assert regions(Program(())) == []
    assert (improved(Program(()), TABLE_3), static_stalls(Program(()), TABLE_3)) == ((), 0)
