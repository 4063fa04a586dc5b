"""Compare assigned control codes with those of ptxas, on the streams of 21 compiled kernels.

Run `python benchmarks/ptxas_codes.py`. `tests/data/ptxas_codes.asm.xz` has the kernels, xz-compressed listings in one
file: GEMMs of ten tiles, reductions, scans, a sort and others as nvcc 13.0 compiles them for sm_90, with the codes that
ptxas gave. They were translated instruction by instruction, and only their timing is kept: each instruction reads and
writes the same 32-bit registers, on the same unit class. A loop runs as many rounds as counted on an H200, with its own
counter (a move before the loop, an addition and a comparison inside). Code that at most half of the warps execute is
left out. There are no values: each lane accesses its own address, coalesced and without conflicts. Uniform registers
become further registers, and reads of the constant bank become loads from shared memory. Also left out: the upper
register of a wide product and of 64-bit addresses, carries, second sources of products and comparisons, and guards that
hold. Each kernel runs as one block.

All runs have the same instructions. The original is compared with two programs: one with assigned codes, and one with
assigned barriers and the stall counts and yields of ptxas. ptxas waits longer than any dependence requires in some
places: between accesses to shared memory, at branches and barriers, 13 cycles from a comparison to a guard, 5 from one
pipe to another.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean

from gpusim.engines.simulate import run_sm
from gpusim.launch.codes.assign_codes import with_codes
from gpusim.machine.machine import Machine, load
from isa.kernel import Kernel
from isa.nvidia.control import Control
from isa.text.listing import read

FILE = Path(__file__).parents[1] / "tests" / "data" / "ptxas_codes.asm.xz"


@dataclass(frozen=True, slots=True)
class Compared:
    """A kernel's cycles with the codes of ptxas, and the ratios of its cycles with other codes to these."""

    kernel: str
    cycles: int
    barriers: float  # with assigned barriers, and the stall counts and yields of ptxas
    codes: float  # with all codes assigned


def kernels() -> Iterator[Kernel]:
    """Yield the kernels, with the codes of ptxas."""
    text = lzma.decompress(FILE.read_bytes()).decode()
    yield from (read(f".kernel {part}") for part in text.split(".kernel ")[1:])


def compared(kernel: Kernel, machine: Machine) -> Compared:
    """Simulate one block of a kernel with the codes that it has, with assigned barriers, and with assigned codes."""
    own = _codes(kernel)
    assigned = _codes(replace(kernel, program=with_codes(_coded(kernel, [None] * len(own)).program, machine)))
    mixed = [
        replace(ours, stall=max(ours.stall, theirs.stall), yields=theirs.yields)
        for ours, theirs in zip(assigned, own, strict=True)
    ]
    cycles, barriers, codes = (
        run_sm(_coded(kernel, each), machine, feed="address-only", blocks=1).cycles for each in (own, mixed, assigned)
    )
    return Compared(kernel.name, cycles, barriers / cycles, codes / cycles)


def distance(ratios: Sequence[float]) -> float:
    """Return the mean distance of ratios from 1."""
    return mean(abs(ratio - 1) for ratio in ratios)


def _codes(kernel: Kernel) -> list[Control]:
    return [i.control for i in kernel.program.instructions if i.control]


def _coded(kernel: Kernel, codes: Sequence[Control | None]) -> Kernel:
    made = (replace(i, control=code) for i, code in zip(kernel.program.instructions, codes, strict=True))
    return replace(kernel, program=replace(kernel.program, instructions=tuple(made)))


def main() -> None:
    """Print the cycles of each kernel on the H200, and the ratios with assigned barriers and with assigned codes."""
    print(f"{'kernel':<28} {'ptxas':>7} {'barriers':>9} {'codes':>7}")  # noqa: T201
    rows = []
    for kernel in kernels():
        rows.append(row := compared(kernel, load("h200")))
        print(f"{row.kernel:<28} {row.cycles:>7,} {row.barriers:>9.3f} {row.codes:>7.3f}")  # noqa: T201
    barriers, codes = [row.barriers for row in rows], [row.codes for row in rows]
    print(f"{'mean':<36} {mean(barriers):>9.3f} {mean(codes):>7.3f}")  # noqa: T201
    print(f"{'mean distance from 1':<36} {distance(barriers):>9.3f} {distance(codes):>7.3f}")  # noqa: T201


if __name__ == "__main__":
    main()
