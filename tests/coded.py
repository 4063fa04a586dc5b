"""Kernels of one warp of a V100, whose lines have control codes; R9 is stored in the end."""

from __future__ import annotations

from gpusim.machine.machine import load
from isa.kernel import Kernel
from isa.text.listing import read

V100 = load("v100", {"chip.sms": 1})
HEAD = ".block 32\n.shared 4096\n.buffer y u32 32\n"
TAIL = """
[B------:R-:W-:-:S15] MOV R20, c[y]
[B------:R-:W-:-:S15] NOP
[B------:R-:W-:-:S01] STG [R20], R9
[B------:R-:W-:-:S01] EXIT
"""


def coded(*lines: str) -> Kernel:
    """The kernel of some lines; registers are 0 before they are written."""
    return read(HEAD + "\n".join(lines) + TAIL)
