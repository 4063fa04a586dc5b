"""Blocks in program order: memory, counts and accesses are those of the interpreter, to the bit."""

import re
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pytest
from draws import draws, few
from generic_addresses import LAUNCHES as GENERIC
from generic_addresses import code as generic_code
from generic_addresses import kernel as generic_name
from hypothesis import given, settings
from idioms import LAUNCHES as IDIOMS
from idioms import code as idioms_code
from interpreter.interpret import interpret
from strategies import moves
from strategies.launches import REPEATABLE, kernels, looping_kernels
from strategies.machine_code import kernels as straight_kernels
from strategies.parting_lanes import kernels as parting_kernels

import gpusim
from gpusim.engines.walks.program_order import walk
from gpusim.sm.jit.rule import COMPILED
from gpusim.sm.walk import access_log
from isa.dataflow.memory.address_slice import address_slice
from isa.errors import DeadlockError, ExecutionError, LimitError
from isa.operands.operand import Special
from isa.row import Unit
from isa.text.listing import read

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


def told(run, kernel, *, in_turn):
    """Return what a run tells of its accesses, warp by warp, and of releases; without their order if not `in_turn`."""
    seen, code = [], kernel.program.instructions

    def observe(pc, warps, addresses, active):
        scalar = code[pc].row.unit is Unit.SMEM  # one address, whatever lanes are active
        for warp, row, on in zip(warps.tolist(), addresses, active, strict=True):
            lanes = ("all",) if scalar else tuple(np.flatnonzero(on).tolist())
            seen.append((pc, warp, lanes, tuple(row.tolist() if scalar else row[on].tolist())))

    def released(warps):
        seen.append(("released", tuple(sorted(warps.tolist()))))

    found = run(observe, released if in_turn else None)
    return found, seen if in_turn else sorted(seen)


def differences(kernel):
    """Return what differs from the interpreter, of what blocks leave and access, with all values and for addresses."""
    every = product((False, True), repeat=2)
    return [(*how, part) for how in every for part in differing(kernel, addresses=how[0], in_turn=how[1])]


def differing(kernel, *, addresses, in_turn):
    """Return the same of one kind of walk."""
    wanted = address_slice(kernel.program) if addresses else None
    truth, at = told(lambda see, free: interpret(kernel, None, see, wanted, released=free), kernel, in_turn=in_turn)
    walking = partial(walk, kernel, addresses=addresses)
    found, here = told(lambda see, free: walking(observe=see, released=free), kernel, in_turn=in_turn)
    same = {
        "counts": np.array_equal(truth.counts, found.counts) and np.array_equal(truth.active, found.active),
        "accesses": at == here,
        "loads behind buffers": truth.beyond == found.beyond,
        "memory": addresses or np.array_equal(truth.memory, found.memory),
    }
    return [part for part, agrees in same.items() if not agrees]


def test_blocks_leave_what_the_interpreter_leaves():
    """Six blocks that exchange halves through shared memory; three of them run on what the others have left."""
    kernel = read(CHASE)
    assert differences(kernel) == []
    left = walk(kernel, (0, 2, 4)).memory
    assert np.array_equal(walk(kernel, [1, 3, 5], left=left).memory, interpret(kernel).memory)


@pytest.mark.parametrize("sms", [0, 4])
def test_special_registers_of_a_chip(sms):
    """Blocks read the SM that they would have, how many there are, and no time, as in the interpreter."""
    kernel = read(CHASE.replace("LDG R3, [R2]", "S2R R3, LANEID"))
    for name in ("SMID", "NSMID", "VIRTID", "CLOCKLO", "GLOBALTIMERLO"):
        code = list(kernel.program.instructions)
        code[5] = replace(code[5], operands=(code[5].operands[0], Special(name)))
        other = replace(kernel, program=replace(kernel.program, instructions=tuple(code)), sms=sms)
        assert np.array_equal(walk(other).memory, interpret(other).memory)


@pytest.mark.jit
@settings(REPEATABLE, max_examples=draws(100))
@given(looping_kernels())
def test_loops(kernel):
    """Accesses recur in loops at the same addresses and at moved ones, whose costs are known; all are told."""
    assert differences(kernel) == []


@settings(REPEATABLE, max_examples=draws(150 if COMPILED else 3))
@given(parting_kernels())
def test_lanes_that_part(kernel):
    """Random control flow of independent lanes, with barriers and exits, does the same, or ends in the same error."""
    try:
        interpret(kernel)
    except DeadlockError as truth:
        with pytest.raises(DeadlockError, match=f"^{re.escape(str(truth))}$"):
            walk(kernel)
        return
    assert differences(kernel) == []


@settings(REPEATABLE, max_examples=draws(150 if COMPILED else 3))
@given(moves.kernels())
def test_accesses_of_all_sizes(kernel):
    """Loads, stores and atomics of one warp in a few bytes do the same."""
    assert differences(kernel) == []


@pytest.mark.jit
@settings(REPEATABLE, max_examples=draws(100))
@given(straight_kernels())
def test_random_machine_code(kernel):
    """Random machine code of all kinds does the same."""
    assert differences(kernel) == []


@pytest.mark.jit
@settings(REPEATABLE, max_examples=draws(150))
@given(kernels(most_blocks=3, least=4))
def test_random_listings(kernel):
    """Random programs with loops, barriers, textures and divergence do the same, with warps of 32 and 64 lanes."""
    assert differences(kernel) == []


@pytest.mark.jit
@pytest.mark.parametrize(("every", "name"), [(x, name) for x in (IDIOMS, GENERIC) for name in few(list(x), 6)])
def test_kernels_of_many_kinds(every, name, tmp_path):
    """Compiled kernels do the same: barriers, atomics, texture objects, shuffles, generic addresses."""
    path, one = tmp_path / "code.cubin", every[name]
    path.write_bytes(idioms_code() if every is IDIOMS else generic_code())
    function = gpusim.RawModule(path=path).get_function(name if every is IDIOMS else generic_name(name))
    assert differences(function.launched(one.grid, one.block, one.values(), shared_mem=one.shared)) == []


def test_a_fault_is_the_interpreters():
    """A block that stores beyond its buffer raises the interpreter's error, which names its place."""
    kernel = read(CHASE.replace("u32 384", "u32 380"))
    with pytest.raises(ExecutionError) as truth:
        interpret(kernel, [4, 5])
    with pytest.raises(ExecutionError, match=f"^{re.escape(str(truth.value))}$"):
        walk(kernel, [4, 5])


def test_warps_that_wait_for_ever_are_told():
    """A barrier for three warps that two reach: the error is the interpreter's, with both places."""
    kernel = read(".block 64\nBAR.SYNC 0, 96\nEXIT")
    with pytest.raises(DeadlockError) as truth:
        interpret(kernel)
    with pytest.raises(DeadlockError, match=f"^{re.escape(str(truth.value))}$"):
        walk(kernel)


def test_an_endless_block_is_given_up():
    """A walk ends behind its limit, and says where; the interpreter ends there, too, or at the end of straight code."""
    kernel = read("again:\nNOP\nNOP\nBRA again")
    with pytest.raises(LimitError, match="more than 100 warp instructions"):
        interpret(kernel, limit=100)
    with pytest.raises(LimitError, match="more than 100 warp instructions"):
        walk(kernel, limit=100)


def test_more_accesses_than_the_log_holds(monkeypatch):
    """A log that is full after each turn tells all the same."""
    monkeypatch.setattr(access_log, "MOST", access_log.MARGIN)
    assert differences(read(CHASE)) == []
