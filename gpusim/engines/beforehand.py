"""Compile rules that nearly every launch needs in a second process, while the first one compiles the engine.

The engine asks for them (`gpusim/sm/jit/on_demand.py`) when it runs, and finds them in the cache.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys

from gpusim.engines import compiled
from gpusim.engines.walks.program_order import block_alone, walk, walker
from gpusim.sm.jit.code_cache import directory
from gpusim.sm.jit.on_demand import keep
from gpusim.sm.jit.rule import COMPILED
from gpusim.sm.lanes.values import values
from gpusim.sm.replay.fast_forward import fast_forward
from gpusim.sm.replay.stream import stream
from gpusim.sm.walk import step
from gpusim.support.parallel.processes import cores
from isa.text.listing import read

ACTS = step.launch, compiled.advance_any
RULES = stream.begin, fast_forward.skip


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


def compile_acts() -> None:
    """Compile what agents do, unless the cache has it: a run asks for it behind what the second process compiles."""
    for rule in ACTS:
        keep(rule)


if __name__ == "__main__":
    keep(values.execute)
    walk(read("EXIT"))
    block_alone(walker(read("EXIT")), 0, 1)
    for rule in RULES:
        keep(rule)
