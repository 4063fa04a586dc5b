"""The arguments that commands share: which kernel, on which machine, within which limit."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Annotated, Any, cast

import msgspec
import typer

from gpusim.launch_file.files import LAUNCH, is_launch
from gpusim.machine.architecture import machine_for, native
from gpusim.machine.machine import Machine, load, names, read
from gpusim.machine.simulated_sms import Sms
from gpusim.units.policies import POLICY_NAMES, check_policy
from isa.errors import UserError
from isa.kernel import Kernel
from isa.reading import input_file
from isa.sass.code import check_kind
from isa.text import listing
from workloads.catalog import CATALOG, make

MAX_CYCLES = 200_000_000  # for listings, which may never end; kernels of the catalog always end
MAX_INSTRUCTIONS = 500_000  # in a block of a listing, which may never end: a warp instruction takes 16 us at most

MOST_WHOLE = 2**63 - 1  # largest whole number that an option takes
MOST_SEED = 2**32 - 1  # largest seed of the random number generators

POLICY = "schedulers.policy"  # the path that `--policy` sets
MACHINE = "gtx580"  # where none is given, and the kernel is no machine code
OBEYS = "v100"  # likewise, of commands that are about control codes
POLICIES = ", ".join(POLICY_NAMES)


def among(names: Iterable[str]) -> Callable[[str], list[str]]:
    """Return a function that completes one of some names, for a shell."""
    known = list(names)
    return lambda incomplete: [name for name in known if name.startswith(incomplete)]


def machines_from(incomplete: str) -> list[str]:
    """Return the names of machines that begin so, for a shell that completes one."""
    return [name for name in names() if name.startswith(incomplete)]


def kernels_from(incomplete: str) -> list[str]:
    """Return the names of kernels that begin so; the shell itself completes paths."""
    return [name for name in CATALOG if name.startswith(incomplete)]


def policies_from(incomplete: str) -> list[str]:
    """Return the names of scheduling policies that begin so."""
    return [name for name in POLICY_NAMES if name.startswith(incomplete)]


def parameters_from(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the parameters, with their equals signs, of the kernels on the command line that begin so."""
    known = (one.name for word in ctx.args if word in CATALOG for one in CATALOG[word].parameters)
    return [f"{name}=" for name in dict.fromkeys(known) if f"{name}=".startswith(incomplete)]


