from dataclasses import fields

import pytest

from gpusim.machine.capability import FILE, Capability, capabilities, capability
from gpusim.machine.machine import load
from isa.errors import UserError


@pytest.mark.parametrize(("name", "machine"), [("1.3", "gt200"), ("2.x", "gtx580"), ("2.x", "c2050")])
def test_machines_have_the_limits_of_their_capability(name, machine):
    """GT200, GTX 580, C2050 have each limit of their capability, but for the sizes of grids, and of blocks in x, y."""
    limits = load(machine).limits
    shared = [field.name for field in fields(Capability) if hasattr(limits, field.name)]
    assert {field.name for field in fields(Capability)} - set(shared) == {"grid", "block_xy"}
    assert all(getattr(capability(name), field) == getattr(limits, field) for field in shared)


def test_limits_only_grow():
    """No capability holds less than the one before it, except in registers per thread."""
    known = list(capabilities().values())
    for field in {field.name for field in fields(Capability)} - {"registers_per_thread"}:
        values = [getattr(each, field) for each in known]
        assert values == sorted(values), field


def test_every_row_has_its_source():
    """Each row of the file ends with its source."""
    lines = FILE.read_text().splitlines()
    assert lines[0].endswith(",source")
    assert all("PG 4.2 table F-2" in line for line in lines[1:])


def test_an_unknown_capability_is_refused():
    """An unknown capability is refused with the list of known ones."""
    with pytest.raises(UserError, match=r"^compute capability 3: its limits are not known; choose one of 1.0, 1.1, "):
        capability("3")
