"""The options that commands share, each declared once, and the groups in which commands take them.

What they mean is in arguments.py; how a command takes a group is in command.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import typer
from typer import Argument, Option

from gpusim.machine.machine import load, names
from gpusim.sm.front.policies.declaration import POLICY_NAMES
from isa.errors import UserError
from workloads.catalog import CATALOG

MAX_CYCLES = 200_000_000  # for listings, which may never end; kernels of the catalog always end
MAX_INSTRUCTIONS = 500_000  # in a block of a listing, which may never end: a warp instruction takes 16 us at most
MOST_WHOLE = 2**63 - 1  # largest whole number that an option takes
MOST_SEED = 2**32 - 1  # largest seed of the random number generators
MACHINE = "gtx580"  # where none is given, and the kernel is no machine code
OBEYS = "v100"  # likewise, of commands that are about control codes
POLICIES = ", ".join(POLICY_NAMES)

whole = partial(Option, min=0, max=MOST_WHOLE)  # an option that takes a whole number
many = partial(Option, min=1, max=MOST_WHOLE)  # one that takes a number of things
seed = partial(Option, min=0, max=MOST_SEED)


def among(names: Iterable[str]) -> Callable[[str], list[str]]:
    """Return a function that completes one of some names, for a shell."""
    known = list(names)
    return lambda incomplete: [name for name in known if name.startswith(incomplete)]


def machines_from(incomplete: str) -> list[str]:
    """Return the names of machines that begin so, for a shell that completes one."""
    return among(names())(incomplete)


def parameters_from(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the parameters, with their equals signs, of the kernels on the command line that begin so."""
    known = (one.name for word in ctx.args if word in CATALOG for one in CATALOG[word].parameters)
    return among(f"{name}=" for name in dict.fromkeys(known))(incomplete)


