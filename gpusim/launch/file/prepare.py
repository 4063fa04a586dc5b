"""From a file of machine code and its launch file to a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from gpusim.launch.file import arguments, files, source, variables
from gpusim.launch.file.caches import SETTINGS
from gpusim.launch.file.outcome import outcome
from gpusim.launch.file.source import Source
from gpusim.machine.architecture import machine_for
from isa.architecture import Target
from isa.errors import UserError
from isa.kernel import Kernel
from isa.nvidia.abi import load
from isa.nvidia.abi.declaration import known_types
from isa.nvidia.abi.launch import LaunchError, LaunchState, extent
from isa.nvidia.compiler import compile
from isa.nvidia.file import code
from isa.nvidia.file.choice import chosen, only
from isa.nvidia.file.code import Code
from isa.nvidia.file.cubin import Parameter
from isa.reading import input_file


def prepared(
    name: str,
    launch_file: Path | None = None,
    *,
    architecture: int | None = None,
    compiled_for: int = 0,
    nvcc_flags: Sequence[str] = (),
    force: bool = False,
    strict: bool = False,
) -> Kernel:
    """Return the kernel of a file of machine code, PTX or CUDA C, or of a launch file, with its launch.

    `architecture` takes the place of the launch file's; `nvcc_flags` follow those of the launch file, which only CUDA C
    and PTX take. These are `compiled_for` this architecture if nothing names one. `force`: any machine may run it;
    `strict`: no load may leave the buffers. Raises UserError, with the place in the launch file where one is wrong, and
    LoweringError for code that is not executed.
    """
    launch, path = _both(name, launch_file)
    own = launch.options("nvcc_flags", launch.file.nvcc_flags) if code.is_compiled(path) else ()
    flags = *own, *nvcc_flags
    asked = architecture or launch.file.architecture
    if code.is_compiled(path) and not asked and not compile.names_target(flags):
        asked = compiled_for
    found_code = code.read(path, asked or None, flags)
    known = replace(found_code, architecture=found_code.architecture or asked)
    text = input_file.read(path, code.FIX).decode(errors="replace") if code.is_compiled(path) else ""
    made = kernel(launch, known, str(path), force=force, text=text)
    return replace(made, page_bytes=0) if strict else made


def files_of(name: str, launch_file: Path | None = None) -> tuple[Path, Path]:
    """Return the launch file and the file with the code that a user means by one of them; raises UserError."""
    launch, path = _both(name, launch_file)
    return launch.path, path


def _both(name: str, launch_file: Path | None) -> tuple[Source, Path]:
    found = files.pair(name, launch_file)
    launch = source.read(found.launch)
    return launch, found.code or files.code_of(launch)


def kernel(launch: Source, given: Code, file: str, *, force: bool = False, text: str = "") -> Kernel:
    """Return the kernel that a launch file launches from the code of a file; raises UserError as `prepared` does.

    `text` is the CUDA C or PTX of the code, if there is one.
    """
    name = _chosen(launch, given, file)
    if not given.architecture:
        raise launch.refusal(
            "architecture", f"{file}: a text that doesn't say its architecture; write architecture = 90"
        )
    given = replace(given, cubin=variables.with_values(launch, given.cubin))
    buffers = arguments.buffers(launch)
    arguments.check_types(launch, buffers, known_types(name, text, _parameters(given, name)))
    try:
        state = LaunchState(
            kernel=name,
            grid=extent(launch.file.grid),
            block=extent(launch.file.block),
            dynamic_shared=launch.file.shared,
            arguments=load.arguments(given, name, arguments.values(launch, buffers)),
            buffers=buffers,
            stack=launch.file.stack,
            textures=arguments.textures(launch, buffers),
            cluster=extent(launch.file.cluster) if launch.file.cluster else None,
            cooperative=launch.file.cooperative,
            sms=_sms(Target("nvidia", given.architecture)),
        )
        found = load.kernel(given, state)
    except LaunchError as error:
        raise launch.refusal(_key(error.part), str(error)) from None
    return replace(
        found,
        outcome=outcome(launch, buffers),
        flops=launch.file.flops,
        any_machine=force or launch.file.any_machine,
        settings=MappingProxyType(dict(SETTINGS[launch.file.caches])),
        cold=arguments.cold(launch),
    )


def _parameters(given: Code, name: str) -> Sequence[Parameter] | None:
    """Return the table of a kernel's parameters, if its code has one."""
    found = given.cubin.functions[name].launch if given.cubin else None
    return found.parameters if found else None


def _sms(target: Target) -> int:
    """Return the SMs of the machine that runs code where none is named."""
    try:
        return machine_for(target).chip.sms
    except UserError:
        return 1  # a machine is named then


def _chosen(launch: Source, given: Code, file: str) -> str:
    if not launch.file.kernel:
        return only(given, file, f'in {launch.path}: kernel = "..."')
    try:
        return chosen(given, launch.file.kernel, file)
    except UserError as error:
        raise launch.refusal("kernel", str(error)) from None


def _key(part: str | int) -> str:
    """Return the key of the launch file that says a part of the launch."""
    if isinstance(part, int):
        return f"argument.{part}"
    return "" if part == "arguments" else part
