"""Simulated time of programs, by hand: microseconds with a link of round numbers."""

import pytest

from gpusim.programs.card import clock
from gpusim.programs.card.clock import KERNELS, LEGACY, NON_BLOCKING, ON_DEVICE, TO_DEVICE, TO_HOST, Clock
from gpusim.sm.chip.host_link import HostLink

LINK = HostLink(1000, 500, 250, 1000, 2000, 3000, 0, 500)  # MB/s: bytes per microsecond; ns
RATE = 4000  # MB/s of the DRAM


def test_a_kernel_begins_when_the_host_has_launched_it():
    """The first kernel begins 3 us in; a second one of the same stream half a us behind the first's end."""
    one = Clock(LINK)
    first, second = (clock.kernel(one, "k", LEGACY, 10.0) for _ in range(2))
    assert (first.begin, second.begin) == (3.0, 13.5)
    clock.all_done(one)
    assert one.host == pytest.approx(23.5)


def test_kernels_of_a_graph_follow_each_other():
    """Kernels of a graph are no calls of the host: each begins when the one before ends."""
    one = Clock(LINK)
    first, second = (clock.kernel(one, "k", LEGACY, 10.0, of_graph=True) for _ in range(2))
    assert (first.begin, second.begin, one.host) == (0.0, 10.0, 0.0)


@pytest.mark.parametrize(
    ("part", "pinned", "took"),
    [
        (TO_DEVICE, True, 1 + 8),
        (TO_DEVICE, False, 1 + 16),
        (TO_HOST, True, 2 + 8),
        (TO_HOST, False, 2 + 32),
        (ON_DEVICE, False, 1 + 4),
    ],
)
def test_copies_take_their_bytes(part, pinned, took):
    """8,000 bytes take what each way has for them; on the card each byte is read and written."""
    assert clock.copy(Clock(LINK), part, LEGACY, 8000, pinned=pinned, dram_mbs=RATE).took == pytest.approx(took)


def test_streams_overlap_copies_and_kernels_but_not_kernels():
    """A copy of one stream goes on beside a kernel of another; kernels have the chip in turn."""
    one = Clock(LINK)
    left, right = clock.stream(one, 0), clock.stream(one, 0)
    kernel = clock.kernel(one, "k", left, 20.0)
    copy = clock.copy(one, TO_DEVICE, right, 1000, pinned=True, dram_mbs=RATE)
    other = clock.kernel(one, "k", right, 1.0)
    assert copy.begin == kernel.begin == 3.0
    assert other.begin == kernel.begin + 20.0


def test_the_default_stream_waits_for_others_and_they_for_it():
    """Work of the default stream begins behind all blocking streams', theirs behind its; not so non-blocking ones'."""
    one = Clock(LINK)
    plain, apart = clock.stream(one, 0), clock.stream(one, NON_BLOCKING)
    clock.work(one, TO_HOST, "", apart, 100.0)
    clock.work(one, TO_DEVICE, "", plain, 10.0)
    assert clock.work(one, KERNELS, "", LEGACY, 5.0).begin == 10.0
    assert clock.work(one, ON_DEVICE, "", plain, 1.0).begin == 15.0
    assert clock.work(one, KERNELS, "", apart, 1.0).begin == 100.0


def test_events_and_waits():
    """An event is when its stream's work is done; another stream begins behind one that it waits for."""
    one = Clock(LINK)
    left, right, event = clock.stream(one, NON_BLOCKING), clock.stream(one, NON_BLOCKING), clock.event(one)
    clock.work(one, KERNELS, "", left, 7.0)
    clock.record(one, event, left)
    clock.wait(one, right, event)
    assert one.events[event] == 7.0
    assert clock.work(one, TO_HOST, "", right, 1.0).begin == 7.0
    assert one.host == 0.0
    clock.event_done(one, event)
    assert one.host == 7.0
