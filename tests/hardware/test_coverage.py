"""What the snippets cover."""

import json

import pytest

from hardware import coverage, table
from hardware.catalog import SNIPPETS


@pytest.mark.long
def test_the_kept_counts_are_those_of_the_snippets():
    """`data/coverage.json`, of which the docs are made, is what `python -m hardware.coverage` writes."""
    assert json.loads(coverage.COVERAGE.read_text(encoding="utf-8")) == coverage.counted()


def test_a_mnemonic_is_counted_once_for_each_kernel():
    """Of the ways to add singles each stands in its kernel; all kernels end with EXIT."""
    found = coverage.mnemonics()
    assert found["EXIT"] == len(SNIPPETS)
    assert found["FADD.FTZ.RZ.SAT"] == 2  # add and sub


def test_groups_have_all_snippets():
    """The groups' kernels and results are those of the table."""
    found = coverage.groups().values()
    assert sum(one["snippets"] for one in found) == len(SNIPPETS)
    assert sum(one["results"] for one in found) == sum(c.size for one in SNIPPETS.values() for c in table.results(one))
