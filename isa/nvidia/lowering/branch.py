"""Branches of machine code as their text gives them: relative addresses, and the labels that may be meant.

`BRX R4 -0x160` at offset 0x150 goes to R4 and 0 bytes: its number counts from the next instruction. A remark that
nvdisasm appends has the labels of its jump table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from isa.instruction import Instruction
from isa.nvidia.file.dump import Encoded, Section
from isa.nvidia.file.encoding import BYTES
from isa.operands.operand import Label

_RELATIVE = re.compile(r"(?P<head>(?:@\S+ )?(?:BRXU?|JMXU?)(?:\.\w+)* \S+) (?P<distance>-?0x[0-9a-f]+)(?P<rest>.*)")
_WITH_PLACES = "BRX", "JMX", "LEPC"
_OWN = re.compile(r"(?:@\S+ )?LEPC R\d+")
_TARGETS = re.compile(r'\(\*"BRANCH_TARGETS (?P<names>[^"]*)"\*\)')


def absolute(encoded: Encoded) -> str:
    """Return the text of an instruction with an address in the place of a distance, or of what LEPC leaves out."""
    if not any(name in encoded.text for name in _WITH_PLACES):
        return encoded.text
    if match := _RELATIVE.fullmatch(encoded.text):
        base = encoded.offset + BYTES + int(match["distance"], 16)
        return f"{match['head']} {base:#x}{match['rest']}"
    return f"{encoded.text}, {encoded.offset:#x}" if _OWN.fullmatch(encoded.text) else encoded.text


def known_targets(section: Section) -> Mapping[int, tuple[str, ...]]:
    """Return by pc the labels to which an indirect branch may go, where the text says so."""
    found = ((pc, _TARGETS.search(one.text)) for pc, one in enumerate(section.instructions) if "(*" in one.text)
    named = ((pc, match["names"].split(",")) for pc, match in found if match)
    return {pc: tuple(names) for pc, names in named if section.labels.keys() >= set(names)}


def labels(section: Section, instructions: Sequence[Instruction]) -> Mapping[str, int]:
    """Return the labels by the index of their instruction: those of the text, and those that are addresses.

    An indirect branch also names the section's own function, which begins at 0.
    """
    found = {name: offset // BYTES for name, offset in section.labels.items()}
    for instruction in instructions:
        for name in (o.name for o in instruction.operands if isinstance(o, Label) and o.name not in found):
            if name[:1].isdigit():
                found[name] = int(name, 0) // BYTES
            elif instruction.row.is_indirect:
                found[name] = 0
    return found


def missing(instructions: Sequence[Instruction], known: Mapping[str, int]) -> set[int]:
    """Return the pcs of instructions that name a place which is not in this code."""
    named = ((pc, i.label()) for pc, i in enumerate(instructions))
    return {pc for pc, label in named if label is not None and label.name not in known}
