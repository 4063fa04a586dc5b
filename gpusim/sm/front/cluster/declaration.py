"""Clusters: where their blocks lie, and their barrier."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from gpusim.sm.records import Columns
from gpusim.sm.unit.capacities import TOLD
from gpusim.sm.unit.declare import Condition, Declaration, Machine, Role, field, packed_key
from gpusim.sm.unit.ranges import Count
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.nvidia.rows.control import CLUSTER_ARRIVE, CLUSTER_WAIT
from isa.row import Unit as UnitClass

ARRIVES, WAITS = 1, 2  # in the column `cluster_step`


class Cluster(msgspec.Struct, frozen=True):
    """Blocks that start together, each on an SM of its own, of one graphics processing cluster (GPC)."""

    barrier: Count  # cycles from the last arrival at the barrier of a cluster of one block until its warps are released
    doubling: Count  # further cycles for each doubling of the blocks
    load: Count  # cycles from the service of a load from another block's shared memory until its result is there
    atomic: Count  # cycles, counted alike, of an atomic that returns the old value
    signal: (
        Count  # cycles from the service of an arrival at another block's barrier, or of words for it, until it is there
    )
    atomic_cycles: Count  # cycles for which an atomic there takes the load/store unit, at least
    gpcs: str = ""  # SMs of each GPC; without it the chip is one


def decode(row: Columns, instruction: Instruction, _: Machine, __: Kernel) -> None:
    """Fill in what a barrier of a cluster does."""
    form = instruction.row
    if form.unit is UnitClass.BARRIER:
        row["cluster_step"] = {CLUSTER_ARRIVE: ARRIVES, CLUSTER_WAIT: WAITS}.get(form.code, 0)


def _meets(given: Any) -> bool:
    """Whether the program has a barrier of clusters."""
    return bool(np.isin(given.rows["cluster_step"], (ARRIVES, WAITS)).any())


def _clustered(given: Any) -> bool:
    """Whether the launch has clusters of several blocks."""
    return bool(given.kernel.cluster_blocks > 1)


UNIT = Declaration(
    "cluster",
    fields={
        "machine": (
            packed_key("cluster.barrier", "cluster_barrier"),
            packed_key("cluster.doubling", "cluster_doubling"),
            packed_key("cluster.load", "cluster_load"),
            packed_key("cluster.atomic", "cluster_atomic"),
            packed_key("cluster.atomic_cycles", "cluster_atomic_cycles"),
            packed_key("cluster.signal", "cluster_signal"),
        ),
        "launch": (
            field("cluster", "blocks of a cluster"),
            field("cluster_size", "blocks of a cluster in x, y, z", 3),
            field("rank", "that of the SM's blocks in their clusters"),
            field("timeless", "1: in program order, where nothing has a time"),
            field("peer", "words from a block's shared memory to that of the next rank's block"),
        ),
        "row": (field("cluster_step", "at the cluster's barrier it 1: arrives, 2: waits", kind="i1"),),
        "sm": (
            field("tells", "how many phases of other blocks' barriers it has ended in this act", role=Role.FREE),
            field("told", "the places of these barriers", TOLD, role=Role.FREE),
            field("looks", "without time: how many barriers it has looked at in vain", role=Role.FREE),
            field("looked", "the places of these", TOLD, role=Role.FREE),
            field("cluster_news", "1: something happened that the cluster's other SMs may wait for", role=Role.FREE),
        ),
        "block": (
            field("coming", "1 + the cluster that begins in this slot; 0: none", role=Role.SAME),
            field("begins", "when the chip has handed that out", role=Role.TIME),
            field("arrived", "warps that have arrived at the cluster's barrier", role=Role.SAME),
            field("last_arrival", "when the barrier unit has seen the last of these", role=Role.TIME),
        ),
        "warp": (
            field("cluster_until", "when the cluster's barrier lets it pass; NEVER: not known", role=Role.TIME),
            field("cluster_waits", "1: it waits there", role=Role.SAME),
        ),
    },
    decode=decode,
    conditions=(
        Condition("cluster.barrier cluster.doubling", "", _meets, "{kernel} has no barrier of clusters"),
        Condition("cluster.doubling", "", _clustered, "{kernel} has no clusters of several blocks"),
        Condition("cluster.*", "", _clustered, "{kernel} has no clusters of several blocks"),
    ),
    limits={
        "barriers": {"cluster.barrier": 0, "cluster.doubling": 0},
        "latency": {"cluster.load": 1, "cluster.atomic": 1, "cluster.signal": 1},
        "load/store unit": {"cluster.atomic_cycles": 1},
    },
)
