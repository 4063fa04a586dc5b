"""Faults that a campaign found stay fixed."""

import pytest
from fuzz import found


@pytest.mark.parametrize("path", list(found.stored()), ids=lambda path: path.stem)
def test_what_was_found_stays_mended(path):
    """A stored pair passes the check that refused it, which applies to it; a stored text is taken, or refused well."""
    case = found.load(path)
    assert found.wrong(case.check, case.case) == ""
