"""What is tuned, and how: the arguments and options of `gpusim tune`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from gpusim.analysis.search.code.code_tuning import How
from gpusim.commands.frame.arguments import overrides_of, sms_of, whole_number
from gpusim.commands.frame.options import (
    Caches,
    DaskOfSpaceFile,
    Jobs,
    Numbers,
    NvccFlags,
    Overrides,
    SmsOfSpaceFile,
    Threads,
    Top,
    TunerFiles,
    among,
    machine,
    many,
)
from isa.errors import UserError
from workloads.spaces import SPACES

MACHINE = "c2050"  # of a generated kernel, by default


@dataclass(frozen=True)
class Task:
    """What is tuned, on which machines, and what becomes of the results."""

    name: Annotated[
        str,
        Argument(
            metavar="SPACE",
            help=f"A space file ending in .toml, or a space: {', '.join(SPACES)}.",
            autocompletion=among(SPACES),
        ),
    ]
    files: TunerFiles
    machine: Annotated[
        Sequence[str],
        machine(f"; repeatable for a space file. [default: {MACHINE}, or that of the compiler's architecture]"),
    ] = ()
    parameter: Numbers = ()
    setting: Overrides = ()
    top: Top = 10
    out: Annotated[
        Path | None,
        Option("--out", "-o", "--results", metavar="FILE", help="Keep each result in a file, and resume from it."),
    ] = None
    jobs: Jobs = None


@dataclass(frozen=True)
class CodeTuning:
    """How the points of a space file are compiled and simulated."""

    sample: Annotated[
        str,
        Option("--sample", help="Of a space file: blocks to simulate of each SM's, or all. [default: a few seconds]"),
    ] = ""
    sms: SmsOfSpaceFile = None
    threads: Threads = None
    caches: Caches = None
    nvcc_flags: NvccFlags = ""
    dask: DaskOfSpaceFile = ""
    bound: Annotated[bool, Option("--bound", help="Of a space file: also the bound of each point.")] = False
    verbose: Annotated[bool, Option("--verbose", help="Of a space file: also the CPU seconds of each stage.")] = False
    budget: Annotated[
        int | None,
        many("--budget", metavar="N", help="Of a space file: short trials choose; the cost of so many full ones."),
    ] = None


@dataclass(frozen=True)
class CodeTask:
    """A space file to tune, as the command line says."""

    given: Task
    code: CodeTuning
    how: How

    @property
    def settings(self) -> dict[str, str]:
        """The settings of the machines by path."""
        return overrides_of(self.given.setting, None)


def given_of(code: CodeTuning) -> dict[str, object]:
    """Return the options that differ from the defaults, by name."""
    default = CodeTuning()
    given = {one.name: getattr(code, one.name) for one in fields(code)}
    return {f"--{name.replace('_', '-')}": x for name, x in given.items() if x != getattr(default, name)}


def how_of(code: CodeTuning) -> How:
    """Return what of each launch is simulated; raises UserError for other words."""
    sample = code.sample
    which = sms_of(code.sms or "1")
    if which != 1 and sample not in ("", "all"):
        raise UserError(f"--sample {sample}: of several SMs every block is simulated; leave it out, or take one SM")
    if sample not in ("", "all") and not whole_number(sample):
        raise UserError(f"--sample {sample}: give a number of blocks, or all")
    blocks = sample if sample == "all" else whole_number(sample) or How.sample
    return How(blocks, which, code.threads, code.bound, code.verbose or code.budget is not None)
