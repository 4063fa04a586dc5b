"""The common part of the benchmarks: cases, feeds, engines, and functions that prepare and run a launch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gpusim.engines import compiled, reference
from gpusim.launch.launch import Launch, launch
from gpusim.machine.machine import load
from gpusim.sm.state.recurrence import recurrence
from gpusim.sm.unit.capacities import NEVER
from workloads.catalog import make


@dataclass(frozen=True)
class Case:
    """A kernel of the catalog with its parameters, on a machine; `blocks` of its SM's share run (None: all)."""

    label: str
    kernel: str
    parameters: Mapping[str, int | str] = field(default_factory=dict)
    machine: str = "wide"
    blocks: int | None = None


# A feed is where the engine gets values and addresses from; each is a set of options of `launch`.
FEEDS: Mapping[str, Mapping[str, Any]] = {
    "execution-driven": {"feed": "execution-driven"},  # every instruction is computed
    "address-only": {"feed": "address-only"},  # only values that addresses, guards and branches need
    "trace-driven": {"feed": "trace-driven"},  # the same values, recorded beforehand
    "forward": {"feed": "trace-driven", "fast_forward": True},  # and whole periods taken at once
}


def sg4(k: int = 1024, m: int = 256) -> Case:
    """The SGEMM on which other simulators were timed, with 16 warps; at its defaults 2,298,880 warp instructions."""
    return Case(f"sg4 m={m} k={k}", "sg4", {"m": m, "k": k})


def lai(k: int) -> Case:
    """Two blocks of the Lai SGEMM on the GPU for which it was written: 16 warps."""
    return Case(f"lai k={k}", "sgemm-lai", {"m": 384, "n": 1536, "k": k}, "gtx580-1566", 2)


def mix(warps: int, groups: int) -> Case:
    """FFMAs and loads one to one, `groups` pairs over all warps: the load/store unit is the bottleneck."""
    parameters = {"ratio": "1:1", "lds": 32, "warps": warps, "iterations": groups // 64 // warps}
    return Case(f"mix warps={warps}", "mix", parameters)


def chain(warps: int, length: int) -> Case:
    """A chain of dependent FFMAs, `length` over all warps: only latency counts."""
    return Case(f"chain warps={warps}", "chain", {"op": "FFMA", "warps": warps, "iterations": length // 256 // warps})


def barrier(warps: int, rounds: int) -> Case:
    """Two barriers in seven instructions, `rounds` over all warps."""
    return Case(f"barrier warps={warps}", "barrier", {"warps": warps, "rounds": rounds // warps})


def prepared(case: Case, feed: str) -> Launch:
    """Return the case's launch, ready to run on the given feed."""
    kernel = make(case.kernel, {name: str(value) for name, value in case.parameters.items()})
    return launch(kernel, load(case.machine), blocks=case.blocks, **FEEDS[feed])


def run_compiled(started: Launch) -> Launch:
    """Run a launch to its end, compiled."""
    roles = recurrence(started.sms, started.sizes)
    compiled.run(started.sms, started.memory, roles, NEVER, NEVER)
    return started


def run_reference(started: Launch) -> Launch:
    """Run a launch to its end on SimPy."""
    reference.run(reference.start(started), NEVER)
    return started


ENGINES: Mapping[str, Callable[[Launch], Launch]] = {"compiled": run_compiled, "reference": run_reference}
