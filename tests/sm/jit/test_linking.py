from __future__ import annotations

import subprocess
import sys
from typing import Any

import numba
import numpy as np
import pytest

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from gpusim.sm.front.policies import declaration as policy
from gpusim.sm.front.policies import policies, policy_code
from gpusim.sm.jit.compiler.linking import OPTIONS, EntryCompiler, RuleLibrary
from gpusim.sm.jit.rule import entry, lowest_bit, rule
from gpusim.sm.state.room import made, sizes
from isa.text.listing import read

UNCHANGED = """
import sys
from types import ModuleType
import numba
import numpy as np

def snapshot():
    seen = {}
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] in ("numba", "llvmlite") and isinstance(module, ModuleType):
            for attribute, value in list(vars(module).items()):
                seen[name, attribute] = value
                if isinstance(value, type) and value.__module__.split(".")[0] in ("numba", "llvmlite"):
                    seen |= {(name, attribute, member): inner for member, inner in list(vars(value).items())}
    return seen

def changed(now):
    return sorted(".".join(key) for key in before if key not in now or before[key] is not now[key])

records = np.zeros(3, [("a", "i8"), ("b", "i4", (3,))]).view(np.recarray)
numba.njit(lambda record, i: record[i].b[i])(records, 1)
before = snapshot()
numba.njit(lambda record, i: record[i].b[i] + 1)(records, 1)
print("without us", *changed(snapshot()), sep="\\n")

from gpusim.engines import chip, compiled
from gpusim.sm.jit.rule import entry, rule
print("imported", *changed(snapshot()), sep="\\n")

def looked():
    pass

@numba.extending.overload(looked)
def compile_looked():
    print("within", *changed(snapshot()), sep="\\n")
    return lambda: 1

@rule
def element(record, i):
    return record[i].b[i] + looked()

@entry
def outermost(record, i):
    return element(record, i)

outermost(records, 1)
print("behind", *changed(snapshot()), sep="\\n")
"""


@rule
def smaller(a: int, b: int) -> int:
    return min(a, b)


@rule
def through_two(a: int, b: int) -> int:
    return smaller(a, b) + smaller(b, 5)


@entry
def outermost(a: int, b: int) -> int:
    return through_two(a, b) + smaller(a, 3)


@rule
def element(numbers: Any, i: int) -> int:
    return numbers[i]


@entry
def outer_element(numbers: Any, i: int) -> int:
    return element(numbers, i)


@entry
def from_the_end(numbers: Any) -> int:
    return numbers[-1]


last_of_rule, last_of_policy = numba.njit(lambda numbers: numbers[-1]), numba.njit(lambda numbers: numbers[-1])


@rule
def asking(numbers: Any) -> int:
    return last_of_rule(numbers)


@entry
def outer_asking(numbers: Any) -> int:
    return asking(numbers)


@entry
def moved(rows: Any, places: Any, i: int) -> None:
    rows[places[i], i] = rows[places[0], 2] + rows[i][places[1]]


@rule
def least(numbers: Any) -> int:
    return np.sort(numbers)[0]


@entry
def outer_sorted(numbers: Any) -> int:
    return least(numbers)


@entry
def ask_policy(sms: Any, code: int, eligible: int) -> int:
    return policy_code.call(code, sms[0], 0, eligible)


def libraries(dispatcher: Any) -> list[Any]:
    return [result.library for result in dispatcher.overloads.values()]


@pytest.mark.parametrize(("a", "b"), [(1, 2), (9, 7), (4, 4)])
def test_an_entry_reaches_the_rules_below_it(a, b):
    """Rules that call rules and Numba's functions, two levels deep, compute what Python computes."""
    assert outermost(a, b) == min(a, b) + min(b, 5) + min(a, 3)


@pytest.mark.jit
def test_rules_get_no_machine_code_of_their_own():
    """Only the entry becomes machine code: the library of a compiled rule has no address."""
    uncached = numba.njit(lambda a, b: through_two(a, b) + smaller(a, 3), **OPTIONS, pipeline_class=EntryCompiler)
    assert uncached(1, 2) == 4
    rules = libraries(through_two.dispatcher) + libraries(smaller.dispatcher)
    assert rules
    assert all(isinstance(library, RuleLibrary) for library in rules)
    assert all(library.get_pointer_to_function(library.name) == 0 for library in rules)


