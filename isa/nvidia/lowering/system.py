"""Functions of the system that code calls: their addresses are in constant bank 4, or in the code of debuggers.

Those of isa/nvidia/system are linked to the code. Code that calls others, such as __assertfail, runs, and stops with an
error where one is called: a call of a known function is a trap; a call by an address goes behind the code, to a place
that stands for the function (isa/nvidia/file/link.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from isa.nvidia.file.dump import Encoded, Section

TRAP = "BPT.TRAP 0x1"
_CALL = re.compile(r"(?P<guard>@\S+ )?CALL\.ABS(?:\.\w+)* (?:R(?P<register>\d+)\b(?! `)|`\((?P<name>\w+)\)).*")
_LOAD = re.compile(r"(?:@\S+ )?LDC\.64 R(?P<to>\d+), c\[0x4\] ?\[(?:R(?P<base>\d+)|(?P<offset>0x[0-9a-f]+))\]")
_MOVE = re.compile(r"(?:@\S+ )?(?:MOV|IMAD\.MOV\.U32) R(?P<to>\d+), (?:RZ, RZ, )?R(?P<of>\d+)")
_NUMBER = re.compile(r"(?:MOV|IMAD\.MOV\.U32) R(?P<to>\d+), (?:RZ, RZ, )?(?P<number>0x[0-9a-f]+)")


class Calls(NamedTuple):
    """Code with traps in the place of calls of known functions of the system, and these functions by pc."""

    section: Section
    stops: Mapping[int, str]


def calls(section: Section, externals: Sequence[str], addresses: Mapping[int, str]) -> Calls:
    """Return what a section calls of the system.

    `externals` are the functions of the system that the file calls, `addresses` what bank 4 has the addresses of.
    """
    instructions, stops = list(section.instructions), dict[int, str]()
    for at, one in enumerate(section.instructions if externals else ()):
        call = _CALL.fullmatch(one.text)
        name = _called(call, section.instructions[:at], addresses) if call else ""
        if call and name in externals:
            instructions[at], stops[at] = one._replace(text=f"{call['guard'] or ''}{TRAP}"), name
    return Calls(replace(section, instructions=instructions), stops)


def called(section: Section, addresses: Mapping[int, str]) -> frozenset[str]:
    """Return the functions that a section calls by name or by addresses of bank 4; "" for one that it does not say."""
    each = ((at, _CALL.fullmatch(one.text)) for at, one in enumerate(section.instructions) if "CALL.ABS" in one.text)
    return frozenset(_called(call, section.instructions[:at], addresses) for at, call in each if call)


def named(text: str, name: str) -> str:
    """Return a call's text with the function's name as the tools print it where they know it."""
    return text if "`" in text else f"{text} `({name})"


def meets(texts: Iterable[str], place: int) -> bool:
    """Tell whether code takes the address that a cooperative launch fills in at that `place`, its upper word first."""
    return any(reads(text, place) for text in texts)


def reads(text: str, place: int) -> bool:
    """Tell whether an instruction's text reads that byte of constant bank 0, also behind the size of its cluster."""
    return f"{place:#x}]" in text and re.search(rf"c\[0x0\]\[(?:U?R\d+\+)?{place:#x}\]", text) is not None


def _called(call: re.Match[str], before: Sequence[Encoded], addresses: Mapping[int, str]) -> str:
    """Return the function that is called; nothing if the code does not say."""
    if call["name"]:
        return call["name"]
    load, at = _last(_LOAD, call["register"], before)
    return addresses.get(_offset(load, before[:at]), "") if load else ""


def _offset(load: re.Match[str], before: Sequence[Encoded]) -> int:
    """Return the place in bank 4 from which an address is loaded; -1 if that is not known."""
    if load["offset"]:
        return int(load["offset"], 0)
    number, _ = _last(_NUMBER, load["base"], before)
    return int(number["number"], 0) if number else -1


def _last(form: re.Pattern[str], register: str, before: Sequence[Encoded]) -> tuple[re.Match[str] | None, int]:
    """Return the last instruction of a form that writes a register, through moves, and its index; or None."""
    for at in reversed(range(len(before))):
        found, move = form.fullmatch(before[at].text), _MOVE.fullmatch(before[at].text)
        if found and found["to"] == register:
            return found, at
        if move and move["to"] == register:
            register = move["of"]
    return None, 0
