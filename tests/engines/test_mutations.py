"""Tests of the tests: a wrong order in a cycle, a missing wake-up and a wrong rule are noticed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from mutants import NO_CHANNEL_MUTANT, NO_CODED_MUTANT, NO_MUTANT, NO_TAGGED_MUTANT
from mutated import BUSY, CHANGES
from timing import plain_machine
from twins import differences, run_both

from gpusim.engines import reference
from isa.errors import DeadlockError, LimitError
from isa.text.listing import read

ROOT = Path(__file__).parent.parent.parent


def twins_differ() -> list[str]:
    """Names of what differs between the engines, on a kernel that keeps every unit busy."""
    return differences(*run_both(read(BUSY), plain_machine(CHANGES), max_cycles=10_000))


def test_the_engines_agree_without_a_mutation():
    """Without a mutation, both engines simulate the kernel of this file alike."""
    assert twins_differ() == []


def test_a_reversed_order_inside_the_cycle_is_noticed(monkeypatch):
    """Agents that act in the opposite order within a cycle give another trace."""
    position = reference.position
    monkeypatch.setattr(reference, "position", lambda launch, *when: 9 - position(launch, *when))
    assert "trace" in twins_differ()


@pytest.mark.parametrize(("first", "second"), [(2, 3), (3, 4)], ids=["schedulers", "scheduler and load/store unit"])
def test_two_agents_that_change_places_are_noticed(monkeypatch, first, second):
    """The trace changes if two neighbours in the order of agents change places."""
    position, places = reference.position, {first: second, second: first}

    def swapped(launch, *when):
        place = position(launch, *when)
        return places.get(place, place)

    monkeypatch.setattr(reference, "position", swapped)
    assert "trace" in twins_differ()


def test_no_wake_up_at_all_is_a_deadlock(monkeypatch):
    """If no agent is woken, no warp issues, and the launch ends as a deadlock."""
    monkeypatch.setattr(reference, "wake_up", lambda *_: None)
    with pytest.raises(DeadlockError):
        twins_differ()


@pytest.mark.parametrize("agent", [0, 1, 2, 3], ids=["blocks", "scheduler 0", "scheduler 1", "load/store unit"])
def test_a_dropped_wake_up_is_noticed(monkeypatch, agent):
    """A launch whose agent is woken only once ends in a deadlock, meets its limit, or differs from the other engine."""
    wake_up, woken = reference.wake_up, []

    def forgetful(agents, which):
        woken.append(which)
        if which != agent or woken.count(agent) == 1:
            wake_up(agents, which)

    monkeypatch.setattr(reference, "wake_up", forgetful)
    assert noticed()
    assert woken.count(agent) >= 2


def noticed() -> bool:
    """Whether the engines differ, or the mutated one ends in a deadlock or at the limit."""
    try:
        return twins_differ() != []
    except (DeadlockError, LimitError):
        return True


@pytest.mark.slow
@pytest.mark.jit
def test_wrong_rules_are_caught_by_the_scan_of_every_cycle():
    """The independent scan catches each of at least 15 wrong rules, which both engines share; the right rules pass."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": paths}
    script = [sys.executable, str(ROOT / "tests" / "mutants.py")]
    answer = subprocess.run(script, env=environment, capture_output=True, text=True, check=True).stdout
    verdicts = dict(line.rsplit(": ", 1) for line in answer.splitlines())
    unchanged = NO_MUTANT, NO_CODED_MUTANT, NO_TAGGED_MUTANT, NO_CHANNEL_MUTANT
    assert {verdicts.pop(name) for name in unchanged} == {"survived"}
    assert len(verdicts) >= 15
    assert set(verdicts.values()) == {"caught"}, verdicts
