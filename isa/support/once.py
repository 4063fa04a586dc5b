"""Functions of a frozen object whose results are kept with it, as `functools.cached_property` keeps its own.

Points of a sweep share programs and launches; what follows from these alone is worked out once for all points. Results
are shared, so nobody may change them. They are not pickled with the object.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from isa.support.frozen import KEPT

P = ParamSpec("P")
T = TypeVar("T")
_R = TypeVar("_R")


def once(function: Callable[Concatenate[T, P], _R]) -> Callable[Concatenate[T, P], _R]:
    """Return the function of an object and of what can be hashed, called once for each object and arguments."""

    @wraps(function)
    def kept(of: T, /, *arguments: P.args, **named: P.kwargs) -> _R:
        results = of.__dict__.setdefault(KEPT, {})
        key = (function, arguments, tuple(named.items()))
        if key not in results:
            results[key] = function(of, *arguments, **named)
        return results[key]  # type: ignore[no-any-return]  # a dict of the results of all functions

    return kept
