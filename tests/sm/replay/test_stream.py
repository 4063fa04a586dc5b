"""Recorded streams: which events of a warp are kept, how loops are folded, and which blocks share a script."""

from __future__ import annotations

import pytest
from timing import plain_machine
from twins import differences

from gpusim.engines import compiled
from gpusim.engines.simulate import run_sm
from gpusim.launch.launch import launch
from gpusim.sm.replay.stream.stream import END, MARKER
from gpusim.sm.state.recurrence import recurrence
from gpusim.sm.unit.capacities import NEVER, SCRIPTS
from isa.errors import ExecutionError, LimitError
from isa.text.listing import read

COSTS = {
    "shared_memory.pass_cycles": 2,
    "shared_memory.free_passes_32": 1,
    "global_memory.request_cycles": 3,
    "limits.blocks": 1,
}


def recorded(text):
    """The SM after a trace-driven launch of a listing."""
    kernel = read(text)
    started = launch(kernel, plain_machine(COSTS), feed="trace-driven")
    roles = recurrence(started.sms, started.sizes)
    compiled.run(started.sms, started.memory, roles, NEVER, NEVER)
    assert started.sm.fault.code == 0
    return started.sm


def items(sm, warp=0, script=0):
    """A warp's stream: (pc, threads) of events, with what the access costs; ("again", rounds, length, depth)."""
    found, at = [], int(sm.scripts[script].first[warp])
    while sm.events[at].pc != END:
        item = sm.events[at]
        cost = int(item.cycles), int(item.extra), int(item.transactions)
        event = (int(item.pc), int(item.threads)) + (cost if any(cost) else ())
        again = ("again", int(item.rounds), int(item.length), int(item.depth))
        found.append(again if item.pc == MARKER else event)
        at += 1
    return found


def feeds_agree(text):
    """Assert that a listing runs alike trace-driven and address-only; returns the feed of the trace-driven run."""
    trace_driven, address_only = (
        run_sm(read(text), plain_machine(COSTS), feed=feed) for feed in ("trace-driven", "address-only")
    )
    assert differences(trace_driven, address_only) == []
    return trace_driven.feed


STRAIGHT = """
.shared 256
.buffer x u32 64
    S2R R0, LANEID
    SHL R1, R0, 3
    LDS R2, [R1]
    FADD R3, R2, R2
    IADD R1, R1, c[x]
    STG [R1], R3
    EXIT
"""


def test_a_straight_program_is_its_accesses():
    """At 8 bytes per lane a load takes two passes, of which one is free, a store two lines; the rest is no event."""
    assert items(recorded(STRAIGHT)) == [(2, 32, 4, 2, 0), (5, 32, 6, 0, 2)]


def test_a_warp_of_twenty_threads_counts_them():
    """16 of 20 threads, 8 bytes apart, have banks of their own: two passes; their 160 bytes are on two lines."""
    assert items(recorded(f".block 20\n{STRAIGHT}")) == [(2, 20, 4, 2, 0), (5, 20, 6, 0, 2)]


def test_a_guard_is_an_event():
    """A guarded instruction is kept with the number of threads whose guard holds, also 0; an unguarded one is not."""
    text = "S2R R0, LANEID\nISETP.LT P0, R0, 7\n@P0 FADD R1, R1, R1\n@!PT MOV R2, 1\nMOV R3, 1\nEXIT"
    assert items(recorded(text)) == [(2, 7), (3, 0)]


def test_a_branch_without_a_guard_is_followed():
    """BRA is an event, and the instructions that it jumps over are none."""
    assert items(recorded("BRA past\n@PT NOP\n@!PT NOP\npast:\n@!PT NOP\nEXIT")) == [(0, 32), (3, 0)]


def loop(rounds, body=""):
    """A listing of a loop of so many rounds."""
    return f"MOV R0, 0\nagain:\n{body}\nIADD R0, R0, 1\nISETP.LT P0, R0, {rounds}\n@P0 BRA again\nEXIT"


