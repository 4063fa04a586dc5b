"""Compiling in a second process beside the engine."""

import os
import subprocess
import sys

import pytest

from gpusim.engines import beforehand
from gpusim.sm.jit import on_demand

START = "from gpusim.engines import beforehand; process = beforehand.begin(); print(process and process.wait(600))"


def _started(folder, affinity=None):
    """What the start of the second process prints, in that folder, with a folder of it as cache."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}
    (folder / "cache").mkdir()
    run = ["taskset", "-c", affinity] if affinity else []
    command = [*run, sys.executable, "-P", "-c", START]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=folder)
    return done.stdout.strip()


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    """A folder with a numba.py beside the user's files, where the second process has compiled, and what it printed."""
    folder = tmp_path_factory.mktemp("started")
    (folder / "numba.py").write_text(f"open({str(folder / 'imported')!r}, 'w')\n")
    return folder, _started(folder)


@pytest.mark.jit
@pytest.mark.long
def test_the_cache_holds_each_rule(started):
    """When the process is done, each of its rules has a file in the cache, and it has ended well."""
    folder, printed = started
    assert printed == "0"
    names = {path.name.rpartition("-")[0] for path in folder.rglob("*.nbc")}
    wanted = {f"{rule.__module__.rpartition('.')[2]}.{rule.__name__}" for rule in beforehand.RULES}
    assert wanted | {"values.execute", "one_block.run"} <= names


@pytest.mark.jit
@pytest.mark.long
def test_a_module_of_the_working_directory_is_not_imported(started):
    """A numba.py beside the user's files is not what the second process imports."""
    folder, printed = started
    assert printed == "0"
    assert not (folder / "imported").exists()


@pytest.mark.jit
def test_a_system_without_a_further_process_is_no_error(monkeypatch):
    """Where no process can be started, the engine is compiled without one."""
    monkeypatch.setattr(beforehand, "cores", lambda: 2)
    monkeypatch.setattr(beforehand, "directory", lambda: "somewhere")
    monkeypatch.setattr(subprocess, "Popen", _unavailable)
    assert beforehand.begin() is None


def _unavailable(*_, **__):
    raise BlockingIOError(11, "resource temporarily unavailable")


@pytest.mark.long
@pytest.mark.jit
def test_one_core_starts_none(tmp_path):
    """On one core a second process would only delay the first, so none is started."""
    assert _started(tmp_path, affinity=str(min(os.sched_getaffinity(0)))) == "None"


def test_a_function_that_is_no_rule_on_demand_is_refused():
    """Only rules that are on demand can be compiled by themselves."""
    with pytest.raises(KeyError):
        on_demand.keep(_started)
