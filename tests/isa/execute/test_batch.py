import numpy as np
import pytest

from isa.execute.batch import batches
from isa.execute.interpret import interpret
from isa.kernel import Kernel
from isa.text.assembler import assemble

ALONE = [
    ("FFMA R0, R1, R2, R3\nFFMA R4, R0, R5, R6", "reads what the first wrote"),
    ("FFMA R0, R1, R2, R3\nFFMA R0, R4, R5, R6", "writes what the first wrote"),
    ("FFMA R0, R1, R2, R3\nIMAD R4, R5, R6, R7", "of another row"),
    ("FFMA R0, R1, R2, R3\nNOP\nFFMA R4, R5, R6, R7", "not beside it"),
    ("FFMA R0, R1, R2, R3\nl:\nFFMA R4, R5, R6, R7", "behind a label"),
    ("FFMA R0, R1, R2, R3\n@P0 FFMA R4, R5, R6, R7", "guarded"),
    ("FFMA R0, R1, R2, R3\n@!PT FFMA R4, R5, R6, R7", "guarded by a constant"),
    ("FFMA R0, R1, R2, R3\nFFMA R4, -R5, R6, R7", "negated source"),
    ("FFMA R0, R1, R2, R3\nFFMA R4, R5, R6, RZ", "no register to read"),
    ("FFMA R0, R1, R2, R3\nFFMA RZ, R5, R6, R7", "no register to write"),
    ("FFMA R0, R1, R2, R3\nFFMA R4, R5, 1.5, R7", "literal source"),
    ("DFMA R0, R2, R4, R6\nDFMA R8, R10, R12, R14", "64 bits wide"),
]
PRODUCTS = ["FFMA R4, R0, R1, R4", "FFMA R5, R1, R0, R2", "FFMA R6, R4, R5, R6", "FFMA R7, R0, R0, R4"]
START = "S2R R0, TID.X\nSHL R0, R0, 20\nMOV R1, 1.5\nMOV R4, -0.0\nMOV R6, 1e-40"


def everything(text):
    program = assemble(text)
    return batches(program, range(len(program)))


@pytest.mark.parametrize(("text", "why"), ALONE)
def test_only_independent_plain_neighbours_are_joined(text, why):
    """Two multiply-adds of which the second depends on the first, or is not plain, are no batch."""
    assert everything(text) == [], why


def test_a_batch_is_as_long_as_possible():
    """Instructions that read one register often, or write one only read before, join; one that can't starts anew."""
    text = "FFMA R4, R0, R1, R4\nFFMA R0, R1, R1, R2\nFFMA R1, R2, R2, R3\nIMAD R5, R1, R1, R1\nIMAD R6, R1, R1, R5"
    assert everything(text) == [[0, 1, 2]]
    assert everything(f"{text}\nIMAD R7, R1, R1, R1") == [[0, 1, 2], [4, 5]]


def test_an_instruction_not_computed_is_in_no_batch():
    """Pc 2, left out of the five to compute, separates the two before it from the two after it."""
    program = assemble("\n".join(f"FFMA R{i}, R8, R9, R10" for i in range(5)))
    assert batches(program, {0, 1, 3, 4}) == [[0, 1], [3, 4]]


@pytest.mark.parametrize("threads", [32, 40, 96])
@pytest.mark.parametrize("split", ["", "S2R R8, WARPID\nISETP.EQ P0, R8, 1\n@P0 BRA end\n"])
def test_a_batch_computes_what_its_instructions_compute_alone(threads, split):
    """Registers and counts equal those of the same program with a NOP between any two; lanes without thread stay 0."""
    runs = [
        interpret(
            Kernel("k", assemble(f"{START}\n{split}" + between.join(PRODUCTS) + "\nend:"), (1, 1, 1), (threads, 1, 1))
        )
        for between in ("\n", "\nNOP\n")
    ]
    assert np.array_equal(runs[0].registers, runs[1].registers)
    assert runs[0].registers[4:8, 0].any(axis=1).all()
    assert not runs[0].registers[:8, -1, (threads - 1) % 32 + 1 :].any()
    assert runs[0].counts[-4:].tolist() == runs[1].counts[-7::2].tolist()


def test_a_load_uses_the_pointer_that_a_batch_has_moved():
    """A load after a batch uses the base register that the batch wrote, though addresses are cached."""
    moves = "IMAD R2, R1, R1, R2\nIMAD R3, R1, R1, R3"
    text = f".shared 64\nMOV R1, 4\nl:\nLDS R4, [R2]\n{moves}\nISETP.LT P0, R2, 48\n@P0 BRA l"
    seen = []
    interpret(Kernel("k", assemble(text), (1, 1, 1), (32, 1, 1)), observe=lambda _p, _w, at, _on: seen.append(at[0, 0]))
    assert seen == [0, 16, 32]
