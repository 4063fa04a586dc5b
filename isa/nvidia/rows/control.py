"""Rows of control flow, and the families of machine code that write more operands or modifiers of them.

An indirect branch goes to the sum of its label, 0 if there is none, and a code address in a pair of registers.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from isa.family import Family
from isa.nvidia.rows.move import copy
from isa.row import WAITS, Row, Unit

BLOCK, CHIP, SYSTEM = range(3)  # what a memory barrier is for, as the code of its row
SCOPES: Mapping[str, int] = MappingProxyType({"CTA": BLOCK, "GPU": CHIP, "SYS": SYSTEM})

# fmt: off
ROWS = (
    Row("JMP",            "l",    Unit.CONTROL),
    Row("BRX",            "aT",   Unit.CONTROL,   wide="a"),
    Row("CALL.REL.NOINC", "l",    Unit.CONTROL),
    Row("CALL.ABS.NOINC", "aT",   Unit.CONTROL,   wide="a"),
    Row("RET.REL.NODEC",  "al",   Unit.CONTROL,   wide="a", optional=1),
    Row("RET.ABS.NODEC",  "al",   Unit.CONTROL,   wide="a", optional=1),
    Row("LEPC",           "da",   Unit.MOVE,      wide="da", result=copy),
    Row("BRA.DIV",        "kl",   Unit.CONTROL),
    Row("BRA.CONV",       "kl",   Unit.CONTROL),
    Row("BREAK",          "B",    Unit.CONTROL),
    Row("BMOV.32",        "Ba",   Unit.SPECIAL),
    Row("BMOV.32.CLEAR",  "dB",   Unit.SPECIAL),
    Row("WARPSYNC.ALL",   "",     Unit.CONTROL),
    Row("WARPSYNC.EXCLUSIVE",  "k",  Unit.CONTROL),
    Row("WARPSYNC.COLLECTIVE", "kl", Unit.CONTROL),
    Row("WARPSYNC.COLLECTIVE.ALL", "l", Unit.CONTROL),
    Row("ENDCOLLECTIVE",  "",     Unit.CONTROL),
    Row("YIELD",          "",     Unit.CONTROL),
    Row("NANOSLEEP",      "k",    Unit.CONTROL),
    Row("KILL",           "",     Unit.CONTROL),
    Row("BPT.TRAP",       "n",    Unit.CONTROL,   optional=1),
    Row("BAR.ARV",        "kk",   Unit.BARRIER),
    Row("BAR.RED.POPC",   "kQ",   Unit.BARRIER),
    Row("BAR.RED.AND",    "kQ",   Unit.BARRIER),
    Row("BAR.RED.OR",     "kQ",   Unit.BARRIER),
    Row("B2R.RESULT",     "dP",   Unit.SPECIAL,   optional=1),
    *(Row(f"MEMBAR.{kind}.{scope}", "", Unit.CONTROL, code=code) for kind in ("SC", "ALL")
      for scope, code in SCOPES.items()),
    Row("MEMBAR.SC.VC",   "",     Unit.CONTROL,   code=CHIP),
    Row("ERRBAR",         "",     Unit.CONTROL),
    Row("CGAERRBAR",      "",     Unit.CONTROL),
    Row("CCTL.IVALL",     "",     Unit.CONTROL),
    Row("DEPBAR.LE",      "yn",   Unit.CONTROL,   grouping=WAITS),
    Row("PMTRIG",         "n",    Unit.CONTROL),
    Row("PREEXIT",        "",     Unit.CONTROL),
    Row("ACQBULK",        "",     Unit.CONTROL),
)
# fmt: on


def _addressed(base: str, optional: str = "") -> Family:
    """Return a family of indirect branches, whose address has 64 bits."""
    return Family(base, "al", Unit.CONTROL, optional=optional, fields={"wide": "a"})


def _reduction(base: str) -> Family:
    return Family(base, "kkQ", Unit.BARRIER, optional="k", silent=_DEFERRED)


_DEFERRED = frozenset({"DEFER_BLOCKING"})
_IF: Mapping[str, Any] = {"optional": "Q"}  # a second predicate, beside the guard
_LASTING = frozenset({"RECONVERGENT", "RELIABLE"})  # what a barrier is for, from sm_100 on; others don't say it

FAMILIES = (
    Family("BAR.SYNC", "kk", Unit.BARRIER, silent=_DEFERRED, fields={"optional": 1}),
    _reduction("BAR.RED.POPC"),
    _reduction("BAR.RED.AND"),
    _reduction("BAR.RED.OR"),
    Family("BRA", "Ql", Unit.CONTROL, silent=frozenset({"U", "ANY"}), **_IF),
    Family("BRA.DIV", "kl", Unit.CONTROL, optional="k", signs={"k": "~"}),
    Family("BRA.CONV", "kl", Unit.CONTROL, optional="k", signs={"k": "~"}),
    Family("JMP", "Ql", Unit.CONTROL, **_IF),
    Family("BSSY", "QBl", Unit.CONTROL, silent=_LASTING, **_IF),
    Family("BSYNC", "QB", Unit.CONTROL, silent=_LASTING, **_IF),
    Family("BREAK", "QB", Unit.CONTROL, silent=_LASTING, **_IF),
    Family("EXIT", "Q", Unit.CONTROL, **_IF),
    Family("NANOSLEEP", "k", Unit.CONTROL, silent=frozenset({"WARP"})),
    _addressed("CALL.REL.NOINC", "a"),
    Family("CALL.ABS.NOINC", "a", Unit.CONTROL, fields={"wide": "a"}),
    Family("RET.REL.NODEC", "Qal", Unit.CONTROL, fields={"wide": "a"}, **_IF),
    Family("RET.ABS.NODEC", "Qal", Unit.CONTROL, fields={"wide": "a"}, **_IF),
    *(_addressed(base) for base in ("BRX", "BRXU", "JMX", "JMXU")),
    Family(
        "CCTL",
        "",
        Unit.CONTROL,
        silent=frozenset({"E", "U", "D", "IV", "PF1", "PF2", "PF1.5", "RML2", "DML2", "WB", "RS"}),
    ),
)
