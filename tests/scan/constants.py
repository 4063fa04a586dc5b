"""Constant operands in the scan of every cycle: the cycle at which each line of either cache has come."""

from __future__ import annotations

from isa.memory import constants
from isa.operand import Constant
from scan.state import Scan, Warp


def constants_there(sm: Scan, warp: Warp, now: int) -> int:
    """The cycle at which the constants of the warp's next instruction have come; missing ones are requested now."""
    keys = sm.machine.constant_operand
    if keys is None or warp.pc >= len(sm.code):
        return 0
    names = [operand.name for _, operand in sm.code[warp.pc].slots() if isinstance(operand, Constant)]
    places = {name: keys.first_byte + 4 * number for number, name in enumerate(constants(sm.kernel))}
    return max((_line(sm, places[name], now) for name in names), default=0)


def _line(sm: Scan, byte: int, now: int) -> int:
    keys = sm.machine.constant_operand
    line = byte // keys.line_bytes
    if keys.parameters_near:  # those with names all are parameters
        return sm.constants.setdefault(("near", line), now + keys.latency)
    if ("near", line) not in sm.constants:
        passed = sm.constants.setdefault(("far", line // keys.far_lines), now + keys.far_latency)
        sm.constants["near", line] = max(now + keys.latency, passed)
    return sm.constants["near", line]
