"""Requests of recorded accesses: trace-driven runs ask caches for the lines that the other feeds ask for."""

from types import SimpleNamespace

import numpy as np
import pytest
from tagged_caches import SCALAR_CACHE, SCALAR_FILE, TAGS
from timing import plain_machine
from twins import differences

from gpusim.engines import compiled
from gpusim.engines.simulate import run_sm
from gpusim.launch.caches import caches
from gpusim.launch.launch import launch
from gpusim.sm.replay.stream.recorded_requests import keep, moved
from gpusim.sm.replay.stream.stream import END, MARKER
from gpusim.sm.state.recurrence import recurrence
from gpusim.sm.unit.capacities import NEVER
from gpusim.sm.unit.opcodes import LOCAL_MEMORY
from isa.text.listing import read

# Each warp loads a line, and in each round the line behind it; a block begins four lines behind its neighbour.
WALK = """
.grid 6
.block 64
.buffer x u32 16384
    S2R R0, LANEID
    SHL R0, R0, 2
    S2R R1, CTAID.X
    SHL R1, R1, 9
    IADD R0, R0, R1
    IADD R0, R0, c[x]
    MOV R3, 0
again:
    LDG R2, [R0]
    STG [R0+4096], R2
    IADD R0, R0, 128
    IADD R3, R3, 1
    ISETP.LT P0, R3, 10
    @P0 BRA again
    EXIT
"""
SPILLS = """
.grid 5
.block 64
.local 64
.buffer x u32 64
    S2R R0, LANEID
    STL [RZ], R0
    STL.64 [RZ+8], R0
    LDL R1, [RZ+16]
    LDL R2, [RZ]
    EXIT
"""
# A slot is read and another one written in each of ten rounds, at fixed distances from one pointer.
SLOTS = """
.grid 5
.block 64
.local 64
.buffer x u32 64
    S2R R0, LANEID
    MOV R9, 0
    STL [R9], R0
    MOV R3, 0
again:
    LDL R1, [R9]
    IADD R1, R1, 1
    STL [R9+4], R1
    IADD R3, R3, 1
    ISETP.LT P0, R3, 10
    @P0 BRA again
    EXIT
"""
ATOMICS = """
.grid 4
.buffer x u32 1024
    S2R R0, LANEID
    S2R R1, CTAID.X
    SHL R1, R1, 8
    SHL R0, R0, 3
    IADD R0, R0, R1
    IADD R0, R0, c[x]
    RED.ADD [R0], R0
    EXIT
"""
INDIRECT = """
.grid 4
.buffer x u32 1024
    S2R R0, CTAID.X
    IMUL R0, R0, R0
    SHL R0, R0, 2
    IADD R0, R0, c[x]
    LDG R1, [R0]
    EXIT
"""
# Each wave loads nine words of two lines, and in each round of the lines behind them.
SCALARS = """
.warp 64
.grid 6
.block 128
.buffer x u32 4096
    S2R s0, CTAID.X
    S_LSHL_B32 s0, s0, 9
    S_ADD_U32 s0, s0, c[x]
    S_MOV_B32 s4, 0
again:
    S_LOAD_DWORDX8 s[8:15], s0, 96
    S_LOAD_DWORD s16, s0, 0
    S_ADD_U32 s5, s15, s16
    S_ADD_U32 s0, s0, 128
    S_ADD_U32 s4, s4, 1
    S_CMP_LT_I32 s4, 10
    S_CBRANCH_SCC1 again
    S_ENDPGM
"""
FETCH = ".buffer x u32 64\nTEX R0, tex[x], RZ\nEXIT"


def machine(**more):
    """The machine with small caches, two resident blocks, and other changes."""
    return plain_machine(TAGS | {"limits.blocks": 2} | more)


def feed_taken(text, **more):
    """Assert that a listing runs alike trace-driven and address-only; returns the feed of the trace-driven run."""
    trace_driven, address_only = (
        run_sm(read(text), machine(**more), feed=feed, trace=True) for feed in ("trace-driven", "address-only")
    )
    assert differences(trace_driven, address_only) == []
    assert trace_driven.sectors == address_only.sectors
    return trace_driven.feed


@pytest.mark.parametrize("text", [WALK, SPILLS, SLOTS], ids=["walk", "spills", "slots"])
def test_blocks_ask_for_their_own_lines(text):
    """Blocks that take another one's script, in either slot, ask for the lines that their own addresses have."""
    assert feed_taken(text) == "trace-driven"


