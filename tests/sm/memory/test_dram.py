"""The DRAM behind caches that keep tags: short reads, places that are late, and the queue of a busy one."""

from types import SimpleNamespace

import numpy as np
import pytest
from test_cache import MISS, TAGS, latencies, loads
from timing import cycles_of, run_text

from gpusim.sm.memory.dram import dram

WINDOW, PARTS = 2048, 64
DRAM = {
    "dram.least_bytes": 0,
    "dram.varies": 0,
    "dram.together_bytes": 128,
    "dram.queue": 0,
    "dram.window": 2048,
    "dram.most_used": 58,
}


@pytest.mark.parametrize(("least", "cycles"), [(0, 1), (32, 1), (48, 2), (320, 10)])
def test_a_read_takes_the_dram_at_least_so_long(least, cycles):
    """A sector takes the DRAM one cycle; as long as `least_bytes`, at 32 bytes a cycle, if that is more."""
    late = MISS - 1 + cycles
    assert latencies(loads(0), TAGS | DRAM | {"dram.least_bytes": least}) == [late + late % 2]  # issues at even cycles


@pytest.mark.parametrize("apart", [1, 3, 17, 64, 1024])
@pytest.mark.parametrize("together", [1, 16])
def test_latencies_of_places_are_exponential(apart, together):
    """Their mean is the machine's latency; the latest of n is later by the n-th harmonic number less 1, nearly."""
    machine = SimpleNamespace(memory_latency=657, dram_varies=138, dram_together=together)
    found = np.array([dram.latency(machine, 16 * apart * i) for i in range(8192)])
    assert found.mean() == pytest.approx(657, rel=0.004)
    for n in (4, 8, 16):
        later = found.reshape(-1, n).max(axis=1).mean() - 657
        assert later == pytest.approx(138 * sum(1 / k for k in range(2, n + 1)), rel=0.15)


def test_lines_side_by_side_have_one_latency():
    """Sixteen lines of 128 bytes are one place of 2,048."""
    machine = SimpleNamespace(memory_latency=657, dram_varies=138, dram_together=16)
    found = [dram.latency(machine, line) for line in range(160)]
    assert all(len(set(found[i : i + 16])) == 1 for i in range(0, 160, 16))
    assert len(set(found)) > 5


def waits(asked):
    """Return what each request waits for in a queue of services of 100 cycles; a request is its time and its parts."""
    unit = SimpleNamespace(dram_window=0, dram_asked=0, dram_before=0)
    machine = SimpleNamespace(dram_queue=100, channel_parts=PARTS, dram_span=WINDOW, dram_most_used=58)
    sm = SimpleNamespace(load_store=unit, machine=machine)
    return [dram.waited(sm, parts, now) for now, parts in asked]


def test_a_busy_dram_lets_requests_wait():
    """Pollaczek and Khinchine: with half of the bandwidth asked for half a service more, with three quarters 1.5.

    What was asked for before the last window counts no more, of that before this one as much as lies in the last 2,048
    cycles. Beyond 58/64 no more is counted.
    """
    half = WINDOW * PARTS // 2
    assert waits([(0, half), (1, half // 2), (2, 0)]) == [0, 50, 150]
    assert waits([(0, half), (WINDOW, 0), (WINDOW * 3 // 2, 0), (2 * WINDOW, 0)]) == [0, 50, 16, 0]
    assert waits([(0, 10 * half), (1, 0)]) == [0, 483]


@pytest.mark.parametrize(("sharers", "cost"), [(0, 64), (132, 64), (66, 32), (1, 1), (16, 8)])
def test_sms_without_blocks_leave_their_shares(sharers, cost):
    """Of 132 SMs so many have blocks (0: all are simulated). A sector takes a share of all a cycle."""
    launch, machine = SimpleNamespace(sharers=sharers), SimpleNamespace(dram_sms=132)
    assert dram._shared(SimpleNamespace(launch=launch, machine=machine), 64) == cost


def test_loads_wait_for_a_busy_dram():
    """32 sectors take a cycle each of 2,048, which is 1/64. A load behind them waits for 1/126 of 3,100 cycles, 24."""
    text = ".buffer x u32 4096\nS2R R0, LANEID\nSHL R0, R0, 8\nIADD R0, R0, c[x]\nLDG R2, [R0]\nIADD R2, R2, 1\n"
    waited = []
    for queue in (0, 3100):
        changes = DRAM | {"dram.queue": queue, "l1.misses": 64, "global_memory.rule": "sectors"}
        run = run_text(text + "LDG R3, [R0+128]\nIADD R3, R3, 1\nEXIT", TAGS | changes)
        issued, served = ({pc: at for at, _, pc in cycles_of(run, kind)} for kind in ("issue", "serve"))
        waited.append(issued[6] - served[5])
    assert waited[1] - waited[0] == 24


@pytest.mark.parametrize(("alone", "cycles"), [(1000, 1), (1500, 1.5), (0, 3)])
def test_writes_turn_a_dram_that_is_read(alone, cycles):
    """64 lines of 4 sectors that the L2 does not keep: a sector takes 3 cycles where it is read, else `written_alone`.

    A load of another line, 4 sectors, comes before or not; without `written_alone` all take 3 cycles.
    """
    stores = "".join(f"STG.128 [R0+{512 * n}], R4\n" for n in range(16))
    ends = []
    for load in ("", "LDG R8, [R0+8192]\nIADD R8, R8, 1\n"):
        text = f".buffer x u32 8192\nS2R R1, LANEID\nSHL R1, R1, 4\nIADD R0, R1, c[x]\n{load}{stores}EXIT"
        sizes = {"l2.keeps_bytes": 1, "l2.loses_bytes": 2, "dram.written_alone": alone}
        memory = {"efficiency": 1000, "ecc": 0, "ecc_cost": 1, "written": 3000}
        sizes |= {f"memory.{key}": value for key, value in memory.items()}
        ends.append(run_text(text, TAGS | DRAM | sizes).cycles)
    assert ends[0] == pytest.approx(64 * 4 * cycles, abs=64)
    assert ends[1] == pytest.approx(64 * 4 * 3 + MISS, abs=100)
