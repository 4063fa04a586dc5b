"""Compile rules that nearly every launch needs in a second process, while the first one compiles the engine.

The engine asks for them (`gpusim/jit/on_demand.py`) when it runs, and finds them in the cache.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys

from gpusim.engines.program_order import walk
from gpusim.engines.simulate import run_sm
from gpusim.jit.code_cache import directory
from gpusim.jit.on_demand import keep
from gpusim.jit.rule import COMPILED
from gpusim.machine.machine import load
from gpusim.rules import fast_forward, stream, values
from gpusim.support.processes import cores
from isa.kernel import Kernel
from isa.text.listing import read

RULES = stream.begin, fast_forward.skip  # in the order in which a run asks for them, after a walk


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


def compile_engine() -> None:
    """Compile the engine for one SM now, which else comes after the first walk through a block has asked for rules."""
    run_sm(_nothing(), load("wide"), blocks=1)


def _nothing() -> Kernel:
    """Return a kernel that ends at once."""
    return read("EXIT")


if __name__ == "__main__":
    keep(values.execute)
    walk(_nothing())
    for rule in RULES:
        keep(rule)
