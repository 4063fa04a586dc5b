"""Types of the arguments that Python programs give, checked as the command line checks its options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from gpusim.support.document import Setting
from isa.errors import UserError


def typed(name: str, value: Any, kind: Any, hint: str) -> Any:
    """Return an argument's value if it is of a kind that msgspec knows; NumPy's numbers are as good as Python's.

    Raises UserError with a hint: what to give.
    """
    try:
        return msgspec.convert(value.item() if isinstance(value, np.generic) else value, kind)
    except msgspec.ValidationError:
        raise UserError(f"{name}={value!r}: give {hint}") from None


def called(name: str, value: object) -> None:
    """Raise UserError for what is neither a function nor None."""
    if value is not None and not callable(value):
        raise UserError(f"{name}={value!r}: give a function")


def settings_of(name: str, value: Any) -> Mapping[str, Setting]:
    """Return numbers and words of a machine by path; raises UserError for what maps none."""
    if not isinstance(value, Mapping):
        raise UserError(f"{name}={value!r}: give a dictionary, such as {{'unit.fp32.latency': 9}}")
    what = "a whole number or a word"
    paths = [typed(f"a path of {name}", path, str, "a text") for path in value]
    return {path: typed(f"{name}[{path!r}]", value[path], int | str, what) for path in paths}
