"""Rows of control flow, and the families of machine code that write more operands or modifiers of them.

An indirect branch goes to the sum of its label, 0 if there is none, and a code address in a pair of registers.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from isa.family import Family
from isa.nvidia.rows.move import copy
from isa.row import CLOSES, WAITS, Flow, Groups, Row, Unit
from isa.values import logic

BLOCK, CHIP, SYSTEM = range(3)  # what a memory barrier is for, as the code of its row
# A barrier of a block waits, and finds in how many threads a predicate holds, in any, in every one; or does not wait.
WAIT, COUNT, ANY, EVERY, ARRIVE, CLUSTER_ARRIVE, CLUSTER_WAIT = range(7)  # the last two at that of its cluster
WORD, MILLISECOND = 0xFFFFFFFF, 1_000_000
SCOPES: Mapping[str, int] = MappingProxyType({"CTA": BLOCK, "GPU": CHIP, "SYS": SYSTEM})

# fmt: off
ROWS = (
    Row("JMP",            "l",    Unit.CONTROL,  flow=Flow.BRANCH),
    Row("BRX",            "aT",   Unit.CONTROL,  registers="a2", flow=Flow.BRANCH),
    Row("CALL.REL.NOINC", "l",    Unit.CONTROL,  flow=Flow.CALL),
    Row("CALL.ABS.NOINC", "aT",   Unit.CONTROL,  registers="a2", flow=Flow.CALL),
    Row("RET.REL.NODEC",  "al",   Unit.CONTROL,  registers="a2", optional=1, flow=Flow.RETURN),
    Row("RET.ABS.NODEC",  "al",   Unit.CONTROL,  registers="a2", optional=1, flow=Flow.RETURN),
    Row("LEPC",           "da",   Unit.MOVE,   registers="da2", result=copy, flow=Flow.LOCATE),
    Row("BRA.DIV",        "kl",   Unit.CONTROL,  flow=Flow.IF_PARTED, most=WORD),
    Row("BRA.CONV",       "kl",   Unit.CONTROL,  flow=Flow.IF_WHOLE, most=WORD),
    Row("BREAK",          "B",    Unit.CONTROL,  flow=Flow.TAKE_AWAY),
    Row("BMOV.32",        "Ba",   Unit.SPECIAL,  flow=Flow.MOVE),
    Row("BMOV.32.CLEAR",  "dB",   Unit.SPECIAL,  flow=Flow.MOVE),
    Row("WARPSYNC.ALL",   "",     Unit.CONTROL,  flow=Flow.GATHER_ALL),
    Row("WARPSYNC.EXCLUSIVE",  "k",  Unit.CONTROL,  flow=Flow.PART, most=WORD),
    Row("WARPSYNC.COLLECTIVE", "kl", Unit.CONTROL,  flow=Flow.COLLECT, most=WORD),
    Row("WARPSYNC.COLLECTIVE.ALL", "l", Unit.CONTROL,  flow=Flow.COLLECT),
    Row("ENDCOLLECTIVE",  "",     Unit.CONTROL,  flow=Flow.DISPERSE),
    Row("YIELD",          "",     Unit.CONTROL,  flow=Flow.GIVE_WAY),
    Row("NANOSLEEP",      "k",    Unit.CONTROL,  flow=Flow.GIVE_WAY, most=MILLISECOND),
    Row("KILL",           "",     Unit.CONTROL,  flow=Flow.EXIT),
    Row("BPT.TRAP",       "n",    Unit.CONTROL,  optional=1, flow=Flow.TRAP, most=7),
    Row("BAR.ARV",        "kk",   Unit.BARRIER,  code=ARRIVE),
    Row("BAR.RED.POPC",   "kQ",   Unit.BARRIER,  code=COUNT),
    Row("BAR.RED.AND",    "kQ",   Unit.BARRIER,  code=EVERY),
    Row("BAR.RED.OR",     "kQ",   Unit.BARRIER,  code=ANY),
    Row("UCGABAR_ARV",    "",     Unit.BARRIER,  code=CLUSTER_ARRIVE),
    Row("UCGABAR_WAIT",   "",     Unit.BARRIER,  code=CLUSTER_WAIT),
    Row("B2R.RESULT",     "dP",   Unit.SPECIAL,  optional=1, flow=Flow.FIND),
    *(Row(f"MEMBAR.{kind}.{scope}", "", Unit.CONTROL, code=code) for kind in ("SC", "ALL")
      for scope, code in SCOPES.items()),
    Row("MEMBAR.SC.VC",   "",     Unit.CONTROL,  code=CHIP),
    Row("ERRBAR",         "",     Unit.CONTROL),
    Row("CGAERRBAR",      "",     Unit.CONTROL),
    Row("CCTL.IVALL",     "",     Unit.CONTROL),
    Row("DEPBAR.LE",      "yn",   Unit.CONTROL,  most=63, grouping=WAITS),
    Row("PMTRIG",         "n",    Unit.CONTROL,  most=0xFFFF),
    Row("PREEXIT",        "",     Unit.CONTROL),
    Row("ACQBULK",        "",     Unit.CONTROL),
)
# fmt: on


def _flowing(base: str, form: str, flow: Flow, **other: Any) -> Family:
    """Return a family of control flow, whose code addresses have 64 bits."""
    fields = {"flow": flow, **({"registers": "a2"} if "a" in form else {})}
    return Family(base, form, Unit.CONTROL, fields=fields, **other)


def _reduction(base: str, code: int) -> Family:
    return Family(base, "kkQ", Unit.BARRIER, optional="k", silent=_DEFERRED, fields={"code": code})


_DEFERRED = frozenset({"DEFER_BLOCKING"})
_IF: Mapping[str, Any] = {"optional": "Q"}  # a second predicate, beside the guard
_LASTING = frozenset({"RECONVERGENT", "RELIABLE"})  # what a barrier is for, from sm_100 on; others don't say it

FAMILIES = (
    Family("BAR.SYNC", "kk", Unit.BARRIER, silent=_DEFERRED, fields={"optional": 1}),
    _reduction("BAR.RED.POPC", COUNT),
    _reduction("BAR.RED.AND", EVERY),
    _reduction("BAR.RED.OR", ANY),
    _flowing("BRA", "Ql", Flow.BRANCH, silent=frozenset({"U", "ANY"}), modifiers={"ANY": {"flow": Flow.IF_ANY}}, **_IF),
    _flowing("BRA.DIV", "kl", Flow.IF_PARTED, optional="k", signs={"k": "~"}),
    _flowing("BRA.CONV", "kl", Flow.IF_WHOLE, optional="k", signs={"k": "~"}),
    _flowing("JMP", "Ql", Flow.BRANCH, **_IF),
    _flowing("BSSY", "QBl", Flow.EXPECT, silent=_LASTING, **_IF),
    _flowing("BSYNC", "QB", Flow.MEET, silent=_LASTING, **_IF),
    _flowing("BREAK", "QB", Flow.TAKE_AWAY, silent=_LASTING, **_IF),
    _flowing("EXIT", "Q", Flow.EXIT, **_IF),
    _flowing("NANOSLEEP", "k", Flow.GIVE_WAY, silent=frozenset({"WARP", "SYNCS"})),
    _flowing("CALL.REL.NOINC", "al", Flow.CALL, optional="a"),
    _flowing("CALL.ABS.NOINC", "a", Flow.CALL),
    _flowing("RET.REL.NODEC", "Qal", Flow.RETURN, **_IF),
    _flowing("RET.ABS.NODEC", "Qal", Flow.RETURN, **_IF),
    *(_flowing(base, "al", Flow.BRANCH) for base in ("BRX", "BRXU", "JMX", "JMXU")),
    # Registers are given back to the block's pool, or taken from it: there are always enough, at once.
    Family("USETMAXREG.DEALLOC.CTAPOOL", "n", Unit.CONTROL),
    Family("USETMAXREG.TRY_ALLOC.CTAPOOL", "Pn", Unit.UNIFORM, None, logic.granted, shared="P"),
    Family("DEPBAR", "", Unit.CONTROL),
    Family("UTMACMDFLUSH", "", Unit.CONTROL, fields={"grouping": CLOSES, "groups": Groups.BULK}),
    Family("FENCE.VIEW.ASYNC", "", Unit.CONTROL, silent=frozenset("SGT")),
    Family(
        "CCTL",
        "",
        Unit.CONTROL,
        silent=frozenset({"E", "U", "D", "IV", "PF1", "PF2", "PF1.5", "RML2", "DML2", "WB", "RS", "C", "LDCU", "DEEP"}),
    ),
)
