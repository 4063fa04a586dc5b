"""Branches."""

from __future__ import annotations

import msgspec

from gpusim.sm.unit.declare import Condition, Declaration, field, packed_key
from gpusim.sm.unit.opcodes import BRANCH
from gpusim.sm.unit.ranges import Positive


class Branch(msgspec.Struct, frozen=True):
    """BRA."""

    latency: Positive  # cycles from issue until the warp may issue again


UNIT = Declaration(
    "branch",
    fields={
        "machine": (packed_key("branch.latency", "branch"),),
        "row": (field("target", "pc of a branch's target", kind="i4"),),
    },
    conditions=(Condition("branch.*", "branch", lambda g: g.does(BRANCH), "{kernel} has no branch"),),
    limits={"branches": {"branch.latency": 1}},
)
