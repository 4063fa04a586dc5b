"""The proof that control codes keep a program's order."""

from dataclasses import replace

import pytest
from coded import V100, coded
from draws import draws
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies.launches import REPEATABLE, controls, kernels

from gpusim.engines import simulate
from gpusim.launch import launch as launching
from gpusim.launch.launch import launch
from gpusim.machine.machine import load
from isa.kernel import Kernel
from isa.program import Program

H200 = load("h200")


def proven(*lines: str) -> bool:
    """Whether the order of the lines is proven on a V100."""
    return not launch(coded(*lines), V100).sm.defers


@pytest.mark.parametrize(("stall", "holds"), [(3, False), (4, True)])
def test_a_stall_count_covers_a_latency(stall, holds):
    """A V100's MOV takes 4 cycles: a reader 3 cycles later may read the old value, one 4 cycles later doesn't."""
    assert proven(f"[B------:R-:W-:-:S{stall:02}] MOV R8, 7", "[B------:R-:W-:-:S15] MOV R9, R8") is holds


@pytest.mark.parametrize(("mask", "holds"), [("------", False), ("0-----", True), ("-1----", False)])
def test_a_barrier_covers_a_load(mask, holds):
    """A load's reader has to wait for the barrier that the load sets, and no other."""
    assert proven("[B------:R-:W0:-:S01] LDS R8, [RZ]", f"[B{mask}:R-:W-:-:S15] MOV R9, R8") is holds


def test_a_later_load_s_barrier_tells_of_an_earlier_load():
    """Loads from shared memory come back in order: the second one's barrier is enough for the first one's result."""
    lines = "[B------:R-:W-:-:S01] LDS R8, [RZ]", "[B------:R-:W0:-:S01] LDS R7, [RZ]"
    assert proven(*lines, "[B0-----:R-:W-:-:S15] MOV R9, R8")
    assert not proven(*lines[:1], "[B------:R-:W0:-:S01] LDG R7, [RZ+0x1000]", "[B0-----:R-:W-:-:S15] MOV R9, R8")


def test_a_source_may_change_when_it_has_been_read():
    """A store reads its register late: overwriting it is safe behind its read barrier, and not before."""
    store = "[B------:R1:W-:-:S01] STS [RZ], R8"
    assert proven(store, "[B-1----:R-:W-:-:S15] MOV R8, 7")
    assert not proven(store, "[B------:R-:W-:-:S15] MOV R8, 7")


def test_a_loop_is_proven_with_what_its_end_leaves_under_way():
    """The stall count of a loop's last instruction covers what its first one reads."""
    loop = (
        "[B------:R-:W-:-:S04] loop: MOV R9, R8",
        "[B------:R-:W-:-:S{}] MOV R8, 7",
        "[B------:R-:W-:-:S01] @P0 BRA loop",
    )
    label = ("loop:", *(line.replace("loop: ", "") for line in loop))
    assert proven(*(line.format("03") for line in label))
    assert not proven(*(line.format("02") for line in label))


def with_codes(drawn: tuple[Kernel, list]) -> Kernel:
    """The kernel with those codes, one for each instruction."""
    kernel, codes = drawn
    body = tuple(replace(i, control=code) for i, code in zip(kernel.program.instructions, codes, strict=True))
    program = Program(body, kernel.program.labels, kernel.program.shared_bytes, kernel.program.local_bytes)
    return replace(kernel, program=program)


CODED = kernels().flatmap(
    lambda kernel: st.tuples(
        st.just(kernel), st.lists(controls(), min_size=len(kernel.program), max_size=len(kernel.program))
    ).map(with_codes)
)


@settings(REPEATABLE, max_examples=draws(20))
@given(st.one_of(kernels(), CODED))
def test_a_proven_order_has_no_hazard(kernel):
    """Where the order is proven, following every result until it is ready finds no hazard."""
    code = kernel.program.instructions
    assume(kernel.warp_size == 32 and any(i.control for i in code) and not any(i.row.is_gcn for i in code))
    assume(not launch(kernel, H200).sm.defers)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launching, "keeps_order", lambda *_: False)
        noted, error = simulate.run_noting(kernel, H200, blocks=1)
    assert error is None
    assert len(noted) == 0
