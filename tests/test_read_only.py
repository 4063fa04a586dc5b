"""An installation in which nothing can be written: neither the packages nor a cache."""

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from read.fenced import ROOT

DROP, OVERRIDE = 24, 1  # PR_CAPBSET_DROP and CAP_DAC_OVERRIDE of Linux: root may write everywhere by this capability
CUBIN = ROOT / "tests" / "isa" / "sass" / "data" / "launch_90.cubin"
WARNING = "warning: compiled code is not kept, so each run compiles it anew: "


@pytest.fixture(scope="module")
def installed():
    """Give a copy of the packages, a home and a cubin, none of which the user of a run can write to."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for package in ("gpusim", "isa", "workloads"):
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / package, place / package, ignore=ignored)
        shutil.copy(CUBIN, place / "k.cubin")
        every = [place, *place.rglob("*")]
        for path in every:
            path.chmod(0o555 if path.is_dir() else 0o444)
        yield place
        for path in every:
            path.chmod(0o755)


def obey_modes():
    """Let the modes of files hold for root, too, in the program that this process becomes."""
    if os.geteuid() == 0 and ctypes.CDLL(None, use_errno=True).prctl(DROP, OVERRIDE, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "root may write everywhere")


def run(place, *arguments, **environment):
    """Run a command of the copy, for which the modes of files hold."""
    own = {"PATH": os.environ["PATH"], "PYTHONPATH": str(place), "HOME": str(place), "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-m", "gpusim", *arguments]
    return subprocess.run(
        command, env=own | environment, cwd=place, capture_output=True, text=True, check=False, preexec_fn=obey_modes
    )


def contents(place):
    """Return every file and folder."""
    return sorted(str(path.relative_to(place)) for path in place.rglob("*"))


def test_nothing_can_be_written_there(installed):
    """The runs below may not write: a process like them can't make a file beside the packages."""
    with pytest.raises(subprocess.SubprocessError):
        subprocess.run(["touch", installed / "x"], preexec_fn=obey_modes, check=True, capture_output=True)


def test_a_kernel_runs_and_nothing_is_written(installed):
    """A kernel of the catalog is simulated, with right values and no word on stderr; nothing appears on the disk."""
    before = contents(installed)
    done = run(installed, "run", "chain")
    assert (done.returncode, done.stderr) == (0, "")
    assert "values      right: " in done.stdout
    assert contents(installed) == before


@pytest.mark.long
def test_machine_code_is_read_and_one_line_says_that_nothing_is_kept(installed):
    """What nvdisasm printed can't be kept in a home that is not writable: one warning, and the table all the same."""
    before = contents(installed)
    done = run(installed, "sass", "k.cubin")
    assert done.returncode == 0
    assert "sm_90, 7 kernels, 472 instructions" in done.stdout
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"{WARNING}{installed / '.cache'}: permission denied")
    assert contents(installed) == before


@pytest.mark.slow
def test_compiled_code_that_can_not_be_kept_is_compiled_anew(installed):
    """The compiled engine compiles without a cache, says so in one line, and gives the cycles of plain Python."""
    plain = run(installed, "run", "chain", "--json")
    compiled = run(installed, "run", "chain", "--json", NUMBA_DISABLE_JIT="0")
    assert compiled.returncode == 0
    assert [line for line in compiled.stderr.splitlines() if line.startswith("warning")] == [
        f"{WARNING}{installed / '.cache'}: permission denied; NUMBA_CACHE_DIR may name another directory"
    ]
    assert compiled.stdout.replace('"engine": "compiled"', "") == plain.stdout.replace('"engine": "compiled"', "")
