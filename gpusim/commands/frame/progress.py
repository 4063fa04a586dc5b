"""Progress of long commands on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread
from typing import Protocol, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from gpusim.commands.streams import tell
from gpusim.support.plural import plural
from isa.support.escaped import escaped

T = TypeVar("T")
PATIENCE = 2.0  # seconds before a terminal shows anything
PERIOD = 10.0  # seconds between two lines where stderr is no terminal
WINDOW = 600.0  # seconds over which the speed is measured: a block may take minutes
AFTER = "values and bound"  # what is left of a simulation when its last block is done
ENTRIES = {  # what is compiled, and its module and name; the engines share nearly all of their code
    "engine": ("the engine", "gpusim.engines.compiled", "advance_*"),
    "walk": ("the walk through blocks", "gpusim.engines.walks.waits.one_block", "run"),
    "count": ("the count of blocks", "gpusim.engines.walks.counting.block_counts", "count"),
    "timeline": ("the caches of timelines", "gpusim.sm.memory.cache.cache", "serve"),
}


class Tell(Protocol):
    """A function that takes the number done, the total, and a remark."""

    def __call__(self, done: int, total: int, remark: str = "") -> None:
        """Show the progress."""


class _Counts(ProgressColumn):
    """A column with the number done and the total."""

    def render(self, task: Task) -> Text:
        """Return the counts; nothing before they are known."""
        return Text(_counts(task))


@contextmanager
def shown(name: str, noun: str = "block", *, alike: bool = True) -> Iterator[Tell]:
    """Give the function that takes how many are done and in all; the time is shown without a call, too.

    Its remark, such as the best so far, is shown after the name.

    A terminal shows a bar after two seconds; any other stderr gets a line every ten. Both estimate the time left if
    all items take `alike` long. Output meanwhile appears above the bar if stdout is a terminal too.
    """
    left = (TimeRemainingColumn(),) if alike else ()
    columns = TextColumn("{task.description}", markup=False), BarColumn(), _Counts(), TimeElapsedColumn(), *left
    both = sys.stdout.isatty()
    bar = Progress(
        *columns, console=Console(stderr=True), transient=True, speed_estimate_period=WINDOW, redirect_stdout=both
    )
    task, over = bar.add_task(escaped(name), total=None, noun=noun, alike=alike), Event()
    show = Thread(target=_bar if bar.console.is_terminal else _lines, args=(bar, over), daemon=True)
    show.start()
    try:
        yield lambda done, total, remark="": bar.update(
            task, completed=done, total=total, description=escaped(f"{name}, {remark}" if remark else name)
        )
    finally:
        over.set()
        show.join()


def of_run(tell: Tell) -> Callable[[int, int], None]:
    """Return the function that shows the progress of a simulation, and what follows when all blocks are done."""
    return lambda done, total: tell(done, total, AFTER if done == total else "")


def told(
    name: str,
    found: Generator[T, None, None],
    total: int,
    noun: str = "block",
    *,
    alike: bool = True,
    known: Sequence[T] = (),
) -> list[T]:
    """Return what is `known` of a total and what is found then, and show meanwhile how many are there."""
    every = list(known)
    with shown(name, noun, alike=alike) as tell, closing(found):
        tell(len(every), total)
        for one in found:
            every.append(one)
            tell(len(every), total)
    return every


def keep(found: Generator[T, None, None], add: Callable[[T], None]) -> Generator[T, None, None]:
    """Give what is found, and add each to what is kept on file."""
    with closing(found):
        for one in found:
            add(one)
            yield one


@contextmanager
def keeping(path: Path | None) -> Iterator[None]:
    """Tell on stderr, if Ctrl-C ends the block, that the file keeps the results so far, if it has any."""
    try:
        yield
    except KeyboardInterrupt:
        if path and path.is_file() and path.read_bytes().count(b"\n") > 1:  # the first line says of what
            tell(f"{path} keeps the results so far; the same command continues from there\n")
        raise


def _bar(bar: Progress, over: Event) -> None:
    if not over.wait(PATIENCE):
        with bar:
            over.wait()


def _lines(bar: Progress, over: Event) -> None:
    while not over.wait(PERIOD):
        tell(f"{_line(bar.tasks[0])}\n")


def _line(task: Task) -> str:
    left = f", about {_clock(task.time_remaining)} left" if task.fields["alike"] and task.time_remaining else ""
    counts = f"{_counts(task)}, " if task.total else ""
    return f"{task.description}: {counts}{_clock(task.elapsed or 0.0)} so far{left}"


def _counts(task: Task) -> str:
    return f"{task.completed:.0f} of {plural(int(task.total), task.fields['noun'])}" if task.total else ""


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=int(seconds)))


def begin_compiling(entry: str = "engine") -> None:
    """Announce on stderr that one of the ENTRIES will be compiled, if the cache has no code of it.

    With the engine a second process is started, which compiles what else a run needs, while this one compiles.
    """
    from gpusim.sm.jit import code_cache  # noqa: PLC0415  (only `run` compiles)
    from gpusim.sm.jit.rule import COMPILED  # noqa: PLC0415

    what, *where = ENTRIES.get(entry, ("", "", ""))
    if what and COMPILED and not code_cache.holds(*where):
        often = "once per installation: " if code_cache.directory() else ""
        tell(f"compiling {what}, {often}about half a minute\n")
        if entry == "engine":
            from gpusim.engines import beforehand  # noqa: PLC0415

            beforehand.begin()
            beforehand.compile_acts()
