"""The arguments that commands share: which kernel, on which machine, within which limit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from gpusim.machine.machine import Machine, load
from gpusim.units.policies import POLICY_NAMES, check_policy
from isa.errors import UserError
from isa.kernel import Kernel
from isa.reading import input_file
from isa.text import listing
from workloads.catalog import CATALOG, make

MAX_CYCLES = 200_000_000  # for listings, which may never end; kernels of the catalog always end
MAX_INSTRUCTIONS = 500_000  # in a block of a listing, which may never end: a warp instruction takes 16 us at most

MOST_WHOLE = 2**63 - 1  # largest whole number that an option takes
MOST_SEED = 2**32 - 1  # largest seed of the random number generators

POLICY = "schedulers.policy"  # the path that `--policy` sets
MACHINE_CODE = ".cubin", ".fatbin", ".sass"  # endings of its files
POLICIES = ", ".join(POLICY_NAMES)
KernelName = Annotated[str, typer.Argument(help="A kernel's name, or the path of a listing.")]
MachineName = Annotated[str, typer.Option("--machine", help="A machine's name, or a file ending in .toml.")]
Parameters = Annotated[
    list[str] | None, typer.Option("-p", metavar="NAME=VALUE", help="A parameter of the kernel; may be repeated.")
]
Overrides = Annotated[
    list[str] | None, typer.Option("--set", metavar="PATH=VALUE", help="Replace a number of the machine; repeatable.")
]
Policy = Annotated[str | None, typer.Option("--policy", help=f"Scheduling policy: {POLICIES}.")]
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
Json = Annotated[bool, typer.Option("--json", help="Print a JSON document.")]


def kernel_of(name: str, parameters: Sequence[str]) -> Kernel:
    """Return the kernel of a name and its parameters, or of a listing; raises UserError."""
    given = pairs("-p", "name=value", parameters)
    if name.endswith(MACHINE_CODE):
        raise UserError(f"{name}: machine code is not executed yet; gpusim sass {name} prints it")
    if not is_listing(name):
        return make(name, given)
    if given:
        raise UserError(f"-p {next(iter(given))}: {name} is a listing; change its .param lines instead")
    return listing.load(name)


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
    return name not in CATALOG and bool(name) and ("/" in name or "." in name or input_file.present(Path(name)))


def whole_number(text: str) -> int | None:
    """Return the number that decimal digits spell; None for other text, and for more digits than any count has."""
    return int(text) if re.fullmatch("[0-9]{1,18}", text) else None


def pairs(option: str, form: str, texts: Sequence[str]) -> dict[str, str]:
    """Return the name=value texts of an option by name; raises UserError, which shows the `form` wanted."""
    for text in texts:
        if "=" not in text:
            raise UserError(f"{option} {text}: no value; give {option} {form}")
        if not all(text.split("=", 1)):
            raise UserError(f"{option} {text}: a name or a value is missing; give {option} {form}")
    return dict(text.split("=", 1) for text in texts)
