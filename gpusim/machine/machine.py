"""A machine: the numbers of one GPU that the simulator needs, read from its file, and what follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import msgspec

from gpusim.machine import file as machine_file
from gpusim.machine.checks import check
from gpusim.machine.facts import checked
from gpusim.machine.file import Fact, names
from gpusim.machine.schema import Machine
from isa.errors import UserError
from isa.memory import SECTOR_BYTES
from isa.register_bank import bank_of
from isa.table import Unit

__all__ = ["Fact", "File", "Machine", "build", "facts", "load", "names", "read"]


@dataclass(frozen=True)
class File:
    """What a machine file says, together with those that it extends: from it machines are built anywhere, any number.

    `key` is the machine's, `name` the file's; `strings` and `facts` are by dotted path.
    """

    key: str
    name: str
    strings: Mapping[str, str]
    facts: Mapping[str, Fact]


def load(name_or_path: str, overrides: Mapping[str, int | str] | None = None) -> Machine:
    """Return the machine of that name or file, with the values at some dotted paths replaced.

    Raises UserError: unknown machine or key, a number without source or outside its range, pipes that don't exist.
    """
    return build(read(name_or_path), overrides)


def read(name_or_path: str) -> File:
    """Return what the file of that machine says, unchecked; raises UserError for an unknown one, or what is no file."""
    path = machine_file.locate(name_or_path)
    return File(path.stem, path.name, *machine_file.read(path))


def build(file: File, overrides: Mapping[str, int | str] | None = None) -> Machine:
    """Return the machine of a file, with the values at some dotted paths replaced; raises UserError as `load` does."""
    found = checked(file.name, file.facts, overrides or {})
    _check_strings(file.name, file.strings)
    tree: dict[str, Any] = {"key": file.key, "pairing": {}, "category": {}, **file.strings}
    for key, fact in found.items():
        _plant(tree, key.split("."), fact.value)
    machine = msgspec.convert(tree, Machine)
    check(machine, found)
    return machine


@lru_cache(maxsize=1)
def every() -> tuple[Machine, ...]:
    """Return the machines that come with the simulator, in the order of their names."""
    return tuple(load(name) for name in names())


def facts(name_or_path: str, overrides: Mapping[str, int | str] | None = None) -> dict[str, Fact]:
    """Every number of a machine by dotted path, in the order of the schema; raises UserError as `load` does."""
    file = read(name_or_path)
    return checked(file.name, file.facts, overrides or {})


def by_codes(machine: Machine) -> bool:
    """Tell whether the machine's instructions wait for what their control codes say, and for nothing else."""
    return machine.dependence is not None and machine.dependence.rule == "codes"


def tagged(machine: Machine) -> bool:
    """Tell whether the tags of its caches say what hits."""
    return machine.cache is not None and machine.cache.hits == "tags"


def register_banks(machine: Machine) -> int:
    """Return how many banks each scheduler's register file has; 0 where operands are never late."""
    file = machine.register_file
    return 0 if file is None or file.mapping == "none" else file.banks


def register_bank(machine: Machine, register: int) -> int:
    """Return the bank in which a register lies; 0 where operands are never late."""
    file, banks = machine.register_file, register_banks(machine)
    return bank_of(register, file.mapping, banks) if file and banks else 0