def test_scalar_loads_ask_for_their_lines():
    """A scalar load asks its cache when it issues, once for both halves of its wave, as with addresses."""
    assert feed_taken(SCALARS, **SCALAR_FILE, **SCALAR_CACHE, **{"limits.warp_size": 64}) == "trace-driven"


def test_atomics_ask_for_their_lines():
    """An atomic drops its line from the L1 and is done in the L2, as with addresses."""
    assert feed_taken(ATOMICS, **{"global_atomic.latency": 50, "global_atomic.packet_parts": 60}) == "trace-driven"


def recorded(text):
    """Return a launch of a listing that has run, and the pcs of the items that were recorded."""
    started = launch(read(text), machine(), feed="trace-driven")
    roles = recurrence(started.sms, started.sizes)
    compiled.run(started.sms, started.memory, roles, NEVER, NEVER)
    return started, [int(event.pc) for event in started.sm.events[: int(started.sm.recorded)]]


def test_spilled_registers_keep_their_requests_once():
    """Three accesses to slots keep three requests of two words for each of two warps, whatever their rounds."""
    started, pcs = recorded(SLOTS)
    assert pcs == [2, 4, 6, 9, MARKER, 4, 6, 9, END]
    assert (int(started.sm.scripted), int(started.sm.requested)) == (1, 2 * 2 * 3)


def test_rounds_fold_while_their_requests_go_on():
    """Ten rounds are a part and a count, in one script for six blocks; each round has its own line in the list."""
    started, pcs = recorded(WALK)
    sm = started.sm
    assert pcs == [7, 8, 12, MARKER, 7, 8, 12, END]
    assert (int(sm.scripted), int(sm.requested)) == (1, 2 * 2 * 20)
    words = started.memory[sm.launch.cache_word : sm.launch.cache_end].view("i8")
    lines = words[sm.launch.recorded : sm.launch.recorded + 40 : 2]
    assert (lines - lines[0]).tolist() == [place for k in range(10) for place in (k, 32 + k)]


def test_too_many_requests_are_not_recorded(monkeypatch):
    """Without room for a block's requests the run takes addresses."""
    monkeypatch.setattr(caches, "RECORDED", 8)
    assert feed_taken(WALK) == "address-only"


def test_blocks_that_differ_take_addresses():
    """Blocks whose addresses don't depend linearly on their place would each need a script: nothing is gained."""
    assert feed_taken(INDIRECT) == "address-only"


def test_what_is_asked_at_issue_takes_addresses():
    """A texture fetch asks its cache for each element when it issues: a stream has no place for these."""
    assert feed_taken(FETCH) == "address-only"


@pytest.mark.parametrize(("rotates", "lines"), [(0, [4, 4, 4, 4]), (1, [5, 5, 5, 1])])
def test_local_lines_move_with_their_warp(rotates, lines):
    """A block in slot 1 of a script of slot 0: local lines move by its warps' slots, of which each has one line.

    Where blocks begin one scheduler further each, warps 0 to 3 are in slots 0 to 3 and 5, 6, 7, 4.
    """
    sm = SimpleNamespace(
        launch=SimpleNamespace(warps=4, local_words=1),
        machine=SimpleNamespace(schedulers=4, rotates=rotates, groups=1, line_bytes=128),
        blocks=[None, SimpleNamespace(script=0)],
        scripts=[SimpleNamespace(slot=0)],
    )
    load = SimpleNamespace(memory_kind=LOCAL_MEMORY)
    assert [moved(sm, SimpleNamespace(block=1, index=index), load) for index in range(4)] == lines


@pytest.mark.parametrize(("kept", "place", "requested"), [(1, 1, 4), (3, 5, 8), (0, 5, 8)])
def test_requests_of_a_slot_are_compared_with_recorded_ones_alone(kept, place, requested):
    """The four words of a slot are kept again unless all of them lie in what is recorded, not partly behind it."""
    words, row = np.zeros(24, np.int64), 16
    words[max(0, kept - 1) :][:4] = words[row : row + 4] = 7, 1, 8, 2
    sm = SimpleNamespace(
        launch=SimpleNamespace(cache_word=0, cache_end=48, recorded=0, recorded_end=row, requests=row),
        machine=SimpleNamespace(queues=0, queue=0),
        outcome=SimpleNamespace(requests=2, place=0),
        requested=4,
    )
    assert keep(sm, words.view(np.uint32), SimpleNamespace(spilled=1, kept=kept), 0)
    assert (sm.outcome.place, sm.requested) == (place, requested)
