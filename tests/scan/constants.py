"""Constant operands in the scan of every cycle: the cycle at which each line of either cache has come."""

from __future__ import annotations

from isa.memory import constants
from isa.operands.operand import BankConstant, Constant
from scan.state import Scan, Warp

PARAMETERS = 0  # the bank of parameters, and of what a listing names


def constants_there(sm: Scan, warp: Warp, now: int) -> int:
    """The cycle at which the constants of the warp's next instruction have come; missing ones are requested now."""
    keys = sm.machine.constant_operand
    if keys is None or warp.pc >= len(sm.code):
        return 0
    operands, names = [operand for _, operand in sm.code[warp.pc].slots()], list(constants(sm.kernel))
    places = [(PARAMETERS, keys.first_byte + 4 * names.index(o.name)) for o in operands if isinstance(o, Constant)]
    places += [(o.bank, o.offset) for o in operands if isinstance(o, BankConstant)]
    near = bool(keys.parameters_near) and all(bank == PARAMETERS for bank, _ in places)
    lines = sorted({(bank, byte // keys.line_bytes) for bank, byte in places})
    return max((_line(sm, bank, line, now, near=near) for bank, line in lines), default=0)


def _line(sm: Scan, bank: int, line: int, now: int, *, near: bool) -> int:
    keys = sm.machine.constant_operand
    if ("near", bank, line) not in sm.constants:
        there = _turn(sm, now) + keys.latency
        if not near:
            there = max(there, sm.constants.setdefault(("far", bank, line // keys.far_lines), now + keys.far_latency))
        sm.constants["near", bank, line] = there
    return sm.constants["near", bank, line]


def _turn(sm: Scan, now: int) -> int:
    """The cycle at which the next cache serves the last of the schedulers that ask for a line at `now`."""
    keys, chip = sm.machine.constant_operand, sm.machine.chip
    asking = min(sm.resident * sm.kernel.warps, sm.machine.schedulers.count)
    taken = keys.next_cycles * asking * min(sm.kernel.blocks, chip.sms) // chip.sms
    others = taken * (asking - 1) // asking
    begin = sm.served_until if now - others < sm.served_until else now
    sm.served_until = begin + taken
    return begin + others
