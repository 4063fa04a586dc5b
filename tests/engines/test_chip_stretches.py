"""SMs that share tags and act alone between accesses: the results of SMs that take turns in each cycle."""

import msgspec
import numpy as np
import pytest
from chip_errors import ERRORS, MOST_CYCLES
from chip_runs import in_turn, on, unlike
from draws import draws
from fuzz.found import FOLDER
from fuzz.found import load as load_found
from fuzz.pair import kernel_of, machine_of
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter.interpret import interpret
from scan.every_cycle import scan
from strategies.launches import REPEATABLE, kernels, launches
from strategies.machine_files import launches_on
from tagged_caches import SCALAR_CACHE, SCALAR_FILE, TAGS
from timing import PORT, plain_machine
from twins import differences, mistakes

from gpusim.engines.chip import chip_stretches
from gpusim.engines.simulate import ENGINES, run_chip, run_sm
from gpusim.launch.feed import EXECUTION_DRIVEN, FEEDS
from gpusim.launch.in_turn import CONTESTED, TAGGED
from gpusim.machine.machine import load
from gpusim.machine.occupancy import occupancy
from gpusim.sm.account.record.declaration import ISSUE
from gpusim.sm.jit.rule import COMPILED
from gpusim.sm.memory.cache.declaration import tagged
from isa.text.listing import read
from workloads.catalog import make


def only_tagged(launched):
    """Whether caches of the drawn machine keep tags."""
    return tagged(launched[1])


RANDOM = launches(kernels(most_blocks=30, least=4)) | launches_on(kernels(most_blocks=12, least=3), ["h200"], (1,))


@pytest.mark.long
@pytest.mark.jit
@settings(REPEATABLE, max_examples=draws(120))
@given(
    RANDOM.filter(only_tagged),
    st.integers(1, 6),
    st.sampled_from([1, 2, 8]),
    st.sampled_from(FEEDS),
)
def test_random_pairs_give_what_sms_in_turn_give(launched, sms, slots, feed):
    """Of random programs on chips with tags every sum of every SM, memory and registers are the same."""
    kernel, machine = launched[0], on(sms, launched[1])
    machine = msgspec.structs.replace(machine, limits=msgspec.structs.replace(machine.limits, blocks=slots))
    assert unlike(run_chip(kernel, machine, feed=feed), in_turn(kernel, machine, feed=feed)) == []


# Two warps issue in one cycle, 38, to their schedulers' queues: one to the unit of constants, one to shared memory.
TWO_UNITS = """
.block 64
.shared 256
    S2R R0, WARPID
    ISETP.EQ P0, R0, 1
    @P0 LDS R1, [RZ]
    NOP
    @!P0 S2R R2, CTAID.X
    IADD R3, R1, R2
    EXIT
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_unit_that_was_free_serves_an_access_when_it_comes(engine):
    """The load is back 23 cycles after 38, at 61: then IADD issues, EXIT at 62, and an issue interval ends the launch.

    The unit of shared memory and the queue are free since cycle 4, before the load has come.
    """
    settings_ = {"constant_path.cycles": 2, "constant_path.latency": 3, "schedulers.count": 2, "launch.warp_skew": 1}
    machine = plain_machine(PORT | TAGS | settings_)
    alone = run_sm(read(TWO_UNITS), machine, trace=True)
    issues = [(int(r.cycle), int(r.pc)) for r in alone.trace if r.kind == ISSUE and r.warp == 1]
    assert (38, 2) in issues
    assert issues[-2:] == [(61, 5), (62, 6)]
    (only,) = run_chip(read(TWO_UNITS), machine, engine=engine).each
    assert set(differences(only, alone)) == {"trace"}
    assert only.cycles == 63


@pytest.mark.jit
@pytest.mark.parametrize("feed", FEEDS)
@pytest.mark.parametrize("name", ["reference-all-SMs-3376fd62", "reference-all-SMs-53d3da09"])
def test_a_scan_of_every_cycle_tells_which_engine_is_right(name, feed):
    """All SMs of a chip of one take the cycles of a scan of its SM, which agrees with the run of one SM in all."""
    pair = load_found(FOLDER / f"{name}.toml").case
    kernel, machine = kernel_of(pair.listing), machine_of(pair)
    scanned = scan(kernel, machine, min(occupancy(kernel, machine).blocks, kernel.blocks))
    assert mistakes(run_sm(kernel, machine, trace=True), scanned) == []
    runs = [run_chip(kernel, machine, engine=engine, feed=feed) for engine in ENGINES]
    assert unlike(*runs) == []
    assert [run.cycles for run in runs] == [scanned.cycles] * 2


# Blocks load lines that others have brought to the L2, and sum them with shared memory's words.
SHARED_LINES = """
.grid {blocks}
.block 64
.shared 1024
.buffer x u32 2048 = iota
.buffer y u32 {words}
    S2R R0, CTAID.X
    S2R R1, TID.X
    IMAD R0, R0, 64, R1
    SHL R3, R0, 2
    IADD R3, R3, c[y]
    LOP.AND R2, R0, 255
    SHL R2, R2, 2
    IADD R2, R2, c[x]
again:
    LDG R4, [R2]
    LDS R6, [RZ]
    IADD R5, R5, R4
    IADD R5, R5, R6
    IADD R2, R2, 512
    IADD R7, R7, 1
    ISETP.LT P0, R7, 6
    @P0 BRA again
    STG [R3], R5
    EXIT