def settings_from(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the paths, with their equals signs, of the numbers of the first machine on the command line that fit."""
    given = ctx.params.get("machine") or MACHINE
    try:
        tree = msgspec.to_builtins(load(given if isinstance(given, str) else given[0]))
    except UserError:
        return []
    return [f"{path}=" for path in _leaves(tree) if f"{path}=".startswith(incomplete)]


def _leaves(tree: Mapping[str, Any], before: str = "") -> Iterator[str]:
    """Yield the paths of the numbers in the sections that a machine has."""
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{before}{name}.")
        elif before and value is not None:
            yield f"{before}{name}"


KernelName = Annotated[
    str,
    typer.Argument(
        help="A kernel's name, or the path of a listing, of machine code, or of its launch file.",
        autocompletion=kernels_from,
    ),
]
MachineName = Annotated[
    str,
    typer.Option("--machine", help="A machine's name, or a file ending in .toml.", autocompletion=machines_from),
]
_MACHINE = "A machine's name, or a file ending in .toml. [default: {}; of machine code, that of its kind]"
MachineOfKernel = Annotated[
    str | None, typer.Option("--machine", help=_MACHINE.format(MACHINE), autocompletion=machines_from)
]
MachineOfCodes = Annotated[
    str | None, typer.Option("--machine", help=_MACHINE.format(OBEYS), autocompletion=machines_from)
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "-p",
        metavar="NAME=VALUE",
        help="A parameter of the kernel; may be repeated.",
        autocompletion=parameters_from,
    ),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Replace a number of the machine; repeatable.",
        autocompletion=settings_from,
    ),
]
Policy = Annotated[
    str | None, typer.Option("--policy", help=f"Scheduling policy: {POLICIES}.", autocompletion=policies_from)
]
MaxInstructions = Annotated[
    int | None,
    typer.Option(
        "--max-instructions", min=1, max=MOST_WHOLE, help=f"Stop a block after so many; listings: {MAX_INSTRUCTIONS}."
    ),
]
MaxCycles = Annotated[
    int | None,
    typer.Option(
        "--max-cycles",
        min=1,
        max=MOST_WHOLE,
        help=f"Stop with an error after so many; listings: {MAX_CYCLES // 10**6} million.",
    ),
]
SmsOption = Annotated[
    str,
    typer.Option(
        "--sms",
        metavar="N",
        help="1: an SM that stands for all; all; or so many, a divisor of all.",
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads", min=1, max=MOST_WHOLE, metavar="N", help="Threads that simulate several SMs. [default: all cores]"
    ),
]
Estimate = Annotated[
    str | None,
    typer.Option(
        "--estimate",
        metavar="PERCENT",
        help="Estimate steady loops and waves, cycles wrong by 0.5% at most, for example; values are not checked.",
    ),
]
Architecture = Annotated[
    int | None,
    typer.Option(
        "--arch",
        min=50,
        max=999,
        metavar="N",
        help="90 for sm_90, of a file for several; of CUDA C: that of --machine if not given, else 90.",
    ),
]
NvccFlags = Annotated[
    str, typer.Option("--nvcc-flags", metavar="FLAGS", help='Options for compiling CUDA C, such as "-O3 -DN=4".')
]
CopyTo = Annotated[Path | None, typer.Option("--copy", metavar="DIR", help="Copy them all to a new folder.")]
LaunchFile = Annotated[
    Path | None, typer.Option("--launch", metavar="FILE", help="The launch file of machine code: k.toml of k.cubin.")
]
Force = Annotated[bool, typer.Option("--force", help="Run machine code on a machine that doesn't execute it: what if.")]
Strict = Annotated[
    bool, typer.Option("--strict", help="End at a load behind a buffer, which machine code may do in its last page.")
]
SourceRoots = Annotated[
    list[Path] | None,
    typer.Option(
        "--source-root",
        metavar="DIR",
        file_okay=False,
        exists=True,
        help="Show source files of this folder too, not only those beside or below the machine code; repeatable.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print a JSON document.")]


@dataclass(frozen=True)
class CodeOptions:
    """How machine code or CUDA C is read and launched: the options of that name, as they are given."""

    architecture: int | None = None
    launch: Path | None = None
    nvcc_flags: str = ""
    force: bool = False
    strict: bool = False
    source_roots: tuple[Path, ...] = ()


AS_IT_IS = CodeOptions()


def kernel_of(
    name: str, parameters: Sequence[str], options: CodeOptions = AS_IT_IS, machine: Machine | str | None = None
) -> Kernel:
    """Return the kernel of a name and its parameters, of a listing, or of machine code; raises UserError.

    CUDA C is compiled for the `machine` if one is given.
    """
    given = pairs("-p", "name=value", parameters)
    if is_code(name) or options != AS_IT_IS:
        return code_of(name, parameters, options, machine)
    if not is_listing(name):
        return make(name, given)
    if given:
        raise UserError(f"-p {next(iter(given))}: {name} is a listing; change its .param lines instead")
    return listing.load(name)


def code_of(
    name: str,
    parameters: Sequence[str] = (),
    options: CodeOptions = AS_IT_IS,
    machine: Machine | str | None = None,
) -> Kernel:
    """Return the kernel of machine code or CUDA C with its launch file, by the path of either; raises UserError.

    The launch file that is given need not be beside the code; the architecture is taken in place of the launch file's.
    Where neither says one, CUDA C is compiled for the `machine` if one is given.
    """
    from gpusim.launch_file.prepare import prepared  # noqa: PLC0415  (--help waits for no NumPy)

    if not is_code(name):
        raise UserError(f"{_first(options)}: {name} is no machine code; leave the option out")
    if parameters:
        raise UserError(f"-p {parameters[0]}: {name} is machine code; change its launch file instead")
    flags = flags_of(options.nvcc_flags)
    return prepared(
        name,
        options.launch,
        architecture=options.architecture,
        compiled_for=native(machine),
        nvcc_flags=flags,
        force=options.force,
        strict=options.strict,
    )


def _first(options: CodeOptions) -> str:
    """Return the name of the first option that is given."""
    given = {
        "--launch": options.launch,
        "--arch": options.architecture,
        "--nvcc-flags": options.nvcc_flags,
        "--force": options.force,
        "--strict": options.strict,
        "--source-root": options.source_roots,
    }
    return next((option for option, value in given.items() if value), "code")


def placed(
    kernel: Kernel, machine: str | None, settings: Sequence[str], default: str = MACHINE
) -> tuple[str, list[str]]:
    """Return the machine to run a kernel on, and its settings: those that the launch asks for, then the given ones.

    Without a name it is the machine of the kernel's architecture, or `default`. A setting that is given, or of a
    section that the machine lacks, is not asked for. Raises UserError.
    """
    name = machine or (machine_for(kernel.target).key if kernel.target else default)
    if not kernel.settings:
        return name, list(settings)
    from gpusim.launch_file.caches import asked  # noqa: PLC0415  (--help waits for no NumPy)

    given = pairs("--set", "machine.path=value", settings)
    wanted = asked(kernel, read(name)).items()
    return name, [f"{path}={value}" for path, value in wanted if path not in given] + list(settings)


def machine_of(name: str, settings: Sequence[str], policy: str | None) -> Machine:
    """Return the machine with the settings of the command line; raises UserError."""
    return load(name, overrides_of(settings, policy))


def overrides_of(settings: Sequence[str], policy: str | None) -> dict[str, str]:
    """Return the settings of the command line, that of `--policy` included, by path; raises UserError."""
    overrides = pairs("--set", "machine.path=value", settings)
    if policy and overrides.get(POLICY, policy) != policy:
        given = overrides[POLICY]
        raise UserError(f"--policy {policy}: --set {POLICY}={given} says otherwise; give one of the two")
    if policy:
        check_policy(policy, "--policy: ")
    return overrides | ({POLICY: policy} if policy else {})


def flags_of(text: str) -> tuple[str, ...]:
    """Return the compiler's options in a text, split as a shell does; raises UserError for a quote without its pair."""
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise UserError(f"--nvcc-flags {text}: {str(error).lower()}") from None


def changes(machine: Machine, settings: Sequence[str]) -> Mapping[str, int | str]:
    """Return the settings of the command line by path, with the values that they give the machine."""
    tree: Any = msgspec.to_builtins(machine)
    return {path: reduce(getitem, path.split("."), tree) for path in pairs("--set", "machine.path=value", settings)}


def instructions_of(name: str, given: int | None, most: int) -> int:
    """Return the limit on the warp instructions of a block: the given one, else `most` for kernels known to end."""
    return given or (most if name in CATALOG else MAX_INSTRUCTIONS)


def cycles_of(name: str, given: int | None) -> int | None:
    """Return the limit on shader cycles: the given one, else none for kernels known to end."""
    return given or (None if name in CATALOG else MAX_CYCLES)


def is_listing(name: str) -> bool:
    """Tell whether a name is the path of a listing: it has a slash or a dot, or a file of that name exists."""
    named = "/" in name or "." in name or input_file.present(Path(name))
    return name not in CATALOG and bool(name) and named and not is_code(name)


def is_code(name: str) -> bool:
    """Tell whether a name is the path of machine code, of CUDA C, or of a launch file."""
    return name not in CATALOG and bool(name) and is_launch(name)


def refuse_code(name: str, why: str) -> None:
    """Raise UserError for machine code where a listing is asked for; for a file of another kind it says which."""
    if is_code(name):
        if not name.endswith(LAUNCH) and input_file.present(Path(name)):
            check_kind(Path(name))
        raise UserError(f"{name}: machine code, {why}")


def file_of(name: str) -> str:
    """Return the file with the program that a name means: code or a listing; empty for a kernel of the catalog."""
    if not (is_code(name) and name.endswith(LAUNCH)):
        return name if is_code(name) or is_listing(name) else ""
    from gpusim.launch_file.prepare import files_of  # noqa: PLC0415  (--help waits for no NumPy)

    return str(files_of(name)[1])


def percent_of(estimate: str | None) -> float | None:
    """Return the percentage that `--estimate` names, such as 0.5%; raises UserError for other text."""
    if estimate is None:
        return None
    if not re.fullmatch(r"\d{1,4}(\.\d{1,9})?%", estimate, re.ASCII):
        raise UserError(f"--estimate {estimate}: give a percentage, as in --estimate 0.5%")
    return float(estimate[:-1])


def whole_number(text: str) -> int | None:
    """Return the number that decimal digits spell; None for other text, and for more digits than any count has."""
    return int(text) if re.fullmatch("[0-9]{1,18}", text) else None


def sms_of(text: str) -> Sms:
    """Return which SMs a text asks for; what is neither a number nor `all`, the machine refuses with those it has."""
    number = whole_number(text)
    return cast(Sms, text) if number is None else number


def pairs(option: str, form: str, texts: Sequence[str]) -> dict[str, str]:
    """Return the name=value texts of an option by name; raises UserError, which shows the `form` wanted."""
    for text in texts:
        if re.search(r"=\S+\s+[\w.]+=", text):
            raise UserError(f"{option} {text}: several at once; give {option} for each")
        if "=" not in text:
            raise UserError(f"{option} {text}: no value; give {option} {form}")
        if not all(text.split("=", 1)):
            raise UserError(f"{option} {text}: a name or a value is missing; give {option} {form}")
    return dict(text.split("=", 1) for text in texts)
