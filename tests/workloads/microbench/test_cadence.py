from itertools import pairwise

import pytest

from isa.errors import UserError
from workloads.microbench.cadence import OPS, cadence


@pytest.mark.parametrize("op", OPS)
def test_each_thread_stores_its_number(check, op):
    """Each thread stores its number, whatever instructions are issued in between, with one warp or three."""
    check(cadence(op, length=5))
    check(cadence(op, length=9, warps=3))


@pytest.mark.parametrize("op", OPS)
def test_the_instructions_follow_one_another(op):
    """Twelve of one instruction follow one another; only accumulating ones read the result of the one before."""
    code = cadence(op, length=12).program.instructions
    first = next(pc for pc, i in enumerate(code) if i.row.unit.value == "barrier") + 1
    body = code[first : first + 12]
    assert [i.row.mnemonic for i in body] == [op] * 12
    depends = any(set(earlier.writes()) & set(later.reads()) for earlier, later in pairwise(body))
    assert depends == (op in ("V_MAC_F32", "V_ADD_U32", "S_ADD_U32"))


@pytest.mark.parametrize("bad", [{"op": "FFMA"}, {"length": 0}, {"warps": 0}, {"length": 33000}])
def test_bad_parameters_are_refused(bad):
    """An unknown instruction, no instructions or warps, and more than a program holds raise UserError."""
    with pytest.raises(UserError, match=r"^cadence: "):
        cadence(**bad)
