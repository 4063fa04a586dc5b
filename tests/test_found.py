"""Faults that a campaign found stay fixed."""

import pytest
from fuzz import found


def stored():
    """The stored cases; pairs have loops that take minutes in plain Python."""
    for path in found.stored():
        marks = [] if isinstance(found.load(path).case, bytes) else [pytest.mark.jit]
        yield pytest.param(path, id=path.stem, marks=marks)


@pytest.mark.parametrize("path", list(stored()))
def test_a_stored_fault_stays_fixed(path):
    """A stored pair passes the check that it failed, which applies to it; a stored text is taken or refused well."""
    case = found.load(path)
    assert found.wrong(case.check, case.case) == ""
