"""Machines of a file with some numbers drawn, which keep the file's mechanisms; with kernels for them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

import hypothesis.strategies as st

from gpusim.machine import machine
from gpusim.machine.machine import Machine
from gpusim.machine.schema import EXTRAS, PIPE_UNITS
from gpusim.sm.registers.control_code.declaration import by_codes
from isa.errors import UserError
from isa.kernel import Kernel
from strategies.cache_choices import CACHES
from strategies.launches import fit, sketched_machines

Settings = dict[str, int | str]
NAMED = re.compile(r"\b(\w+)[.\]]")
OWN = {"chip", "limits", "pipe", "joint", "blocked"}  # sections that depend on the file's pipes, or are drawn apart
SCALARS = {"scalar_file.registers": 4000, "scalar_file.unit": 16, "scalar_file.per_warp": 102}
CONSTANTS = {key: values[0] for key, values in CACHES.items() if key.startswith("constant_cache")}
FEW = 6  # settings
BANDWIDTHS = (12_000, 190_000, 1_200_000, 4_700_000)  # megabytes per second


@st.composite
def grafted(draw: st.DrawFn, name: str, settings: Mapping[str, int | str]) -> Settings:
    """Some sections of a drawn machine on another file, whose pipes keep their names."""
    base = _base(name)
    pipes = [f"pipe.{pipe}.{key}" for pipe in base.pipe for key in ("lanes", "schedulers")]
    sections = sorted({path.partition(".")[0] for path in settings} - OWN)
    taken = {section for section in sections if draw(st.booleans())}
    found = {path: value for path, value in _of_file(name, settings).items() if path.partition(".")[0] in taken}
    found = _lacked(name) | found | {"limits.warp_size": settings["limits.warp_size"]}
    found |= {"limits.blocks": settings["limits.blocks"]} if draw(st.booleans()) else {}
    for path in pipes if draw(st.booleans()) else ():
        found[path] = draw(st.sampled_from((4, 8, 16, 32) if path.endswith("lanes") else (1, 2, 4)))
    codes = by_codes(base) and found.get("dependence.rule", "codes") == "codes"
    return {path: value for path, value in found.items() if not (codes and path.startswith("wait_counters."))}


@st.composite
def few(draw: st.DrawFn, name: str, settings: Mapping[str, int | str]) -> Settings:
    """A few settings of a drawn machine on another file, whose mechanisms and the rest of their numbers stay."""
    found = {path: value for path, value in _of_file(name, settings).items() if path.partition(".")[0] not in OWN}
    paths = draw(st.lists(st.sampled_from(sorted(found)), max_size=FEW, unique=True))
    return _lacked(name) | {path: found[path] for path in paths} | {"limits.warp_size": settings["limits.warp_size"]}


def fitting(name: str, settings: Mapping[str, int | str]) -> Settings:
    """The settings without the sections that conflict with others of them, or of the file."""
    kept = {path: settings[path] for path in ("chip.sms", "chip.dram_mbs", "limits.warp_size")} | _lacked(name)
    left = kept | settings
    while True:
        try:
            made(name, left)
        except UserError as error:
            if left == kept:
                raise
            sections = {path.partition(".")[0] for path in left if path not in kept}
            wrong = next((word for word in NAMED.findall(str(error)) if word in sections), None)
            left = {path: value for path, value in left.items() if path.partition(".")[0] != wrong} if wrong else {}
            left |= kept
        else:
            return left


@st.composite
def settings_of_file(draw: st.DrawFn, name: str, sms: Sequence[int], lanes: int = 32) -> Settings:
    """Settings of a file: a few, or whole sections, for a chip of so many SMs and for warps of so many lanes."""
    drawn, _ = draw(sketched_machines(lanes))
    settings = draw(few(name, drawn) | few(name, drawn) | grafted(name, drawn))
    chip = {"chip.sms": draw(st.sampled_from(sms)), "chip.dram_mbs": draw(st.sampled_from(BANDWIDTHS))}
    return fitting(name, settings | chip)


def launches_on(
    of: st.SearchStrategy[Kernel], names: Sequence[str], sms: Sequence[int]
) -> st.SearchStrategy[tuple[Kernel, Machine]]:
    """Kernels, each with a machine of one of these files: all of its mechanisms, or many, on a chip of so many SMs."""

    def machines(kernel: Kernel) -> st.SearchStrategy[Machine]:
        named = st.sampled_from(names)
        return named.flatmap(
            lambda name: settings_of_file(name, sms, kernel.warp_size).map(lambda drawn: made(name, drawn))
        )

    return of.flatmap(lambda kernel: machines(kernel).map(lambda machine: (fit(kernel, machine), machine)))


def made(name: str, settings: Mapping[str, int | str]) -> Machine:
    """Return the file's machine with these settings; raises UserError if they conflict."""
    return machine.build(_file(name), settings)


def _of_file(name: str, settings: Mapping[str, int | str]) -> Settings:
    """The settings that the file may have, but for the pipes of units."""
    return {path: value for path, value in settings.items() if path in _paths(name) and not path.endswith(".pipe")}


@cache
def _lacked(name: str) -> Settings:
    """Settings that instructions of the table need and the file lacks."""
    base = _base(name)
    units = [unit for unit in PIPE_UNITS if unit not in base.unit]
    pipe = {f"unit.{unit}.pipe": next(iter(base.pipe)) for unit in units}
    sections = {} if base.scalar_file else SCALARS
    sections |= {} if base.constant_cache else CONSTANTS
    return pipe | {f"unit.{unit}.latency": 18 for unit in units} | sections | {"limits.barriers": 16}


@cache
def _file(name: str) -> machine.File:
    return machine.read(name)


@cache
def _base(name: str) -> Machine:
    return made(name, {})


@cache
def _paths(name: str) -> frozenset[str]:
    return frozenset(machine.facts(name)) | frozenset(EXTRAS)
