"""Rules that few launches need: each is compiled by itself when it is first called, and called by address.

A rule includes every rule that it calls, so an engine would be compiled with every mechanism of every machine, and with
every instruction, before the first cycle. Rules that are `on_demand`, and those among which `one_on_demand` chooses,
are left out. Each caller keeps the address of such a rule in a cell of its own, and asks for it (`address`) while the
cell is empty. Called from Python they are plain functions.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar

from gpusim.sm.jit import entry, kept_error, loading
from gpusim.sm.jit.code_cache import COMPILED, Kept
from gpusim.sm.records import Sm
from gpusim.support.interruption import held_back

F = TypeVar("F", bound=Callable[..., Any])


class Demanded(NamedTuple):
    """A rule on demand, or several of one parameter `sm` and the function that chooses among them."""

    functions: Sequence[Callable[..., Any]]
    choose: Callable[[int, Sm], None] | None


RULES: dict[int, Demanded] = {}  # by the key of their name


def on_demand(function: F) -> F:
    """Return the rule, kept out of the code of its callers.

    Each parameter is annotated with a class of gpusim.sm.jit.compiler.kinds.KINDS; the result with int, bool or None.
    """
    if COMPILED:
        RULES[_key(_name(function))] = Demanded([function], None)
    return function


def one_on_demand(name: str, functions: Sequence[Callable[[Sm], None]]) -> Callable[[int, Sm], None]:
    """Return a rule f(index, sm) that calls the index-th of some rules of one parameter, `sm`."""

    def choose(index: int, sm: Sm) -> None:
        functions[index](sm)

    if COMPILED:
        RULES[_key(name)] = Demanded(functions, choose)
    return choose


def _name(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def _key(name: str) -> int:
    """Return the key by which compiled code calls rules of a name in any process."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:7])


def keep(function: Callable[..., Any]) -> None:
    """Compile a rule that is `on_demand` unless the cache has its code; raises KeyError for any other function."""
    address(_key(_name(function)), 0)


def uninterrupted(run: Callable[[int], int]) -> Callable[[int], int]:
    """Return a call of compiled code that delays Ctrl-C to its end; it first calls run(0), which does nothing.

    That call compiles the code, and Ctrl-C may end it. With NUMBA_DISABLE_JIT=1 the function itself is returned, which
    Ctrl-C may end too.
    """
    if not COMPILED:
        return run
    run(0)

    def held(until: int) -> int:
        with held_back():
            return run(until)

    return held


def address(key: int, index: int) -> int:
    """Return the address of a rule's code; the rule is compiled now if it isn't in the cache."""
    with entry.LOCK:  # else two threads would load it, and the code of one would be freed
        return code_of(key, index).begin


def _asked(key: int, index: int) -> int:
    """Return the same to compiled code, or 0 for an error, such as that of a signal handler: its entry raises it."""
    try:
        return address(key, index)
    except BaseException as error:  # compiled code passes on none
        kept_error.keep(error)
        return 0


@cache
def code_of(key: int, index: int) -> entry.Code:
    """Return a rule's code, which is kept in memory: few of all rules are ever asked for."""
    return entry.found(RULES[key].functions[index], "on demand", lambda: _compiled(key, index))


def _compiled(key: int, index: int) -> tuple[entry.Code, Kept | None]:
    from gpusim.sm.jit.compiler import demanded, entries  # noqa: PLC0415  (start-up time)

    kind = demanded.kind_of(key)
    return entries.compiled(RULES[key].functions[index], *kind.args, returned=kind.return_type)


CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(_asked)
loading.offer(loading.ADDRESS, CALLBACK)
