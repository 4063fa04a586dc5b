from __future__ import annotations

import pytest

from isa.errors import UserError
from workloads.microbench.dual_issue import dual_issue


@pytest.mark.parametrize("ratio", ["1:1", "2:1", "3:5", "0:1", "4:0"])
def test_every_ratio_has_the_promised_result(check, ratio):
    """Each thread leaves the number of its FFMAs, and the sign of the product of so many -1."""
    check(dual_issue(ratio, warps=2, groups=3, iterations=2))


def test_the_loop_repeats_the_ratio():
    """At 2:1 two FFMAs come before each FMUL, and no instruction waits for one of the three before it."""
    program = dual_issue("2:1", groups=4).program
    start = program.labels["loop"]
    body = program.instructions[start : start + 12]
    assert [i.row.mnemonic for i in body] == ["FFMA", "FFMA", "FMUL"] * 4
    for at, instruction in enumerate(body):
        written = {r for other in body[max(0, at - 3) : at] for r in other.writes()}
        assert not written & set(instruction.reads())


def test_operations_count_twice_for_an_ffma():
    """Of 3 groups of 2:1 in a thread 12 operations are FFMAs' and 3 FMULs'."""
    assert dual_issue("2:1", warps=1, groups=3, iterations=1).flops == 32 * 15


@pytest.mark.parametrize("bad", [{"ratio": "1"}, {"ratio": "0:0"}, {"warps": 0}, {"groups": 0}, {"iterations": 0}])
def test_bad_parameters_are_refused(bad):
    """A ratio that is not two counts and numbers below 1 raise UserError."""
    with pytest.raises(UserError, match=r"^dual-issue: "):
        dual_issue(**bad)
