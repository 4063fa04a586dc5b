"""Warps of 64 lanes: values by hand, refusals, and the cost of each half."""

import numpy as np
import pytest
from interpreter.interpret import interpret
from timing import run_text

from gpusim.bounds.bounds import bound
from gpusim.engines.simulate import ENGINES, run_sm
from gpusim.machine.machine import load
from gpusim.simulation.simulation import simulate
from gpusim.sm.jit.rule import COMPILED
from isa.errors import ExecutionError, UserError
from isa.text.listing import read, write
from workloads.catalog import make

WAVE = {"limits.warp_size": 64}
PLACES = """
.warp 64
.block 96
.buffer out u32 288
    S2R R0, TID.X
    S2R R1, LANEID
    S2R R2, WARPID
    VOTE.BALLOT R3, PT
    IMUL R4, R0, 12
    IADD R4, R4, c[out]
    STG [R4], R1
    STG [R4+4], R2
    STG [R4+8], R3
    EXIT
"""
PARTING = """
.warp 64
    S2R R0, LANEID
    ISETP.LT P0, R0, 40
    @P0 BRA low
    MOV R1, 1
    BRA all
low:
    ISETP.LT P1, R0, 30
    MOV R1, 2
    @P1 EXIT
    IADD R1, R1, 1
all:
    IADD R1, R1, R0
    EXIT
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_lanes_warps_and_halves_are_numbered(engine):
    """96 threads are a warp of 64 and one of 32 lanes; a vote stays inside 32 lanes."""
    machine = load("gtx580", {**WAVE, "unit.vote.pipe": "sp", "unit.vote.latency": 18})
    kernel = read(PLACES)
    run = run_sm(kernel, machine, engine=engine)
    thread = np.arange(96)
    expected = np.stack([thread % 64, thread // 64, np.full(96, 0xFFFFFFFF)], axis=1)
    left = run.memory[-288:] if len(run.memory) > 288 else run.memory
    assert np.array_equal(left.reshape(96, 3), expected)
    assert np.array_equal(interpret(kernel).memory, run.memory)
    assert run.registers.shape[2] == 64


def test_a_listing_keeps_its_warp_size():
    """`read` accepts the output of `write`; another size is refused in one line."""
    assert read(write(read(PLACES))).warp_size == 64
    assert read("EXIT").warp_size == 32
    with pytest.raises(UserError, match=r"no warps of 48 lanes; write .warp 32 or .warp 64"):
        read(".warp 48\nEXIT")


@pytest.mark.parametrize("size", [32, 64])
def test_kernel_and_machine_have_warps_of_one_size(size):
    """A kernel is refused by a machine of the other warp size, and its bound too."""
    kernel, machine = read(f".warp {size}\nEXIT"), load("gtx580", {"limits.warp_size": 96 - size})
    message = f"is written for warps of {size} lanes; gtx580 has {96 - size}; take one of "
    for refused in (run_sm, bound):
        with pytest.raises(UserError, match=message):
            refused(kernel, machine)


def test_a_barrier_of_half_a_warp_is_refused():
    """A barrier of 32 threads is refused where a warp has 64 lanes."""
    with pytest.raises(UserError, match="line 2: 32 threads are no whole warps; take a multiple of 64"):
        run_text(".warp 64\nBAR.SYNC 0, 32\nEXIT", WAVE)


def test_a_fault_names_the_lane_of_the_whole_warp():
    """If 64 lanes load from a buffer of 40 words, the message names lane 40."""
    outside = ".warp 64\n.buffer x u32 40\nS2R R0, LANEID\nSHL R0, R0, 2\nIADD R0, R0, c[x]\nLDG R1, [R0]\nEXIT"
    with pytest.raises(ExecutionError, match="lane 40"):
        run_text(outside, WAVE)


@pytest.mark.parametrize("feed", ["execution-driven", "trace-driven"])
@pytest.mark.parametrize("engine", ENGINES)
def test_lanes_diverge_and_meet_over_both_halves(engine, feed):
    """40 of 64 lanes branch and 30 of these exit: each instruction has the active threads worked out by hand."""
    run = run_sm(read(PARTING), load("gtx580", WAVE), engine=engine, feed=feed)
    assert list(run.active) == [64, 64, 40, 24, 24, 40, 40, 30, 10, 34, 34, 0]
    lane = np.arange(64)
    if feed == "execution-driven":
        assert np.array_equal(run.registers[0, 1], np.select([lane < 30, lane < 40], [2, lane + 3], lane + 1))


def test_a_half_without_an_active_lane_costs_nothing():
    """Both halves store a line of 128 bytes each; without an active lane in the upper half, one line moves."""
    head = ".warp 64\n.buffer x u32 64\nS2R R0, LANEID\nISETP.LT P0, R0, {}\n"
    text = head + "SHL R0, R0, 2\nIADD R0, R0, c[x]\n@P0 STG [R0], R0\nEXIT"
    line = load("gtx580").global_memory.request_cycles
    for lanes, cycles in ((64, 2 * line), (33, 2 * line), (32, line)):
        assert run_text(text.format(lanes), WAVE).load_store_cycles[4] == cycles


def test_an_sm_holds_as_many_warps_of_64_lanes_as_of_32():
    """64 warps of 64 lanes fit."""
    changes = {"limits.warps": 64, "limits.threads": 4096, "limits.threads_per_block": 4096, "limits.blocks": 1}
    machine = load("gtx580", {**WAVE, **changes})
    text = ".warp 64\n.block {}\nEXIT"
    assert run_sm(read(text.format(64 * 64)), machine, engine=ENGINES[0 if COMPILED else 1]).warp_slots == 64


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("chain", {"op": "FFMA", "warps": "3"}),
        ("chain", {"op": "LDG", "pattern": "unit", "length": "70"}),
        ("chain", {"op": "LDS.64", "pattern": "unit", "length": "70"}),
        ("throughput", {"op": "LDG.128", "warps": "2", "iterations": "1", "length": "16"}),
        ("throughput", {"op": "IMUL", "warps": "5", "iterations": "2", "length": "16"}),
    ],
)
def test_probes_of_64_lanes_compute_what_they_promise(name, parameters):
    """All values of the probes are checked and right, with an element for each of 64 lanes."""
    found = simulate(make(name, {**parameters, "lanes": "64"}), load("mi60"))
    assert (found.verification.scope, found.verification.wrong) == ("complete", 0)


def test_a_load_of_gcn_takes_its_latency_and_the_turn_of_the_wait():
    """By hand: S_WAITCNT issues when the load is back, after 60 cycles, and the next load in the next turn, 4 later."""
    cycles = [
        run_sm(make("chain", {"op": "LDS", "length": str(n), "lanes": "64"}), load("mi60")).cycles for n in (8, 24)
    ]
    assert cycles[1] - cycles[0] == 16 * (60 + 4)


@pytest.mark.parametrize(("ports", "turns"), [(5, 8), (1, 16)])
def test_a_turn_of_gcn_takes_a_vector_instruction_and_one_for_the_lds(ports, turns):
    """By hand: 8 additions of one wave and 8 loads of another take 8 turns with five ports, 16 with a single port."""
    text = """
    .warp 64
    .block 320
    .shared 256
        S2R R0, WARPID
        ISETP.EQ P0, R0, 4
        @P0 BRA other
    {}
        EXIT
    other:
    {}
        EXIT
    """
    machine = load("mi60", {"schedulers.dispatch_ports": ports, "schedulers.policy": "lrr"})  # both start
    kernels = [read(text.format("FADD R1, R2, R3\n" * n, "LDS R4, [RZ]\n" * n)) for n in (4, 12)]
    short, long = (run_sm(kernel, machine).cycles for kernel in kernels)
    assert long - short == 4 * turns
