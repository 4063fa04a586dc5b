from __future__ import annotations

import numpy as np
import pytest

from isa.errors import UserError
from isa.row import Unit
from workloads.papers.cme213.expression import OPS, expression, instructions
from workloads.papers.cme213.expressions import EXPRESSIONS

INTEGERS = ("int-div", "int-mod")


@pytest.mark.parametrize("op", OPS)
def test_each_expression_has_its_value(check, op):
    """Every expression leaves its value within the bound that it promises; integers and constants exactly."""
    check(expression(op, warps=8, length=1, iterations=1))


@pytest.mark.parametrize("op", INTEGERS)
@pytest.mark.parametrize("divisor", [3, 7, 10, 641, 65535, 2**20 + 7, 2**30, 2**31 - 1])
def test_integers_are_divided_exactly(check, op, divisor):
    """Quotient and remainder are exact for dividends below 2**31, whatever the divisor from 3 on."""
    check(expression(op, warps=32, length=1, iterations=1, divisor=divisor))


def test_division_takes_under_20_instructions():
    """As the guide says of compute capability 2.x, division and modulo take less than 20, and bits take one."""
    assert [instructions(op) for op in ("shift", "mask")] == [1, 1]
    assert all(10 < instructions(op) < 20 for op in INTEGERS)


@pytest.mark.parametrize(("op", "most"), [("divide", 0.5), ("__fdividef", 2)])
def test_division_is_rounded_and_its_intrinsic_is_not(op, most):
    """A quotient is promised within half a unit in the last place, that of the intrinsic within two (PG 4.2, C.2)."""
    assert EXPRESSIONS[op].ulps == most


def test_a_constant_without_f_is_computed_in_double_precision():
    """A double constant brings two conversions and a double product; with f there is one single product."""
    for op, units in {"pi-f": [Unit.FMUL], "pi": [Unit.DP] * 3}.items():
        kernel = expression(op, length=1, iterations=1)
        found = [i.row.unit for i in kernel.program.instructions if i.row.unit in (Unit.FMUL, Unit.DP)]
        assert found == units


def test_repetitions_are_counted():
    """The loop body has the expression as often as asked, and three instructions of the loop."""
    lengths = [len(expression("divide", length=n).program.instructions) for n in (1, 11)]
    assert lengths[1] - lengths[0] == 10 * instructions("divide")


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"op": "sqrt"}, "op=sqrt is not allowed"),
        ({"divisor": 2}, "divisor=2 is too small; give 3 or more"),
        ({"op": "shift", "divisor": 10}, "divisor=10 is no power of two"),
        ({"length": 0}, "length=0 is too small"),
        ({"op": "sinf", "length": 5000}, "length=5000 makes"),
    ],
)
def test_bad_parameters_are_refused(bad, message):
    """Unknown expressions, divisors that they can't take, and numbers too small or large raise UserError."""
    with pytest.raises(UserError, match=message):
        expression(**bad)


def test_arguments_differ_from_thread_to_thread():
    """No two threads of a block have the same pair of arguments."""
    kernel = expression("divide", warps=4)
    x, y = (buffer.fill(np.arange(128)) for buffer in kernel.buffers[:2])
    assert len({*zip(x.tolist(), y.tolist(), strict=True)}) == 128
