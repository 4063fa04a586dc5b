"""Loads behind a buffer, in its last page: what a chip reads there, how they are counted, and where they end."""

from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter.interpret import interpret
from strategies.launches import REPEATABLE, kernels, launches
from strategies.waits import waited

from gpusim.engines.simulate import run_chip, run_sm
from gpusim.engines.walks.program_order import walk
from gpusim.launch.feed import TRACE_DRIVEN
from gpusim.machine.machine import load
from isa.errors import ExecutionError
from isa.executing.beyond import Beyond, told
from isa.memory import bases
from isa.text.listing import read

MACHINE = load("gtx580", {"chip.sms": 2})
TEXT = """
.grid {blocks}
.block 64
.buffer x u32 {words} = iota
.buffer y u32 {all}
    S2R R0, CTAID.X
    S2R R1, TID.X
    IMAD R0, R0, 64, R1
    SHL R0, R0, 2
    IADD R2, R0, c[x]
    IADD R3, R0, c[y]
    {code}
    STG [R3], R4
    EXIT
"""
ENGINES = [partial(run_sm, engine="compiled"), partial(run_sm, engine="reference"), run_chip]


def kernel(words, blocks=1, code="LDG R4, [R2]", page_bytes=4096):
    """Return a kernel whose threads read an element of x each, of which there are too few, and store it in y."""
    text = TEXT.format(blocks=blocks, words=words, all=64 * blocks, code=code)
    return replace(read(text), page_bytes=page_bytes)


def stored(memory, made):
    """Return the elements of y."""
    return memory[bases(made.buffers)["y"] // 4 :][: 64 * made.blocks]


@pytest.mark.parametrize("run", ENGINES)
def test_loads_in_the_last_page_read_zeros_and_are_counted(run):
    """Of 64 threads 24 read behind 40 elements: zeros; the first is lane 8 of warp 1, at the buffer's end."""
    made = kernel(40)
    found = run(made, MACHINE)
    assert stored(found.memory, made).tolist() == [*range(40), *[0] * 24]
    assert found.beyond == Beyond(loads=24, pc=6, block=0, warp=1, lane=8, address=4096 + 160)


def test_the_interpreter_and_program_order_count_the_same():
    """Both find the loads of two blocks, 88 behind 40 elements, and leave the memory of the engines."""
    made = kernel(40, blocks=2)
    truth = interpret(made)
    walked = walk(made)
    assert truth.beyond == walked.beyond == Beyond(loads=88, pc=6, block=0, warp=1, lane=8, address=4096 + 160)
    assert np.array_equal(walked.memory, truth.memory)
    assert np.array_equal(run_chip(made, MACHINE).memory, truth.memory)


@pytest.mark.parametrize("run", ENGINES)
def test_a_load_of_the_same_address_is_counted_each_time(run):
    """Two loads by one unchanged register count twice; one load in three rounds of a loop three times."""
    twice = kernel(63, code="LDG R4, [R2]\n    LDG R4, [R2]")
    rounds = kernel(63, code="again:\n    LDG R4, [R2]\n    IADD R5, R5, 1\n    ISETP.LT P0, R5, 3\n    @P0 BRA again")
    assert run(twice, MACHINE).beyond.loads == 2
    assert run(rounds, MACHINE).beyond.loads == 3


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (kernel(40, page_bytes=0), "4 bytes at 0x10a0 lie in no buffer; the nearest is x at 0x1000 to 0x10a0"),
        (kernel(64, code="LDG R4, [R2+0x3000]"), "lie in no buffer"),
        (kernel(64, code="STG [R2+128], R1"), "lie in no buffer"),
        (kernel(64, code="ATOMG.ADD R4, [R2+128], R1"), "lie in no buffer"),
        (kernel(64, code="IADD R2, R2, -256\n    LDG R4, [R2]"), "lie in no buffer"),
    ],
    ids=["strict", "behind the page", "store", "atomic", "before the buffer"],
)
def test_other_accesses_outside_buffers_are_errors(made, words):
    """Without pages, behind the page, before the buffer, and for stores and atomics both engines end with one error."""
    found = []
    for run in (*ENGINES, lambda one, _: interpret(one)):
        with pytest.raises(ExecutionError, match=words) as caught:
            run(made, MACHINE)
        found.append(str(caught.value))
    assert len(set(found)) == 1


def test_the_first_load_is_told_with_its_buffer():
    """The sentence says instruction, block, warp, lane, bytes, and how far behind which buffer."""
    made = kernel(40)
    found = run_sm(made, MACHINE).beyond
    assert told(made, found).endswith(
        "block 0, warp 1, lane 8 and 23 other loads: 4 bytes at 0x10a0, 0 behind the end of x"
    )


@settings(REPEATABLE)
@given(
    launches(kernels(most_blocks=1, warp_sizes=(32,))),
    st.integers(1, 200),
    st.integers(1, 3),
    st.sampled_from([512, 4096, 1 << 21]),
    st.sampled_from([0, 4, 400]),
)
def test_both_engines_and_the_interpreter_agree(launched, words, blocks, page_bytes, offset):
    """On random machines, for buffers and pages of any size, all give the same memory and loads, or the same error.

    Without values time is the same.
    """
    made, machine = kernel(words, blocks, f"LDG R4, [R2+{offset}]", page_bytes), launched[1]
    made = replace(made, program=waited(made.program)) if machine.wait_counters else made
    chip = partial(run_chip, made, machine)
    outcomes = {ending(run) for run in (chip, partial(chip, engine="reference"), partial(interpret, made))}
    assert len(outcomes) == 1
    with suppress(ExecutionError):
        assert run_sm(made, machine, feed=TRACE_DRIVEN).cycles == run_sm(made, machine).cycles


def ending(run):
    """Return what a run leaves in memory and how many loads were behind buffers, or its error without the place."""
    try:
        found = run()
    except ExecutionError as error:
        return str(error).split(": ")[-1]
    return found.memory.tobytes(), found.beyond and found.beyond.loads
