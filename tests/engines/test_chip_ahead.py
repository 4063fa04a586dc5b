"""SMs that run ahead of each other on several threads: the results of SMs that take turns, whatever the threads do."""

import msgspec
import numpy as np
import pytest
from chip_errors import ERRORS, MOST_CYCLES
from chip_runs import in_turn, on, unlike
from draws import draws, few
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter.interpret import interpret
from read.fenced import ROOT
from strategies.launches import REPEATABLE, kernels, launches
from timing import BANKS, plain_machine

from gpusim.engines.simulate import run_chip
from gpusim.launch.feed import ADDRESS_ONLY, EXECUTION_DRIVEN, FEEDS
from gpusim.launch.file.prepare import prepared
from gpusim.launch.in_turn import CONTESTED
from gpusim.launch.launch import launch_chip
from gpusim.machine.machine import load
from gpusim.sm.jit.rule import COMPILED
from gpusim.sm.state.room import whole
from isa.row import Unit
from isa.text.listing import read
from workloads.catalog import CATALOG, make

THREADS = [1, 2, 3, 5] if COMPILED else [2]  # which is one, then
WINDOWS = [1, 7, 100, 4096, 1 << 20] if COMPILED else [7, 4096]


@settings(REPEATABLE, max_examples=draws(80 if COMPILED else 1))
@given(
    launches(kernels(most_blocks=30, least=4)),
    st.integers(2, 6),
    st.sampled_from([1, 2, 8]),
    st.sampled_from(THREADS),
    st.sampled_from(WINDOWS),
    st.sampled_from(FEEDS),
)
def test_random_pairs_give_what_sms_in_turn_give(launched, sms, slots, threads, window, feed):
    """Of random programs on chips of random rules every sum of every SM, memory and registers are the same."""
    kernel, machine = launched[0], on(sms, launched[1])
    machine = msgspec.structs.replace(machine, limits=msgspec.structs.replace(machine.limits, blocks=slots))
    run = run_chip(kernel, machine, feed=feed, threads=threads, window=window)
    assert unlike(run, in_turn(kernel, machine, feed=feed)) == []
    assert run.threads <= threads


STREAM = """
.grid {blocks}
.block 64
.buffer x u32 {words} = iota
.buffer y u32 {words}
    S2R R0, CTAID.X
    S2R R1, TID.X
    IMAD R0, R0, 64, R1
    SHL R0, R0, 2
    IADD R2, R0, c[x]
    IADD R3, R0, c[y]
    LDG R4, [R2]
again:
    IADD R4, R4, R1
    IADD R5, R5, 1
    ISETP.LT P0, R5, {rounds}
    @P0 BRA again
    STG [R3], R4
    EXIT
"""
STREAMED = {"chip.sms": 5, "limits.blocks": 3, "chip.dram_mbs": 60000, "schedulers.count": 2}


def stream(blocks, rounds):
    """Return a kernel whose warps each load a line, compute for a while, and store a line."""
    return read(STREAM.format(blocks=blocks, words=64 * blocks, rounds=rounds))


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("threads", THREADS)
def test_blocks_come_and_stores_leave_in_the_order_of_the_chip(threads, window):
    """Short blocks, 60 on five SMs of three slots: blocks, drains and loads are felt when they are in turn."""
    kernel, machine = stream(60, 9) if COMPILED else stream(17, 1), plain_machine(STREAMED)
    run = run_chip(kernel, machine, threads=threads, window=window)
    assert run.in_turn == ""
    assert unlike(run, in_turn(kernel, machine)) == []
    assert np.array_equal(run.memory, interpret(kernel).memory)
    assert unlike(run, run_chip(kernel, machine, engine="reference")) == []


WRITTEN = """
.grid {blocks}
.block 64
.shared 1024
.buffer x u32 {words} = iota
.buffer y u32 {words}
    S2R R0, CTAID.X
    S2R R1, TID.X
    IMAD R0, R0, 64, R1
    SHL R0, R0, 2
    IADD R2, R0, c[x]
    IADD R3, R0, c[y]
    LDG R4, [R2]
    LDS R8, [RZ]
    LDS.64 R10, [RZ]
{adds}
    IADD R4, R4, R8
    STG [R3], R4
    EXIT
"""
ONE_BANK = {**STREAMED, **BANKS}
RETURNED = {"lead": 7, "apart": 2, "patience": 3, "notice": 3, "near": 16, "room": 2}


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("threads", THREADS)
def test_results_that_come_back_stop_the_same_schedulers(threads, window):
    """Where FFMAs write the bank that results come back to, SMs ahead lose the same cycles, of either engine; some."""
    blocks, adds = (30, 200) if COMPILED else (7, 60)
    lines = "\n".join(f"    FFMA R{20 + i % 16 * 2}, R1, R1, R1" for i in range(adds))
    kernel = read(WRITTEN.format(blocks=blocks, words=64 * blocks, adds=lines))
    machine = plain_machine(ONE_BANK | {f"write_back.{key}": value for key, value in RETURNED.items()})
    run = run_chip(kernel, machine, threads=threads, window=window)
    assert run.in_turn == ""
    assert unlike(run, in_turn(kernel, machine)) == []
    assert unlike(run, run_chip(kernel, machine, engine="reference")) == []
    assert run.cycles > run_chip(kernel, plain_machine(ONE_BANK)).cycles


@pytest.mark.jit
def test_runs_are_all_alike():
    """The same launch gives the same on every run of as many threads as there may be."""
    kernel, machine = stream(80, 3), plain_machine(STREAMED)
    first = run_chip(kernel, machine, threads=5)
    for _ in range(draws(30, 5)):
        assert unlike(first, run_chip(kernel, machine, threads=5)) == []


