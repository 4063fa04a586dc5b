"""The `gpusim` command: its subcommands and its exit codes."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, ClassVar

import typer

from gpusim.commands.grouped import Commands, Grouped
from gpusim.commands.streams import CLOSED, drop_unwritten, open_closed, tell
from isa.errors import ExecutionError, UserError, one_line

# Each command is a function in the file of the same name in one of the FOLDERS; the text is its line of help.
GROUPS = {
    "Run a kernel, or a program, and look": {
        "exec": "Run a whole program on a simulated card.",
        "run": "Simulate a kernel: values, cycles, bound, lost cycles.",
        "view": "Show a timeline, or two side by side, in a browser.",
        "timeline": "Show what each warp instruction did, cycle by cycle.",
        "explain": "Tell why a warp did not issue in a cycle, back to the cause.",
        "export": "Write a timeline for Konata, Perfetto, or as a table.",
    },
    "Find what limits it": {
        "bound": "Bound a kernel's cycles from below, without simulating it.",
        "report": "Pressure on each resource by instruction, long paths, lost slots.",
        "limits": "Lift each limit of a machine, and show what it costs a kernel.",
        "compare": "Compare two or more runs, and find what makes the difference.",
        "traffic": "Count the words that a kernel moves, from registers to DRAM.",
        "races": "Find accesses of warps to shared memory that no barrier orders.",
    },
    "Search for a faster one": {
        "sweep": "Simulate a kernel on variants of a machine, with many parameters.",
        "space": "Count the points of a search space that meet its constraints.",
        "tune": "Simulate every point of a search space, and rank them.",
        "schedule": "Reorder a program so that it waits less.",
    },
    "Write and read programs": {
        "asm": "Assemble a listing: program counters, registers, units.",
        "codes": "Print a program with the control codes that a machine obeys.",
        "hazards": "Find registers read or written too early, by wrong control codes.",
        "sass": "List a cubin's kernels, or print one with its control codes.",
        "launch": "Write a first launch file for a kernel of machine code.",
    },
    "What comes with it": {
        "kernels": "List the kernels, or the parameters of one.",
        "machines": "List the machines, every number of one, or two side by side.",
        "examples": "List the kernels that come with gpusim, or copy them.",
        "lessons": "List the lessons, or open one in a browser.",
        "schema": "Print the JSON Schema of a document.",
    },
    "How far to trust it": {
        "validate": "Compare published figures of a machine with simulated ones.",
        "reproduce": "Compare claims of five documents with results computed here.",
    },
}
COMMANDS = {name: text for group in GROUPS.values() for name, text in group.items()}
FOLDERS = dict(zip(GROUPS, ("run", "causes", "search", "code", "catalog", "trust"), strict=True))
RENAMED = {  # options by their command and former name
    ("gpusim sweep", "--sample"): "--sample is --draw now",
    ("gpusim launch", "--force"): "--force is --replace now",
}
BAD_INPUT = 2
INTERRUPTED = 130
GRACE = 3.0  # seconds in which a second Ctrl-C is ignored: ending processes takes less


class _Commands(Commands):
    groups: ClassVar = {group: tuple(names) for group, names in GROUPS.items()}


def main() -> None:
    """Run the command line of this process and end it with the command's exit code."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # matrix products are small: threads would only spin
    gc.set_threshold(100_000)  # a run makes many lasting objects
    gc.disable()  # until the command is imported, whose objects last: looking for garbage among them takes 0.05 s
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # ignored: a script started gpusim in the background
        signal.signal(signal.SIGINT, interrupter())
    code = execute(sys.argv[1:]) if open_closed() else _tell(CLOSED, BAD_INPUT)
    drop_unwritten()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # nothing is left to be interrupted
    gc.freeze()  # the end of the process frees everything: looking for garbage first takes 0.2 s
    sys.exit(code)


def interrupter() -> Callable[[int, Any], None]:
    """Return a handler of Ctrl-C that raises KeyboardInterrupt, but not again while the first is handled."""
    last = -GRACE

    def interrupt(_: int, __: Any) -> None:
        nonlocal last
        if monotonic() - last >= GRACE:
            last = monotonic()
            raise KeyboardInterrupt

    return interrupt


