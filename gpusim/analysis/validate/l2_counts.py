"""What NVIDIA's profiler ncu counts in an L2 of two partitions, from what went between SMs, L2 and DRAM.

A sector has its place in one partition. An SM asks the partition that it is connected to; this one asks the other for
what has its place there, and then holds it for all its SMs. What is stored goes on to its place at once. So a sector
counts in both partitions with a probability of a half (`PASSED`): when a partition reads it first, and whenever it is
stored. Source: 298 launches on an H100 (gpusim/published/h100_l2_counts.csv, docs/hopper.md).

ncu begins each launch with an L2 that holds nothing of its data, also with `--cache-control none` (the same rows).
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from gpusim.machine.machine import Machine

PASSED = 0.5  # of the sectors have their place in the other partition


def cold(machine: Machine) -> Machine:
    """Return the machine with an L2 that holds nothing when a launch begins, as ncu has it."""
    return replace(machine, l2=machine.l2 and replace(machine.l2, filled=0))


def counted(machine: Machine, moved: Mapping[str, float]) -> tuple[float, float]:
    """Return the sectors that ncu counts as read and as written in the L2.

    `moved` are sectors of the launch with a cold L2, as gpusim.engines.sm_run.SmRun has them: "loaded" and "stored" by
    SMs, "asked" for by GPCs, "read" from the DRAM.
    """
    if machine.l2_partition is None:
        return moved["asked"], moved["stored"]
    first = moved["read"] * partitions_reading(moved["loaded"], moved["read"])
    return moved["asked"] + PASSED * first, moved["stored"] * (1 + PASSED)


def partitions_reading(loaded: float, brought: float) -> float:
    """Return how many of two partitions read a sector, in the mean; `loaded` sectors were brought `brought` times.

    Each reader is in either partition with the same probability.
    """
    readers = max(1.0, loaded / brought) if brought else 1.0
    return 2 - 2 ** (1 - readers)
