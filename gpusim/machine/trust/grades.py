"""Where the numbers of a machine come from, by area, and which of those that decide are another chip's or guessed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Annotated

from gpusim.machine.file import Fact
from gpusim.machine.machine import File, read
from gpusim.support.document import doc
from isa.errors import UserError

MEASURED, PUBLISHED, CARRIED, GUESSED = GRADES = "measured here", "published", "carried over", "guessed"
AREAS: Mapping[str, str] = {  # sections of machine files
    "chip": "chip limits launch cluster host_link energy",
    "issue": "schedulers issue pairing category dependence selection block_order fetch branch barrier wait_counters",
    "registers": "register_file write_back bypass scalar_file",
    "pipes": "pipe unit joint blocked double match instruction_replay",
    "tensor": "matrix warpgroup tensor_peak",
    "shared memory": "shared_memory shared_atomic load_store memory_port memory_paths constant_path mbarrier",
}
MEMORY = "memory"  # all other sections
DECIDING: Mapping[str, str] = {  # of each area, the numbers that most launches follow
    "chip": "chip.sms chip.shader_mhz limits.warps limits.registers limits.shared_bytes",
    "issue": "schedulers.count schedulers.issue_interval schedulers.policy",
    "registers": "register_file.banks register_file.reuse",
    "pipes": "pipe.*.lanes unit.fp32.latency unit.int.latency",
    "tensor": "matrix.*.interval warpgroup.columns",
    "shared memory": "shared_memory.latency_32 shared_memory.pass_cycles load_store.queue memory_port.cycles",
    MEMORY: "chip.dram_mbs memory.efficiency global_memory.latency cache.l2_latency_32 l2_channel.load_bytes l2.bytes",
}
BY_LIMITER: Mapping[str, str] = {  # the limiter of a bound, and the numbers that it follows from
    "issue slots": "schedulers.count schedulers.interval schedulers.dispatch_ports",
    "dependence chain": "unit.*.latency shared_memory.latency_32 cache.l1_latency_32 cache.l2_latency_32 "
    "global_memory.latency",
    "load/store unit": "shared_memory.pass_cycles global_memory.request_cycles memory_port.cycles",
    "shared-memory unit": "shared_memory.pass_cycles",
    "register banks": "register_file.banks register_file.window register_file.reuse",
    "DRAM": "chip.dram_mbs memory.efficiency memory.written",
    "L2": "l2_channel.load_bytes l2_channel.store_bytes",
    "tensor": "matrix.*.interval",
}
_ON = re.compile(r"[Mm]easured on an? [\w ]*?\w*\d")  # the chip's name has a digit
_LEFT_OUT = (
    "geforce",
    "nvidia",
    "tesla",
    "radeon",
    "instinct",
    "gpu",
    "sxm",
    "pcie",
)  # words of names that do not count
_OTHERS = "Ti|Super|Laptop|D|Max-Q"  # behind a name, another chip's


@dataclass(frozen=True, slots=True)
class Grade:
    """Percent of an area's numbers by grade, and those of the deciding ones that are carried over or guessed."""

    area: str
    numbers: Annotated[int, doc("How many it has.")]
    shares: Annotated[dict[str, float], doc("Percent of them by grade.")]
    doubtful: Annotated[dict[str, str], doc("Deciding ones that are carried over or guessed, and which they are.")]


def area_of(path: str) -> str:
    """Return the area of a number; the DRAM's bandwidth is memory's."""
    section = path.partition(".")[0]
    if path == "chip.dram_mbs":
        return MEMORY
    return next((area for area, sections in AREAS.items() if section in sections.split()), MEMORY)


def grade(fact: Fact, file: File) -> str:
    """Return the grade of a number of a machine: carried over is what the file of another card states.

    So is what was measured on another card, whatever the method says. What names this chip as its source, or its
    architecture, is not.
    """
    if fact.method == "guess":
        return GUESSED
    stated = Path(fact.place.partition(".toml")[0]).name
    named = bool(_chip(file.strings.get("name", "")).search(fact.source)) or _of_architecture(fact.source, file)
    own = named or stated == file.key or _same_card(stated, file) or fact.method == "set"
    if not own or (not named and _ON.match(fact.source)):
        return CARRIED
    return MEASURED if fact.source.lower().startswith(("measured on ", "measured, ")) else PUBLISHED


def _of_architecture(source: str, file: File) -> bool:
    """Tell whether a source is on the machine's architecture: its compute capability, or compilers' code for it."""
    number = file.strings.get("architecture", "").removeprefix("sm_")
    words = rf"sm_{number}|compute capability {number[:-1]}\.{number[-1:]}"
    return number.isdecimal() and bool(re.search(rf"\b(?:{words})(?![.\d])", source))


@cache
def _chip(name: str) -> re.Pattern[str]:
    """The pattern of what sources call a chip: its product's name, and not that of one which begins so."""
    words = [word for word in name.split() if word.lower() not in _LEFT_OUT]
    return re.compile(rf"\b{re.escape(' '.join(words))}\b(?! (?:{_OTHERS})\b)" if words else r"(?!)", re.IGNORECASE)


@cache
def _name_of(machine: str) -> str:
    try:
        return read(machine).strings.get("name", "")
    except UserError:
        return ""


def _same_card(stated: str, file: File) -> bool:
    """Tell whether the file of that name is of the same product, at other clocks for example."""
    other = _name_of(stated)
    return bool(other) and file.strings.get("name", "").startswith((f"{other} at ", f"{other} as "))


def grades(file: File, facts: Mapping[str, Fact]) -> Iterator[Grade]:
    """Yield the grade of each area that the machine has numbers of."""
    for area in (*AREAS, MEMORY):
        own = {path: grade(fact, file) for path, fact in facts.items() if area_of(path) == area}
        if own:
            counts = Counter(own.values())
            shares = {each: 100 * counts[each] / len(own) for each in GRADES}
            yield Grade(area, len(own), shares, doubtful(own, DECIDING[area]))


def doubtful(own: Mapping[str, str], patterns: str) -> dict[str, str]:
    """Return the numbers that fit one of the patterns and are carried over or guessed, with their grades."""
    return {
        path: known
        for path, known in own.items()
        if known in (CARRIED, GUESSED) and any(fnmatchcase(path, one) for one in patterns.split())
    }


def deciding(limiter: str, file: File, facts: Mapping[str, Fact], used: frozenset[str]) -> dict[str, str]:
    """Return the doubtful numbers behind the limiter of a launch; `used`: the unit classes of its instructions."""
    pipe = limiter.removeprefix("pipe ")
    patterns = f"pipe.{pipe}.lanes pipe.{pipe}.schedulers" if pipe != limiter else BY_LIMITER.get(limiter, "")
    own = {path: grade(fact, file) for path, fact in facts.items()}
    found = doubtful(own, patterns)
    return {path: known for path, known in found.items() if not _of_others(path, used)}


def _of_others(path: str, used: frozenset[str]) -> bool:
    """Tell whether a number is of a unit class that the launch has no instruction of."""
    section, *rest = path.split(".")
    return section == "unit" and rest[0] not in used
