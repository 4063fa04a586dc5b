"""Rules and entries as Python sees them: a rule runs as plain Python, an entry calls compiled code.

Numba is imported only where code is compiled: its import takes longer than a small simulation.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cached_property, update_wrapper
from threading import RLock
from typing import Any, NamedTuple

from gpusim.sm.jit import arguments, code_cache, kept_error, loading
from gpusim.sm.jit.code_cache import Kept

# As Numba calls code: it returns a status, and takes where the result goes, where an exception goes, and the arguments.
SHAPE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
RETURNED: dict[str, Any] = {  # by Numba's name of it
    "none": None,
    "bool": ctypes.c_bool,
    "float64": ctypes.c_double,
    "float32": ctypes.c_float,
    **{name: getattr(ctypes, f"c_{name}") for name in INTEGERS},
}
LOCK = RLock()  # threads of one launch ask for the same code
FOUND: dict[
    tuple[Callable[..., Any], str], Code
] = {}  # kept for ever: LLVM unloads code that nobody holds, in use or not
FURTHER: list[Callable[[], None]] = []  # called before anything is compiled: they tell Numba of further primitives


class Code(NamedTuple):
    """Compiled code in memory: where it begins, what it returns, what holds it, and whether it is from the cache."""

    begin: int
    returns: str
    holder: Any
    cached: bool


class Rule:
    """A rule, which runs as plain Python; Numba gets its dispatcher, made when code that calls the rule is compiled.

    There are hundreds of rules, and compiled code from the cache needs no dispatcher of any.
    """

    def __init__(self, function: Any, *, inlined: bool) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self.inlined = inlined

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Run the rule as plain Python, with the rules that it calls: only compiled code calls a compiled rule."""
        return self.py_func(*arguments, **named)

    @cached_property
    def dispatcher(self) -> Any:
        """Return what compiles the rule."""
        from gpusim.sm.jit.compiler import linking  # noqa: PLC0415  (start-up time)

        return linking.RuleDispatcher(self.py_func, inlined=self.inlined)

    @property
    def _numba_type_(self) -> Any:
        """Return the type under which Numba compiles calls of the rule; Numba asks for it by this name."""
        from gpusim.sm.jit.compiler import entries  # noqa: PLC0415  (start-up time)

        return entries.called(self)


class Entry(Rule):
    """An entry, whose code is kept in our cache: called from Python, the code runs."""

    def __init__(self, function: Any) -> None:
        super().__init__(function, inlined=False)
        self.codes: dict[Any, tuple[Any, Any, Code]] = {}  # by the kinds of arguments

    def __call__(self, *given: Any) -> Any:
        """Run the code; raises the error that ended it, where Python was asked for the code of a rule."""
        kinds = tuple(map(arguments.kind, given))
        call, returned, _ = self.codes.get(kinds) or self._known(kinds, given)
        words, result, error = arguments.block(given), ctypes.c_int64(), ctypes.c_int64()
        status = call(ctypes.addressof(result), ctypes.addressof(error), ctypes.addressof(words))
        if status:
            _fail(status, error.value)
        return returned and returned.from_buffer(result).value

    def _known(self, kinds: tuple[Any, ...], given: tuple[Any, ...]) -> tuple[Any, Any, Code]:
        """Find the code for such arguments, and remember it."""
        code = found(self.py_func, arguments.named(kinds), lambda: _compiled_entry(self, given))
        self.codes[kinds] = SHAPE(code.begin), RETURNED[code.returns], code
        return self.codes[kinds]


def found(function: Callable[..., Any], kinds: str, compiled: Callable[[], tuple[Code, Kept | None]]) -> Code:
    """Return the code of a function for such arguments: from the cache, or compiled now and kept there."""
    with LOCK:
        if (function, kinds) not in FOUND:
            FOUND[function, kinds] = _found(function, kinds, compiled)
        return FOUND[function, kinds]


def _found(function: Callable[..., Any], kinds: str, compiled: Callable[[], tuple[Code, Kept | None]]) -> Code:
    kept = code_cache.load(function, kinds)
    loaded = kept and loading.loaded(kept.symbol, kept.code)
    if kept and loaded:
        return Code(loaded.begin, kept.returns, loaded, cached=True)
    code, kept = compiled()
    if kept:
        code_cache.save(function, kinds, kept)
    return code


def _compiled_entry(entry: Entry, given: tuple[Any, ...]) -> tuple[Code, Kept | None]:
    from gpusim.sm.jit.compiler import entries  # noqa: PLC0415  (start-up time)

    return entries.compiled_entry(entry, given)


def _fail(status: int, error: int) -> None:
    """Raise the error that ended compiled code: what Python was asked for in between, or an exception of a policy."""
    kept = kept_error.taken()
    if kept is not None:
        raise kept from None
    from gpusim.sm.jit.compiler import entries  # noqa: PLC0415  (only a registered policy raises any)

    entries.raise_again(status, error)
