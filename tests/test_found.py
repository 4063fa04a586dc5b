"""Faults that a campaign found stay fixed."""

import pytest
from fuzz import found
from fuzz.cuda import batch, case

NEEDS = pytest.mark.skipif(bool(batch.missing()), reason=f"{batch.missing()} not installed")


def stored():
    """The stored cases; pairs have loops that take minutes in plain Python, programs of CUDA C need compilers."""
    for path in found.stored():
        one = found.load(path)
        of_cuda = [pytest.mark.jit, NEEDS] if one.check == case.CHECK else []
        marks = of_cuda if isinstance(one.case, bytes) else [pytest.mark.jit]
        yield pytest.param(path, id=path.stem, marks=marks)


@pytest.mark.parametrize("path", list(stored()))
def test_a_stored_fault_stays_fixed(path):
    """A stored pair passes its check, which applies; a text is taken or refused well; a program is as its emulation."""
    one = found.load(path)
    assert found.wrong(one.check, one.case) == ""
