"""The functions of instructions as rules, chosen by their index: each is compiled when it is first called."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gpusim.sm.jit.lane_functions import RULES, Rule
from gpusim.sm.jit.on_demand import one_on_demand
from gpusim.sm.lanes import cross_lane
from gpusim.sm.lanes.values import special_register, warp_state
from gpusim.sm.unit.opcodes import FUNCTIONS, Function, Held, Of

OF_STATE: Mapping[Held, Rule] = {
    Held.SPECIAL: special_register.read,
    Held.FOUND: warp_state.found,
    Held.FOUND_ANY: warp_state.found_any,
    Held.MOVED: warp_state.move_barrier,
}
MAKERS: Mapping[Of, Callable[[Function], Rule]] = {**RULES, Of.WARP: cross_lane.rule_of}


def _rule_of(one: Function | Held) -> Rule:
    return OF_STATE[one] if isinstance(one, Held) else MAKERS[one.of](one)


compute = one_on_demand("compute", [_rule_of(one) for one in FUNCTIONS])
