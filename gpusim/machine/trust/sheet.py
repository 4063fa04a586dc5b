"""A machine from the numbers of a data sheet: all others are those of a card that is like it."""

from __future__ import annotations

from collections.abc import Mapping

from gpusim.machine.capability import sm_limits
from gpusim.machine.file import Fact
from gpusim.machine.machine import File
from isa.architecture import NVIDIA
from isa.errors import UserError
from isa.reading.nearest import nearest

SHEET: Mapping[str, tuple[str, float, str]] = {  # by word: the number of the machine, its unit there, and what it is
    "sms": ("chip.sms", 1, "SMs"),
    "clock": ("chip.shader_mhz", 1, "boost clock in MHz"),
    "bandwidth": ("chip.dram_mbs", 1000, "DRAM bandwidth in GB/s"),
    "l2": ("l2.bytes", 1 << 20, "L2 cache in MB"),
    "l1": ("l1.bytes", 1 << 10, "L1 cache with shared memory in KB"),
    "shared": ("limits.shared_bytes", 1 << 10, "shared memory of an SM in KB"),
    "registers": ("limits.registers", 1, "32-bit registers of an SM"),
    "warps": ("limits.warps", 1, "warps of an SM"),
    "fp64": ("pipe.dp.lanes", 1, "double-precision lanes of the pipe dp"),
}
WORDS = *SHEET, "capability"


def of_sheet(name: str, words: Mapping[str, str], parent: File) -> tuple[dict[str, str], dict[str, Fact]]:
    """Return strings and numbers of a machine file for a card by its data sheet; raises UserError for a bad word.

    What it extends is not among the strings.
    """
    source = f"data sheet of {name}"
    facts: dict[str, Fact] = {}
    strings = {"name": name}
    for word, text in words.items():
        if word == "capability":
            strings |= _of_capability(text, facts)
            continue
        if word not in SHEET:
            near = nearest(word, WORDS)
            raise UserError(f"--sheet {word}: {f'did you mean {near}?' if near else f'take some of {_words()}'}")
        path, times, _ = SHEET[word]
        facts[path] = Fact(_number(word, text, times), source, "vendor")
    if "chip.shader_mhz" in facts and _one_clock(parent):
        facts["chip.core_mhz"] = Fact(facts["chip.shader_mhz"].value, source, "vendor", "one clock")
    return strings, facts


def _words() -> str:
    said = [f"{word} ({what})" for word, (_, _, what) in SHEET.items()]
    return ", ".join((*said, "capability (such as 8.9)"))


def _number(word: str, text: str, times: float) -> int:
    try:
        found = round(float(text) * times)
    except (ValueError, OverflowError):
        found = 0
    if found < 1:
        raise UserError(f"--sheet {word}={text}: give a number above 0: {SHEET[word][2]}")
    return found


def _one_clock(parent: File) -> bool:
    return parent.facts["chip.core_mhz"].value == parent.facts["chip.shader_mhz"].value


def _of_capability(text: str, facts: dict[str, Fact]) -> dict[str, str]:
    """Add the limits of a compute capability; return its architecture if its machine code is read."""
    known = sm_limits()
    if text not in known:
        raise UserError(f"--sheet capability={text}: choose one of {', '.join(known)}")
    one = known[text]
    facts |= {path: Fact(value, one.source, "vendor", f"capability {text}") for path, value in one.numbers().items()}
    number = int(text.replace(".", ""))
    return {"architecture": f"sm_{number}"} if number in NVIDIA else {}
