"""Kernels whose functions have sections of their own, from the cubins of data/linked.cu."""

from pathlib import Path

import numpy as np
import pytest

import gpusim
from isa.sass import code, link
from isa.sass.dump import Section

DATA = Path(__file__).with_name("data")
FILES = ("linked_80", "linked_90", "linked_debug")


@pytest.mark.jit
@pytest.mark.parametrize("file", FILES)
def test_functions_of_other_sections_are_executed(file):
    """Each thread calls a function that calls another, and a division; both count in a variable."""
    module = gpusim.RawModule(path=DATA / f"{file}.cubin")
    x, y = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    module.get_function("thirds")((1,), (32,), (x, y))
    assert np.array_equal(y, x * x / np.float32(3) + 1)
    assert module.get_global("count", "i4").tolist() == [64]


@pytest.mark.parametrize("file", FILES)
def test_sections_lie_behind_each_other(file):
    """The kernel is at 0, offsets count on through all sections, each label is with its instruction, none is left."""
    found = code.read(DATA / f"{file}.cubin")
    whole = link.linked(found, "thirds", 0x7F00_0000_0000)
    assert [one.offset for one in whole.instructions] == list(range(0, 16 * len(whole.instructions), 16))
    assert whole.instructions[: len(found.sections["thirds"].instructions)][0].text.startswith(
        ("LDC R1", "MOV R1", "IMAD")
    )
    assert not [one.text for one in whole.instructions if "32@" in one.text]
    for name in ("_Z6squaref", "_Z5thirdf"):
        first = found.sections[name].instructions[0]
        assert whole.instructions[whole.labels[name] // 16].low == first.low


def test_code_of_one_section_stays_as_it_is():
    """A kernel that calls nothing outside its section has that section, and so has one of a text."""
    found = code.read(DATA / "sm_90.cubin")
    assert link.linked(found, "flip", 0) is found.sections["flip"]
    dump = code.read(DATA / "sm_80.sass")
    assert link.linked(dump, "flip", 0) is dump.sections["flip"]


def test_a_function_with_constants_of_its_own_is_left_out():
    """A launch has constant bank 2 of its kernel alone, so a function that reads its own is not put behind it."""
    found = code.read(DATA / "linked_90.cubin")
    square = found.sections["_Z6squaref"]
    reading = [square.instructions[0]._replace(text="LDC R4, c[0x2][R4]"), *square.instructions[1:]]
    found.sections["_Z6squaref"] = Section(reading, square.labels)
    assert "_Z6squaref" not in link.linked(found, "thirds", 0).labels
