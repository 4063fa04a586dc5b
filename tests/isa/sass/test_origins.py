"""Where instructions of machine code come from, as a load finds it in a text with lines of source."""

import struct

from read.fenced import ROOT

from isa.kernel import Buffer
from isa.nvidia.abi import load
from isa.nvidia.abi.launch import LaunchState, Value, pointer
from isa.nvidia.file import code
from isa.reading.origin import Origin

BUFFERS = Buffer("x", "f4", 64), Buffer("y", "f4", 64)


def loaded(path):
    """Return the kernel of a text with the code of saxpy, launched with one block of a warp."""
    found = code.read(path)
    numbers = Value(struct.pack("<i", 64), 4), Value(struct.pack("<f", 2.0), 4)
    arguments = load.arguments(found, "saxpy", [*numbers, *(pointer(BUFFERS, one.name) for one in BUFFERS)])
    return load.kernel(found, LaunchState("saxpy", (1, 1, 1), (32, 1, 1), 0, arguments, BUFFERS))


def test_a_loaded_instruction_has_its_origin(tmp_path):
    """Function, offset and text are the file's; file and line those of the last line of source that stands before."""
    lines = (ROOT / "examples" / "saxpy.sass").read_text().splitlines()
    at = next(k for k, line in enumerate(lines) if "/*0100*/" in line)
    lines.insert(at, '\t//## File "/build/saxpy.cu", line 3')
    (path := tmp_path / "saxpy.sass").write_text("\n".join(lines))
    program = loaded(path).program
    assert program.origins[15] == Origin("saxpy", 0xF0, "IMAD.WIDE R4, R0.reuse, 0x4, R8", "", 0)
    assert program.origins[16] == Origin("saxpy", 0x100, "LDG.E R2, desc[UR6][R2.64]", "/build/saxpy.cu", 3)
    assert program.place(16) == "saxpy+0x100 LDG.E R2, desc[UR6][R2.64] (saxpy.cu:3)"
    assert program.place(15) == "saxpy+0xf0 IMAD.WIDE R4, R0.reuse, 0x4, R8"


def test_every_instruction_has_its_own():
    """Each instruction has an origin, 16 bytes after the one before."""
    program = loaded(ROOT / "examples" / "saxpy.sass").program
    assert [one.offset for one in program.origins] == [16 * pc for pc in range(len(program))]
