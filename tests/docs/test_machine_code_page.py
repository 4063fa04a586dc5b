"""The generated page of machine code."""

import json
import re

import pytest
from generate import machine_code
from read.fenced import ROOT

from isa.nvidia.families import FAMILIES

PAGE = machine_code.machine_code()
SASS = (ROOT / "docs" / "sass.md").read_text(encoding="utf-8")


def test_each_family_has_one_row_with_its_modifiers():
    """The tables have each base mnemonic once, with every modifier that it takes."""
    rows = dict(re.findall(r"^\| `(\S+)` \| ((?:`\.\S+`,? ?)*) ?\| [^|]*\| [a-z0-9]+ \|", PAGE, re.M))
    found = {base: re.findall(r"`\.(\S+)`", cell) for base, cell in rows.items()}
    assert found == {family.base: list(family.modifiers) for family in FAMILIES}


def test_each_family_has_what_its_operands_take():
    """Halves may have signs and be singles, an I2F takes a byte, and an IADD3 a minus or ~."""
    for base, taken in (
        ("HADD2", "`-`, bars, halves, singles"),
        ("R2P", "`.B0`, `.B1`, `.B2`, `.B3`"),
        ("IADD3", "`-`, `~`"),
    ):
        assert re.search(rf"^\| `{base}` \| [^|]*\| {taken} \|", PAGE, re.M), base


def test_a_form_is_unchecked_if_no_recorded_kernel_has_it():
    """FADD.RZ stands in a kernel; DADD has no FTZ; IMNMX, which ptxas does not write for sm_90, is in none."""
    assert {"FADD", "FADD.RZ", "DADD.RP"} <= machine_code.covered()
    assert "IMNMX" not in machine_code.covered()
    assert re.search(r"^\| `IMNMX` \| `.U32`, `.S64`, `.U64` \|  \| minmax \| all \|$", PAGE, re.M)


def test_counts_are_those_of_the_file():
    """The page has each group's counts and their sums."""
    groups = json.loads(machine_code.COVERAGE.read_text(encoding="utf-8"))["groups"]
    for name, one in groups.items():
        assert f"| {name} | {one['snippets']} | {one['rows']} | {one['results']} |" in PAGE
    for number in ("snippets", "rows", "results"):
        assert f"{sum(one[number] for one in groups.values()):,}" in PAGE


def test_the_reader_of_the_sources_finds_the_sums_too():
    """docs/sass.md has the number of kernels, rows and results, and of the forms that are checked and executed."""
    groups = json.loads(machine_code.COVERAGE.read_text(encoding="utf-8"))["groups"].values()
    kernels, rows, results = (sum(one[number] for one in groups) for number in ("snippets", "rows", "results"))
    forms = {form for family in FAMILIES for form in machine_code.forms(family)}
    counted = f"{kernels:,} kernels, {rows:,} rows and {results:,} results, and have"
    assert f"{counted} {len(forms & machine_code.covered())} of the {len(forms):,} forms" in SASS.replace("\n", " ")


@pytest.mark.parametrize(("what", "text"), machine_code.REFUSED)
def test_examples_of_refused_instructions_are_refused(what, text):
    """Each example is refused by its mnemonic, and the page has it."""
    assert machine_code.refusal(text).split()[0].split(".")[0] == text.split()[0].split(".")[0], what
    assert f"| {what} | `{text}` |" in PAGE


def test_an_executed_instruction_is_no_example():
    """An example that gpusim executes stops the build."""
    with pytest.raises(ValueError, match="FADD R0, R1, R2 is executed"):
        machine_code.refusal("FADD R0, R1, R2")
