"""`python -m gpusim.kernel_tuner`: run a script for Kernel Tuner, unchanged, on a simulated card."""

from __future__ import annotations

import runpy
import signal
import sys
from argparse import REMAINDER, ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path

from gpusim.api import kernel_tuner
from isa.errors import UserError

INTERRUPTED = 130  # as shells have it
PROGRAM = "python -m gpusim.kernel_tuner"
ABOUT = "Run a script for Kernel Tuner, as it is, on a simulated card. It runs with your rights, as any script does."
EXAMPLE = f"""example:
  {PROGRAM} vector_add.py --machine a100

`import kernel_tuner` and `import cupy` in the script find the simulated card. `gpusim machines` lists the machines.
What stands behind the script, or behind --, are the script's own arguments."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the script of a command line; what is refused ends the process with one line and exit code 2."""
    script, machine, rest = _read(sys.argv[1:] if arguments is None else arguments)
    try:
        kernel_tuner.use(machine)
        _run(script, rest)
    except UserError as error:
        sys.stdout.flush()
        sys.stderr.writelines(f"error: {line}\n" for line in (str(error), *error.further))
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # nothing is left to be interrupted
        sys.stderr.write("error: interrupted\n")
        sys.exit(INTERRUPTED)


def _read(arguments: Sequence[str]) -> tuple[Path, str, list[str]]:
    """Return script, machine and the script's own arguments; ends the process for others."""
    own = ArgumentParser(PROGRAM, add_help=False)
    own.add_argument("--machine", metavar="KEY", help=f"the card (default: {kernel_tuner.DEFAULT})")
    whole = ArgumentParser(
        PROGRAM, description=ABOUT, epilog=EXAMPLE, parents=[own], formatter_class=RawDescriptionHelpFormatter
    )
    whole.add_argument("script", type=Path, metavar="SCRIPT", help="a Python script that calls kernel_tuner")
    whole.add_argument("rest", nargs=REMAINDER, metavar="ARGS", help="its own arguments")
    end = arguments.index("--") if "--" in arguments else len(arguments)
    given = whole.parse_args(arguments[:end])
    behind, rest = given.machine, given.rest
    if rest and rest[0].partition("=")[0] == "--machine":
        length = 1 if "=" in rest[0] else 2
        behind, rest = own.parse_args(rest[:length]).machine, rest[length:]
    if not given.script.is_file():
        whole.error(f"{given.script}: no such file")
    return given.script, behind or kernel_tuner.DEFAULT, [*rest, *arguments[end + (not rest) :]]


def _run(script: Path, arguments: Sequence[str]) -> None:
    """Run a script as Python runs it: with its arguments, and modules beside it."""
    sys.argv[:] = [str(script), *arguments]
    sys.path[0] = str(script.resolve().parent)
    runpy.run_path(str(script), run_name="__main__")
