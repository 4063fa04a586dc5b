"""Blocks in program order, compiled: memory, counts and patterns are those of the interpreter, to the bit."""

from dataclasses import replace

import numpy as np
import pytest
from draws import draws, few
from generic_addresses import LAUNCHES as GENERIC
from generic_addresses import code as generic_code
from generic_addresses import kernel as generic_name
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from idioms import LAUNCHES as IDIOMS
from idioms import code as idioms_code
from strategies import moves
from strategies.launches import REPEATABLE, kernels, launches, looping_kernels
from strategies.machine_code import kernels as straight_kernels
from strategies.parting_lanes import kernels as parting_kernels

import gpusim
from gpusim.engines import program_order
from gpusim.engines.program_order import UNLIKE, memory_after, profile, walker
from gpusim.jit.rule import COMPILED
from gpusim.launch.feed import ADDRESS_ONLY, EXECUTION_DRIVEN, recordable
from gpusim.machine.machine import load
from gpusim.rules import access_patterns
from isa import memory
from isa.errors import DeadlockError, ExecutionError, LimitError
from isa.execute import profile as interpreted
from isa.execute.interpret import interpret
from isa.operand import Special
from isa.text.listing import read

H200 = load("h200")
GTX580 = load("gtx580")
CHASE = """
.grid 6
.block 64
.shared 256
.buffer x u32 384 = iota
    S2R R0, TID.X
    S2R R1, CTAID.X
    IMAD R2, R1, 64, R0
    SHL R2, R2, 2
    IADD R2, R2, c[x]
    LDG R3, [R2]
    SHL R4, R0, 2
    STS [R4], R3
    BAR.SYNC 0
    LOP.XOR R5, R4, 128
    LDS R6, [R5]
    STG [R2], R6
    EXIT
"""


def walked(kernel, machine):
    """Return what all blocks leave in memory in program order, without the interpreter's help."""
    one, noted = walker(kernel, machine), access_patterns.room(0)
    assert all(program_order._run(one, block, noted, 10**6) for block in range(kernel.blocks))
    return one.launch.memory[: one.launch.global_words]


def counted(patterns):
    """Return how often each pattern with an active lane occurs."""
    active = [one for one in patterns if one.active.any()]
    return {(one.addresses.tobytes(), one.active.tobytes()): one.count for one in active}


def differences(kernel, machine, block=0, feed=EXECUTION_DRIVEN):
    """Return the parts of a block's profile that differ from the interpreter's."""
    truth, found = interpreted.profile(kernel, block), profile(walker(kernel, machine, feed=feed), block, 10**6)
    same = {
        "counts": np.array_equal(truth.counts, found.counts),
        "active": np.array_equal(truth.active, found.active),
        "accesses": {pc: want for pc, one in truth.accesses.items() if (want := counted(one))}
        == {pc: counted(one) for pc, one in found.accesses.items()},
    }
    return [name for name, agrees in same.items() if not agrees]


def test_blocks_leave_what_the_interpreter_leaves():
    """Six blocks that exchange halves through shared memory; three of them run on what the others have left."""
    kernel = read(CHASE)
    truth = interpret(kernel)
    assert np.array_equal(walked(kernel, GTX580), truth.memory)
    left = interpret(kernel, (0, 2, 4)).memory
    assert np.array_equal(memory_after(kernel, GTX580, [1, 3, 5], left)[0], truth.memory)


@pytest.mark.parametrize("sms", [0, 4])
def test_special_registers_of_a_chip(sms):
    """Blocks read the SM that they would have, how many there are, and no time, as in the interpreter."""
    kernel = read(CHASE.replace("LDG R3, [R2]", "S2R R3, LANEID"))
    for name in ("SMID", "NSMID", "VIRTID", "CLOCKLO", "GLOBALTIMERLO"):
        code = list(kernel.program.instructions)
        code[5] = replace(code[5], operands=(code[5].operands[0], Special(name)))
        other = replace(kernel, program=replace(kernel.program, instructions=tuple(code)), sms=sms)
        assert np.array_equal(walked(other, load("gtx580", {"chip.sms": 4})), interpret(other).memory)


def test_a_profile_has_counts_and_patterns():
    """Two warps load a line each from all blocks; in shared memory they access the two halves of 256 bytes."""
    assert [differences(read(CHASE), GTX580, block) for block in (0, 5)] == [[], []]


