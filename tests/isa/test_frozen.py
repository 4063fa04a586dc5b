"""Records with arrays can be compared."""

import dataclasses
import re
import sys
from dataclasses import dataclass, field, replace
from importlib import import_module
from pkgutil import walk_packages
from types import MappingProxyType

import numpy as np
import pytest

from isa.support import frozen

ARRAY = re.compile(r"\b(NDArray|ndarray|Array|Column)\b")
OPTIONAL = "gpusim.api.kernel_tuner", "gpusim.api.triton"  # need packages that are not installed everywhere


@frozen.comparable
@dataclass(frozen=True)
class Record:
    """A record of every kind of value."""

    number: int
    words: np.ndarray
    by_name: dict[str, np.ndarray] = field(default_factory=dict)
    parts: tuple[np.ndarray, ...] = ()


def record():
    """Return a record whose arrays are its own."""
    found = MappingProxyType({"a": np.arange(3), "b": np.array([np.nan])})
    return Record(1, np.arange(4), found, (np.zeros(2), np.ones(2)))


def test_equal_are_records_with_equal_fields():
    """Arrays are compared bit for bit, also within tuples and mappings; another type is never equal."""
    assert record() == record()
    assert record() != replace(record(), number=2)
    assert record() != replace(record(), words=np.arange(5))
    assert record() != replace(record(), words=np.arange(4, dtype=np.float64))
    assert record() != replace(record(), by_name={"a": np.arange(3)})
    assert record() != replace(record(), by_name={"a": np.arange(3), "b": np.array([1.0])})
    assert record() != replace(record(), parts=(np.zeros(2), np.zeros(2)))
    assert record() != replace(record(), parts=(np.zeros(2),))
    assert replace(record(), words=np.ones(2)) != replace(record(), words=1.0)
    assert replace(record(), words=np.ones(2)) != replace(record(), words=[1.0, 1.0])
    for other in (None, 1, "x", np.arange(3), object()):
        assert (record() == other) is False


def test_records_with_arrays_have_no_hash():
    """What is equal has one hash, and arrays have none."""
    with pytest.raises(TypeError, match="unhashable"):
        hash(record())


def dataclasses_of(*packages):
    """Yield the dataclasses that these packages define."""
    for package in packages:
        for module in walk_packages(import_module(package).__path__, f"{package}."):
            if not module.name.startswith(OPTIONAL) and not module.name.endswith("__main__"):
                import_module(module.name)
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in packages:
            values = vars(module).values()
            yield from (one for one in values if dataclasses.is_dataclass(one) and one.__module__ == name)


def test_every_record_with_an_array_can_be_compared():
    """A dataclass with an array has a comparison that knows arrays, or is compared by identity."""
    for kind in {one for one in dataclasses_of("isa", "workloads", "gpusim") if isinstance(one, type)}:
        types = [str(one.type) for one in dataclasses.fields(kind) if one.compare]
        if any(ARRAY.search(text) and "Callable" not in text for text in types):
            assert kind.__eq__ in (frozen._equal, object.__eq__), kind
