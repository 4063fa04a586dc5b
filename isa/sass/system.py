"""Functions of the system that code calls: their addresses are in constant bank 4, or in the code of debuggers.

`__assertfail` and `free` are calls by which a program that has an error, or destroys an object of the heap, would go
on; the others are needed for results. So code with the first two runs, and stops with an error if it calls one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from isa.sass.dump import Encoded, Section

ENDS = "__assertfail", "free"
TRAP = "BPT.TRAP 0x1"
_CALL = re.compile(r"(?P<guard>@\S+ )?CALL\.ABS(?:\.\w+)* (?:R(?P<register>\d+)\b(?! `)|`\((?P<name>\w+)\)).*")
_LOAD = re.compile(r"(?:@\S+ )?LDC\.64 R(?P<to>\d+), c\[0x4\] ?\[(?:R(?P<base>\d+)|(?P<offset>0x[0-9a-f]+))\]")
_NUMBER = re.compile(r"(?:MOV|IMAD\.MOV\.U32) R(?P<to>\d+), (?:RZ, RZ, )?(?P<number>0x[0-9a-f]+)")
Refused = list[tuple[Encoded, str]]


class Calls(NamedTuple):
    """Code with traps in the place of calls of `ENDS`, their functions by pc, and calls of others with their names."""

    section: Section
    stops: Mapping[int, str]
    refused: Refused


def calls(section: Section, externals: Sequence[str], addresses: Mapping[int, str]) -> Calls:
    """Return what a section calls of the system.

    `externals` are the functions of the system that the file calls, `addresses` what bank 4 has the addresses of.
    """
    instructions, stops, refused = list(section.instructions), dict[int, str](), Refused()
    if not externals:
        return Calls(section, stops, refused)
    for at, one in enumerate(section.instructions):
        call = _CALL.fullmatch(one.text)
        names = _called(call, section.instructions[:at], externals, addresses) if call else ()
        if call and call["register"] and len(names) == 0:
            refused.append((one, f"a call of {' or '.join(externals)}"))  # or of a function, whose address is not known
        elif call and names and names[0] in ENDS:
            instructions[at], stops[at] = one._replace(text=f"{call['guard'] or ''}{TRAP}"), names[0]
        elif names:
            refused.append((one, f"a call of {names[0]}"))
    return Calls(replace(section, instructions=instructions), stops, refused)


def named(text: str, name: str) -> str:
    """Return a call's text with the function's name as the tools print it where they know it."""
    return text if "`" in text else f"{text} `({name})"


def of_grid(section: Section, grid_word: str) -> Refused:
    """Return what reads the constant that a cooperative launch fills, `grid_word`, if the code traps without it."""
    reads = [one for one in section.instructions if grid_word and grid_word in one.text][:1]
    traps = reads and any("BPT.TRAP" in one.text for one in section.instructions)
    return [(one, "a synchronisation of the grid, for a cooperative launch") for one in reads if traps]


def _called(
    call: re.Match[str], before: Sequence[Encoded], externals: Sequence[str], addresses: Mapping[int, str]
) -> tuple[str, ...]:
    """Return the function of the system that is called; nothing if it is another, or if the code does not say."""
    if call["name"]:
        return (call["name"],) if call["name"] in externals else ()
    loads = (match for one in reversed(before) if (match := _LOAD.fullmatch(one.text)))
    load = next((one for one in loads if one["to"] == call["register"]), None)
    found = addresses.get(_offset(load, before), "") if load else ""
    return (found,) if found in externals else ()


def _offset(load: re.Match[str], before: Sequence[Encoded]) -> int:
    """Return the place in bank 4 from which an address is loaded; -1 if that is not known."""
    if load["offset"]:
        return int(load["offset"], 0)
    end = next(at for at in reversed(range(len(before))) if before[at].text == load.string)
    moves = (match for one in reversed(before[:end]) if (match := _NUMBER.fullmatch(one.text)))
    return next((int(one["number"], 0) for one in moves if one["to"] == load["base"]), -1)
