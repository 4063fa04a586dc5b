"""Simulated time of a program: when each kernel and copy begins and ends, by streams and events.

The host takes no time but for its calls, and where it waits. A stream's work is done in order; the default stream waits
for all others and they for it (CUDA C++ Programming Guide 13.0, legacy default stream). Kernels have the chip in turn;
a copy engine for each direction works beside them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gpusim.sm.chip.host_link import HostLink

LEGACY = 0
NON_BLOCKING = 1  # cudaStreamNonBlocking
KERNELS, TO_DEVICE, TO_HOST, ON_DEVICE = "kernels", "copies to the device", "copies to the host", "copies on the device"
SET = "sets"
NANO = 1e-3  # microseconds
# Where a machine's file has none: what a host of an H200 has, at half its rates (PCIe 4.0); a guess.
USUAL = HostLink(27700, 6900, 7200, 770, 1440, 3400, 560, 750)


@dataclass(frozen=True, slots=True)
class Span:
    """What one part of the card did, from a moment on and for how long, in microseconds; `number` counts spans."""

    part: str
    what: str
    stream: int
    begin: float
    took: float
    nbytes: int


@dataclass(eq=False)
class Clock:
    """Moments in microseconds since the program began: the host's, and until when streams and parts are busy."""

    link: HostLink
    host: float = 0.0
    streams: dict[int, float] = field(default_factory=lambda: {LEGACY: 0.0})
    apart: set[int] = field(default_factory=set)  # streams that don't wait for the default one
    parts: dict[str, float] = field(default_factory=dict)
    events: dict[int, float | None] = field(default_factory=dict)
    spans: list[Span] = field(default_factory=list)
    made: int = 2  # streams and events so far; 1 and 2 are other names of the default stream


def stream(clock: Clock, flags: int) -> int:
    """Return the number of a new stream."""
    clock.made += 1
    clock.streams[clock.made] = clock.host
    if flags & NON_BLOCKING:
        clock.apart.add(clock.made)
    return clock.made


def event(clock: Clock) -> int:
    """Return the number of a new event."""
    clock.made += 1
    clock.events[clock.made] = None
    return clock.made


def kernel(clock: Clock, name: str, stream: int, took: float, *, of_graph: bool = False) -> Span:
    """Let a kernel run that takes so many microseconds: the host's call first, then the kernel when it can.

    Kernels of a graph are no calls of their own, and follow each other at once (100 empty ones take 0.53 each, H200).
    """
    if of_graph:
        return work(clock, KERNELS, name, stream, took)
    clock.host += clock.link.launch_ns * NANO
    before = clock.spans[-1] if clock.spans else None
    follows = before is not None and before.part == KERNELS and before.stream == stream
    if follows and before:
        clock.parts[KERNELS] = before.begin + before.took + clock.link.gap_ns * NANO
    return work(clock, KERNELS, name, stream, took)


def copy(clock: Clock, part: str, stream: int, nbytes: int, *, pinned: bool, dram_mbs: int) -> Span:
    """Let so many bytes be copied; on the card they are read and written at the rate of its DRAM."""
    link = clock.link
    if part == ON_DEVICE:
        rate, start = dram_mbs / 2, link.to_device_ns
    elif part == TO_DEVICE:
        rate, start = link.pinned_mbs if pinned else link.to_device_mbs, link.to_device_ns
    else:
        rate, start = link.pinned_mbs if pinned else link.to_host_mbs, link.to_host_ns
    return work(clock, part, part, stream, start * NANO + nbytes / rate, nbytes)


def fill(clock: Clock, stream: int, nbytes: int, dram_mbs: int) -> Span:
    """Let so many bytes of the card's memory be set."""
    return work(clock, ON_DEVICE, SET, stream, clock.link.to_device_ns * NANO + nbytes / dram_mbs, nbytes)


def work(clock: Clock, part: str, what: str, stream: int, took: float, nbytes: int = 0) -> Span:
    """Let a part of the card do something for so many microseconds, as soon as it, the stream and the host allow."""
    begin = max(clock.host, _ready(clock, stream), clock.parts.get(part, 0.0))
    span = Span(part, what, stream, begin, took, nbytes)
    clock.parts[part] = clock.streams[stream] = begin + took
    clock.spans.append(span)
    return span


def record(clock: Clock, event: int, stream: int) -> None:
    """Note in an event when the stream's work so far is done."""
    clock.events[event] = max(clock.host, _ready(clock, stream))


def wait(clock: Clock, stream: int, event: int) -> None:
    """Let a stream wait for an event; for one that was never recorded it does not."""
    clock.streams[stream] = max(clock.streams[stream], clock.events[event] or 0.0)


def all_done(clock: Clock) -> None:
    """Let the host wait for all streams."""
    clock.host = max(clock.host, *clock.streams.values())


def stream_done(clock: Clock, stream: int) -> None:
    """Let the host wait for a stream."""
    clock.host = max(clock.host, _ready(clock, stream))


def event_done(clock: Clock, event: int) -> None:
    """Let the host wait for an event."""
    clock.host = max(clock.host, clock.events[event] or 0.0)


def _ready(clock: Clock, stream: int) -> float:
    """Return from when on a stream can take more work."""
    if stream == LEGACY:
        return max(when for number, when in clock.streams.items() if number not in clock.apart)
    if stream in clock.apart:
        return clock.streams[stream]
    return max(clock.streams[stream], clock.streams[LEGACY])
