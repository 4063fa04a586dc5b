"""Running a kernel on one SM: values, feeds, and errors."""

from dataclasses import replace

import numpy as np
import pytest
from draws import draws
from hypothesis import given, settings
from interpreter.interpret import interpret
from strategies.launches import REPEATABLE, kernels, launches, looping_kernels
from timing import plain_machine
from twins import differences

from gpusim.engines.simulate import ENGINES, run_sm
from gpusim.engines.walks.races import races
from gpusim.launch.feed import FEEDS, recordable
from gpusim.machine.machine import Machine, load
from gpusim.sm.jit.rule import COMPILED
from isa.errors import DeadlockError, ExecutionError, LimitError, UserError
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.row import Unit
from isa.table import TABLE
from isa.text.listing import read
from workloads.catalog import CATALOG, make
from workloads.papers.lai.lai import sgemm_lai

TEXTURE_OF_DOUBLES = """
.buffer x f64 4 = iota
.buffer y u32 32
    S2R R0, LANEID
    TEX R1, tex[x], R0
    SHL R0, R0, 2
    IADD R0, R0, c[y]
    STG [R0], R1
    EXIT
"""
WIDE_TEXTURES = """
.buffer x u32 64 = iota
.buffer y u32 256
    S2R R0, LANEID
    SHR R1, R0, 2
    IADD R2, R0, -3
    TEX.64 R4, tex[x], R2
    TEX.128 R8, tex[x], R2
    TEX.2D R6, tex[x], R2, R1, 5
    TEX.2D.64 R12, tex[x], R1, R2, R0
    SHL R0, R0, 5
    IADD R0, R0, c[y]
    STG.128 [R0], R4
    TEX.2D.128 R4, tex[x], R4, R5, 3
    STG.128 [R0+0x10], R4
    STG.64 [R0+0x10], R12
    STG [R0+0x0c], R11
    EXIT
"""
SMALL = {
    "sgemm-lai": {"m": "96", "n": "96", "k": "32"},
    "sg4": {"m": "128", "n": "128", "k": "16"},
    "mix": {"iterations": "2", "warps": "2"},
    "dual-issue": {"iterations": "2", "warps": "2"},
    "throughput": {"iterations": "2", "blocks": "3"},
}
TWO_FAULTS = """
.block 64
    S2R R0, WARPID
    IADD R0, R0, 1
    LDS R3, [R0]
    EXIT
"""


def without_barrier(kernel: Kernel, number: int) -> Kernel:
    """The kernel with one of its barriers replaced by NOP."""
    code = list(kernel.program.instructions)
    barriers = [pc for pc, i in enumerate(code) if i.row.unit is Unit.BARRIER]
    code[barriers[number]] = Instruction(TABLE["NOP"], ())
    return replace(kernel, program=replace(kernel.program, instructions=tuple(code)))


@pytest.mark.jit
@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
def test_a_dropped_barrier_gives_wrong_values(layout):
    """Without the barrier before a tile is overwritten, SGEMM computes wrong values, and the race is reported."""
    kernel, machine = sgemm_lai(96, 96, 64, layout), load("gtx580", {"schedulers.policy": "gto"})
    right = interpret(kernel).memory
    broken = without_barrier(kernel, -2)
    assert np.array_equal(run_sm(kernel, machine).memory, right)
    assert not np.array_equal(run_sm(broken, machine).memory, right)
    assert races(kernel) == []
    assert races(broken) != []


@pytest.mark.parametrize("engine", ENGINES)
def test_a_texture_of_doubles_is_read_to_its_end(engine):
    """A fetch of 32-bit words is clamped to the bytes of its buffer, whatever the type of its elements."""
    kernel = read(TEXTURE_OF_DOUBLES)
    assert np.array_equal(run_sm(kernel, plain_machine(), engine=engine).memory, interpret(kernel).memory)


@pytest.mark.parametrize("engine", ENGINES)
def test_wide_and_two_dimensional_textures_are_read_as_interpreted(engine):
    """Elements of one, two and four words, by index or by clamped column and row: memory is the interpreter's."""
    kernel = read(WIDE_TEXTURES)
    assert np.array_equal(run_sm(kernel, plain_machine(), engine=engine).memory, interpret(kernel).memory)


def feeds_differ(kernel: Kernel, machine: Machine) -> set[str]:
    """Names of what differs between the feeds, values left out, every record of the trace included."""
    full, *timed = (run_sm(kernel, machine, feed=feed, trace=True) for feed in FEEDS)
    return {name for run in timed for name in differences(full, run)} - {"memory", "registers"}


