"""`gpusim exec`: run a whole program on a simulated card."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Literal

from typer import Argument, Option

from gpusim.commands.frame.arguments import flags_of, machine_of, overrides_of
from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.options import (
    Caches,
    Json,
    MachineNames,
    NvccFlags,
    Overrides,
    Threads,
    many,
    repeated,
    written,
)
from gpusim.commands.frame.progress import of_run, shown
from gpusim.commands.run import exec_pages, exec_screen
from gpusim.commands.run.passed_output import passed_output
from gpusim.commands.streams import tell
from gpusim.engines.simulate import Progress
from gpusim.machine.architecture import native
from gpusim.machine.machine import Machine
from gpusim.programs import build, link, program
from gpusim.programs.card.captures import Captures
from gpusim.programs.card.launches import How, runner
from gpusim.programs.program import Executed
from gpusim.support import whole_file
from isa.errors import UserError
from isa.nvidia.file import code as machine_code

DEFAULT = "h200"


@dataclass(frozen=True)
class Timing:
    """Which launches are timed, and how."""

    time: Annotated[
        Literal["sm", "none"], Option("--time", help="sm: time each launch by one SM; none: compute values only.")
    ] = "sm"
    sample: Annotated[bool, Option("--sample", help="Time each launch by its first waves.")] = False
    same_launches: Annotated[
        int | None, many("--same-launches", help="Time so many of alike launches; others take the last one's time.")
    ] = None
    kernel: Annotated[Sequence[str], repeated("--kernel", "NAME", "Time launches of this kernel alone")] = ()
    caches: Caches = None
    threads: Threads = None


@dataclass(frozen=True)
class Shown:
    """What is shown and written of the launches."""

    launch: Annotated[
        Sequence[int], Option("--launch", metavar="N", help="Of --report, --view and --capture; repeatable.")
    ] = ()
    launches: Annotated[bool, Option("--launches", help="Show each launch, not each kernel.")] = False
    report: Annotated[bool, Option("--report", help="Show the report of the launch that takes most time.")] = False
    view: Annotated[Path | None, written("--view", "Write a page for the program and each kernel.", "DIR")] = None
    capture: Annotated[
        Path | None, written("--capture", "Write launches as launch files with their memory.", "DIR")
    ] = None
    csv: Annotated[Path | None, written("--csv", "Write a line for each launch.")] = None


def exec(
    file: Annotated[Path, Argument(metavar="PROGRAM", help="CUDA C (.cu), or an executable with the shared runtime.")],
    arguments: Annotated[Sequence[str], Argument(metavar="[-- ARGS]", help="The program's own arguments.")] = (),
    *,
    machine: MachineNames = (),
    setting: Overrides = (),
    timing: Timing,
    show: Shown,
    nvcc_flags: NvccFlags = "",
    json: Json = False,
) -> Answer | None:
    """Run a whole program, main() and all, on a simulated card; ends with the program's exit code.

    The program runs with your rights, as any program that you start. Its own output comes first, then a table of its
    kernels. With --json its output goes to stderr. Of several machines each runs the program; its output is that on the
    first.

    Example: gpusim exec examples/programs/saxpy.cu --machine h200 -- 1000000
    """
    names = machine or (DEFAULT,)
    machines, flags = [machine_of(name, setting, None) for name in names], flags_of(nvcc_flags)
    if show.csv:
        whole_file.check(show.csv)
    built = build.runtime()
    with _folder(show) as folder:
        ran = [
            _ran(file, arguments, where, timing, show, None if k else folder, flags, built, hidden=k > 0, errors=json)
            for k, where in enumerate(machines)
        ]
        first = ran[0]
        if show.csv:
            whole_file.write(show.csv, exec_screen.comma_separated(first.session.runner.rows))
        _tell_of_none(first, show.launch, timing.kernel)
        at = exec_pages.Where(names[0], setting)
        more = list(exec_pages.told(first, file, at, report=show.report, view=show.view))
    settings = overrides_of(setting, None)
    return Answer(
        lambda: exec_screen.document(ran, str(file), list(arguments), settings),
        lambda: [*exec_screen.screen(ran, each=show.launches), *more],
        code=first.code,
    )


def _ran(
    file: Path,
    arguments: Sequence[str],
    where: Machine,
    timing: Timing,
    show: Shown,
    folder: Path | None,
    flags: Sequence[str],
    built: Path,
    *,
    hidden: bool,
    errors: bool,
) -> Executed:
    """Return what the program did on one machine; raises UserError where it can't be run, or asks what is not there."""
    executable = link.executable(file, _architecture(where), flags, built)
    how = How(timing.time != "none", timing.sample, timing.same_launches or 0, frozenset(timing.kernel), timing.threads)
    captures = None
    if folder:
        source = _with_source(file, folder) if machine_code.is_source(file) else ""
        captures = Captures(folder, frozenset(show.launch), source, timing.caches or "warm", _line)
    card = runner(where, how, timing.caches or "warm", captures)
    with passed_output(hidden=hidden, errors=errors) as output:
        ran = program.execute(executable, link.arguments_of(file, arguments), built, card, _line, _shown, output=output)
    if ran.refused:
        raise ran.refused
    return ran


def _with_source(file: Path, folder: Path) -> str:
    """Return the text of a source, and put it with the launches, whose views show its lines; raises UserError.

    A file of that name which is another one is not replaced.
    """
    text, copy = file.read_bytes(), folder / file.name
    if not copy.exists():
        whole_file.write_pieces(copy, [text])
    elif not copy.samefile(file) and copy.read_bytes() != text:
        raise UserError(f"{copy}: is another file than {file}; name another folder")
    return text.decode(errors="replace")


def _tell_of_none(ran: Executed, numbers: Sequence[int], kernels: Sequence[str]) -> None:
    """Tell of launches and kernels that are asked for, and that the program does not have."""
    rows = ran.session.runner.rows
    for number in sorted(set(numbers) - {one.number for one in rows}):
        _line(f"--launch {number}: the program has launches 1 to {len(rows)}" if rows else "no kernel was launched")
    for name in sorted(set(kernels) - {one.kernel for one in rows}):
        there = ", ".join(dict.fromkeys(one.kernel for one in rows)) or "none"
        _line(f"--kernel {name}: the program launches {there}")


@contextmanager
def _folder(show: Shown) -> Iterator[Path | None]:
    """Give the folder in which launches are written, a temporary one where only their report is wanted."""
    for named in filter(None, (show.capture, show.view)):
        named.mkdir(parents=True, exist_ok=True)
    if folder := show.capture or show.view:
        yield folder
    elif show.report:
        with TemporaryDirectory() as temporary:
            yield Path(temporary)
    else:
        yield None


def _line(text: str) -> None:
    tell(f"gpusim: {text}\n", anew=True)


@contextmanager
def _shown(kernel: str) -> Iterator[Progress]:
    with shown(kernel) as told:
        yield of_run(told)


def _architecture(where: Machine) -> int:
    """Return what to compile for; raises UserError for a machine without machine code of NVIDIA's."""
    found = native(where)
    if not found:
        raise UserError(f"--machine {where.key}: it executes no machine code; take one that does, such as {DEFAULT}")
    return found
