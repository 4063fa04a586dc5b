from __future__ import annotations

import multiprocessing
import os
import signal
import time

import pytest

from gpusim import processes as module
from gpusim.processes import processes
from isa.errors import UserError

HELD: list[int] = []


def double_held(number):
    """Return twice a number and what was prepared in this process."""
    return 2 * number + HELD[0]


def kill(_):
    """End this process from outside."""
    os.kill(os.getpid(), signal.SIGKILL)


def test_each_process_is_prepared():
    """Work of any process sees what was prepared, and comes back in order."""
    with processes(2, HELD.append, 100) as pool:
        assert list(pool.map(double_held, range(5))) == [100, 102, 104, 106, 108]


def test_there_are_no_more_of_them_than_cores(monkeypatch):
    """Asked for more processes than a system has, a pool works all the same, with one for each core."""
    monkeypatch.setattr(module, "cores", lambda: 2)
    with processes(99_999, HELD.append, 0) as pool:
        assert list(pool.map(double_held, range(5))) == [0, 2, 4, 6, 8]
        assert len(multiprocessing.active_children()) == 2


def test_leaving_early_ends_them_at_once():
    """An interrupt does not wait for what they do."""

    def interrupted():
        with processes(1, HELD.append, 0) as pool:
            pool.submit(time.sleep, 60)
            raise KeyboardInterrupt

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert time.monotonic() - start < 30


def test_a_killed_process_is_told_in_one_line():
    """What else would be a broken pool."""
    with pytest.raises(UserError, match="a process was killed"), processes(1, HELD.append, 0) as pool:
        list(pool.map(kill, [1]))
