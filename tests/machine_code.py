"""A kernel of machine code: NVIDIA's instructions of examples/saxpy.sass as origins, with a listing that does the same.

Each line of the listing stands for the instruction at its place in the machine code, and computes what that computes.
"""

from dataclasses import replace

from read.fenced import ROOT

from isa.kernel import Kernel
from isa.nvidia.file import dump
from isa.reading.origin import Origin
from isa.text import listing

SASS, CU = ROOT / "examples" / "saxpy.sass", "/build/saxpy.cu"  # the latter as the compiler has it: not here
LISTING = """
.kernel saxpy
.grid 1
.block 64
.param n = 160
.param a = 2.0
.buffer x f32 160 = hash 1
.buffer y f32 160 = hash 2
.expect y = 2 * x + y
    MOV R1, 0
    S2R R0, CTAID.X
    S2R R20, NTID.X
    MOV R24, c[n]
    S2R R3, TID.X
    IMAD R0, R0, R20, R3
    ISETP.GE P0, R0, R24
    @P0 EXIT
    MOV R6, c[x]
    S2R R21, NCTAID.X
    MOV R22, 0
    IMUL R20, R20, R21
    MOV R25, c[a]
    MOV R8, c[y]
loop:
    IMAD R2, R0, 4, R6
    IMAD R4, R0, 4, R8
    LDG R2, [R2]
    LDG R11, [R4]
    IADD R0, R0, R20
    ISETP.GE P0, R0, R24
    FFMA R11, R2, R25, R11
    STG [R4], R11
    @!P0 BRA loop
    EXIT
"""
LINES = (2, *[3] * 22, 4)  # of saxpy.cu by pc, as nvcc 13 -lineinfo has them


def saxpy(file: str = CU) -> Kernel:
    """Return the kernel, whose source has that name."""
    kernel = listing.read(LISTING, "saxpy.sass")
    (section,) = dump.read(SASS.read_text(), "saxpy.sass").sections.values()
    pairs = zip(section.instructions, LINES, strict=False)
    origins = tuple(Origin("saxpy", one.offset, one.text, file, line) for one, line in pairs)
    code = tuple(replace(one, line=0) for one in kernel.program.instructions)
    return replace(kernel, program=replace(kernel.program, instructions=code, origins=origins))
