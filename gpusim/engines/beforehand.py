"""Compile rules that nearly every launch needs in a second process, while the first one compiles the engine.

The engine asks for them (`gpusim/jit/on_demand.py`) when it runs, and finds them in the cache.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys

from gpusim.jit.code_cache import directory
from gpusim.jit.on_demand import keep
from gpusim.jit.rule import COMPILED
from gpusim.rules import barrier, fast_forward, stream, values
from gpusim.support.processes import cores

RULES = stream.begin, values.execute, barrier.commit, fast_forward.skip  # they share least with the acts of agents


def begin() -> subprocess.Popen[bytes] | None:
    """Start the second process, which is ended when this one exits; one that is killed leaves it for some seconds.

    None if there is no cache, or one core only, or the system starts no further process.
    """
    if not COMPILED or directory() is None or cores() == 1:
        return None
    command = [sys.executable, "-P", "-m", __spec__.name]  # -P: no module of the working directory
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    nothing = subprocess.DEVNULL
    try:
        process = subprocess.Popen(command, env=environment, stdin=nothing, stdout=nothing, stderr=nothing)
    except OSError:
        return None
    atexit.register(process.terminate)
    return process


if __name__ == "__main__":
    for rule in RULES:
        keep(rule)
