"""Batches of generated programs: each compiled for some architectures and levels, simulated, and compared."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np

import gpusim
from fuzz.cuda.emulate import Words, available, emulated
from fuzz.cuda.program import OUT, Program, program
from fuzz.cuda.simulate import LEVELS, MACHINES, Way, compiled, simulated
from fuzz.cuda.survey import survey
from isa.errors import UserError
from isa.nvidia.compiler import tools

PROGRAMS = 10  # of a batch
WAYS = 2  # in which each batch is compiled


@dataclass(frozen=True)
class Difference:
    """A program that left other words than its lane emulation, or that was refused."""

    program: Program
    way: Way
    what: str


@dataclass(frozen=True)
class Compared:
    """What a batch came to: the runs that were compared, and those that differ."""

    programs: int
    runs: tuple[Way, ...]
    differences: tuple[Difference, ...]


def missing() -> str:
    """Return what is not installed, of the two compilers; empty if both are there."""
    lacks = [name for name, there in (("g++", available()), ("nvcc", tools.installed("nvcc") is not None)) if not there]
    return " and ".join(lacks)


def drawn(seed: int, number: int = PROGRAMS, ways: int = WAYS) -> Compared:
    """Draw a batch of programs and the ways to compile them, and compare."""
    random = Random(seed)
    since = random.choice([75, 80, 80])
    programs = [program(seed * 1000 + n, since) for n in range(number)]
    return compared(programs, [way(random, since) for _ in range(ways)])


def surveyed(seed: int, since: int, ways: Sequence[Way]) -> Compared:
    """Compare kernels that compute every operator."""
    return compared([one.program for one in survey(seed, since)], ways)


def way(random: Random, since: int) -> Way:
    """Return an architecture on which programs are exact, and a level of optimization."""
    return Way(random.choice([each for each in MACHINES if each >= since]), random.choice(LEVELS))


def compared(programs: Sequence[Program], ways: Sequence[Way]) -> Compared:
    """Compare what programs leave in memory by g++ and by nvcc with the simulator, each way."""
    with TemporaryDirectory() as folder:
        expected = emulated(programs, Path(folder))
        found = [one for each in ways for one in _of_way(programs, expected, each, Path(folder))]
    return Compared(len(programs), tuple(each for each in ways for _ in programs), tuple(found))


def _of_way(programs: Sequence[Program], expected: Sequence[Words], way: Way, folder: Path) -> Iterator[Difference]:
    module = gpusim.RawModule(path=compiled(programs, way, folder))
    for number, (one, words) in enumerate(zip(programs, expected, strict=True)):
        what = difference(module, one, words, MACHINES[way.architecture], timed=number == 0)
        if what:
            yield Difference(one, way, what)


def difference(module: gpusim.RawModule, one: Program, expected: Words, machine: str, *, timed: bool = False) -> str:
    """Return which words of a program's memory differ, or why it was refused; empty if all words are the same.

    `timed`, the machine runs it, else its blocks run in program order.
    """
    try:
        found = simulated(module, one, machine, timed=timed)
    except UserError as error:
        return f"{type(error).__name__}: {error}"
    wrong = np.flatnonzero(found != expected)
    if not len(wrong):
        return ""
    first = [f"{_place(one, int(n))}: {found[n]:#x}, not {expected[n]:#x}" for n in wrong[:4]]
    return f"{len(wrong)} words: {'; '.join(first)}"


def _place(one: Program, word: int) -> str:
    return f"thread {word // OUT}, word {word % OUT}" if word < OUT * one.threads else f"word {word}"


Failed = subprocess.CalledProcessError  # a compiler refused a text
