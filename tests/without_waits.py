"""Kernels of tensor cores and copies, and the same without some of what orders their accesses."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from read.fenced import ROOT

from benchmarks.tensor import kernels as ten
from gpusim.commands.frame.arguments import kernel_of
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.operands.operand import RZ_INDEX, Register
from isa.table import TABLE

EXAMPLES = tuple(path.stem for path in sorted((ROOT / "examples" / "tensor").glob("*.cubin")))
TEN = tuple(dict.fromkeys(one.kernel for one in ten.launches()))


@cache
def right(name: str) -> Kernel:
    """Return an example, or one of the ten kernels in its shortest launch of at least four tiles."""
    if name in EXAMPLES:
        return kernel_of(str(ROOT / "examples" / "tensor" / f"{name}.toml"), [])
    launches = [one for one in ten.launches() if one.kernel == name and one.configuration == "solo" and one.k >= 192]
    return ten.kernel(min(launches, key=lambda one: one.k))


def without(kernel: Kernel, pattern: str, *which: int) -> Kernel:
    """Return the kernel with those of the instructions that match, counted from 0, left out; all if none is given.

    A look at a barrier's phase becomes one that is always true.
    """
    code = list(kernel.program.instructions)
    found = [pc for pc, i in enumerate(code) if re.match(pattern, i.row.mnemonic)]
    for pc in [found[n] for n in which] if which else found:
        code[pc] = _left_out(code[pc])
    return replace(kernel, program=replace(kernel.program, instructions=tuple(code)))


def _left_out(one: Instruction) -> Instruction:
    control = replace(one.control, waits=0) if one.control else None  # a mask may wait for copies, too
    if "PHASECHK" in one.row.mnemonic:
        zero = Register(RZ_INDEX)
        return replace(one, row=TABLE["ISETP.EQ"], operands=(one.operands[0], zero, zero), control=control)
    return replace(one, row=TABLE["NOP"], operands=(), control=control)
