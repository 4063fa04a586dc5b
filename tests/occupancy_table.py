"""The table of blocks by NVIDIA's calculator: how it is written, and read.

`python occupancy_table.py CALCULATOR FERMI > cuda_occupancy.csv` writes it with two programs made of
`cuda_occupancy.cpp`: one with the header `cuda_occupancy.h` of CUDA 13.0, one, with -DFERMI, with that of CUDA 8.0,
the last that knows compute capability 2.x. A row has steps such as `32:16 40:12`: 16 blocks with up to 32 registers of
a thread, then 12 with up to 40, and none with more.
"""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from gpusim.machine.capability import SmLimits, sm_limits

Launch = tuple[int, int, int]  # registers of a thread, threads of a block, its bytes of shared memory
Steps = list[tuple[int, int]]  # up to so many registers or bytes, so many blocks
TABLE = Path(__file__).parent / "machine" / "cuda_occupancy.csv"
FEW_REGISTERS = 16  # of the launches whose shared memory grows


def properties(name: str) -> list[int]:
    """Return what `cuda_occupancy.cpp` takes of a compute capability."""
    has = sm_limits()[name]
    whole = [*map(int, name.split(".")), has.threads, has.registers, has.registers_per_block, has.shared_bytes]
    return [*whole, has.shared_per_block, has.shared_reserved]


def calculated(calculator: str | Path, name: str, launches: Iterable[Launch]) -> list[int]:
    """Return the blocks of each launch by NVIDIA's calculator."""
    lines = "\n".join(" ".join(map(str, one)) for one in launches)
    command = [str(calculator), *map(str, properties(name))]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return [int(line) for line in done.stdout.split()]


def cases(limits: SmLimits) -> Iterator[tuple[str, list[Launch]]]:
    """Yield the launches of each row: of so many warps with every count of registers, then every size in bytes."""
    for warps in range(1, 33):
        yield str(warps), [(registers, 32 * warps, 0) for registers in range(limits.registers_per_thread + 1)]
    yield "shared", [(FEW_REGISTERS, 32, size) for size in range(limits.shared_bytes + 2)]


def steps(blocks: Sequence[int]) -> str:
    """Return the steps of a row, without the last if it has no block."""
    ends = [(list(run)[-1], held) for held, run in groupby(range(len(blocks)), key=lambda i: blocks[i])]
    return " ".join(f"{end}:{held}" for end, held in ends if held)


def table() -> Iterator[tuple[str, str, Steps]]:
    """Yield the rows: compute capability, what it is of, and the steps."""
    with TABLE.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            pairs = (pair.split(":") for pair in row["steps"].split())
            found = [(int(end), int(held)) for end, held in pairs]
            yield from ((name, row["of"], found) for name in row["capabilities"].split())


def blocks_at(found: Steps, amount: int) -> int:
    """Return the blocks that a row has for so many registers or bytes."""
    return next((held for end, held in found if amount <= end), 0)


def write(calculator: str, fermi: str) -> None:
    """Write the table to the standard output, equal rows of several capabilities together."""
    rows: dict[tuple[str, str], list[str]] = {}
    for name, limits in sm_limits().items():
        for of, launches in cases(limits):
            given = calculated(fermi if name.startswith("2.") else calculator, name, launches)
            rows.setdefault((of, steps(given)), []).append(name)
    sys.stdout.write(
        "# Blocks of an SM by cuda_occupancy.h of CUDA 13.0, of 2.x by that of CUDA 8.0: written by\n"
        "# occupancy_table.py. of: warps of a block (steps in registers), or shared (steps in bytes; 32 threads).\n"
        "capabilities,of,steps\n"
    )
    for (of, found), names in rows.items():
        sys.stdout.write(f"{' '.join(names)},{of},{found}\n")


if __name__ == "__main__":
    write(*sys.argv[1:])
