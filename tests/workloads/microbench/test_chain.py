from __future__ import annotations

from itertools import pairwise

import pytest

from isa.errors import UserError
from workloads.microbench.chain import OPS, PATTERNS, chain


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_chain_has_the_promised_result(check, op, pattern):
    """After 37 steps twice, with three warps, each thread has the promised result."""
    check(chain(op, length=37, warps=3, iterations=2, pattern=pattern))


@pytest.mark.parametrize("op", OPS)
def test_each_link_needs_the_one_before(op):
    """The program has `length` instructions of the op, each of which reads the result of the one before."""
    links = chain(op, length=9).program.instructions[-13:-4]  # then shift, add, store and exit
    assert {i.row.mnemonic for i in links} == {op}
    assert all(set(before.writes()) & set(after.reads()) for before, after in pairwise(links))


def test_flops_count_the_chain_only():
    """256 FFMAs of 64 threads, 3 times over, are 98,304 operations."""
    assert chain("FFMA", length=256, warps=2, iterations=3).flops == 256 * 2 * 64 * 3


@pytest.mark.parametrize("bad", [{"op": "ISETP.LT"}, {"length": 0}, {"warps": 0}, {"pattern": "zigzag"}])
def test_bad_parameters_are_refused(bad):
    """Instructions that write predicates, numbers below 1 and unknown patterns raise UserError."""
    with pytest.raises(UserError, match=r"^chain: "):
        chain(**bad)
