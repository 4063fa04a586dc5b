"""Numbers in the text of machine code are those of its encoding."""

from pathlib import Path

import pytest

from isa.nvidia.file import code
from isa.nvidia.file.dump import Encoded
from isa.nvidia.lowering.lower import instruction
from isa.operands.operand import Immediate

EXAMPLES = Path(__file__).parents[3] / "examples" / "cuda"
ELSEWHERE = "SHFL", "LEPC", "QSPC"  # have their numbers in other bits
OPAQUE = {0: 0, 2: 0, 3: 0, 4: 0}  # places of constant banks, which change no immediate


def immediates(encoded):
    """Yield each source that is a number, with the bits of its pattern that an encoding does not have."""
    found = instruction(encoded, OPAQUE)
    for letter, operand in zip(found.row.form, found.operands, strict=False):
        if letter in "abc" and isinstance(operand, Immediate):
            yield operand.bits, 32 if found.row.words_of(letter) == 2 and found.row.is_float else 0


@pytest.mark.parametrize(
    ("text", "low"),
    [
        ("MUFU.RCP64H R3, 100", 0x4059000000037908),
        ("MUFU.RCP64H R11, 0.19999992847442626953", 0x3FC99999000B7908),
        ("MUFU.RSQ R0, -QNAN", 0xFFC0000000007908),
        ("@P1 FSEL R11, R11, -QNAN , P2", 0xFFF000000B0B1808),
        ("FSEL R5, R5, +QNAN , !P0", 0x7FF0000005057808),
        ("DADD R2, R4, 100", 0x4059000004027429),
        ("FADD R2, R4, 100", 0x42C8000004027421),
        ("F2I.F16.FLOOR.NTZ R13, -5.9604644775390625e-08", 0x00008001000D7905),
        ("F2I.S64.F16.CEIL R4, 1.0009765625", 0x00003C0100047905),
        ("F2I.BF16.CEIL.NTZ R5, -9.183549615799121156e-41", 0x0000800100057905),
        ("FRND.F16.FLOOR R17, 3.140625", 0x0000424800117907),
        ("FRND.BF16.FLOOR R21, 3.140625", 0x0000404900157907),
    ],
)
def test_numbers_have_the_bits_of_the_encoding(text, low):
    """Numbers have the format that a row reads, RCP64H's and halves' too; +QNAN may be infinity's upper word."""
    ((bits, missing),) = immediates(Encoded(0, text, low, 0x000FE20000000000))
    assert (bits >> missing, bits & (1 << missing) - 1) == (low >> 32, 0)


def test_a_text_without_encoding_has_the_usual_nan():
    """Where no bits are given, QNAN is the quiet NaN with its sign."""
    ((bits, _),) = immediates(Encoded(0, "FADD R2, R4, -QNAN", 0, 0))
    assert bits == 0xFFC00000


@pytest.mark.parametrize("name", ["dot_double", "mandelbrot", "axpy_half", "fibonacci"])
def test_all_numbers_of_the_examples_have_the_bits_of_the_encoding(name):
    """Each number of each instruction that nvcc made is in bits 32 to 63."""
    compared = 0
    for section in code.read(EXAMPLES / f"{name}.cubin").sections.values():
        for encoded in (one for one in section.instructions if not any(word in one.text for word in ELSEWHERE)):
            for bits, missing in immediates(encoded):
                assert bits >> missing & 0xFFFFFFFF == encoded.low >> 32, encoded.text
                compared += 1
    assert compared
