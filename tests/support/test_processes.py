from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from gpusim.support.parallel import processes as module
from gpusim.support.parallel.processes import as_done, processes
from isa.errors import UserError

HELD: list[int] = []
ORPHANS = """
import os, signal, time
from gpusim.support.parallel.processes import processes
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that runs the tests in the background ignores it
with processes(2) as pool:
    print(*{each.result() for each in [pool.submit(os.getpid) for _ in range(50)]}, flush=True)
    pool.submit(time.sleep, 600)
    time.sleep(600)
"""


def double_held(number):
    """Return twice a number, plus the number that this process was prepared with."""
    return 2 * number + HELD[0]


def kill_or_double(number):
    """Return twice a number; at 20 kill this process."""
    if number == 20:
        time.sleep(0.5)
        kill(number)
    return 2 * number


def kill(_):
    """Kill this process."""
    os.kill(os.getpid(), signal.SIGKILL)


def alive(process):
    """Tell whether a process exists and has not ended."""
    status = Path(f"/proc/{process}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_each_process_is_prepared():
    """Each process runs its preparation first, results come in order, and no process is left at the end."""
    with processes(2, HELD.append, 100) as pool:
        assert list(pool.map(double_held, range(5))) == [100, 102, 104, 106, 108]
    assert multiprocessing.active_children() == []


def test_a_pool_has_no_more_processes_than_cores(monkeypatch):
    """Asked for 99,999 processes on 2 cores, a pool starts 2, and works."""
    monkeypatch.setattr(module, "cores", lambda: 2)
    with processes(99_999, HELD.append, 0) as pool:
        assert list(pool.map(double_held, range(5))) == [0, 2, 4, 6, 8]
        assert len(multiprocessing.active_children()) == 2


def test_an_interrupt_ends_processes_at_once():
    """An interrupt ends a pool within 30 seconds while a job would take 60."""

    def interrupted():
        with processes(1, HELD.append, 0) as pool:
            pool.submit(time.sleep, 60)
            raise KeyboardInterrupt

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert time.monotonic() - start < 30


def test_a_killed_process_is_reported_in_one_line():
    """A killed process raises a UserError in place of the pool's own error."""
    with pytest.raises(UserError, match="a process was killed"), processes(1, HELD.append, 0) as pool:
        list(pool.map(kill, [1]))


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_every_job_is_done_once(workers):
    """Each of 40 jobs from a generator gives one result, with 1, 2 or 3 processes."""
    assert sorted(as_done(abs, (-each for each in range(40)), workers)) == list(range(40))


def test_no_jobs_start_no_process():
    """Without jobs there are no results."""
    assert list(as_done(abs, [], 2)) == []


def test_jobs_are_taken_a_few_ahead():
    """20 results take fewer than 100 of a billion jobs, and leaving early leaves the others."""
    jobs = iter(range(10**9))
    with closing(as_done(abs, jobs, 2)) as results:
        assert len([next(results) for _ in range(20)]) == 20
    assert next(jobs) < 100


def test_results_before_a_kill_are_returned():
    """If the process of the last job is killed, the results of the 20 others are returned before the error."""
    found = []
    with pytest.raises(UserError, match="a process was killed"):
        found.extend(as_done(kill_or_double, range(21), 2))
    assert sorted(found) == [2 * number for number in range(20)]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_processes_end_with_their_parent(number):
    """If the parent is killed, or interrupted alone, no worker is left."""
    with subprocess.Popen(
        [sys.executable, "-c", ORPHANS], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as running:
        children = [int(word) for word in running.stdout.readline().split()]
        running.send_signal(number)
        end = time.monotonic() + 30
        while any(map(alive, [running.pid, *children])) and time.monotonic() < end:
            time.sleep(0.05)
        left = [each for each in [running.pid, *children] if alive(each)]
        running.kill()
    assert children
    assert left == []


EACH_WAY = """
import multiprocessing, sys
from gpusim.support.parallel import processes
from gpusim.support.parallel.processes import as_done
if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    processes.cores = lambda: 2
    print(sorted(as_done(abs, [-3, 1, -2])))
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_may_be_started_in_any_way(tmp_path, method):
    """The start methods fork, spawn and forkserver all work."""
    script = tmp_path / "script.py"
    script.write_text(EACH_WAY, encoding="utf-8")
    run = subprocess.run([sys.executable, script, method], capture_output=True, text=True, check=False)
    assert (run.stdout, run.returncode) == ("[1, 2, 3]\n", 0), run.stderr


UNGUARDED = EACH_WAY.replace('if __name__ == "__main__":', "if True:")


def test_a_script_without_a_main_guard_is_told_of_it(tmp_path):
    """Under spawn a script that does all at once ends with code 1, and its last line says what it lacks."""
    script = tmp_path / "script.py"
    script.write_text(UNGUARDED, encoding="utf-8")
    run = subprocess.run([sys.executable, script, "spawn"], capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1].endswith('put what the script does under `if __name__ == "__main__":`')
