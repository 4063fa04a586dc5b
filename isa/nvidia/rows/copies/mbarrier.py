"""Families of barriers in shared memory (mbarrier): they begin, get arrivals and bytes, and tell of their phases.

An arrival says in its name where its numbers come from: arrivals are none (A0), one (A1) or those of a register (AR),
bytes are none (T0), announced by a register (TR) or by one (T1), or have come (TX). Without such a name it is A1 and
TR. `RED` gives no state. `STAS` stores words at the address in its first register, and brings their bytes to the
barrier at that in its second; `REDAS` updates words there.
"""

from __future__ import annotations

from isa.family import Family
from isa.row import Signal, Unit
from isa.values import atomic

# Of an arrival, in the code of its row.
ONE_ARRIVAL, ARRIVALS, ANNOUNCED, COME, ONE_ANNOUNCED, OPTS_OUT = 1, 2, 4, 8, 16, 32
A_BYTE, NATIVE = 1, 2  # of what follows copies: it brings a byte, not an arrival; to a barrier as from sm_90 on

_NUMBERS = {
    "": ONE_ARRIVAL | ANNOUNCED,
    ".A1T0": ONE_ARRIVAL,
    ".ART0": ARRIVALS,
    ".A0TR": ANNOUNCED,
    ".A0TX": COME,
    ".A0T1": ONE_ANNOUNCED,
}

_UPDATES = {
    "ADD": atomic.add,
    "ADD.S32": atomic.add,
    "MIN": atomic.minimum,
    "MAX": atomic.maximum,
    "MIN.S32": atomic.signed_minimum32,
    "MAX.S32": atomic.signed_maximum32,
    "INC": atomic.increment,
    "DEC": atomic.decrement,
    "AND": atomic.both_bits,
    "OR": atomic.either_bit,
    "XOR": atomic.odd_bit,
}

FAMILIES = (
    Family("SYNCS.EXCH.64", "dma", Unit.SYNC, fields={"registers": "da2", "signal": Signal.BEGIN}, shared="da"),
    Family("SYNCS.CCTL.IV", "m", Unit.SYNC, fields={"signal": Signal.FORGET}),
    *(
        Family(
            f"SYNCS.ARRIVE.TRANS64{red}{out}{name}",
            "dma",
            Unit.SYNC,
            fields={"registers": "d2", "signal": Signal.ARRIVE, "code": code | (OPTS_OUT if out else 0)},
        )
        for name, code in _NUMBERS.items()
        for red in ("", ".RED")
        for out in ("", ".OPTOUT")
    ),
    Family(
        "SYNCS.PHASECHK.TRANS64",
        "Pma",
        Unit.SYNC,
        fields={"signal": Signal.LOOK},
        modifiers={"TRYWAIT": {"signal": Signal.AWAIT}},
    ),
    Family(
        "ARRIVES.LDGSTSBAR.64",
        "m",
        Unit.SYNC,
        fields={"signal": Signal.FOLLOW},
        modifiers={"ARVCNT": NATIVE, "TRANSCNT": NATIVE | A_BYTE},
    ),
    Family(
        "STAS",
        "ma",
        Unit.SYNC,
        fields={"registers": "m2", "signal": Signal.SEND},
        modifiers={"64": {"width": 64}, "128": {"width": 128}},
    ),
    *(
        Family(f"REDAS.{name}", "ma", Unit.SYNC, fields={"registers": "m2", "signal": Signal.SEND, "update": update})
        for name, update in _UPDATES.items()
    ),
    Family(
        "REDAS.ADD.64",
        "ma",
        Unit.SYNC,
        fields={"registers": "m2", "signal": Signal.SEND, "update": atomic.add, "width": 64},
    ),
)