def execute(arguments: Sequence[str]) -> int:
    """Return the exit code: 0; 1 for wrong values; 2 for bad input, explained in one line; 130 when interrupted."""
    try:
        _check_command(arguments)
        outcome = application(arguments)(list(arguments) or ["--help"], prog_name="gpusim", standalone_mode=False)
    except SystemExit:
        return 0  # typer raises it for a broken pipe: the reader of the output has closed it
    except (UserError, typer.TyperException, KeyboardInterrupt, MemoryError, OSError) as error:
        if isinstance(error, ExecutionError):
            from gpusim.support.written import written  # noqa: PLC0415  (start-up time)

            written(error)
        return _tell(*_explained(error), *getattr(error, "further", ()))
    if outcome == INTERRUPTED:  # typer returns it for Ctrl-C in a command
        return _tell(*_explained(KeyboardInterrupt()))
    return outcome if isinstance(outcome, int) else 0


def _check_command(arguments: Sequence[str]) -> None:
    """Raise UserError where a kernel stands in place of a command."""
    word = next(iter(arguments), "-")
    if word in COMMANDS or word.startswith("-"):
        return
    from gpusim.launch.file.files import is_launch  # noqa: PLC0415  (start-up time)
    from workloads.catalog import CATALOG  # noqa: PLC0415

    if word in CATALOG or ((is_launch(word) or word.endswith(".asm")) and Path(word).is_file()):
        raise UserError(f"{word}: a kernel is no command; gpusim run {word} simulates it")


def _explained(error: BaseException) -> tuple[str, int]:
    """The message of an error, and the exit code."""
    match error:
        case UserError():
            return str(error), error.exit_code
        case typer.TyperException():
            context = getattr(error, "ctx", None)
            command = context.command_path if context else "gpusim"
            message = RENAMED.get((command, getattr(error, "option_name", "")), error.format_message())
            message = message.replace(": Value error, ", ": ")  # as Pydantic words what a type refuses
            return f"{command}: {message}{'' if message[-1:] in '.?!' else '.'} See `{command} --help`", BAD_INPUT
        case KeyboardInterrupt():
            return "interrupted", INTERRUPTED
        case OSError():
            return f"{error.filename or 'output'}: {(error.strerror or str(error)).lower()}", BAD_INPUT
    return "out of memory; ask for less: a smaller size or space, or fewer at a time", BAD_INPUT


def application(arguments: Sequence[str]) -> typer.Typer:
    """Return the command-line application, in which only the commands named in `arguments` are imported.

    The others have only their line of help, so that `--help` loads neither NumPy nor a compiler.
    """
    app = typer.Typer(
        cls=_Commands,
        rich_markup_mode=None,
        help="Instruction-level GPU pipeline simulator: values, cycles and the analytic bound in one run.",
        epilog="Example: gpusim machines gtx580",
    )
    app.callback()(_options)
    words = {*arguments, *_completed()}
    for name, text in COMMANDS.items():
        function = _command(name) if name in words else _nothing
        app.command(name, short_help=text, cls=Grouped)(function)
    return app


def _completed() -> list[str]:
    """Return the words of the command line that a shell asks to complete, as typer's scripts pass them."""
    return f"{os.environ.get('COMP_WORDS', '')} {os.environ.get('_TYPER_COMPLETE_ARGS', '')}".split()


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415  (start-up time)

        sys.stdout.write(f"gpusim {version('gpusim')}\n")
        raise typer.Exit


def function_of(name: str) -> Callable[..., Any]:
    """Return the function of a command, as it is declared."""
    folder = next(FOLDERS[group] for group, names in GROUPS.items() if name in names)
    function: Callable[..., Any] = getattr(import_module(f"gpusim.commands.{folder}.{name}"), name)
    return function


@cache
def _command(name: str) -> Callable[..., None]:
    from gpusim.commands.frame.command import flat  # noqa: PLC0415  (start-up time)

    function = flat(function_of(name))
    if not gc.isenabled():  # this is the process of a command line, in `main`
        gc.freeze()
        gc.enable()
    return function


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


def _nothing() -> None:
    pass


def _tell(message: str, code: int, *further: str) -> int:
    for line in (message, *further):
        tell(f"error: {one_line(line)}\n", anew=True)
    return code


if __name__ == "__main__":
    main()
