"""The points of a space file compiled: machine code and launch of each, and which points have the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass, replace
from math import prod
from os import times
from pathlib import Path

import msgspec

from gpusim.analysis.search.bounded_expression import Value
from gpusim.analysis.search.space_file import CodeSpace, Point, defines, launch, launch_places
from gpusim.launch.file import elements, prepare
from gpusim.launch.file.document import LaunchFile
from gpusim.launch.file.source import Source
from gpusim.machine.machine import Machine
from gpusim.support.stages import stage
from isa.errors import UserError
from isa.kernel import Kernel
from isa.nvidia.compiler import compile
from isa.nvidia.compiler.kept import digest
from isa.nvidia.file import code, cubin
from isa.nvidia.file.cubin import Cubin
from isa.reading.input_file import present

DIGITS = 16  # of a digest
EMPTY_KERNEL = "__global__ void empty() {}\n"


class Compiled(msgspec.Struct, frozen=True):
    """A point compiled for an architecture: the digest of its machine code and launch, or why there is none."""

    point: dict[str, Value]
    architecture: int
    code: str = ""
    reason: str = ""
    seconds: float = 0.0  # of CPU time, with those of the compiler's processes


@dataclass(frozen=True)
class Wanted:
    """A point to be compiled for an architecture."""

    point: Point
    architecture: int


def stored(folder: Path, same: str) -> Path:
    """Return the file of a folder with the machine code of a digest."""
    return folder / f"{same}.cubin"


def compiled(wanted: Wanted, space: CodeSpace, folder: Path) -> Compiled:
    """Compile a point and keep its cubin in a folder under its digest; an error of the compiler is the reason."""
    point, architecture, start = wanted.point, wanted.architecture, _cpu_seconds()
    try:
        file = msgspec.structs.replace(launch(space, point).file, expect=[])
        data = cubin_at(space, point, architecture)
        same = _digest(cubin.read(data, str(space.source)), file)
    except UserError as error:
        return Compiled(dict(point), architecture, reason=str(error), seconds=_cpu_seconds() - start)
    stored(folder, same).write_bytes(data)
    return Compiled(dict(point), architecture, same, seconds=_cpu_seconds() - start)


def _cpu_seconds() -> float:
    """Return the CPU seconds of this process and of those that it has waited for."""
    used = times()
    return used.user + used.system + used.children_user + used.children_system


def _digest(contents: Cubin, file: LaunchFile) -> str:
    """Return the digest of all that a launch depends on: code, resources, variables; not of lines of source."""
    parts = repr(astuple(contents)), msgspec.json.encode(file)  # the repr of a cubin itself leaves its bytes out
    return digest(parts)[:DIGITS]


def cubin_at(space: CodeSpace, point: Point, architecture: int) -> bytes:
    """Return the machine code of a point; raises UserError, whose first line is the compiler's first error."""
    return compile.compile_file(space.source, architecture, [*space.flags, *defines(point)])


@stage("read")
def kernel(space: CodeSpace, point: Point, data: bytes, *, expected: bool = False) -> Kernel:
    """Return the kernel of a point from its machine code, with its launch; raises UserError.

    What is `expected` of its buffers is read only where it is asked for: files may be of the check's sizes.
    """
    name, source = str(space.source), launch(space, point)
    if not expected:
        source = replace(source, file=msgspec.structs.replace(source.file, expect=[]))
    return prepare.kernel(source, code.of_cubin(data, name), name)


def check_inputs(space: CodeSpace) -> None:
    """Raise UserError, with its place, where there is no source, and for a .npy file that can't be read."""
    if present(space.source) and not space.source.is_file():
        raise space.refusal("source", f"{space.source}: no regular file; name another")
    if not space.source.is_file():
        raise space.refusal("source", f"{space.source}: no such file; name the CUDA source, from this file's folder")
    given, named = space.file.launch, Source(space.path, LaunchFile(), space.lines, launch_places(space))
    found = [(f"argument.{n}.file", one.file) for n, one in enumerate(given.argument)]
    found += [(f"buffer.{n}.file", one.file) for n, one in enumerate(given.buffer)]
    found += [(f"expect.{n}.file", one.file) for n, one in enumerate(given.expect)]
    found += [(f"constants.{name}.file", one.file) for name, one in given.constants.items()]
    found += [(f"globals.{name}.file", one.file) for name, one in given.globals.items()]
    for key, file in found:
        if file:
            elements.array(named, key, file)


def check_compiler(space: CodeSpace, key: str, architecture: int) -> None:
    """Raise UserError if even an empty kernel can't be compiled for a machine's architecture, or its cubin not be read.

    A missing package would else be the reason of each point, and a results file would keep it.
    """
    try:
        data = compile.compile_source(EMPTY_KERNEL, (), architecture, space.source.name)
        cubin.read(data, space.source.name)
    except UserError as error:
        # a missing package's error says what to install; the compiler's own errors name no fix
        fix = "" if "install" in str(error) else "; leave the machine out, or install another compiler"
        raise UserError(f"--machine {key}: {error}{fix}") from None


def refusal(space: CodeSpace, point: Point, machines: Iterable[Machine]) -> str:
    """Return why none of some machines can launch a point, as far as that is known before it is compiled; else "".

    Registers and static shared memory are known only then.
    """
    try:
        file = launch(space, point).file
    except UserError as error:
        return str(error)
    return max((_refused(prod(file.block), file.shared, machine) for machine in machines), key=lambda why: not why)


def _refused(threads: int, shared: int, machine: Machine) -> str:
    limits = machine.limits
    for need, have, what in (
        (threads, limits.threads_per_block, "threads per block"),
        (shared, limits.shared_per_block, "bytes of shared memory"),
    ):
        if need > have:
            return f"needs {need} {what}; {machine.key} has {have}"
    return ""
