"""Kernels whose functions have sections of their own, from the cubins of data/linked.cu and own_bank.cu."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import gpusim
from isa.errors import UserError
from isa.nvidia.file import code, link
from isa.nvidia.file.dump import Section

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


def test_a_function_with_a_bank_of_its_own_is_left_out():
    """A launch has constant bank 2 of its kernel alone: a function that reads another one is not put behind it."""
    found = code.read(DATA / "linked_90.cubin")
    square = found.sections["_Z6squaref"]
    reading = [square.instructions[0]._replace(text="LDC R4, c[0x2][R4]"), *square.instructions[1:]]
    found.sections["_Z6squaref"] = Section(reading, square.labels)
    assert "_Z6squaref" not in link.linked(found, "thirds", 0).labels
    functions = dict(found.cubin.functions)
    functions["thirds"] = replace(functions["thirds"], bank_2=bytes(16))
    with_bank = replace(found, cubin=replace(found.cubin, functions=functions))
    assert "_Z6squaref" in link.linked(with_bank, "thirds", 0).labels
    functions["_Z6squaref"] = replace(functions["_Z6squaref"], bank_2=bytes(16))
    assert "_Z6squaref" not in link.linked(with_bank, "thirds", 0).labels


def chosen(k, x):
    """Return what `choose` of data/own_bank.cu does."""
    ways = (3 * x + 1, x // 7, x ^ 0x5555, x << 3, x.bit_count(), x - 1000, x % 11)
    return ways[k] if 0 <= k < len(ways) else -1


@pytest.mark.jit
@pytest.mark.parametrize("file", ["own_bank_80", "own_bank_90"])
def test_functions_read_jump_tables_and_numbers(file):
    """Functions of two kernels find their constants in either's bank 2, at the same places."""
    module = gpusim.RawModule(path=DATA / f"{file}.cubin")
    x, y, z = np.linspace(-3, 3, 32), np.zeros(32), np.zeros(32, np.int32)
    k = np.arange(32, dtype=np.int32) % 9 - 1
    module.get_function("both")((1,), (32,), (x, y, k, z))
    cubic = ((x * 1.2345678901234567 + 0.98765432109876543) * x + 3.1415926535897931) * x + 0.12345678912345
    assert np.allclose(y, cubic * 2.7182818284590451, rtol=1e-15, atol=1e-14)
    assert z.tolist() == [chosen(int(one), 17 * i) for i, one in enumerate(k)]
    module.get_function("other")((1,), (32,), (y, k, z, np.int32(6)))
    assert z.tolist() == [chosen(int(one), i) + 1 for i, one in enumerate(k)]


def test_a_kernel_without_instructions_is_refused():
    """A file may say that a kernel's section is empty: one line, whether it calls functions or none."""
    for file, kernel in (("linked_90", "thirds"), ("sm_90", "flip")):
        found = code.read(DATA / f"{file}.cubin")
        found.sections[kernel] = Section([], {})
        with pytest.raises(UserError, match=f"{kernel}: no instructions"):
            link.linked(found, kernel, 0)