"""
CHIP = TAGS | {"chip.sms": 5, "limits.blocks": 2, "schedulers.count": 2}


@pytest.fixture
def stretches(monkeypatch):
    """Return a list that gets an entry for each run in stretches."""
    begun, start = [], chip_stretches.start

    def noted(prepared, **options):
        begun.append(options)
        return start(prepared, **options)

    monkeypatch.setattr(chip_stretches, "start", noted)
    return begun


@pytest.mark.parametrize("feed", FEEDS)
def test_blocks_that_share_lines_find_them_in_turn(feed, stretches):
    """Short blocks on five SMs hit, miss and replace what others brought as they do in turn, on every feed."""
    blocks = 40 if COMPILED else 11
    kernel, machine = read(SHARED_LINES.format(blocks=blocks, words=64 * blocks)), plain_machine(CHIP)
    run = run_chip(kernel, machine, feed=feed)
    assert (len(stretches), run.in_turn) == (1, TAGGED)
    assert unlike(run, in_turn(kernel, machine, feed=feed)) == []
    if feed == EXECUTION_DRIVEN:
        assert np.array_equal(run.memory, interpret(kernel).memory)
        assert unlike(run, run_chip(kernel, machine, feed=feed, engine="reference")) == []


# A block loads the lines of its neighbours too, one after the other, through a small cache.
SCALARS = """
.warp 64
.grid {blocks}
.block 128
.buffer x u32 4096
    S2R s0, CTAID.X
    S_LSHL_B32 s0, s0, 7
    S_ADD_U32 s0, s0, c[x]
    S_MOV_B32 s4, 0
again:
    S_LOAD_DWORDX8 s[8:15], s0, 96
    S_LOAD_DWORD s16, s0, 0
    S_ADD_U32 s5, s15, s16
    S_ADD_U32 s0, s0, 64
    S_ADD_U32 s4, s4, 1
    S_CMP_LT_I32 s4, 10
    S_CBRANCH_SCC1 again
    S_ENDPGM
"""


@pytest.mark.parametrize("feed", FEEDS)
def test_scalar_loads_go_far_in_turn(feed, stretches):
    """A scalar load that its SM's cache lacks asks the L2 when its turn comes, one that hits does not wait for it."""
    kernel = read(SCALARS.format(blocks=20 if COMPILED else 7))
    machine = plain_machine(CHIP | SCALAR_FILE | SCALAR_CACHE | {"limits.warp_size": 64, "chip.sms": 3})
    run = run_chip(kernel, machine, feed=feed)
    assert stretches == [{"scalars": True}]
    assert run.feed == feed
    assert unlike(run, in_turn(kernel, machine, feed=feed)) == []


@pytest.mark.long
@pytest.mark.jit
def test_vegas_sgemm_takes_its_cycles(stretches):
    """The SGEMM with scalar loads on all 64 compute units of an `mi60` takes the cycles and stalls of units in turn."""
    kernel = make("sgemm-vega-vlp", {"m": "512", "n": "512", "k": "64"})
    machine = load("mi60", {"cache.hits": "tags"})
    assert unlike(run_chip(kernel, machine, feed="trace-driven"), in_turn(kernel, machine, feed="trace-driven")) == []
    assert stretches == [{"scalars": True}]


FLAG = """
.grid 3
.buffer x u32 64 = iota
    S2R R0, CTAID.X
    MOV R1, c[x]
    LDG R2, [R1]
    IADD R2, R2, R0
    STG [R1], R2
    EXIT
"""


def test_words_that_several_sms_use_are_computed_in_turn(stretches):
    """Where an SM stores what another one loads, the run begins again with turns in each cycle, as in a trace."""
    kernel, machine = read(FLAG), plain_machine(CHIP)
    run = run_chip(kernel, machine)
    assert (len(stretches), run.in_turn) == (1, CONTESTED)
    assert unlike(run, in_turn(kernel, machine)) == []


FETCH = ".grid 3\n.buffer x u32 64\nTEX R0, tex[x], RZ\nEXIT"
ATOMIC = ".grid 3\n.buffer x u32 64\nMOV R1, c[x]\nRED.ADD [R1], R1\nEXIT"


@pytest.mark.parametrize("text", [FETCH, ATOMIC], ids=["texture", "atomic"])
def test_what_is_felt_at_once_takes_turns_in_each_cycle(text, stretches):
    """Texture fetches ask their cache when they issue, and the order of atomics matters: no SM acts alone."""
    machine = plain_machine(CHIP | {"global_atomic.latency": 50, "global_atomic.packet_parts": 60})
    run = run_chip(read(text), machine)
    assert stretches == []
    assert unlike(run, in_turn(read(text), machine)) == []


@pytest.mark.parametrize("feed", FEEDS if COMPILED else FEEDS[:2])  # else an endless loop is recorded for an hour
@pytest.mark.parametrize(("text", "error", "part"), ERRORS)
def test_errors_are_those_of_sms_in_turn(text, error, part, feed, stretches):
    """A fault, a deadlock and a limit end the run with the same message."""
    with pytest.raises(error, match=part):
        run_chip(read(f".grid 3\n{text}"), plain_machine(CHIP | {"chip.sms": 3}), feed=feed, max_cycles=MOST_CYCLES)
    assert stretches
