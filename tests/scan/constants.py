"""Constant operands in the scan of every cycle: the cycle at which each line of either cache has come."""

from __future__ import annotations

from isa.memory import constants
from isa.operands.operand import Constant
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
    if ("near", line) not in sm.constants:
        there = _turn(sm, now) + keys.latency
        if not keys.parameters_near:  # those with names all are parameters
            there = max(there, sm.constants.setdefault(("far", line // keys.far_lines), now + keys.far_latency))
        sm.constants["near", line] = there
    return sm.constants["near", line]


def _turn(sm: Scan, now: int) -> int:
    """The cycle at which the next cache serves the last of the schedulers that ask for a line at `now`."""
    keys, chip = sm.machine.constant_operand, sm.machine.chip
    asking = min(sm.resident * sm.kernel.warps, sm.machine.schedulers.count)
    taken = keys.next_cycles * asking * min(sm.kernel.blocks, chip.sms) // chip.sms
    others = taken * (asking - 1) // asking
    begin = sm.served_until if now - others < sm.served_until else now
    sm.served_until = begin + taken
    return begin + others
