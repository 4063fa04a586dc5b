"""What a long run tells on stderr while it lasts."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from gpusim.engines.simulate import Progress as Told
from gpusim.rule import COMPILED

PATIENCE = 2.0  # seconds before anything is shown
ENTRIES = {"compiled": "compiled.run*.nbc", "reference": "step.act*.nbc"}  # files of compiled code


@contextmanager
def shown(name: str) -> Iterator[Told]:
    """Give the function to be told blocks done and blocks in all; on a terminal a bar appears after two seconds."""
    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed}/{task.total} blocks")
    bar = Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=Console(stderr=True), transient=True)
    task = bar.add_task(name, total=None)
    began = time.monotonic()

    def tell(done: int, total: int) -> None:
        bar.update(task, completed=done, total=total)
        if bar.console.is_terminal and time.monotonic() - began > PATIENCE and not bar.live.is_started:
            bar.start()

    try:
        yield tell
    finally:
        if bar.live.is_started:
            bar.stop()


def tell_of_compiling(engine: str) -> None:
    """Say on stderr that the engine will be compiled, if no compiled one is in the cache."""
    settings: Any = numba.config
    if engine in ENTRIES and COMPILED and not any(Path(settings.CACHE_DIR).rglob(ENTRIES[engine])):
        sys.stderr.write("compiling the engine, once per installation: about half a minute\n")
