"""Run Accel-Sim on a trace: one SM, and one memory channel."""

from __future__ import annotations

import os
import re
import resource
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.peers.trace import LIST

VARIABLE = "ACCEL_SIM"  # names the folder gpu-simulator of a built Accel-Sim
MACHINE = "SM86_RTX3070"  # its configuration of an SM with 128 FP32 lanes, as an H200's
PROGRAM = "bin/release/accel-sim.out"
LIBRARY = "gpgpu-sim/lib/*/*/release/libcudart.so"
COUNTS = {"instructions": r"gpgpu_n_tot_w_icount\s*=\s*(\d+)", "cycles": r"gpu_tot_sim_cycle\s*=\s*(\d+)"}
# An idle channel takes time, too. Its hash of channels is of 16 at least; without one addresses take turns.
ONE = "-gpgpu_n_clusters 1 -gpgpu_n_mem 1 -gpgpu_memory_partition_indexing 0"


class Ran(NamedTuple):
    """What a process has simulated, and the CPU seconds that it took with its children."""

    instructions: int
    cycles: int
    seconds: float


def missing() -> str:
    """Return why no build can be run, in a line; empty if one can."""
    folder = os.environ.get(VARIABLE, "")
    if not folder:
        return f"Accel-Sim is left out: set {VARIABLE} to the folder gpu-simulator of a build of it"
    found = Path(folder, PROGRAM).is_file() and list(Path(folder).glob(LIBRARY))
    return "" if found else f"Accel-Sim is left out: {VARIABLE}={folder} has no {PROGRAM} and {LIBRARY}; build it there"


def run(folder: Path) -> Ran:
    """Simulate the trace in a folder; raises RuntimeError where Accel-Sim does not say what it has simulated."""
    home = Path(os.environ[VARIABLE]).resolve()
    configurations = home / f"gpgpu-sim/configs/tested-cfgs/{MACHINE}", home / f"configs/tested-cfgs/{MACHINE}"
    command = [str(home / PROGRAM), "-trace", str(folder / LIST)]
    command += [
        "-config",
        str(configurations[0] / "gpgpusim.config"),
        "-config",
        str(configurations[1] / "trace.config"),
    ]
    command += ONE.split()
    library = next(home.glob(LIBRARY)).parent
    return timed(command, folder, {**os.environ, "LD_LIBRARY_PATH": str(library)})


def timed(command: Sequence[str], folder: Path, environment: dict[str, str] | None = None) -> Ran:
    """Run a process in a folder and return what it says; raises RuntimeError where it does not say so."""
    before = _children()
    out, err = subprocess.PIPE, subprocess.STDOUT
    done = subprocess.run(command, check=False, cwd=folder, env=environment, stdout=out, stderr=err, text=True)
    seconds = _children() - before
    found = {name: re.findall(pattern, done.stdout) for name, pattern in COUNTS.items()}
    if done.returncode or not all(found.values()):
        raise RuntimeError(f"{command[0]} ended with code {done.returncode}:\n{done.stdout[-2000:]}")
    return Ran(*(int(found[name][-1]) for name in COUNTS), seconds)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
