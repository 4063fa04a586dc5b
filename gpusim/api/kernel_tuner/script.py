"""`python -m gpusim.kernel_tuner`: run a script for Kernel Tuner, unchanged, on a simulated card."""

from __future__ import annotations

import runpy
import signal
import sys
from argparse import REMAINDER, ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from gpusim.api import kernel_tuner
from isa.errors import UserError

INTERRUPTED = 130  # as shells have it
PROGRAM = "python -m gpusim.kernel_tuner"
ABOUT = "Run a script for Kernel Tuner, as it is, on a simulated card. It runs with your rights, as any script does."
EXAMPLE = f"""examples:
  {PROGRAM} vector_add.py --machine a100
  {PROGRAM} --machine a100 -m pytest test_kernels.py

`import kernel_tuner` and `import cupy` in the script find the simulated card. `gpusim machines` lists the machines.
What stands behind the script, or behind --, are the script's own arguments."""


@dataclass(frozen=True)
class Line:
    """A command line: a script, or with `module` the name of one, its machine, and its own arguments."""

    script: str
    machine: str
    rest: tuple[str, ...]
    module: bool = False
    bounded: bool = False


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the script of a command line; what is refused ends the process with one line and exit code 2."""
    line = read(sys.argv[1:] if arguments is None else arguments)
    try:
        kernel_tuner.use(line.machine, bounded=line.bounded)
        _run(line)
    except UserError as error:
        sys.stdout.flush()
        sys.stderr.writelines(f"error: {one}\n" for one in (str(error), *error.further))
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # nothing is left to be interrupted
        sys.stderr.write("error: interrupted\n")
        sys.exit(INTERRUPTED)


def read(arguments: Sequence[str]) -> Line:
    """Return what a command line says; ends the process for a wrong one, and for --help."""
    own = ArgumentParser(PROGRAM, add_help=False)
    own.add_argument("--machine", metavar="KEY", help=f"the card (default: {kernel_tuner.DEFAULT})")
    whole = ArgumentParser(
        PROGRAM, description=ABOUT, epilog=EXAMPLE, parents=[own], formatter_class=RawDescriptionHelpFormatter
    )
    whole.add_argument("-m", action="store_true", dest="module", help="SCRIPT is a module's name, such as pytest")
    whole.add_argument("--bound", action="store_true", help="find the bound of each point, too: columns bound, limiter")
    whole.add_argument("script", metavar="SCRIPT", help="a Python script that calls kernel_tuner")
    whole.add_argument("rest", nargs=REMAINDER, metavar="ARGS", help="its own arguments").required = False
    end = arguments.index("--") if "--" in arguments else len(arguments)
    given = whole.parse_args(arguments[:end])
    behind, rest = given.machine, given.rest
    if rest and rest[0].partition("=")[0] == "--machine":
        length = 1 if "=" in rest[0] else 2
        behind, rest = own.parse_args(rest[:length]).machine, rest[length:]
    if not (_is_module(given.script) if given.module else Path(given.script).is_file()):
        whole.error(f"{given.script}: no such {'module' if given.module else 'file'}")
    rest = [*rest, *arguments[end + (not rest) :]]
    return Line(given.script, behind or kernel_tuner.DEFAULT, tuple(rest), given.module, given.bound)


def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):  # of its package, or a name that none has
        return False


def _run(line: Line) -> None:
    """Run a script as Python runs it: with its arguments, and modules that stand with it."""
    sys.argv[:] = [line.script, *line.rest]
    if line.module:
        runpy.run_module(line.script, run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = str(Path(line.script).resolve().parent)
        runpy.run_path(line.script, run_name="__main__")