@settings(REPEATABLE, max_examples=draws(100 if COMPILED else 3))
@given(launches(looping_kernels(warp_sizes=(32,)), tags=False), st.integers(0, 2))
def test_a_profile_needs_only_what_addresses_depend_on(launched, block):
    """Where memory decides nothing, loops have the same profile if only addresses, guards and branches are computed.

    Accesses recur in them at the same addresses and at moved ones, whose costs are known; their patterns are counted.
    """
    kernel, machine = launched
    assume(recordable(kernel) and all(each.row.unit not in UNLIKE for each in kernel.program.instructions))
    assert differences(kernel, machine, min(block, kernel.blocks - 1), ADDRESS_ONLY) == []


@settings(REPEATABLE, max_examples=draws(150 if COMPILED else 3))
@given(parting_kernels())
def test_lanes_that_part(kernel):
    """Random control flow of independent lanes, with barriers and exits, leaves the same memory and profile."""
    try:
        truth = interpret(kernel)
    except DeadlockError:
        with pytest.raises(DeadlockError):
            memory_after(kernel, H200, range(kernel.blocks), memory.image(kernel))
        return
    assert np.array_equal(walked(kernel, H200), truth.memory)
    assert differences(kernel, H200) == []


@settings(REPEATABLE, max_examples=draws(150 if COMPILED else 3))
@given(moves.kernels())
def test_accesses_of_all_sizes(kernel):
    """Loads, stores and atomics of one warp in a few bytes leave in memory what program order leaves."""
    assert np.array_equal(walked(kernel, H200), interpret(kernel).memory)
    assert differences(kernel, H200) == []


@settings(REPEATABLE, max_examples=draws(100 if COMPILED else 3))
@given(straight_kernels())
def test_random_machine_code(kernel):
    """Random machine code of all kinds leaves the same memory."""
    assert np.array_equal(walked(kernel, H200), interpret(kernel).memory)


@settings(REPEATABLE, max_examples=draws(150 if COMPILED else 3))
@given(launches(kernels(most_blocks=3, least=4)))
def test_random_listings_on_random_machines(launched):
    """Random programs with loops, barriers and divergence leave the same memory, whatever the machine."""
    kernel, machine = launched
    assert np.array_equal(walked(kernel, machine), interpret(kernel).memory)


@pytest.mark.jit
@pytest.mark.parametrize(("every", "name"), [(x, name) for x in (IDIOMS, GENERIC) for name in few(list(x), 6)])
def test_kernels_of_many_kinds(every, name, monkeypatch, tmp_path):
    """Compiled kernels leave the same arrays with the blocks of other SMs in program order, by either of the two."""
    path, left = tmp_path / "code.cubin", []
    path.write_bytes(idioms_code() if every is IDIOMS else generic_code())
    function = gpusim.RawModule(path=path).get_function(name if every is IDIOMS else generic_name(name))
    for compiled in (True, False):
        monkeypatch.setattr(program_order, "COMPILED", compiled)
        arrays = every[name].values()
        result = function(every[name].grid, every[name].block, arrays, shared_mem=every[name].shared)
        left.append([array.tobytes() for array in arrays if array.ndim] + [result.bound])
    assert left[0] == left[1]


def test_a_fault_is_the_interpreters():
    """A block that stores beyond its buffer raises the interpreter's error, which names its place."""
    kernel = read(CHASE.replace("u32 384", "u32 380"))
    with pytest.raises(ExecutionError) as truth:
        interpret(kernel, [4, 5])
    with pytest.raises(ExecutionError) as found:
        memory_after(kernel, GTX580, [4, 5], memory.image(kernel))
    assert str(found.value) == str(truth.value)
    assert profile(walker(kernel, GTX580), 5, 10**6) is None


def test_an_endless_block_is_given_up():
    """A profile ends at its limit, with the interpreter's kind of error."""
    with pytest.raises(LimitError, match="100 warp instructions"):
        profile(walker(read("again:\nBRA again"), GTX580), 0, 100)


def test_too_many_patterns_are_left_to_the_interpreter():
    """The eight patterns of a block need room for nine: where all is taken, some may be missing."""
    one = walker(read(CHASE), GTX580)
    found = profile(one, 0, 10**6, 9)
    assert sum(map(len, found.accesses.values())) == 8
    assert profile(one, 0, 10**6, 8) is None