@pytest.mark.jit
def test_only_rules_read_before_the_array_at_index_minus_1():
    """Index -1 in a rule reads the element before the array; in ordinary Numba code it reads the last."""
    numbers = np.array([1, 2, 3, 4])
    assert outer_element(numbers[1:3], -1) == 1
    assert numba.njit(lambda array, i: array[i])(numbers[1:3], -1) == 3


def test_a_constant_index_counts_from_the_end():
    """`numbers[-1]`, written as a constant, reads the last element in a rule too."""
    assert from_the_end(np.array([3, 4, 5])) == 5


@pytest.mark.parametrize("kind", ["u1", "i4", "u4", "i8", "u8"])
def test_rules_index_with_numbers_of_any_width(kind):
    """Indices of 1, 4 and 8 bytes, one after the other and two at once, address as in Python."""
    rows = np.arange(12).reshape(3, 4)
    moved(rows, np.array([2, 1, 0], kind), 1)
    assert rows.tolist() == [[0, 1, 2, 3], [4, 10 + 5, 6, 7], [8, 9, 10, 11]]


def test_a_function_compiled_from_inside_a_rule_is_an_ordinary_one():
    """A Numba function that a rule calls first counts -1 from the end, in the rule and afterwards."""
    assert outer_asking(np.array([3, 4, 5])) == 5
    assert last_of_rule(np.array([3, 4, 5])) == 5


def test_a_function_compiled_from_inside_a_policy_is_an_ordinary_one(monkeypatch):
    """A Numba function that a policy calls first counts -1 from the end, in the policy and afterwards."""

    def lowest(sm: Any, _k: int, eligible: int) -> int:
        return lowest_bit(eligible) if last_of_policy(sm.launch.block) == 1 else -1

    monkeypatch.setitem(policy.REGISTERED, "lowest", lowest)
    sms = made("sm", 1, sizes({}))
    sms[0].launch.block[2] = 1
    assert ask_policy(sms, policy_code.code_of("lowest"), 6) == 1
    assert last_of_policy(np.array([3, 4, 5])) == 5


@pytest.mark.long
@pytest.mark.jit
def test_nothing_of_numba_is_changed():
    """Importing and compiling rules changes no attribute of Numba's or llvmlite's modules and classes."""
    done = subprocess.run([sys.executable, "-c", UNCHANGED], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n") == ["without us", "imported", "within", "behind", ""]


@pytest.mark.long
@pytest.mark.jit
def test_an_entry_exports_only_its_own_names():
    """Only an entry and its wrappers are visible by name, not the sort of Numba's that is linked into it."""
    assert outer_sorted(np.array([5, 3, 4])) == 3
    ((_, _, code),) = outer_sorted.codes.values()
    (library,) = libraries(code.holder)
    functions = list(library.get_defined_functions())
    seen = {function.name for function in functions if function.linkage.name != "internal"}
    assert 0 < len(seen) < len(functions)
    assert all("outer_sorted" in name for name in seen)


def test_ordinary_code_calls_a_rule_that_calls_another():
    """Ordinary Numba code may call a rule that calls another, more than once, and along with an entry."""

    @rule
    def inner(x: int) -> int:
        return x + 1

    @rule
    def outer(x: int) -> int:
        return inner(x) * 2 + inner(x + 1)

    @entry
    def ours(x: int) -> int:
        return outer(x)

    assert [numba.njit(lambda x: outer(x) + inner(x))(3), ours(3), numba.njit(lambda x: outer(x) + 0)(4)] == [
        17,
        13,
        16,
    ]


@pytest.mark.parametrize("name", ["gto", "cggty", "two_level"])
def test_a_registered_policy_may_ask_one_of_ours(name, monkeypatch):
    """A registered policy that calls gto, cggty or two_level takes the same cycles as that policy."""
    original = getattr(policies, name)
    monkeypatch.setitem(policy.REGISTERED, f"asks-{name}", lambda sm, k, eligible: original(sm, k, eligible, 0))
    text = ".block 128\n.shared 512\nMOV R2, 0\n" + "LDS R4, [R2]\nFADD R5, R4, R4\n" * 4 + "EXIT"
    cycles = [run_sm(read(text), load("gtx580", {"schedulers.policy": each})).cycles for each in (name, f"asks-{name}")]
    assert cycles[0] == cycles[1]
