"""FFMA and shared-memory loads mixed in a fixed ratio: the probe of RR-7923 (Lai and Seznec, 2012), figure 2.

Loads are spread evenly over the FFMAs. The FFMAs go in turn to ACCUMULATORS chains, so that with 16 warps none waits
for its own result (18 cycles on Fermi). The loads go in turn to DESTINATIONS register blocks that only the end of the
program reads: a load waits for an earlier one to the same block (WAW), an FFMA never waits for a load. A thread loads
its own words, next to those of other threads: no bank conflicts, and 32 distinct addresses per warp at every width.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from isa.errors import UserError
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.operands.operand import Register
from workloads.builder import Builder, RegisterMap, at, float_bits, instruction
from workloads.check import counts, fits, one_of
from workloads.microbench.probe import (
    SUFFIX,
    Geometry,
    own_shared_words,
    per_thread,
    probe,
    repeat,
    store_results,
    thread_index,
)

ACCUMULATORS = 12
DESTINATIONS = 8


def mix(ratio: str = "6:1", *, lds: int = 64, warps: int = 16, groups: int = 64, iterations: int = 32) -> Kernel:
    """Build a kernel of `groups` groups per iteration; "6:1" is six FFMAs to one load of `lds` bits, "0:1" loads only.

    The paper's points are 3:1 at 32 bits, 6:1 at 64 and 12:1 at 128. Raises UserError for an invalid ratio, an unknown
    width, and numbers below 1.
    """
    ffmas, loads = parse_ratio(ratio)
    one_of("mix", "lds", lds, (32, 64, 128))
    counts("mix", 1, warps=warps, groups=groups, iterations=iterations)
    fits("mix", groups * (ffmas + loads), ratio=ratio, groups=groups)
    b, registers, geometry, words = Builder(), RegisterMap("mix"), Geometry(warps), lds // 32
    accumulators = registers.block("accumulators", ACCUMULATORS)
    destinations = [registers.block(f"loaded{i}", words, words)[0] for i in range(DESTINATIONS)]
    one, index = registers.one("one"), thread_index(b, registers)
    place = own_shared_words(b, registers, index, words, geometry)
    _clear(b, accumulators, destinations, one)
    arithmetic = [instruction("FFMA", x, x, one, one) for x in accumulators]
    memory = [instruction("LDS" + SUFFIX[words], x, at(place)) for x in destinations]
    repeat(b, registers, iterations, interleave(ffmas * groups, loads * groups, arithmetic, memory))
    _add_up(b, "FADD", accumulators)
    _add_up(b, "IADD", destinations)
    store_results(b, index, geometry, [accumulators[0], destinations[0]])
    fits("mix", len(b.instructions), ratio=ratio, groups=groups)
    total = ffmas * groups * iterations
    seen = min(loads * groups, DESTINATIONS)
    arguments = {"ratio": ratio, "lds": lds, "warps": warps, "groups": groups, "iterations": iterations}
    expected = per_thread(partial(_totals, total, seen), geometry)
    return probe("mix", b, geometry, arguments, expected, dtype="u4", results=2, flops=2 * total)


def parse_ratio(ratio: str, kernel: str = "mix", parts: str = "FFMAs:loads") -> tuple[int, int]:
    """Return FFMAs and loads of "F:L", or other `parts` of a `kernel`.

    Raises UserError if the text is not two counts with a positive sum.
    """
    ffmas, colon, loads = ratio.partition(":")
    counts = [part for part in (ffmas, loads) if re.fullmatch("[0-9]{1,9}", part)]
    if not colon or len(counts) != len("FL") or not any(map(int, counts)):
        raise UserError(f"{kernel}: ratio={ratio} is not {parts}; give two counts such as 6:1")
    return int(ffmas), int(loads)


def _clear(b: Builder, accumulators: Sequence[Register], destinations: Sequence[Register], one: Register) -> None:
    b.emit("MOV", one, 1.0)
    for register in (*accumulators, *destinations):
        b.emit("MOV", register, 0)


def interleave(
    ffmas: int, loads: int, arithmetic: Sequence[Instruction], memory: Sequence[Instruction]
) -> Iterator[Instruction]:
    """Spread `loads` loads evenly after `ffmas` FFMAs, each kind in turn from its list."""
    slots = max(loads, 1)
    done = 0
    for slot in range(slots):
        until = ffmas * (slot + 1) // slots
        yield from (arithmetic[i % len(arithmetic)] for i in range(done, until))
        done = until
        if loads:
            yield memory[slot % len(memory)]


def _add_up(b: Builder, add: str, registers: Sequence[Register]) -> None:
    for register in registers[1:]:
        b.emit(add, registers[0], registers[0], register)


def _totals(total: int, seen: int, threads: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the sum of the FFMAs' chains, as a pattern, and the sum of the loaded values still in registers."""
    return np.stack([np.full(threads.shape, float_bits(total)), seen * threads]).astype(np.float64)
