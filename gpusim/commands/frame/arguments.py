"""What the options that commands share mean: which kernel, on which machine, within which limit."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any, cast

import msgspec

from gpusim.commands.frame.options import AS_IT_IS, MACHINE, MAX_CYCLES, MAX_INSTRUCTIONS, CodeOptions, Launch
from gpusim.commands.frame.plugins import plug
from gpusim.machine.architecture import machine_for, native
from gpusim.machine.machine import File, Machine, load, read
from gpusim.machine.simulated_sms import Sms
from gpusim.sm.front.policies.declaration import check_policy
from isa.errors import UserError
from isa.kernel import Kernel
from isa.reading import input_file
from isa.text import listing
from workloads.catalog import CATALOG, make

POLICY = "schedulers.policy"  # the path that `--policy` sets
OF_CODE = {  # options of machine code by the fields of `CodeOptions`
    "launch": "--launch",
    "architecture": "--arch",
    "nvcc_flags": "--nvcc-flags",
    "force": "--force",
    "strict": "--strict",
    "source_roots": "--source-root",
}


@dataclass(frozen=True)
class Chosen:
    """A kernel, the name of its machine, the settings of that machine as options, and the machine with them."""

    kernel: Kernel
    name: str
    settings: Sequence[str]
    policy: str | None
    machine: Machine

    @property
    def overrides(self) -> dict[str, str]:
        """The settings by path, that of `--policy` included."""
        return overrides_of(self.settings, self.policy)

    @property
    def changes(self) -> Mapping[str, int | str]:
        """The settings by path, with the values that they give the machine."""
        return changes(self.machine, self.settings)


def chosen(launch: Launch, code: CodeOptions = AS_IT_IS, default: str = MACHINE) -> Chosen:
    """Return the kernel and the machine that a command line names; raises UserError."""
    plug(launch.plugin)
    kernel = kernel_of(launch.kernel, launch.parameter, code, launch.machine)
    name, settings = placed(kernel, launch.machine, launch.setting, default, launch.caches)
    return Chosen(kernel, name, settings, launch.policy, machine_of(name, settings, launch.policy))


def kernel_of(
    name: str, parameters: Sequence[str], options: CodeOptions = AS_IT_IS, machine: Machine | str | None = None
) -> Kernel:
    """Return the kernel of a name and its parameters, of a listing, or of machine code; raises UserError.

    CUDA C is compiled for the `machine` if one is given.
    """
    given = pairs("-p", "name=value", parameters)
    if is_code(name) or code_option(options):
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
    from gpusim.launch.file.prepare import prepared  # noqa: PLC0415  (--help waits for no NumPy)

    if not is_code(name):
        raise UserError(f"{code_option(options) or 'code'}: {name} is no machine code; leave the option out")
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


def code_option(options: CodeOptions) -> str:
    """Return the name of the first option of machine code that is given; empty for none."""
    return next((option for field, option in OF_CODE.items() if getattr(options, field, None)), "")


def placed(
    kernel: Kernel, machine: str | None, settings: Sequence[str], default: str = MACHINE, caches: str | None = None
) -> tuple[str, list[str]]:
    """Return the machine to run a kernel on, and its settings: those that the launch asks for, then the given ones.

    Without a name it is the machine of the kernel's architecture, or `default`. A setting that is given, or of a
    section that the machine lacks, is not asked for; `caches`, cold or warm, come before what the launch says of them.
    Raises UserError.
    """
    name = machine or (machine_for(kernel.target).key if kernel.target else default)
    if not kernel.settings and not caches:
        return name, list(settings)
    from gpusim.launch.file.caches import asked  # noqa: PLC0415  (--help waits for no NumPy)

    given, file = pairs("--set", "machine.path=value", settings), read(name)
    begins = caches_of(file, caches)
    wanted = {path: value for path, value in begins.items() if str(file.facts[path].value) != value}
    wanted |= {path: value for path, value in asked(kernel, file).items() if path not in begins}
    return name, [f"{path}={value}" for path, value in wanted.items() if path not in given] + list(settings)


def caches_of(file: File, caches: str | None) -> dict[str, str]:
    """Return the settings of a machine whose caches begin cold or warm, by path; none without `caches`.

    Raises UserError for a machine without such caches.
    """
    if caches is None:
        return {}
    from gpusim.launch.file.caches import SETTINGS  # noqa: PLC0415  (--help waits for no NumPy)

    wanted = {**dict.fromkeys(SETTINGS["warm"], "0"), **SETTINGS[caches]}
    if lacking := [path for path in SETTINGS[caches] if path not in file.facts]:
        raise UserError(f"--caches {caches}: {file.key} has no {lacking[-1]}; leave the option out")
    return {path: value for path, value in wanted.items() if path in file.facts}


def machine_of(name: str, settings: Sequence[str], policy: str | None) -> Machine:
    """Return the machine with the settings of the command line; raises UserError."""
    return load(name, overrides_of(settings, policy))


def machine_if_any(kernel: Kernel, name: str | None, settings: Sequence[str]) -> Machine | None:
    """Return the machine, if one is named, of a command that needs none, as the kernel's launch asks for it.

    Raises UserError if it can't run the kernel.
    """
    if settings and not name:
        raise UserError(f"--set {settings[0]}: of no machine; name one with --machine")
    machine = machine_of(*placed(kernel, name, settings), None) if name else None
    if machine:
        from gpusim.machine.occupancy import occupancy  # noqa: PLC0415  (--help waits for no NumPy)

        occupancy(kernel, machine)
    return machine


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
    if name in CATALOG or not name:
        return False
    from gpusim.launch.file.files import is_launch  # noqa: PLC0415  (start-up time)

    return is_launch(name)


def refuse(options: Mapping[str, object], why: str) -> None:
    """Raise UserError for the first of some options that is given."""
    for option, value in options.items():
        if value:
            raise UserError(f"{option if value is True else f'{option} {value}'}: {why}")


def refuse_code(name: str, why: str) -> None:
    """Raise UserError for machine code where a listing is asked for; for a file of another kind it says which."""
    if is_code(name):
        from gpusim.launch.file.files import LAUNCH  # noqa: PLC0415  (start-up time)
        from isa.nvidia.file.code import check_kind  # noqa: PLC0415

        if not name.endswith(LAUNCH) and input_file.present(Path(name)):
            check_kind(Path(name))
        raise UserError(f"{name}: machine code, {why}")


def file_of(name: str) -> str:
    """Return the file with the program that a name means: code or a listing; empty for a kernel of the catalog."""
    if not is_code(name):
        return name if is_listing(name) else ""
    from gpusim.launch.file.files import LAUNCH  # noqa: PLC0415  (start-up time)

    if not name.endswith(LAUNCH):
        return name
    from gpusim.launch.file.prepare import files_of  # noqa: PLC0415  (--help waits for no NumPy)

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
