"""An error that compiled code cannot pass on: kept where it happens, raised where the compiled code was called.

Compiled code asks Python for the code of a rule (gpusim/sm/jit/on_demand.py). A failure there, such as the exception of
a signal handler, ends the compiled code with an error status, and the entry raises what was kept.
"""

from __future__ import annotations

from threading import local

_KEPT = local()


def keep(error: BaseException) -> None:
    """Keep an error of this thread until `taken` asks for it; of several the first."""
    if getattr(_KEPT, "error", None) is None:
        _KEPT.error = error


def taken() -> BaseException | None:
    """Return the error that this thread keeps, and forget it; None if there is none."""
    error: BaseException | None = getattr(_KEPT, "error", None)
    _KEPT.error = None
    return error
