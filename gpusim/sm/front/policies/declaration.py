"""Scheduling policies: their names, and what they remember."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from gpusim.sm.records import MachineNumbers, Sm
from gpusim.sm.registers.control_code.declaration import by_codes
from gpusim.sm.unit.declare import Condition, Declaration, Machine, Role, field, packed_key
from gpusim.sm.unit.ranges import Flag
from isa.errors import UserError
from isa.reading.source import suggest

POLICY_NAMES = ("lrr", "gto", "oldest", "cggty", "two_level")
# Cycles after which a policy forgets a yield, so that no warp waits for ever: a guess; an H100 has waits of 30,316.
YIELD_LASTS = 1 << 16
Policy = Callable[[Sm, int, int], int]
REGISTERED: dict[str, Policy] = {}


class BlockOrder(msgspec.Struct, frozen=True):
    """Which resident blocks go first; without this section only the order of warps counts."""

    oldest_first: Flag  # 1: policies that choose by age prefer the block placed first, then the order in it


def asks_who_yielded(machine: Machine) -> bool:
    """Tell whether the policy may ask which warps yielded when they issued last: `cggty` does, a registered one may."""
    return machine.schedulers.policy == "cggty" or machine.schedulers.policy in REGISTERED


def check_policy(name: str, lead: str = "") -> None:
    """Raise UserError, which begins with `lead`, unless the policy comes with the simulator or is registered."""
    known = *POLICY_NAMES, *REGISTERED
    if name not in known:
        advice = suggest(name, known, f"choose one of {', '.join(known)}")
        raise UserError(f"{lead}unknown scheduling policy {name}; {advice}")


def register_policy(name: str, function: Policy) -> None:
    """Make `function(sm, k, eligible)` the scheduling policy of that name for as long as the process lives.

    `sm` is the SM's state, `k` the scheduler, `eligible` the mask of its warps that may issue: bit j is warp slot
    j * schedulers + k. It returns one of these j, or -1 to let none go, and is asked again in the next slot.
    It may read the state, must neither change it nor raise, and is compiled with Numba where the engines are. Raises
    UserError for the name of a policy that comes with the simulator.
    """
    if name in POLICY_NAMES:
        raise UserError(f"policy {name}: it comes with the simulator; register yours under another name")
    REGISTERED[name] = function


def pack(packed: MachineNumbers, machine: Machine) -> None:
    """Fill in the policy's index; a registered one's code comes from launch/packing.py. Raises UserError if unknown."""
    name = machine.schedulers.policy
    check_policy(name)
    packed.policy = len(POLICY_NAMES) if name in REGISTERED else POLICY_NAMES.index(name)
    if by_codes(machine) and asks_who_yielded(machine):
        packed.yield_lasts = YIELD_LASTS


UNIT = Declaration(
    "policies",
    fields={
        "machine": (
            field("policy", "index into policies.POLICIES; behind them, the registered one"),
            field("policy_code", "that one's code"),
            packed_key("schedulers.active"),
            packed_key("block_order.oldest_first"),
        ),
        "sm": (field("ordered", "warps and yields so far", role=Role.TOTAL),),
        "scheduler": (
            field("last", "local index of the warp that issued last", role=Role.SAME),
            field("active", "warps among which `two_level` chooses", role=Role.SAME),
            field("yielded", "1: the warp that issued last lets others go first", role=Role.SAME),
        ),
        "warp": (
            field("order", "of placements and yields: whose is smaller goes first", role=Role.NUMBER, of="ordered"),
            field("yield_ends", "when it is forgotten that it yielded when it issued last", role=Role.TIME),
        ),
    },
    pack=pack,
    conditions=(
        Condition(
            "block_order.*",
            "oldest_first",
            lambda given: given.resident > 1,
            "an SM has one block of {kernel} at a time",
        ),
        Condition(
            "block_order.*",
            "oldest_first",
            lambda given: given.policy != "lrr",
            "the policy {policy} asks nobody's block",
        ),
    ),
    compared=lambda machine: machine.schedulers.policy not in REGISTERED,  # it may use any state
)