@settings(REPEATABLE, max_examples=draws(60 if COMPILED else 3))
@given(launches(kernels(most_blocks=3, least=4)))
def test_time_does_not_depend_on_values(launched):
    """Computing only what addresses and branches need, and recording it, give the same trace and the same stalls."""
    kernel, machine = launched
    assert feeds_differ(kernel, machine) == set()


@pytest.mark.jit
@settings(REPEATABLE, max_examples=draws(60))
@given(launches(looping_kernels(), tags=False))
def test_trace_driven_loops_go_as_execution_driven_ones(launched):
    """The same for long loops over several blocks, none of which falls back to another feed."""
    kernel, machine = launched
    assert recordable(kernel)
    assert run_sm(kernel, machine, feed="trace-driven").feed == "trace-driven"
    assert feeds_differ(kernel, machine) == set()


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize("name", CATALOG)
def test_the_feeds_agree_on_the_catalog(name):
    """All feeds agree on every kernel of the catalog, in a small size, on the machine with the most warps."""
    kernel = make(name, SMALL.get(name))
    assert feeds_differ(kernel, load("wide" if kernel.warp_size == 32 else "mi60")) == set()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (".shared 64\nMOV R0, 2\nLDS R1, [R0]\nEXIT", ["misaligned", "0x2"]),
        (".shared 64\nMOV R0, 64\nLDS R1, [R0]\nEXIT", ["0x40"]),
        (".local 16\nLDL R1, [RZ+16]\nEXIT", ["0x10"]),
        ("MOV R0, -4\nLDG R1, [R0]\nEXIT", ["0xfffffffc"]),
    ],
    ids=["misaligned", "outside shared", "outside local", "outside global"],
)
def test_a_fault_names_its_place(text, words, engine):
    """The message of a fault has the place of the access, and is the same as in program order."""
    kernel = read(text)
    with pytest.raises(ExecutionError) as timed:
        run_sm(kernel, plain_machine(), engine=engine)
    with pytest.raises(ExecutionError) as ordered:
        interpret(kernel)
    assert str(timed.value) == str(ordered.value)
    assert all(word in str(timed.value) for word in words)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_first_fault_of_a_cycle_is_the_one_reported(engine):
    """If two schedulers fault in the same cycle, the fault of the one that acts first is reported."""
    with pytest.raises(ExecutionError, match=r"warp 0.*0x1 "):
        run_sm(read(TWO_FAULTS), plain_machine({"schedulers.count": 2}), engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_deadlock_names_the_barrier_and_its_warps(engine):
    """If one warp never reaches a barrier, the error names the barrier and the warp that waits."""
    text = ".block 64\nS2R R0, WARPID\nISETP.EQ P0, R0, 0\n@P0 BRA out\nBAR.SYNC 3\nout:\nEXIT"
    with pytest.raises(DeadlockError, match=r"barrier 3 has 1 of 2 warps: warp 1 at pc 3"):
        run_sm(read(text), plain_machine(), engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_deadlock_names_the_barrier_of_lanes_that_have_diverged(engine):
    """Half of warp 0 waits at pc 5, right before its lanes meet, although the warp's pc is that of the other half."""
    text = (
        ".block 64\nS2R R0, TID.X\nISETP.LT P0, R0, 16\nISETP.LT P1, R0, 32\n@P0 BRA there\n@!P1 BRA join\n"
        "BAR.SYNC 1\njoin:\nBAR.SYNC 0\nEXIT\nthere:\nNOP\nBRA join"
    )
    with pytest.raises(DeadlockError, match=r"barrier 0 has 1 .*: warp 1 at pc 6 .*barrier 1 has 1 .*: warp 0 at pc 5"):
        run_sm(read(text), plain_machine(), engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_endless_loop_ends_at_the_limit(engine):
    """A launch that takes more than `max_cycles` ends with an error that names the limit of 500 cycles."""
    with pytest.raises(LimitError, match="500 cycles"):
        run_sm(read("again:\nBRA again"), plain_machine(), engine=engine, max_cycles=500)


def test_an_unknown_engine_is_refused():
    """The error names the engines that exist."""
    with pytest.raises(UserError, match="compiled, reference"):
        run_sm(read("EXIT"), plain_machine(), engine="abacus")


def test_a_register_too_many_is_refused():
    """A program with more registers than the machine has per thread does not start."""
    with pytest.raises(UserError, match="needs 64 registers per thread; gtx580 has 63"):
        run_sm(read("MOV R63, 0\nEXIT"), plain_machine())


@pytest.mark.parametrize("engine", ENGINES)
def test_running_off_the_end_exits(engine):
    """A program without EXIT ends after its last instruction, with the cycles of the program with EXIT."""
    text = "IADD R0, R0, 1\n"
    assert (
        run_sm(read(text), plain_machine(), engine=engine).cycles == run_sm(read(text + "EXIT"), plain_machine()).cycles
    )
