"""`gpusim exec`: run a whole program on a card that is not there."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

from gpusim.commands.frame.arguments import machine_of
from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.options import Caches, Json, NvccFlags, Overrides, Threads, machine, many, written
from gpusim.commands.frame.progress import of_run, shown
from gpusim.commands.run import exec_screen
from gpusim.commands.streams import tell
from gpusim.engines.simulate import Progress
from gpusim.machine.architecture import native
from gpusim.machine.machine import Machine
from gpusim.programs import build, link, program
from gpusim.programs.card.launches import How, runner
from gpusim.support import whole_file
from isa.errors import UserError

DEFAULT = "h200"
STDERR = 2


def exec(
    file: Annotated[Path, Argument(metavar="PROGRAM", help="CUDA C (.cu), or an executable with the shared runtime.")],
    arguments: Annotated[Sequence[str], Argument(metavar="[-- ARGS]", help="The program's own arguments.")] = (),
    name: Annotated[str, machine(".")] = DEFAULT,
    settings: Overrides = (),
    caches: Caches = None,
    time: Annotated[
        Literal["sm", "none"], Option("--time", help="sm: time each launch by one SM; none: compute values only.")
    ] = "sm",
    sample: Annotated[bool, Option("--sample", help="Time each launch by its first waves.")] = False,
    same_launches: Annotated[
        int | None, many("--same-launches", help="Simulate so many of alike launches; others take the last one's time.")
    ] = None,
    launches: Annotated[bool, Option("--launches", help="Show each launch, not each kernel.")] = False,
    csv: Annotated[Path | None, written("--csv", "Write a line for each launch.")] = None,
    nvcc_flags: NvccFlags = "",
    threads: Threads = None,
    *,
    json: Json = False,
) -> Answer | None:
    """Run a whole program, main() and all, on a simulated card; ends with the program's exit code.

    The program runs with your rights, as any program that you start: nothing else in gpusim executes what it reads.
    Its own output comes first, then a table of its kernels. With --json its output goes to stderr.

    Example: gpusim exec examples/programs/saxpy.cu --machine h200 -- 1000000
    """
    where = machine_of(name, settings, None)
    if csv:
        whole_file.check(csv)
    how = How(time != "none", sample, same_launches or 0, threads)
    folder = build.runtime()
    executable = link.executable(file, _architecture(where), shlex.split(nvcc_flags), folder)
    ran = program.execute(
        executable,
        arguments,
        folder,
        runner(where, how, caches or "warm"),
        lambda line: tell(f"gpusim: {line}\n", anew=True),
        _shown,
        output=STDERR if json else None,
    )
    if ran.refused:
        raise ran.refused
    if csv:
        whole_file.write(csv, exec_screen.comma_separated(ran.session.runner.rows))
    sys.stdout.flush()
    return Answer(
        lambda: exec_screen.document(ran, str(file), list(arguments), where.key, {}),
        lambda: list(exec_screen.screen(ran, where.key, each=launches)),
        code=ran.code,
    )


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
