"""What generated programs leave in memory by nvcc and the simulator."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy as np

import gpusim
from fuzz.cuda.emulate import HEADERS, Words
from fuzz.cuda.program import Program, memory, source
from gpusim.api.raw_arguments import regions
from gpusim.engines.walks.program_order import walk
from isa.nvidia.compiler import tools

MACHINES = {75: "rtx2080ti", 80: "a100", 86: "rtx3090", 89: "rtx3090", 90: "h200", 100: "h200", 120: "h200"}
LEVELS = tuple(tuple(level.split()) for level in (
    "", "", "-G", "-Xptxas -O0", "-Xptxas -O1", "-Xptxas -O2", "-O0", "-Xcicc -O0", "-Xcicc -O1", "-maxrregcount=24",
    "-maxrregcount=32 -Xptxas -O1", "-Xcicc -O0 -Xptxas -O0",
))  # fmt: skip
CYCLES = 50_000_000
STACK = 16384  # bytes of a thread: -G keeps large frames for each call of a function that calls itself


@dataclass(frozen=True)
class Way:
    """An architecture, and the options of the compiler."""

    architecture: int
    options: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join([f"sm_{self.architecture}", *self.options])


def compiled(programs: Sequence[Program], way: Way, folder: Path) -> Path:
    """Return the cubin of a text with all programs."""
    text, cubin = folder / "programs.cu", folder / "programs.cubin"
    text.write_text(source(programs), encoding="utf-8")
    options = ["-w", "-std=c++17", "-fmad=false", f"-arch=sm_{way.architecture}", f"-I{HEADERS}", *way.options]
    command = [str(tools.find("nvcc")), "-cubin", *options, str(text), "-o", str(cubin)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return cubin


def simulated(module: gpusim.RawModule, program: Program, machine: str, *, timed: bool = False) -> Words:
    """Return a program's memory after its launch, as `emulated` does.

    `timed`, the machine runs it; else its blocks run in program order, which costs about a quarter: no time, no bound.
    """
    start = memory(program)
    arguments = (start.given, start.out, start.common, start.wide, start.own, start.parameter)
    function, shape = module.get_function(program.name), (program.grid, program.block, arguments)
    if timed:
        with redirect_stdout(StringIO()):
            function(*shape, machine=machine, force=True, stack=STACK, max_cycles=CYCLES)
    else:
        made = function.launched(*shape, stack=STACK)
        function._keep(made, regions(arguments, function._variables), walk(made).memory)
    return np.concatenate([start.out, start.common, start.wide.view(np.uint32), start.own])
