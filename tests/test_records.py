"""Every record of a run has a text of one line, and can be sent to another process."""

import dataclasses
import pickle
from collections.abc import Mapping

import msgspec
import numpy as np
import pytest

from gpusim.machine.machine import load
from gpusim.simulation.simulation import simulate
from gpusim.simulation.timeline.build import timeline
from isa.text import listing
from workloads.catalog import CATALOG, make

LONGEST = 4000  # characters: a machine has forty sections
LISTING = "examples/saxpy.asm"


def parts(record):
    """The parts of a record or a collection."""
    if isinstance(record, msgspec.Struct):
        return [getattr(record, name) for name in record.__struct_fields__]
    if dataclasses.is_dataclass(record) and not isinstance(record, type):
        return [getattr(record, field.name) for field in dataclasses.fields(record)]
    if isinstance(record, Mapping):
        return list(record.values())
    return list(record) if isinstance(record, list | tuple | set | frozenset) else []


def records(root):
    """Each kind of record inside the root, with the record of this kind that has the longest text."""
    seen, waiting, found = {}, [root], {}
    while waiting:
        one = waiting.pop()
        if id(one) not in seen:
            seen[id(one)] = one
            waiting += parts(one)
            if isinstance(one, msgspec.Struct) or (dataclasses.is_dataclass(one) and not isinstance(one, type)):
                found[type(one)] = max(found.get(type(one), one), one, key=lambda each: len(repr(each)))
    return found


def same(one, other):
    """Whether two records are alike, part by part."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if callable(one):
        return type(one) is type(other)
    inside = parts(one)
    if inside or isinstance(one, msgspec.Struct | Mapping | tuple):
        return type(one) is type(other) and all(map(same, inside, parts(other)))
    return type(one) is type(other) and one == other


ROOTS = {
    "one SM": lambda: simulate(listing.load(LISTING), "h200", trace=True, engine="reference"),
    "all SMs": lambda: simulate(listing.load(LISTING), "gtx580", sms="all", engine="reference"),
    "timeline": lambda: timeline(listing.load(LISTING), load("c2050")),
}


@pytest.mark.parametrize("name", ["one SM", "all SMs", pytest.param("timeline", marks=pytest.mark.jit)])
def test_records_of_a_run_are_shown_in_a_line_and_cross_processes(name):
    """Each kind of record of a run has a text of one line, up to 4000 characters, and is the same after a pickle."""
    for kind, record in records(ROOTS[name]()).items():
        assert len(repr(record)) <= LONGEST, kind
        assert "\n" not in repr(record), kind
        assert same(record, pickle.loads(pickle.dumps(record))), kind


@pytest.mark.parametrize("name", CATALOG)
def test_every_kernel_is_shown_in_a_line_and_crosses_processes(name):
    """A kernel's text is under 600 characters; the kernel and its promise for block 0 are the same after a pickle."""
    kernel = make(name)
    back = pickle.loads(pickle.dumps(kernel))
    assert len(repr(kernel)) < 600
    assert same(kernel, back)
    assert (back.expected is None) is (kernel.expected is None)
    if kernel.expected and kernel.flops < 10**8:
        assert same(kernel.expected(0), back.expected(0))


def test_read_only_mappings_stay_read_only():
    """Labels and parameters can't be changed after a pickle either."""
    back = pickle.loads(pickle.dumps(listing.load(LISTING)))
    with pytest.raises(TypeError):
        back.program.labels["x"] = 1
    with pytest.raises(TypeError):
        back.parameters["x"] = 1