SIZES = {
    "sgemm-lai": {"m": "192", "n": "288", "k": "64"},
    "sg4": {"k": "64"},
    "matmul-naive": {"k": "16"},
    "matmul-block": {"m": "64", "n": "64", "k": "64"},
}


@pytest.mark.jit
@pytest.mark.parametrize("name", few(sorted(CATALOG), 6))
def test_kernels_of_the_catalog(name):
    """Each kernel of the catalog, with values, on four SMs of its machine: the same on two threads as in turn."""
    kernel = make(name, SIZES.get(name, {}))
    machine = on(4, load(CATALOG[name].machine))
    run = run_chip(kernel, machine, threads=2, feed=ADDRESS_ONLY)
    assert run.in_turn == "" or kernel.warp_size == 64
    assert unlike(run, in_turn(kernel, machine, feed=ADDRESS_ONLY)) == []


CODE = ROOT / "examples" / "cuda"


@pytest.mark.jit
@pytest.mark.parametrize("feed", [EXECUTION_DRIVEN, ADDRESS_ONLY])
@pytest.mark.parametrize("name", few(sorted(path.stem for path in CODE.glob("*.cubin")), 3))
def test_machine_code(name, feed):
    """Each CUDA example on four SMs of an H200 without tags: the same on two threads as in turn, with the same words.

    Only those with atomics in global memory take turns, and those always where all values are computed.
    """
    kernel, machine = prepared(str(CODE / f"{name}.cubin")), on(4, load("h200", {"cache.hits": "none"}))
    run = run_chip(kernel, machine, threads=2, feed=feed)
    atomics = any(one.row.update and one.row.unit is Unit.GLOBAL for one in kernel.program.instructions)
    assert atomics or not run.in_turn
    assert run.in_turn or not atomics or feed == ADDRESS_ONLY
    assert unlike(run, in_turn(kernel, machine, feed=feed)) == []


FLAG = """
.grid 4
.buffer flag u32 4
.buffer y u32 4
    S2R R0, CTAID.X
    SHL R1, R0, 2
    MOV R2, c[flag]
    IADD R3, R1, c[y]
    ISETP.EQ P0, R0, 3
    @P0 STG [R2], 7
again:
    LDG R4, [R2]
    IADD R5, R5, 1
    ISETP.NE P1, R4, 7
    @P1 BRA again
    STG [R3], R5
    EXIT
"""
SAME_WORD = """
.grid 8
.buffer y u32 4
    S2R R0, CTAID.X
    MOV R1, c[y]
    IADD R0, R0, 5
    STG [R1], R0
    EXIT
"""


@pytest.mark.parametrize("text", [FLAG, SAME_WORD], ids=["flag", "last"])
@pytest.mark.parametrize("threads", [1, 4] if COMPILED else [1])
def test_words_of_several_sms_make_them_take_turns(text, threads):
    """A flag for which others spin, or a word to which all store: in turn, with the reason, as the reference has it."""
    machine = plain_machine({"chip.sms": 4})
    run = run_chip(read(text), machine, threads=threads)
    assert (run.in_turn, run.threads) == (CONTESTED, 1)
    assert unlike(run, run_chip(read(text), machine, engine="reference")) == []


def test_a_texture_belongs_to_all():
    """A store to a buffer that is read as a texture makes SMs take turns; a store to another one does not."""
    text = ".grid 4\n.buffer x u32 32 = iota\n.buffer y u32 32\nS2R R0, CTAID.X\nTEX R2, tex[x], R0\nSHL R1, R0, 2\n"
    text += "IADD R1, R1, c[{}]\nSTG [R1], R2\nEXIT"
    machine = plain_machine({"chip.sms": 4})
    runs = {name: run_chip(read(text.format(name)), machine, threads=2) for name in "xy"}
    assert {name: run.in_turn for name, run in runs.items()} == {"x": CONTESTED, "y": ""}
    for name, run in runs.items():
        assert unlike(run, run_chip(read(text.format(name)), machine, engine="reference")) == []


def test_words_that_all_only_load_are_nobodys():
    """A buffer that all SMs load and none stores to keeps nobody from running ahead."""
    text = ".grid 8\n.buffer x u32 4 = iota\n.buffer y u32 8\nMOV R1, c[x]\nLDG R2, [R1+4]\nS2R R0, CTAID.X\n"
    text += "SHL R0, R0, 2\nIADD R0, R0, c[y]\nSTG [R0], R2\nEXIT"
    run = run_chip(read(text), plain_machine({"chip.sms": 4}), threads=2)
    assert run.in_turn == ""
    assert np.array_equal(run.memory, interpret(read(text)).memory)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize(("text", "error", "message"), ERRORS)
def test_errors_are_those_of_sms_in_turn(text, error, message, threads):
    """A fault, a deadlock and an endless loop are told as if SMs took turns: the first of two faults is named."""
    with pytest.raises(error, match=message):
        run_chip(read(f".grid 3\n{text}"), plain_machine({"chip.sms": 3}), threads=threads, max_cycles=MOST_CYCLES)


@pytest.mark.parametrize("machine", few(["gtx580", "h200"], 1))
def test_an_sm_takes_less_than_5_mb(machine):
    """Of a launch of 900 instructions each SM takes less than 5 MB, the values of its registers included."""
    kernel = make("sgemm-lai", {"m": "384", "n": "384", "k": "64"})
    assert len(kernel.program) > 700
    ready = launch_chip(kernel, load(machine, {"cache.hits": "none"}), feed="trace-driven")
    assert whole(ready.sms).nbytes < 5 * 10**6 * len(ready.sms)
    assert ready.in_turn == ""
