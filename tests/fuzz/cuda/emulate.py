"""What generated programs leave in memory by g++, lane by lane."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fuzz.cuda.program import COMMON, OUT, OWN, WIDE, Program, memory, source

HEADERS = Path(__file__).parent / "headers"
COMPILER = "g++"
FLAGS = (
    "-std=c++17", "-O1", "-w", "-mfma", "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off", "-fno-builtin-fma",
)  # fmt: skip
SECONDS = 300.0  # of a compilation, or an emulation, which a smaller text may make endless
Words = NDArray[np.uint32]


def available() -> bool:
    """Whether g++ is installed."""
    return shutil.which(COMPILER) is not None


def emulated(programs: Sequence[Program], folder: Path) -> list[Words]:
    """Return each program's memory after its launch: `out`, the words of all threads, the words of each thread."""
    text, given, left = folder / "lanes.cpp", folder / "given", folder / "left"
    text.write_text(source(programs), encoding="utf-8")
    _run([COMPILER, *FLAGS, f"-I{HEADERS}", str(text), "-o", str(folder / "lanes")])
    with given.open("wb") as file:
        for one in programs:
            start = memory(one)
            for part in (start.given, start.common, start.wide, start.own, start.parameter):
                file.write(part.tobytes())
    _run([str(folder / "lanes"), str(given), str(left)])
    ends = np.cumsum([(OUT + OWN) * one.threads + COMMON + 2 * WIDE for one in programs])
    return np.split(np.fromfile(left, np.uint32), ends[:-1])


def _run(command: Sequence[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=SECONDS)
