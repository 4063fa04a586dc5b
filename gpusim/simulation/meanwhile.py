"""Compute something during other work, which does not wait for it if it fails."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

R = TypeVar("R")


def begun(function: Callable[[], R]) -> Callable[[], R]:
    """Call the function in a thread that ends with the process; return what waits for its result, or its error."""
    future: Future[R] = Future()

    def run() -> None:
        try:
            future.set_result(function())
        except Exception as error:
            future.set_exception(error)

    Thread(target=run, daemon=True).start()
    return future.result