def settings_from(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the paths, with their equals signs, of the numbers of the first machine on the command line that fit."""
    given = ctx.params.get("machine") or MACHINE
    try:
        tree = msgspec.to_builtins(load(given if isinstance(given, str) else given[0]))
    except UserError:
        return []
    return among(f"{path}=" for path in _leaves(tree))(incomplete)


def _leaves(tree: Mapping[str, Any], before: str = "") -> Iterator[str]:
    """Yield the paths of the numbers in the sections that a machine has."""
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{before}{name}.")
        elif before and value is not None:
            yield f"{before}{name}"


kernels_from = among(CATALOG)  # the shell itself completes paths
policies_from = among(POLICY_NAMES)


def machine(more: str = "", option: str = "--machine") -> Any:
    """Return the option that names a machine, with more to say of it."""
    text = f"A machine's name, or a file ending in .toml{more}"
    return Option(option, help=text, autocompletion=machines_from)


def out(text: str, metavar: str = "FILE") -> Any:
    """Return the option that names the file, or the folder, of a command's main output."""
    return Option("--out", "-o", metavar=metavar, help=text)


def written(option: str, text: str, metavar: str = "FILE") -> Any:
    """Return an option that names a file to read or to write besides."""
    return Option(option, metavar=metavar, help=text)


def repeated(option: str, metavar: str, text: str, complete: Callable[..., list[str]] | None = None) -> Any:
    """Return an option that may be repeated, and says so."""
    return Option(option, metavar=metavar, help=f"{text}; repeatable.", autocompletion=complete)


# The kernel, and its machine.
KERNEL = "A kernel's name, or the path of a listing, of machine code, or of its launch file."
_TIMELINE = "A kernel, a listing, machine code, or a timeline (.json, .json.gz)."
KernelName = Annotated[str, Argument(help=KERNEL, autocompletion=kernels_from)]
KernelOrTimeline = Annotated[str, Argument(help=_TIMELINE, autocompletion=kernels_from)]
CodeFile = Annotated[
    str, Argument(help="A cubin, fat binary or executable, a dump's text, PTX (.ptx) or CUDA C (.cu).")
]
MachineArgument = Annotated[str, Argument(help="A machine's name, or a .toml file.", autocompletion=machines_from)]
MachineOfKernel = Annotated[str | None, machine(f". [default: {MACHINE}; of machine code, that of its kind]")]
MachineIfAny = Annotated[str | None, machine(".")]
MachineNames = Annotated[Sequence[str], machine("; repeatable.")]
Parameters = Annotated[Sequence[str], repeated("-p", "NAME=VALUE", "A parameter of the kernel", parameters_from)]
Overrides = Annotated[Sequence[str], repeated("--set", "PATH=VALUE", "Replace a number of the machine", settings_from)]
Policy = Annotated[str | None, Option("--policy", help=f"Scheduling policy: {POLICIES}.", autocompletion=policies_from)]
Plugins = Annotated[
    Sequence[Path],
    Option(
        "--plugin",
        metavar="FILE.py",
        help="Run this Python file, your own code; its functions of (sm, k, eligible) are policies; repeatable.",
    ),
]
Caches = Annotated[
    Literal["cold", "warm"] | None,
    Option("--caches", help="What caches hold when the launch begins: nothing, or in the L2 what it has room for."),
]

_NUMBERS = "A number of the constraints or of the kernel; of a space file a size, or values to keep"
Numbers = Annotated[Sequence[str], repeated("-p", "NAME=VALUE", _NUMBERS)]

# How a run is made.
MaxInstructions = Annotated[
    int | None, many("--max-instructions", help=f"Stop a block after so many; listings: {MAX_INSTRUCTIONS}.")
]
MaxCycles = Annotated[
    int | None,
    many("--max-cycles", help=f"Stop with an error after so many; listings: {MAX_CYCLES // 10**6} million."),
]
MaxCyclesOfPoint = Annotated[
    int | None,
    many("--max-cycles", help=f"Stop a point after so many, its row says so; listings: {MAX_CYCLES // 10**6} million."),
]
_SMS = "1: an SM that stands for all; all; or so many, a divisor of all."
SmsOption = Annotated[str, Option("--sms", metavar="N", help=_SMS)]
SmsOfSpaceFile = Annotated[str | None, Option("--sms", metavar="N", help=f"Of a space file. {_SMS} [default: 1]")]
Threads = Annotated[
    int | None, many("--threads", metavar="N", help="Threads that simulate several SMs. [default: all cores]")
]
Jobs = Annotated[int | None, many("--jobs", help="How many at a time; by default one per core.")]
_DASK = "Simulate on the cluster of a Dask scheduler."
Dask = Annotated[str, Option("--dask", metavar="ADDRESS", help=_DASK)]
DaskOfSpaceFile = Annotated[str, Option("--dask", metavar="ADDRESS", help=f"Of a space file. {_DASK}")]
Top = Annotated[int, many("--top", help="How many of the fastest to show.")]

# Machine code, and CUDA C.
Architecture = Annotated[
    int | None,
    Option(
        "--arch",
        min=50,
        max=999,
        metavar="N",
        help="90 for sm_90, of a file for several; of PTX and CUDA C: that of --machine if not given, else 90.",
    ),
]
NvccFlags = Annotated[
    str, Option("--nvcc-flags", metavar="FLAGS", help='Options for compiling CUDA C or PTX, such as "-O3 -DN=4".')
]

# The part of a run, and what is written of it.
CopyTo = Annotated[Path | None, written("--copy", "Copy them all to a new folder.", "DIR")]
Json = Annotated[bool, Option("--json", help="Print a JSON document.")]


@dataclass(frozen=True)
class OfKernel:
    """Which kernel."""

    kernel: KernelName
    parameter: Parameters = ()


@dataclass(frozen=True)
class Launch(OfKernel):
    """Which kernel, on which machine, with which of its numbers replaced."""

    machine: MachineOfKernel = None
    setting: Overrides = ()
    policy: Policy = None
    caches: Caches = None
    plugin: Plugins = ()


@dataclass(frozen=True)
class LaunchOfCodes(Launch):
    """A kernel on a machine that obeys control codes."""

    machine: Annotated[str | None, machine(f". [default: {OBEYS}; of machine code, that of its kind]")] = None


@dataclass(frozen=True)
class LaunchOrTimeline(Launch):
    """A kernel on a machine, or the timeline of one."""

    kernel: KernelOrTimeline


@dataclass(frozen=True)
class Axes:
    """Values of numbers of the machine, of parameters of the kernel, and of policies."""

    setting: Annotated[
        Sequence[str],
        repeated("--set", "PATH=VALUES", "Numbers of the machine: 1,2,4, 1:8 or 8:64:8", settings_from),
    ] = ()
    parameter: Annotated[
        Sequence[str], repeated("-p", "NAME=VALUES", "Values of a parameter of the kernel, likewise", parameters_from)
    ] = ()
    policy: Annotated[
        str | None, Option("--policy", help=f"Scheduling policies, or all: {POLICIES}.", autocompletion=policies_from)
    ] = None
    plugin: Plugins = ()


@dataclass(frozen=True)
class Simulation:
    """How a run is made: until when, of how many SMs, on how many threads."""

    max_cycles: MaxCycles = None
    sms: SmsOption = "1"
    threads: Threads = None


@dataclass(frozen=True)
class Estimated(Simulation):
    """The same, and with which error it may be estimated."""

    estimate: Annotated[
        str | None,
        Option(
            "--estimate",
            metavar="PERCENT",
            help="Estimate steady loops and waves, cycles wrong by 0.5% at most, for example; values are not checked.",
        ),
    ] = None


@dataclass(frozen=True)
class EstimatedPoints(Estimated):
    """The same for many points, none of which ends the command."""

    max_cycles: MaxCyclesOfPoint = None


@dataclass(frozen=True)
class CodeOptions:
    """How machine code or CUDA C is read and launched."""

    architecture: Architecture = None
    launch: Annotated[Path | None, written("--launch", "The launch file of machine code: k.toml of k.cubin.")] = None
    nvcc_flags: NvccFlags = ""
    force: Annotated[
        bool, Option("--force", help="Run machine code on a machine that doesn't execute it: what if.")
    ] = False
    strict: Annotated[
        bool, Option("--strict", help="End at a load behind a buffer, which machine code may do in its last page.")
    ] = False


@dataclass(frozen=True)
class SourceOptions(CodeOptions):
    """The same, and where its source files are."""

    source_roots: Annotated[
        Sequence[Path],
        Option(
            "--source-root",
            metavar="DIR",
            file_okay=False,
            exists=True,
            help="Show source files of this folder too, not only those beside or below the machine code; repeatable.",
        ),
    ] = ()


@dataclass(frozen=True)
class Part:
    """Which part of a run is shown."""

    warps: Annotated[str | None, Option("--warps", metavar="0-3,8", help="Only these warp slots of the SM.")] = None
    cycles: Annotated[str | None, Option("--cycles", metavar="FROM:TO", help="From this cycle up to that one.")] = None


@dataclass(frozen=True)
class PageOptions:
    """A page of charts, and whether a browser opens it."""

    html: Annotated[Path | None, written("--html", "Also write a page with pictures and tables, for browsers.")] = None
    open_page: Annotated[
        bool, Option("--open", help="Open that page in a browser, a temporary file without --html.")
    ] = False


@dataclass(frozen=True)
class TunerFiles:
    """Files for Kernel Tuner."""

    cache: Annotated[
        Path | None, written("--kernel-tuner", "Write a cache file for Kernel Tuner's simulation mode.")
    ] = None
    t4: Annotated[Path | None, written("--t4", "Write the results as a T4 file.")] = None


AS_IT_IS = CodeOptions()
