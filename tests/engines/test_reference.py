"""The reference engine visits events, not the cycles between them."""

import pytest
from mutated import BUSY, CHANGES
from timing import plain_machine

from gpusim.engines import reference
from gpusim.engines.simulate import run_sm
from gpusim.launch.launch import launch
from gpusim.sm.unit.capacities import NEVER
from isa.text.listing import read

LOADS = """
.block 64
.buffer x u32 64 = iota
    S2R R0, LANEID
    SHL R0, R0, 2
    IADD R0, R0, c[x]
again:
    LDG R1, [R0]
    IADD R2, R1, R2
    MUFU.RCP R3, R2
    IADD R4, R4, 1
    ISETP.LT P0, R4, 8
    @P0 BRA again
    EXIT
"""


def events_per_instruction(text, changes) -> float:
    """SimPy events that the reference engine schedules for each warp instruction."""
    run = run_sm(read(text), plain_machine(changes), engine="reference")
    return run.events / run.warp_instructions


@pytest.mark.parametrize("path", ["global_memory.latency", "unit.int.latency", "branch.latency", "barrier.latency"])
@pytest.mark.parametrize("text", [LOADS, BUSY], ids=["loads", "busy"])
def test_events_do_not_grow_with_latency(text, path):
    """Events per instruction are at most 2, and grow by less than 2 % from a latency of 100 cycles to one of 100,000.

    Each result that takes a write is one of them: its scheduler looks when it may have been written.
    """
    short, long = (events_per_instruction(text, {**CHANGES, path: latency}) for latency in (100, 100_000))
    assert long < 1.02 * short
    assert short <= 2


def test_events_do_not_grow_with_the_initiation_interval():
    """A pipe that takes a warp every 32 cycles costs at most half more events than one that takes it every cycle."""
    fast, slow = (events_per_instruction(LOADS, {"pipe.sfu.lanes": lanes}) for lanes in (32, 1))
    assert slow < 1.5 * fast


def test_an_engine_can_stop_and_go_on():
    """Advancing in steps of 7 cycles takes the events and cycles of one advance to the end."""
    kernel, machine = read(BUSY), plain_machine(CHANGES)
    (agents,) = reference.start(launch(kernel, machine))
    until = 0
    while (now := reference.run([agents], until)) < NEVER:
        assert now >= until
        until = now + 7
    whole = run_sm(kernel, machine, engine="reference")
    assert agents.events == whole.events
    assert int(agents.launch.sm.cycles) == whole.cycles
