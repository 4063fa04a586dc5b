"""Control codes: the compiler's information on each instruction for the schedulers of Maxwell and later chips.

In text, as in maxas and CuAssembler, `[B--2---:R0:W1:Y:S04]`: barriers waited for, barrier of the reads, barrier of the
write, yield, stall count; a `-` for none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from isa.reading.source import AssemblyError, Token

BARRIERS = 6  # of each warp
MOST_STALL = 15
_FIELDS = {  # in the order of the text
    "waits": (r"B([-0][-1][-2][-3][-4][-5])", "B and six digits, each - or its own place, such as B--2---"),
    "reads": (r"R([-0-5])", "R and a barrier 0 to 5, or R-"),
    "write": (r"W([-0-5])", "W and a barrier 0 to 5, or W-"),
    "yields": (r"([-Y])", "Y or -"),
    "stall": (r"S(0\d|1[0-5]|\d)", "S and a count 00 to 15"),
}


@dataclass(frozen=True, slots=True)
class Control:
    """The code of one instruction. `waits` is a mask of barriers; a barrier of None is none.

    `stall`: cycles until the warp may issue again; `read_barrier` is released when the sources have been read,
    `write_barrier` when the result is there.
    """

    stall: int
    yields: bool = False
    read_barrier: int | None = None
    write_barrier: int | None = None
    waits: int = 0


def parse(token: Token) -> Control:
    """Return the code in a token, brackets included; raises AssemblyError at the wrong field."""
    fields = token.text[1:-1].split(":")
    if len(fields) != len(_FIELDS):
        raise AssemblyError(token, f"{token.text} is no control code; write five fields, such as [B------:R-:W-:-:S01]")
    column, found = 1, dict[str, str]()
    for (name, (form, usage)), field in zip(_FIELDS.items(), fields, strict=True):
        match = re.fullmatch(form, field)
        if not match:
            place = Token(field, token.name, token.line, token.column + column)
            raise AssemblyError(place, f"{field!r} does not suit a control code here; write {usage}")
        found[name] = match[1]
        column += len(field) + 1
    waits = sum(1 << i for i, digit in enumerate(found["waits"]) if digit != "-")
    read_barrier, write_barrier = (None if found[name] == "-" else int(found[name]) for name in ("reads", "write"))
    return Control(int(found["stall"]), found["yields"] == "Y", read_barrier, write_barrier, waits)


def show(control: Control) -> str:
    """Return the text of a code, which `parse` reads back."""
    waits = "".join(str(i) if control.waits >> i & 1 else "-" for i in range(BARRIERS))
    reads, write = ("-" if b is None else b for b in (control.read_barrier, control.write_barrier))
    return f"[B{waits}:R{reads}:W{write}:{'Y' if control.yields else '-'}:S{control.stall:02}]"


def odd_one_out(controls: Iterable[Control | None]) -> int | None:
    """Return the index of the first instruction unlike the first in having a code or none; None if all agree."""
    present = [control is not None for control in controls]
    return next((i for i, has in enumerate(present) if has != present[0]), None)


def uneven(control: Control | None) -> str:
    """Return cause and fix for an instruction that, unlike the others, has this code or none."""
    if control is None:
        return "it has no control code, and those before it do; give every instruction one, or none"
    return "it has a control code, and those before it have none; give every instruction one, or none"
