"""A machine file of what `measure.cu` printed on a card: which numbers follow from it, and how."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import StringIO
from math import isfinite

from gpusim.machine.file import DIRECTORY, Fact
from gpusim.machine.machine import File, Machine, build
from isa.architecture import NVIDIA
from isa.errors import UserError

PROGRAM = DIRECTORY / "measure.cu"
FIRST = ["gpusim", "measure 1"]
CLOSE = 0.05  # of the parent's DRAM bandwidth: the device's clock and width are those of the data sheet
SINGLE = "sfu", "imul", "int", "dp", "shuffle"  # unit classes whose rate says the lanes of their pipe
DIRECT = "chip", "limits", "l2", "unit", "constant_cache", "shared_memory", "shared_atomic", "barrier", "matrix"


@dataclass(frozen=True, slots=True)
class Card:
    """What a card printed: its name, the day, its compute capability, and the quantities."""

    name: str
    date: str
    capability: str
    found: Mapping[str, float]


def card_of(text: str, path: str) -> Card:
    """Return what the output of the program says; raises UserError if it is none."""
    rows = [row for row in csv.reader(StringIO(text)) if row]
    said = {row[0]: row[1] for row in rows if len(row) == 2}
    if not rows or rows[0] != FIRST or not {"name", "date", "capability"} <= said.keys():
        raise UserError(f"{path}: is no output of measure.cu; write that with gpusim machines measure, and run it")
    if not said["capability"].replace(".", "").isdecimal():
        raise UserError(f"{path}: capability {said['capability']} is no number; run the program again")
    found = {key: _number(path, key, value) for key, value in said.items() if "." in key}
    return Card(said["name"], said["date"], said["capability"], found)


def _number(path: str, key: str, value: str) -> float:
    with suppress(ValueError):
        if isfinite(found := float(value)):
            return found
    raise UserError(f"{path}: {key} is {value}, no number; run the program again")


def of_card(card: Card, parent: File) -> tuple[dict[str, str], dict[str, Fact]]:
    """Return strings and numbers of a machine file for a card that measured itself, all others being the parent's.

    What it extends is not among the strings.
    """
    machine, source = build(parent), f"measured, gpusim machines measure, {card.date}"
    strings = {"name": card.name}
    if (number := int(card.capability.replace(".", ""))) in NVIDIA:
        strings["architecture"] = f"sm_{number}"
    values = dict(_values(card.found, machine, parent))
    return strings, {path: Fact(value, source, "measured", note) for path, (value, note) in values.items()}


def _values(found: Mapping[str, float], machine: Machine, parent: File) -> Iterator[tuple[str, tuple[int, str]]]:
    """Yield the numbers that the machine has too, and what of them was measured."""
    for path, value in found.items():
        if path.partition(".")[0] in DIRECT and path in parent.facts:
            whole = int(value + 0.1) if path == "barrier.latency" else round(value)  # behind it a warp issues anew
            yield path, (whole, _said(value))
    if machine.chip.core_mhz == machine.chip.shader_mhz and "chip.shader_mhz" in found:
        yield "chip.core_mhz", (round(found["chip.shader_mhz"]), "one clock")
    for unit in SINGLE:
        yield from _lanes(unit, found, machine)
    yield from _latencies(found, parent)
    yield from _rates(found, machine, parent)


def _said(value: float) -> str:
    return "" if value == round(value) else f"{value:.5g}"


def _lanes(unit: str, found: Mapping[str, float], machine: Machine) -> Iterator[tuple[str, tuple[int, str]]]:
    """Yield the lanes of a unit class's pipe, if it has one alone: the power of two that is next to its rate."""
    rate, known = found.get(f"rate.{unit}"), machine.unit.get(unit)
    if not rate or not known or known.pipe not in machine.pipe:
        return
    lanes, power = rate * machine.pipe[known.pipe].schedulers / machine.schedulers.count, 1
    while power * 1.414 < lanes:
        power *= 2
    yield f"pipe.{known.pipe}.lanes", (power, f"{rate:.4g} threads of {unit} in a cycle of the SM")


def _latencies(found: Mapping[str, float], parent: File) -> Iterator[tuple[str, tuple[int, str]]]:
    """Yield latencies of loads: one width was measured, and the others are as much longer as the parent's."""
    for level, width in (("l1", 32), ("l2", 64)):
        own = parent.facts.get(f"cache.{level}_latency_{width}")
        if own and isinstance(own.value, int) and f"load.{level}" in found:
            later = round(found[f"load.{level}"]) - own.value
            for each in (32, 64, 128):
                path = f"cache.{level}_latency_{each}"
                value = parent.facts[path].value if path in parent.facts else 0
                if isinstance(value, int) and value:
                    yield path, (value + later, f"{found[f'load.{level}']:.5g} of {width} bits")
    if "load.dram" in found:
        yield "global_memory.latency", (round(found["load.dram"]), _said(found["load.dram"]))


def _rates(found: Mapping[str, float], machine: Machine, parent: File) -> Iterator[tuple[str, tuple[int, str]]]:
    """Yield bandwidths: of shared memory, of the L2, and of the DRAM, whose peak is the parent's if about the same."""
    if found.get("rate.shared") and machine.shared_memory.passes_per_cycle == 1:
        yield "shared_memory.pass_cycles", (max(1, round(32 / found["rate.shared"])), "")
    if machine.l2_channel and "read.l2" in found:
        yield "l2_channel.load_bytes", (round(found["read.l2"]), "")
    read, device = found.get("read.dram_mbs", 0.0), found.get("device.dram_mbs", 0.0)
    peak = machine.chip.dram_mbs
    if abs(device / peak - 1) > CLOSE and device:
        peak = round(device)
        yield "chip.dram_mbs", (peak, "memory clock and width of the device's properties")
    if read and "memory.efficiency" in parent.facts:
        yield "memory.efficiency", (min(1000, round(1000 * read / peak)), f"{read / 1000:.0f} GB/s")
