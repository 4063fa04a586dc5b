"""What blocks and SMs of NVIDIA's compute capabilities may hold, for chips that have no machine file."""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from pathlib import Path

from isa.errors import UserError

FILE = Path(__file__).parents[1] / "published" / "compute_capabilities.csv"  # of early ones, with sizes of grids
SM_FILE = FILE.with_name("sm_limits.csv")


@dataclass(frozen=True, slots=True)
class Capability:
    """Limits as a machine's `limits` name them, with the largest x or y of a grid, and x or y, and z, of a block."""

    grid: int
    threads_per_block: int
    block_xy: int
    block_z: int
    warp_size: int
    blocks: int
    warps: int
    threads: int
    registers: int
    registers_per_thread: int
    shared_bytes: int


def capabilities() -> dict[str, Capability]:
    """Return the compute capabilities that are known, by name; 2.x is Fermi."""
    names = [field.name for field in fields(Capability)]
    with FILE.open(newline="", encoding="utf-8") as file:
        return {row["capability"]: Capability(*(int(row[name]) for name in names)) for row in csv.DictReader(file)}


def capability(name: str) -> Capability:
    """Return the limits of a compute capability; raises UserError for one that is not known."""
    known = capabilities()
    if name not in known:
        raise UserError(f"compute capability {name}: its limits are not known; choose one of {', '.join(known)}")
    return known[name]


@dataclass(frozen=True, slots=True)
class SmLimits:
    """What an SM of a compute capability holds, as a machine's `limits` name it; `source` says where it is from."""

    warps: int
    threads: int
    blocks: int
    registers: int
    registers_per_block: int
    registers_per_thread: int
    warp_unit: int
    block_warp_unit: int
    register_unit: int
    shared_bytes: int
    shared_per_block: int
    shared_reserved: int
    shared_unit: int
    source: str

    def numbers(self) -> dict[str, int]:
        """Return the numbers by their keys in a machine file."""
        return {f"limits.{one.name}": getattr(self, one.name) for one in fields(self) if one.name != "source"}


def sm_limits() -> dict[str, SmLimits]:
    """Return the limits of every compute capability from 2.0 to 12.1, by its name."""
    with SM_FILE.open(newline="", encoding="utf-8") as file:
        rows = {row.pop("capability"): row for row in csv.DictReader(file)}
    return {
        name: SmLimits(**{key: int(text) for key, text in row.items() if key != "source"}, source=row["source"])
        for name, row in rows.items()
    }