def initiation_interval(machine: Machine, pipe: str) -> int:
    """Cycles for which a warp instruction keeps the pipe from the next one."""
    return max(1, machine.limits.warp_size // machine.pipe[pipe].lanes)


def pairs(machine: Machine, unit: Unit) -> tuple[Unit, ...]:
    """Unit classes that may go beside this one in a later dispatch port of its turn."""
    if machine.issue.pairing == "different-category":
        return tuple(other for other in Unit if _category(machine, other) != _category(machine, unit))
    named = machine.pairing.get(unit.value)
    return tuple(Unit) if named is None else tuple(other for other in Unit if other in named.split())


def _category(machine: Machine, unit: Unit) -> str:
    return machine.category.get(unit.value, unit.value)


def lanes(machine: Machine, unit: Unit) -> int:
    """Thread instructions of this unit class per cycle that all pipes of one SM take together; 0 if it has none."""
    return sum(machine.pipe[name].lanes * instances(machine, name) for name in choices(machine, unit))


def choices(machine: Machine, unit: Unit) -> tuple[str, ...]:
    """Return the pipes that execute a unit class, in the order in which they are tried; none where it is absent."""
    if unit is Unit.TEXTURE:
        return tuple(machine.texture.pipe.split())
    return tuple(machine.unit[unit].pipe.split()) if unit in machine.unit else ()


def through_port(machine: Machine, unit: Unit) -> bool:
    """Tell whether a unit class that does not access memory shares the load/store unit, and the way to it."""
    return machine.memory_port is not None and unit.value in machine.memory_port.units.split()


def queues(machine: Machine) -> int:
    """Return how many queues lead to the load/store units: one, or one for each scheduler, and further ones."""
    count = machine.schedulers.count
    if machine.memory_paths:
        return count + -(-count // machine.memory_paths.schedulers)
    return count if machine.memory_port else 1


def instances(machine: Machine, pipe: str) -> int:
    """How many there are of a pipe in one SM."""
    return -(-machine.schedulers.count // machine.pipe[pipe].schedulers)


def peak_gflops(machine: Machine) -> float:
    """Single-precision peak of the chip in GFLOP/s, two operations per fused multiply-add (RR-7923 table 1)."""
    return _peak(machine, Unit.FP32)


def peak_fp64_gflops(machine: Machine) -> float:
    """Double-precision peak of the chip in GFLOP/s, two operations per fused multiply-add."""
    return _peak(machine, Unit.DP)


def bandwidth_gbs(machine: Machine) -> float:
    """DRAM bandwidth of the chip, 10^9 bytes per second."""
    return machine.chip.dram_mbs / 1000


def row_bytes(machine: Machine) -> int:
    """Bytes that all banks of shared memory hold side by side: accesses that lie whole rows apart conflict alike.

    Kepler's banks always hold 8 bytes, in 32-bit mode too (CUDA C Programming Guide 4.2, F.5.3).
    """
    shared = machine.shared_memory
    return shared.banks * (8 if shared.rule == "kepler" else shared.bank_bytes)


def transaction_bytes(machine: Machine) -> int:
    """Bytes of a transaction: a line, or the least that moves where only part of one may."""
    return machine.global_memory.line_bytes if machine.global_memory.rule == "fermi" else SECTOR_BYTES


def line_cycles(machine: Machine) -> Fraction:
    """Cycles in which one SM's fair share of what arrives of the DRAM bandwidth moves a transaction."""
    chip = machine.chip
    return Fraction(transaction_bytes(machine) * chip.sms * chip.shader_mhz) / arriving_mbs(machine)


def arriving_mbs(machine: Machine) -> Fraction:
    """What arrives of the DRAM's bandwidth, 10^6 bytes per second: less than it has where that was measured."""
    memory = machine.memory
    if memory is None:
        return Fraction(machine.chip.dram_mbs)
    kept = Fraction(1000 - memory.ecc * memory.ecc_cost, 1000)
    return Fraction(machine.chip.dram_mbs * memory.efficiency, 1000) * kept


def memory_latency(machine: Machine) -> int:
    """Cycles of a load that no cache has, at the machine's clock: those of an L2 hit, and what lies behind as time."""
    latency, clock = machine.global_memory.latency, machine.memory_clock
    near = min(latency, machine.cache.l2_latency_32 if machine.cache else 0)
    return near + (latency - near) * machine.chip.shader_mhz // clock.mhz if clock else latency


def seconds(machine: Machine, cycles: float) -> float:
    """Time that so many shader cycles take."""
    return cycles / (machine.chip.shader_mhz * 1e6)


def _peak(machine: Machine, unit: Unit) -> float:
    return machine.chip.sms * lanes(machine, unit) * 2 * machine.chip.shader_mhz / 1000


def _plant(tree: dict[str, Any], parts: list[str], value: int | str) -> None:
    for part in parts[:-1]:
        tree = tree.setdefault(part, {})
    tree[parts[-1]] = value


def _check_strings(file: str, strings: Mapping[str, str]) -> None:
    for key in ("name", "generation"):
        if key not in strings:
            raise UserError(f'{file}:1:1: {key} is missing; add {key} = "..." at the top')
