from types import SimpleNamespace

import numpy as np
import pytest

from gpusim.jit.plain import plain, unpacked
from gpusim.jit.rule import NEVER
from gpusim.rules import load_store, shared_memory, stall_accounting, wait_count
from gpusim.state.machine import machine_t
from gpusim.units.capacities import COUNTED


def record(fields):
    """Return a record type whose fields are read as attributes."""
    return np.dtype((np.record, np.dtype(fields, align=True)))


def test_a_plain_rule_calls_plain_rules():
    """The rules that a plain rule calls, in its own module or another, are plain too."""
    passes = plain(shared_memory.passes)
    assert not hasattr(passes, "py_func")
    assert not hasattr(passes.__globals__["_fermi"], "py_func")
    assert not hasattr(plain(load_store.serve).__globals__["scoreboard"].commit, "py_func")


def test_a_rule_is_made_plain_once():
    """A second call of `plain` returns the same function."""
    assert plain(stall_accounting.latest) is plain(stall_accounting.latest)


@pytest.mark.parametrize(("cycle", "slot"), [(0, 0), (1, 2), (2, 2), (5, 6)])
def test_a_plain_rule_computes_what_its_source_says(cycle, slot):
    """The plain rule gives the slots of a scheduler with interval 2: 0, 2, 2 and 6 for cycles 0, 1, 2 and 5."""
    machine = np.zeros((), machine_t)
    machine["interval"] = 2
    assert plain(stall_accounting.slot_from)(unpacked(machine), 0, cycle) == slot


def test_a_rule_compiled_on_demand_is_plain_too():
    """A rule that calls one compiled on demand can be made plain: it counts one access."""
    warp = SimpleNamespace(unserved=[0, 0], returned=np.zeros((2, COUNTED), np.int64))
    plain(wait_count.commit)(warp, SimpleNamespace(counter=1, counted=1, queued=0), 0)
    assert (warp.unserved, int(warp.returned[1, 0])) == ([0, 1], NEVER)


def test_records_become_numbers_lists_and_namespaces():
    """Integers stay integers, rows become lists, tables stay arrays, and inner records become namespaces."""
    inner = record([("x", "i8")])
    value = np.zeros((), record([("a", "i8"), ("b", "i8", (2,)), ("c", "i8", (2, 2)), ("d", inner)]))
    value["b"], value["d"]["x"] = [3, 4], 5
    result = unpacked(value)
    assert (result.a, result.b, result.d.x) == (0, [3, 4], 5)
    assert result.c.shape == (2, 2)
    result.b[0] = 9
    assert value["b"][0] == 3