def test_rounds_that_repeat_are_counted():
    """Nine of ten rounds end in a taken branch: the first is kept with a count of eight more, then the last round."""
    assert items(recorded(loop(10))) == [(3, 32), ("again", 8, 1, 0), (3, 0)]


ALTERNATING = f"""
.buffer x u32 512
S2R R1, LANEID
SHL R1, R1, 2
IADD R1, R1, c[x]
{loop(6, "LDG R2, [R1]" + chr(10) + "IADD R1, R1, 64")}
"""


def test_rounds_that_alternate_are_folded_in_pairs():
    """A pointer that moves by half a line touches one line, then two: two of three pairs are one pair and a count."""
    odd, even = (4, 32, 3, 0, 1), (4, 32, 6, 0, 2)
    pair = [odd, (8, 32), even, (8, 32)]
    assert items(recorded(ALTERNATING)) == [*pair, ("again", 1, 4, 0), odd, (8, 32), even, (8, 0)]


NESTED = """
    MOV R0, 0
outer:
    MOV R1, 0
inner:
    IADD R1, R1, 1
    ISETP.LT P0, R1, 3
    @P0 BRA inner
    IADD R0, R0, 1
    ISETP.LT P1, R0, 4
    @P1 BRA outer
    EXIT
"""


def test_loops_inside_loops_are_folded_from_inside():
    """The inner loop's marker is an item of the outer loop's part, whose own marker has depth 1."""
    inner = [(4, 32), ("again", 1, 1, 0), (4, 0)]
    assert items(recorded(NESTED)) == [*inner, (7, 32), ("again", 2, 4, 1), *inner, (7, 0)]


# Two branches back to one place, taken by the bits of a number: the first on a 1, the second on a 0.
BY_BITS = """
    MOV R1, {bits}
    MOV R0, 0
head:
    LOP.AND R2, R1, 1
    SHR.U32 R1, R1, 1
    ISETP.EQ P0, R2, 1
    IADD R0, R0, 1
    ISETP.LT P1, R0, {count}
    @P0 BRA head
    @P1 BRA head
    EXIT
"""


@pytest.mark.parametrize("bits", ["10101101011101", "11011011011", "1001001000100010"])
def test_a_folded_stream_unfolds_to_its_events(bits):
    """Each event comes back: no marker goes back before its repeated part (the first number needs that check)."""
    text = BY_BITS.format(bits=int(bits[::-1], 2), count=len(bits) + 1)
    expected = [pair for bit in bits for pair in ([(7, 32)] if bit == "1" else [(7, 0), (8, 32)])]
    assert unfolded(items(recorded(text))) == [*expected, (7, 0), (8, 0)]
    assert feeds_agree(text) == "trace-driven"


def unfolded(stream):
    """The events of a stream one by one, by playing it as a warp does."""
    events, at, laps = [], 0, [0, 0, 0, 0]
    while at < len(stream):
        if stream[at][0] != "again":
            events.append(stream[at])
            at += 1
            continue
        _, rounds, length, depth = stream[at]
        on = laps[depth] == rounds
        laps[depth] = 0 if on else laps[depth] + 1
        at += 1 if on else -length
    return events


def test_warps_that_do_the_same_share_a_stream():
    """Two warps with the same events share a stream; a third with other events has its own."""
    text = ".block 96\nS2R R0, WARPID\nISETP.EQ P0, R0, 2\n@P0 MOV R1, 1\nEXIT"
    sm = recorded(text)
    first = sm.scripts[0].first
    assert (first[0] == first[1], first[0] == first[2], sm.streamed) == (True, False, 2)


def tiles(blocks, step, words, body="LDG R2, [R1]"):
    """A listing whose block b loads one word per lane from byte b times `step` on, of a buffer of so many words."""
    address = f"S2R R0, CTAID.X\nS2R R1, LANEID\nSHL R1, R1, 2\nIMAD R1, R0, {step}, R1\nIADD R1, R1, c[x]"
    return f".grid {blocks}\n.buffer x u32 {words}\n{address}\n{body}\nEXIT"


