from pathlib import Path

import numpy as np
import pytest
from interpreter.interpret import interpret

from isa import generators, memory
from isa.errors import UserError
from isa.kernel import Buffer, Expectation, Kernel
from isa.program import Program
from isa.text import listing
from isa.text.assembler import AssemblyError, assemble

EXAMPLES = Path(__file__).parents[3] / "examples"

WHOLE = """
.kernel demo
.grid 2 3
.block 64
.shared 128
.local 8
.param n = -1
.param alpha = 0.5
.buffer x f32 4 = hash 1
.buffer y f32 4
.expect y = 2 * x + 1 within 1e-6
.flops 512
MOV R0, c[n]
FMUL R1, R2, c[alpha]
MOV R2, c[x]
TEX R3, tex[y], R2
"""


def test_directives_describe_the_launch():
    """Each directive sets its part of the kernel."""
    kernel = listing.read(WHOLE)
    assert (kernel.name, kernel.grid, kernel.block, kernel.flops) == ("demo", (2, 3, 1), (64, 1, 1), 512)
    assert (kernel.program.shared_bytes, kernel.program.local_bytes) == (128, 8)
    assert kernel.parameters == {"n": 0xFFFFFFFF, "alpha": 0x3F000000}
    assert kernel.buffers == (Buffer("x", "f4", 4, generators.hash_fill(1)), Buffer("y", "f4", 4))


def test_expectations_are_evaluated_from_initial_contents():
    """`.expect` gives every element, a value in double and the absolute tolerance."""
    (expectation,) = listing.read(WHOLE).outcome()
    x = generators.hash_fill(1)(np.arange(4)).astype(np.float64)
    assert expectation.buffer == "y"
    assert expectation.index.tolist() == [0, 1, 2, 3]
    assert np.array_equal(expectation.value, 2 * x + 1)
    assert expectation.bound.tolist() == [1e-6] * 4


def test_without_directives_a_listing_is_one_warp():
    """Instructions alone are a launch of one block of 32 threads, expecting nothing."""
    kernel = listing.read("NOP\nEXIT", "dir/plain.asm")
    assert (kernel.name, kernel.grid, kernel.block) == ("plain", (1, 1, 1), (32, 1, 1))
    assert (kernel.outcome, kernel.buffers, kernel.flops) == (None, (), 0)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.asm")), ids=lambda path: path.stem)
def test_examples_compute_what_they_expect(path):
    """Every listing in examples, run in program order, ends with the contents that it states."""
    kernel = listing.load(path)
    words, where = interpret(kernel).memory, memory.bases(kernel.buffers)
    expectations = kernel.outcome()
    assert expectations
    for expected in expectations:
        buffer = next(b for b in kernel.buffers if b.name == expected.buffer)
        got = memory.view(words, buffer, where[buffer.name])[expected.index].astype(np.float64)
        assert (np.abs(got - expected.value) <= expected.bound).all()


@pytest.mark.parametrize("text", [WHOLE, *(p.read_text() for p in sorted(EXAMPLES.glob("*.asm")))])
def test_write_is_the_inverse_of_read(text):
    """A kernel written and read again is the same launch, program, memory and expectation."""
    kernel = listing.read(text)
    again = listing.read(listing.write(kernel))
    for part in ("name", "program", "grid", "block", "parameters", "buffers", "flops"):
        assert getattr(again, part) == getattr(kernel, part)
    assert again.outcome.statements == kernel.outcome.statements
    assert listing.write(again) == listing.write(kernel)


def test_a_generated_kernel_is_written_with_its_expectation_spelt_out():
    """An outcome without a text form of its own is written as a list of its values."""
    outcome = (Expectation("x", np.arange(2), np.array([0.1, 3.0]), np.full(2, 0.5)),)
    buffers = (Buffer("x", "f8", 2),)
    kernel = Kernel("a b", assemble("EXIT"), (1, 1, 1), (32, 1, 1), buffers=buffers, outcome=lambda: outcome)
    text = listing.write(kernel)
    assert ".kernel a_b\n" in text
    assert ".expect x = [0.1, 3.0] within 0.5\n" in text
    assert listing.read(text).outcome()[0].value.tolist() == [0.1, 3.0]


def test_an_expectation_that_skips_elements_has_no_text():
    """Writing an expectation of only some elements raises UserError."""
    outcome = (Expectation("x", np.array([1]), np.array([3.0]), np.zeros(1)),)
    kernel = Kernel("k", Program(()), (1, 1, 1), (32, 1, 1), buffers=(Buffer("x", "f8", 2),), outcome=lambda: outcome)
    with pytest.raises(UserError, match="what is expected of x has no text form"):
        listing.write(kernel)


BAD = [
    (".gird 1", 1, "did you mean .grid?"),
    (".grid 1\n.grid 2", 1, ".grid given twice"),
    (".grid", 6, "0 sizes"),
    (".grid 1 2 3 4", 7, "4 sizes"),
    (".block 0", 8, "at least 1"),
    (".kernel a b", 9, "one word"),
    (".param n", 8, "write .param name = value"),
    (".param n = x", 12, "not a floating-point number"),
    (".param n = 1\n.param n = 2", 8, "n defined twice"),
    (".param x = 1\n.buffer x f32 1", 9, "x defined twice"),
    (".buffer x f32 2000000000", 9, "32-bit address"),
    (".expect y = 1", 9, "unknown buffer y; known: none"),
    (".buffer y f32 2\n.expect y = z", 9, "'z' can't be used here"),
    (".buffer y f32 2\n.expect y = [1]", 9, "1 values for 2 elements"),
    (".buffer y f32 2\n.expect y = 1 within x", 9, "no tolerance"),
    (".buffer y f32 2\n.expect y = 1 within nan", 9, "no tolerance"),
    ("", 1, "has no instruction"),
    ("// nothing but a comment", 1, "has no instruction; write one at least, such as EXIT"),
    (".flops many", 8, "whole number"),
    ("NOP\n  MOV R1, c[n]", 13, "undefined name n in c[...]"),
    (".param A = 1\nTEX R1, tex[A], R2", 13, "undefined name A in tex[...]"),
]


@pytest.mark.every
@pytest.mark.parametrize(("text", "column", "message"), BAD, ids=[text for text, _, _ in BAD])
def test_mistakes_are_reported_with_place_cause_and_fix(text, column, message):
    """A mistake in a directive or a name raises AssemblyError with its line and column, in one line."""
    with pytest.raises(AssemblyError) as caught:
        listing.read(text, "bad.asm")
    line = text.count("\n") + 1
    assert str(caught.value).startswith(f"bad.asm:{line}:{column}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert ";" in str(caught.value)


def test_a_file_that_cannot_be_read_is_reported(tmp_path):
    """A missing file and one that is no text raise UserError with the path, not a traceback."""
    binary = tmp_path / "x.asm"
    binary.write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "none.asm", tmp_path, binary):
        with pytest.raises(UserError, match=f"^{path}: "):
            listing.load(path)
