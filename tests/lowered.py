"""Stand-ins for the lowering of machine code: programs in text, which name buffers, in place of a file's own code."""

from isa.nvidia.lowering import lower
from isa.program import CODE_BYTES, Program
from isa.reading.origin import Origin
from isa.text.assembler import parse

SCALE = """
S2R R0, CTAID.X
S2R R1, TID.X
S2R R2, NTID.X
IMAD R0, R0, R2, R1
SHL R0, R0, 2
IADD R3, R0, c[x]
LDG R4, [R3]
FADD R4, R4, R4
STG [R3], R4
"""  # x[i] = 2 * x[i], a thread for each element


def stand_in(monkeypatch, text=SCALE):
    """Let every load of machine code give the program of a text, with the resources that the load asks for."""
    instructions = parse(text, "text").program

    def program(_section, _places, *, function, registers, shared, local, **_):
        origins = tuple(Origin(function, CODE_BYTES * pc) for pc in range(len(instructions)))
        return Program(instructions.instructions, instructions.labels, shared, local, registers, origins=origins)

    monkeypatch.setattr(lower, "program", program)
