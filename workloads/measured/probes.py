"""The kernels that run for one row of a measured file."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from isa.kernel import Kernel
from workloads.check import MOST_INSTRUCTIONS
from workloads.measured import accesses, chains, compiled, edited
from workloads.measured.loop import Stream, kernel

SLOPE = 16  # iterations of the chains of two lengths from which a latency follows
CHASE = 32, 96  # loads of two walks through memory
SCHEDULED = 8  # iterations of the loops that show when each warp ends
ROOM = 128  # instructions before a loop and after it, at most


@dataclass(frozen=True)
class Probe:
    """Kernels whose cycles are compared: those of `second` less those of `first`, over `per`.

    Without `first`, the time between the marks (NOPs) of `second`: in the median warp, or from the first warp's start
    to the last warp's end (`span`). `hits` is the cache in which all their loads from global memory hit.
    """

    second: Kernel
    first: Kernel | None = None
    per: int = 1
    span: bool = False
    hits: str = "none"


@dataclass(frozen=True)
class ProbePoint:
    """The columns of a row that identify a run; `count` iterations."""

    experiment: str
    op: str
    param: str
    ilp: int
    count: int


def probe(experiment: str, op: str, param: str, warps: int, ilp: int, counts: tuple[int, int]) -> Probe | None:
    """Return the probe for a row of these columns, None if there is no stream for it.

    `counts` are its two iteration counts. For edited code, the experiment is the first part of the row's name, `param`
    the rest, and `op` its kernel.
    """
    points = [ProbePoint(experiment, op, param, ilp, count) for count in counts]
    if experiment in OTHERS:
        return OTHERS[experiment](points[0], warps)
    streams = [_stream(point) for point in points]
    if None in streams or any(s and len(s.body) + ROOM > MOST_INSTRUCTIONS for s in streams):
        return None
    first, second = (kernel(f"{experiment} {op} {param}", s, warps) for s in streams if s)
    return Probe(second, first, hits="l2" if param.startswith("cg ") else "l1")


@lru_cache(maxsize=64)
def _stream(point: ProbePoint) -> Stream | None:
    build = COMPILED.get(point.experiment)
    if build:
        return build(point)
    found = edited.edited(point.experiment, point.param, point.count)
    return found or chains.chain(point.experiment, point.param, point.op, point.count)


def _burst(point: ProbePoint, warps: int) -> Probe | None:
    match = re.match(r"N(\d{1,4})\b", point.param)
    stream = accesses.burst(point.op, int(match[1])) if match else None
    return Probe(kernel(f"burst {point.op}", stream, warps), hits="l1") if stream else None


def _scheduled(point: ProbePoint, warps: int) -> Probe | None:
    """Return a probe of all warps, from the first one's start to the last one's end."""
    stream = _turns(replace(point, count=SCHEDULED))
    return Probe(kernel(f"sched {point.op}", replace(stream, marked=True), warps), span=True) if stream else None


def _walk(point: ProbePoint, warps: int) -> Probe | None:
    """Return a probe of one thread's load, from the difference of two walks."""
    streams = [accesses.chase(point.param, loads) for loads in CHASE]
    if point.op not in ("DRAM", "L2hit") or None in streams:
        return None
    first, second = (replace(kernel(f"memlat {point.op}", s, warps), block=(1, 1, 1)) for s in streams if s)
    return Probe(second, first, per=CHASE[1] - CHASE[0], hits="l2" if point.op == "L2hit" else "none")


def _turns(point: ProbePoint) -> Stream | None:
    """Return as many whole turns of the chains as fit in 240 steps."""
    return compiled.alone(point.op, point.ilp, compiled.STEPS // max(point.ilp, 1) * point.ilp, point.count)


def _straight(point: ProbePoint) -> Stream | None:
    steps = int(point.param) if re.fullmatch(r"\d{1,5}", point.param) else 0
    return compiled.alone(point.op, point.ilp, steps, point.count) if steps else None


COMPILED: dict[str, Callable[[ProbePoint], Stream | None]] = {
    "lat": lambda p: compiled.alone(p.op, 1, p.count, SLOPE),
    "tput": _turns,
    "icache": _straight,
    "mixalu": lambda p: compiled.mixed(p.op, p.param, p.count),
    "mixlds": lambda p: compiled.mixed(p.op, p.param, p.count),
    "ldspat": lambda p: accesses.shared_loads(p.op, p.param, p.ilp, p.count),
    "stspat": lambda p: accesses.shared_stores(p.op, p.param, p.count),
    "smem1": lambda p: accesses.shared_chain(p.op, p.param, p.count),
    "ldg": lambda p: accesses.global_loads(p.op, p.param, p.ilp, p.count),
    "bar": lambda p: accesses.barriers(p.op, p.count),
}
OTHERS: dict[str, Callable[[ProbePoint, int], Probe | None]] = {"burst": _burst, "sched": _scheduled, "memlat": _walk}
UNKNOWN = frozenset({"membw", "clk"})  # measured, but without a stream here: the chip's bandwidth, clock reads
EXPERIMENTS = frozenset({*COMPILED, *OTHERS, *UNKNOWN, *edited.FORMS, *chains.KINDS})
