"""What blocks and SMs of NVIDIA's early compute capabilities may hold, for chips that have no machine file."""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from pathlib import Path

from isa.errors import UserError

FILE = Path(__file__).parents[1] / "published" / "compute_capabilities.csv"


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
