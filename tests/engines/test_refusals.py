"""Refusals of the timing engine at run time, and its limits."""

from dataclasses import replace

import pytest
from interpreter.interpret import interpret
from timing import run_text

from gpusim.bounds.bounds import bound
from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from gpusim.simulation.simulation import simulate
from isa.errors import ExecutionError, LimitError, UserError
from isa.reading.origin import Origin
from isa.text.listing import read

UNLIKE = """
.grid {blocks}
.block 32
    S2R R0, CTAID.X
    MOV R1, 0
loop:
    IADD R1, R1, 1
    ISETP.LE P0, R1, R0
    @P0 BRA loop
    EXIT
"""


def one_sm():
    """A GTX 580 of one SM that holds one block at a time."""
    return load("gtx580", {"chip.sms": 1, "limits.blocks": 1})


def test_warps_that_count_differently_at_one_barrier_are_refused():
    """The engine and the interpreter refuse a warp whose count at a barrier is not that of the waiting warps."""
    text = """.block 128
    S2R R0, WARPID
    ISETP.EQ P0, R0, 0
    @P0 BAR.SYNC 0, 96
    @!P0 BAR.SYNC 0, 64
    EXIT"""
    for run in (run_text, lambda text: interpret(read(text))):
        with pytest.raises(ExecutionError, match=r"waits for . warps at a barrier where others wait for"):
            run(text)


@pytest.mark.parametrize("engine", ["compiled", "reference", None])
@pytest.mark.parametrize(("size", "load_it"), [(".shared 12", "LDS"), (".local 12", "LDL")])
def test_memory_ends_after_its_last_word(size, load_it, engine):
    """The last word can be loaded, the next one and a pair that begins with the last can't; None: interpreted."""

    def run(text):
        kernel = read(f"{size}\n{text}\nEXIT")
        return run_sm(kernel, load("gtx580"), engine=engine) if engine else interpret(kernel)

    assert not run(f"{load_it} R0, [8]").registers.any()
    for text, nbytes, place in ((f"{load_it} R0, [12]", 4, "0xc"), (f"{load_it}.64 R0, [8]", 8, "0x8")):
        with pytest.raises(ExecutionError, match=f"{nbytes} bytes at {place} lie outside the 12 bytes"):
            run(text)


def test_a_run_may_take_exactly_as_many_cycles_as_allowed():
    """A limit of n cycles lets a run of n cycles end, and stops one of n + 1."""
    kernel, machine = read("MOV R0, 1\nMOV R1, R0\nEXIT"), load("gtx580")
    cycles = run_sm(kernel, machine).cycles
    assert run_sm(kernel, machine, max_cycles=cycles).cycles == cycles
    with pytest.raises(LimitError):
        run_sm(kernel, machine, max_cycles=cycles - 1)


def test_unlike_blocks_are_all_profiled_and_all_simulated():
    """All of 8 blocks that loop as often as their number are profiled and simulated, and the bound holds."""
    kernel = read(UNLIKE.format(blocks=8))
    result = simulate(kernel, one_sm())
    assert result.bound.profiled_blocks == 8
    assert bound(kernel, one_sm()).cycles <= result.cycles
    assert result.scaling.simulated_blocks == 8
    with pytest.raises(UserError, match="its blocks differ"):
        simulate(kernel, one_sm(), sample=2)


@pytest.mark.parametrize("sample", [0, -3, "some"])
def test_a_sample_is_a_number_of_blocks_or_all(sample):
    """Any other sample is refused, even if nothing would be sampled."""
    with pytest.raises(UserError, match="give a number of blocks, or all"):
        simulate(read("EXIT"), "gtx580", sample=sample)


def test_lines_that_the_bound_cannot_place_are_refused():
    """A line of 3 bytes is refused, as it is no power of two."""
    with pytest.raises(UserError, match="power of two"):
        load("gtx580", {"global_memory.line_bytes": 3})


def test_a_barrier_beyond_the_machine_is_refused():
    """A machine with one barrier refuses barrier 1."""
    with pytest.raises(UserError, match="barrier 1 is beyond the 1"):
        run_sm(read("BAR.SYNC 1\nEXIT"), load("gtx580", {"limits.barriers": 1}))


@pytest.mark.parametrize("measure", [run_sm, bound])
def test_an_instruction_that_the_machine_lacks_is_refused(measure):
    """An instruction of a class without a pipe is refused with line, machine and class, before anything runs."""
    with pytest.raises(UserError) as caught:
        measure(read("NOP\nSHFL.BFLY R0, R1, 1\nEXIT"), load("gtx580"))
    assert str(caught.value).startswith("line 2: gtx580 has no SHFL.BFLY: its file gives unit class shuffle no pipe; ")
    measure(read("NOP\nSHFL.BFLY R0, R1, 1\nEXIT"), load("wide"))


def test_machine_code_that_the_machine_lacks_is_refused_at_its_place():
    """The refusal names machine code by function, offset, text and line of source."""
    kernel = read("NOP\nSHFL.BFLY R0, R1, 1\nEXIT")
    origins = Origin("k", 0, "NOP"), Origin("k", 16, "SHFL.BFLY PT, R0, R1, 0x1, 0x1f", "/a/k.cu", 3), Origin("k", 32)
    with pytest.raises(UserError, match=r"^k\+0x10 SHFL.BFLY PT, R0, R1, 0x1, 0x1f \(k.cu:3\): gtx580 has no SHFL"):
        run_sm(replace(kernel, program=replace(kernel.program, origins=origins)), load("gtx580"))
