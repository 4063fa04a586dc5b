"""FFMA and FMUL mixed in a fixed ratio: what the multipliers of the special function units add to the SPs.

Both are independent chains, spread evenly, so that an instruction waits for its pipe and hardly for another's result.
GT200's peak counts them together, as a MAD and a MUL for each SP and cycle (RR-7923, table 1).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from isa.kernel import Kernel
from workloads.builder import Builder, RegisterMap, instruction
from workloads.check import counts, fits
from workloads.microbench.mix import interleave, parse_ratio
from workloads.microbench.probe import Geometry, everywhere, per_thread, probe, repeat, store_results, thread_index

CHAINS = 8  # of each instruction


def dual_issue(ratio: str = "1:1", *, warps: int = 16, groups: int = 64, iterations: int = 32) -> Kernel:
    """Build a kernel of `groups` groups per iteration; "2:1" is two FFMAs to one FMUL.

    Each thread leaves the number of its FFMAs, and 1 or -1 for an even or odd number of FMULs. Raises UserError for an
    invalid ratio and numbers below 1.
    """
    ffmas, fmuls = parse_ratio(ratio, "dual-issue", "FFMAs:FMULs")
    counts("dual-issue", 1, warps=warps, groups=groups, iterations=iterations)
    fits("dual-issue", groups * (ffmas + fmuls), ratio=ratio, groups=groups)
    b, registers, geometry = Builder(), RegisterMap("dual-issue"), Geometry(warps)
    sums, products = (registers.block(name, CHAINS) for name in ("sums", "products"))
    one, minus = registers.one("one"), registers.one("minus")
    index = thread_index(b, registers)
    for register, value in ((one, 1.0), (minus, -1.0), *((x, 0.0) for x in sums), *((x, 1.0) for x in products)):
        b.emit("MOV", register, value)
    additions = [instruction("FFMA", x, x, one, one) for x in sums]
    multiplications = [instruction("FMUL", x, x, minus) for x in products]
    repeat(b, registers, iterations, interleave(ffmas * groups, fmuls * groups, additions, multiplications))
    for mnemonic, chains in (("FADD", sums), ("FMUL", products)):
        for chain in chains[1:]:
            b.emit(mnemonic, chains[0], chains[0], chain)
    store_results(b, index, geometry, [sums[0], products[0]])
    fits("dual-issue", len(b.instructions), ratio=ratio, groups=groups)
    done, multiplied = ffmas * groups * iterations, fmuls * groups * iterations
    results = np.array([[done], [-1.0 if multiplied % 2 else 1.0]], np.float64)
    arguments = {"ratio": ratio, "warps": warps, "groups": groups, "iterations": iterations}
    expected = per_thread(partial(everywhere, results), geometry)
    return probe("dual-issue", b, geometry, arguments, expected, results=2, flops=2 * done + multiplied)
