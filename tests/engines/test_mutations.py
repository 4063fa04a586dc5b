"""Tests of the tests: what is wrong in the order of a cycle, in a wake-up or in a rule is noticed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from mutants import BUSY, CHANGES, NO_CODED_MUTANT, NO_MUTANT, NO_TAGGED_MUTANT
from timing import plain_machine
from twins import differences, run_both

from gpusim.engines import reference
from isa.errors import DeadlockError, LimitError
from isa.text.listing import read

ROOT = Path(__file__).parent.parent.parent


def twins_differ() -> list[str]:
    """What the engines disagree on, on a kernel that keeps every unit busy."""
    return differences(*run_both(read(BUSY), plain_machine(CHANGES), max_cycles=10_000))


def test_the_engines_agree_without_a_mutation():
    """The kernel of this file is simulated alike by both engines."""
    assert twins_differ() == []


def test_a_reversed_order_inside_the_cycle_is_noticed(monkeypatch):
    """Agents that act in the opposite order within a cycle give another trace."""
    position = reference.position
    monkeypatch.setattr(reference, "position", lambda launch, *when: 9 - position(launch, *when))
    assert "trace" in twins_differ()


@pytest.mark.parametrize(("first", "second"), [(1, 2), (2, 3)], ids=["schedulers", "scheduler and load/store unit"])
def test_two_agents_that_change_places_are_noticed(monkeypatch, first, second):
    """It is enough that two neighbours in the order change places."""
    position, places = reference.position, {first: second, second: first}

    def swapped(launch, *when):
        place = position(launch, *when)
        return places.get(place, place)

    monkeypatch.setattr(reference, "position", swapped)
    assert "trace" in twins_differ()


def test_no_wake_up_at_all_is_a_deadlock(monkeypatch):
    """Where nobody is woken, nothing that was placed ever issues."""
    monkeypatch.setattr(reference, "wake_up", lambda *_: None)
    with pytest.raises(DeadlockError):
        twins_differ()


@pytest.mark.parametrize("agent", [0, 1, 2, 3], ids=["blocks", "scheduler 0", "scheduler 1", "load/store unit"])
def test_a_dropped_wake_up_is_noticed(monkeypatch, agent):
    """An agent that is woken no more after the first time makes the launch stop, never end, or take another course."""
    wake_up, woken = reference.wake_up, []

    def forgetful(agents, which):
        woken.append(which)
        if which != agent or woken.count(agent) == 1:
            wake_up(agents, which)

    monkeypatch.setattr(reference, "wake_up", forgetful)
    assert noticed()
    assert woken.count(agent) >= 2


def noticed() -> bool:
    """Whether the engines differ, or the mutated one stops, or never ends."""
    try:
        return twins_differ() != []
    except (DeadlockError, LimitError):
        return True


@pytest.mark.long
@pytest.mark.jit
def test_wrong_rules_are_caught_by_the_scan_of_every_cycle():
    """Each of some wrong rules, which both engines share, is caught by the independent scan; the right ones pass."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": paths}
    script = [sys.executable, str(ROOT / "tests" / "mutants.py")]
    answer = subprocess.run(script, env=environment, capture_output=True, text=True, check=True).stdout
    verdicts = dict(line.rsplit(": ", 1) for line in answer.splitlines())
    assert {verdicts.pop(name) for name in (NO_MUTANT, NO_CODED_MUTANT, NO_TAGGED_MUTANT)} == {"survived"}
    assert len(verdicts) >= 15
    assert set(verdicts.values()) == {"caught"}, verdicts