def visits(text):
    """Instructions walked through to record a launch."""
    return int(recorded(text).visits)


def test_blocks_moved_by_whole_lines_are_not_recorded():
    """Six blocks, one line apart, play the first one's script."""
    sm = recorded(tiles(6, 128, 192))
    assert (sm.scripted, sm.visits) == (1, visits(tiles(1, 128, 192)))


def test_blocks_moved_by_half_a_line_are_recorded_anew():
    """Six blocks, half a line apart, touch one line or two: two are recorded, the others are whole lines away."""
    sm = recorded(tiles(6, 64, 192))
    assert (sm.scripted, sm.visits) == (2, 2 * visits(tiles(1, 64, 192)))
    assert [items(sm, script=script) for script in (0, 1)] == [[(5, 32, 3, 0, 1)], [(5, 32, 6, 0, 2)]]


def test_blocks_with_the_same_events_share_a_script():
    """Blocks whose addresses can't be followed are all recorded, and share a script as their events are the same."""
    text = tiles(5, 128, 160, "LOP.AND R1, R1, -128\nLDG R2, [R1]")
    sm = recorded(text)
    assert (sm.provable, sm.scripted, sm.visits) == (0, 1, 5 * visits(tiles(1, 128, 160, "NOP\nLDG R2, [R1]")) + 5)


def test_a_block_that_leaves_the_buffer_faults_in_its_own_time():
    """The buffer holds five of six tiles: the sixth can't be recorded, and its fault is the address-only feed's."""
    kernel = read(tiles(6, 128, 160))
    reported = []
    for feed in ("trace-driven", "address-only"):
        with pytest.raises(ExecutionError, match="block 5") as caught:
            run_sm(kernel, plain_machine(COSTS), feed=feed)
        reported.append(str(caught.value))
    assert reported[0] == reported[1]


def by_block(blocks):
    """A listing whose block b takes b + 1 rounds of a loop."""
    head = "S2R R1, CTAID.X\nMOV R0, 0\nagain:\nISETP.LT P0, R0, R1\nIADD R0, R0, 1\n@P0 BRA again\nEXIT"
    return f".grid {blocks}\n{head}"


@pytest.mark.jit
@pytest.mark.parametrize(("blocks", "feed"), [(SCRIPTS, "trace-driven"), (SCRIPTS + 1, "address-only")])
def test_too_many_scripts_are_computed_instead(blocks, feed):
    """As many different blocks as there are scripts are recorded; with one more the launch is address-only."""
    assert feeds_agree(by_block(blocks)) == feed


IRREGULAR = """
.buffer x u32 1024
    S2R R1, LANEID
    MOV R0, 0
    MOV R7, 1013904223
again:
    IMAD R3, R3, 1664525, R7
    SHR.U32 R4, R3, 27
    IMUL R5, R4, R1
    SHL R5, R5, 2
    IADD R5, R5, c[x]
    LDG R6, [R5]
    IADD R0, R0, 1
    ISETP.LT P0, R0, {rounds}
    @P0 BRA again
    EXIT
"""


@pytest.mark.jit
@pytest.mark.parametrize(("rounds", "feed"), [(20_000, "trace-driven"), (60_000, "address-only")])
def test_too_many_events_are_computed_instead(rounds, feed):
    """Rounds whose loads touch 1 to 32 lines at random do not fold: 20,000 are recorded, 60,000 are address-only."""
    assert feeds_agree(IRREGULAR.format(rounds=rounds)) == feed


@pytest.mark.long
@pytest.mark.jit
def test_too_long_a_walk_is_given_up():
    """The recording of a loop without an end is given up: the launch meets its limit of 500 cycles."""
    with pytest.raises(LimitError, match="500 cycles"):
        run_sm(read("again:\nBRA again"), plain_machine(), feed="trace-driven", max_cycles=500)
