from __future__ import annotations

import signal
from typing import Any

import pytest

from gpusim.sm.jit import on_demand as module
from gpusim.sm.jit.on_demand import on_demand, one_on_demand
from gpusim.sm.jit.rule import entry, rule
from gpusim.sm.records import Sm
from gpusim.sm.state.room import made, sizes


@on_demand
def later(sm: Sm, cycles: int, twice: bool) -> int:
    return sm.now + (2 * cycles if twice else cycles)


@on_demand
def never_called(sm: Sm) -> None:
    sm.now = 0


@on_demand
def asked_late(sm: Sm, cycles: int) -> int:
    return sm.now + cycles


@on_demand
def failing_once(sm: Sm, cycles: int) -> int:
    return sm.now + cycles


@entry
def asking_again(sms: Any, cycles: int) -> int:
    return failing_once(sms[0], cycles)


@entry
def asking(sms: Any, cycles: int) -> int:
    return asked_late(sms[0], cycles) if cycles > 0 else 0


@rule
def between(sm: Any, cycles: int) -> int:
    return later(sm, cycles, cycles > 10) if cycles > 0 else 0


@entry
def outermost(sms: Any, cycles: int) -> int:
    if cycles < 0:
        never_called(sms[0])
    return between(sms[0], cycles)


def plus_one(sm: Any) -> None:
    sm.now += 1


def doubled(sm: Any) -> None:
    sm.now *= 2


def emptied(sm: Any) -> None:
    sm.now = 0


chosen = one_on_demand("chosen", [plus_one, doubled, emptied])


@entry
def choose(sms: Any, index: int) -> int:
    chosen(index, sms[0])
    return sms[0].now


@pytest.fixture
def compilations(monkeypatch):
    """The names of rules on demand that are compiled, or loaded from the cache, as they are."""
    names, found = [], module.entry.found

    def noted(function: Any, *rest: Any) -> Any:
        names.append(function.__qualname__)
        return found(function, *rest)

    monkeypatch.setattr(module.entry, "found", noted)
    return names


def sms(now: int) -> Any:
    records = made("sm", 1, sizes({}))
    records["now"] = now
    return records


@pytest.mark.parametrize(("cycles", "expected"), [(0, 0), (7, 12), (11, 27)])
def test_a_rule_on_demand_returns_what_python_returns(cycles, expected):
    """Called through rules, it returns what Python returns: 0, 5 + 7 = 12 and 5 + 2 * 11 = 27."""
    assert outermost(sms(5), cycles) == expected


@pytest.mark.jit
def test_it_is_compiled_when_it_is_first_called(compilations):
    """A rule is compiled once, at its first call; its callers run without it before, and one never called is not.

    No other test calls this one.
    """
    counts = []
    for cycles, expected in ((0, 0), (3, 8), (4, 9)):
        assert asking(sms(5), cycles) == expected
        counts.append(compilations.count("asked_late"))
    assert outermost(sms(5), 0) == 0
    assert (counts, compilations.count("never_called")) == ([0, 1, 1], 0)


@pytest.mark.jit
def test_only_the_chosen_of_several_are_compiled(compilations):
    """Two of three functions are called (6 + 1 and 6 * 2) and compiled; the third is not."""
    assert (choose(sms(6), 0), choose(sms(6), 1)) == (7, 12)
    assert [compilations.count(name) for name in ("plus_one", "doubled", "emptied")] == [1, 1, 0]


@pytest.mark.jit
def test_an_interruption_waits_for_compiled_code():
    """Ctrl-C while a rule is compiled for a run does not interrupt the run; it is raised after the run."""
    done = []

    def run(until):
        if until:
            signal.raise_signal(signal.SIGINT)
        done.append(until)
        return until

    with pytest.raises(KeyboardInterrupt):
        module.uninterrupted(run)(7)
    assert done == [0, 7]


class LateError(Exception):
    """What the handler of an alarm raises in this test."""


@pytest.mark.jit
def test_an_error_of_a_signal_handler_during_a_compilation_is_raised_after_it(monkeypatch):
    """A handler's exception while compiled code waits for a rule's code ends that code and is raised from its entry.

    The next call compiles the rule and returns 5 + 2.
    """

    def late(*_: Any) -> None:
        raise LateError

    before = signal.signal(signal.SIGALRM, late)
    known = module.code_of
    monkeypatch.setattr(module, "code_of", lambda *_: signal.raise_signal(signal.SIGALRM))
    try:
        with pytest.raises(LateError):
            asking_again(sms(5), 2)
    finally:
        signal.signal(signal.SIGALRM, before)
    monkeypatch.setattr(module, "code_of", known)
    assert asking_again(sms(5), 2) == 7
