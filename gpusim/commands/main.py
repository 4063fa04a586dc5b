"""The `gpusim` command: which commands there are, and how errors end."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from time import monotonic
from typing import Annotated, Any

import typer

from gpusim.commands.streams import CLOSED, drop_unwritten, open_closed, tell
from isa.errors import UserError, one_line

# A command is the function of this name in the file of this name beside this one; the text is its line of help.
COMMANDS = {
    "run": "Simulate a kernel: values, cycles, bound, lost cycles.",
    "timeline": "Show what each warp instruction did, cycle by cycle.",
    "explain": "Tell why a warp did not issue in a cycle, back to the cause.",
    "bound": "Bound a kernel's cycles from below, without simulating it.",
    "report": "Pressure on each resource by instruction, long paths, lost slots.",
    "limits": "What each limit of a machine costs a kernel, by lifting it.",
    "schema": "Print the JSON Schema of a document.",
    "kernels": "List the kernels, or the parameters of one.",
    "machines": "List the machines, every number of one, or two side by side.",
    "space": "Count what constraints leave of a search space.",
    "compare": "Two runs or more side by side, and what makes the difference.",
    "sweep": "Simulate a kernel on variants of a machine, with many parameters.",
    "tune": "Simulate every point of a search space, and rank them.",
    "validate": "Published figures of a machine beside simulated ones.",
    "reproduce": "What five documents claim beside what comes out here.",
    "asm": "Assemble a listing: program counters, registers, units.",
    "codes": "Print a program with the control codes that a machine obeys.",
    "schedule": "Reorder a program so that it waits less.",
    "hazards": "Find registers read or written too early, by wrong control codes.",
    "export": "Write a timeline for Konata, Perfetto, or as a table.",
    "traffic": "Count the words that a kernel moves, from registers to DRAM.",
    "view": "Show a timeline, or two side by side, in a browser.",
    "races": "Find accesses to shared memory that no barrier orders.",
}
BAD_INPUT = 2
INTERRUPTED = 130
GRACE = 3.0  # seconds for which Ctrl-C again is the same Ctrl-C: ending processes takes less


def main() -> None:
    """Run the command line of this process and end it with the command's exit code."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # products are small: threads would but spin
    gc.set_threshold(100_000)  # imports leave much that stays: looking for garbage among it takes a tenth of a second
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as of what a script starts in the background
        signal.signal(signal.SIGINT, interrupter())
    code = execute(sys.argv[1:]) if open_closed() else _tell(CLOSED, BAD_INPUT)
    drop_unwritten()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # nothing is left to be interrupted
    sys.exit(code)


def interrupter() -> Callable[[int, Any], None]:
    """Return a handler of Ctrl-C that raises KeyboardInterrupt, and not again while the first is being obeyed."""
    last = -GRACE

    def interrupt(_: int, __: Any) -> None:
        nonlocal last
        if monotonic() - last >= GRACE:
            last = monotonic()
            raise KeyboardInterrupt

    return interrupt


def execute(arguments: Sequence[str]) -> int:
    """Exit code of a command line: 0; 1 for wrong values; 2 for bad input, told in one line; 130 when interrupted."""
    try:
        outcome = application(arguments)(list(arguments) or ["--help"], prog_name="gpusim", standalone_mode=False)
    except SystemExit:
        return 0  # what typer makes of a broken pipe: whoever read the output has had enough
    except (UserError, typer.TyperException, KeyboardInterrupt, MemoryError, OSError) as error:
        return _tell(*_explained(error))
    if outcome == INTERRUPTED:  # what typer makes of Ctrl-C in a command
        return _tell(*_explained(KeyboardInterrupt()))
    return outcome if isinstance(outcome, int) else 0


def _explained(error: BaseException) -> tuple[str, int]:
    """The line that tells of an error, and the exit code."""
    match error:
        case UserError():
            return str(error), error.exit_code
        case typer.TyperException():
            context = getattr(error, "ctx", None)
            command = context.command_path if context else "gpusim"
            message = error.format_message()
            return f"{command}: {message}{'' if message[-1:] in '.?!' else '.'} See `{command} --help`", BAD_INPUT
        case KeyboardInterrupt():
            return "interrupted", INTERRUPTED
        case OSError():
            return f"{error.filename or 'output'}: {(error.strerror or str(error)).lower()}", BAD_INPUT
    return "out of memory; ask for less: a smaller size or space, or fewer at a time", BAD_INPUT


def application(arguments: Sequence[str]) -> typer.Typer:
    """Return the command-line application, in which only the commands named in `arguments` are imported.

    The others have their line of help and nothing else, so that help waits for neither NumPy nor a compiler.
    """
    app = typer.Typer(
        add_completion=False,
        rich_markup_mode=None,
        help="Instruction-level GPU pipeline simulator: values, cycles and the analytic bound in one run.",
        epilog="Example: gpusim machines gtx580",
    )
    app.callback()(_options)
    for name, text in COMMANDS.items():
        function = _command(name) if name in arguments else _nothing
        app.command(name, short_help=text)(function)
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415  (start-up time)

        sys.stdout.write(f"gpusim {version('gpusim')}\n")
        raise typer.Exit


def _command(name: str) -> Callable[..., None]:
    function: Callable[..., None] = getattr(import_module(f"gpusim.commands.{name}"), name)
    return function


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


def _nothing() -> None:
    pass


def _tell(message: str, code: int) -> int:
    start = "\r" if sys.stderr.isatty() else ""  # over the ^C that a terminal echoes
    tell(f"{start}error: {one_line(message)}\n")
    return code


if __name__ == "__main__":
    main()
