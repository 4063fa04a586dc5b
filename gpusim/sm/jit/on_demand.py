"""Rules that few launches need: each is compiled by itself when it is first called, and called by address.

A rule includes every rule that it calls, so an engine would be compiled with every mechanism of every machine, and with
every instruction, before the first cycle. Rules that are `on_demand`, and those among which `one_on_demand` chooses,
are left out. Each caller keeps the address of such a rule in a cell of its own, and asks for it (`address`) while the
cell is empty. Called from Python they are plain functions.
"""

from __future__ import annotations

import ctypes
import hashlib
import inspect
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar, get_type_hints

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import lower_builtin, type_callable

from gpusim.sm.jit import kept_error, sources
from gpusim.sm.jit.kinds import KINDS
from gpusim.sm.jit.rule import COMPILED, entry
from gpusim.sm.records import Sm
from gpusim.support.interruption import held_back

F = TypeVar("F", bound=Callable[..., Any])

LONG = ir.IntType(64)
ASK = ir.FunctionType(LONG, [LONG, LONG])
SYMBOL = "gpusim_address_of_rule"
RULES: dict[int, tuple[Sequence[Callable[..., Any]], Any]] = {}  # by the key of their name, and their signature


def on_demand(function: F) -> F:
    """Return the rule, kept out of the code of its callers.

    Each parameter is annotated with a class of gpusim.sm.jit.kinds.KINDS; the result with int, bool or None.
    """
    if not COMPILED:
        return function
    hints = get_type_hints(function)
    returned = hints.pop("return")
    kind = KINDS[returned](*(KINDS[hint] for hint in hints.values()))
    key = _known(_name(function), [function], kind)
    _call_by_address(function, key, 1, kind, lambda arguments: (LONG(0), arguments))
    return function


def one_on_demand(name: str, functions: Sequence[Callable[[Sm], None]]) -> Callable[[int, Sm], None]:
    """Return a rule f(index, sm) that calls the index-th of some rules of one parameter, `sm`."""

    def choose(index: int, sm: Sm) -> None:
        functions[index](sm)

    if COMPILED:
        kind = types.none(types.int64, KINDS[Sm])
        key = _known(name, functions, types.none(KINDS[Sm]))
        _call_by_address(choose, key, len(functions), kind, lambda arguments: (arguments[0], arguments[1:]))
    return choose


def _known(name: str, functions: Sequence[Any], kind: Any) -> int:
    """Remember rules of one signature; return the key by which compiled code calls them in any process."""
    key = _key(name)
    RULES[key] = functions, kind
    for module in {function.__module__ for function in functions}:  # as it is imported, before any edit
        sources.read(module)
    return key


def _name(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def _key(name: str) -> int:
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
    functions, kind = RULES[key]
    return begin_of(dispatcher_of(functions[index]), kind)


def _asked(key: int, index: int) -> int:
    """Return the same to compiled code, or 0 for an error, such as that of a signal handler: its entry raises it."""
    try:
        return address(key, index)
    except BaseException as error:  # compiled code passes on none
        kept_error.keep(error)
        return 0


@cache
def dispatcher_of(function: Callable[..., Any]) -> Any:
    """Return what compiles a rule, kept with its code: few of all rules are ever asked for."""
    return entry(function)


def begin_of(dispatcher: Any, kind: Any) -> int:
    """Return the address of a function's code, compiled now for that signature and kept as long as the dispatcher.

    Raises NumbaError if Numba cannot compile it.
    """
    dispatcher.compile(kind)
    code = dispatcher.overloads[kind.args]
    return int(code.library.get_pointer_to_function(code.fndesc.llvm_func_name))


def call_at(context: Any, builder: Any, begin: Any, kind: Any, arguments: Any) -> Any:
    """Generate a call of the function of that signature at address `begin`; its errors become errors of the caller."""
    shape = context.call_conv.get_function_type(kind.return_type, kind.args)
    callee = builder.inttoptr(begin, shape.as_pointer())
    status, result = context.call_conv.call_function(builder, callee, kind.return_type, kind.args, arguments)
    with cgutils.if_unlikely(builder, status.is_error):
        context.call_conv.return_status_propagate(builder, status)
    return result


def _call_by_address(
    function: Callable[..., Any], key: int, count: int, kind: Any, split: Callable[[Any], Any]
) -> None:
    """Let compiled code that calls a function look up an address among `count` ones instead, and call that.

    `split` separates the index from the arguments.
    """

    def typing(_context: Any) -> Any:
        def typed(*_kinds: Any) -> Any:
            return kind

        typed.pysig = inspect.signature(function)  # type: ignore[attr-defined]  # an attribute that Numba looks for
        return typed

    def generate(context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        index, arguments = split(given)
        begin = _looked_up(context, builder, key, count, index)
        return call_at(context, builder, begin, RULES[key][1], arguments)

    type_callable(function)(typing)
    lower_builtin(function, *kind.args)(generate)


def _looked_up(context: Any, builder: Any, key: int, count: int, index: Any) -> Any:
    """Return the address in this caller's cell; if the cell is empty, ask first. Without an answer the caller fails."""
    kind = ir.ArrayType(LONG, count)
    cells = cgutils.add_global_variable(builder.module, kind, f"on_demand_{key}")
    cells.linkage, cells.initializer = "internal", ir.Constant(kind, None)
    cell = builder.gep(cells, [LONG(0), index])
    with builder.if_then(builder.icmp_unsigned("==", builder.load(cell), LONG(0)), likely=False):
        ask = cgutils.get_or_insert_function(builder.module, ASK, SYMBOL)
        answer = builder.call(ask, [LONG(key), index])
        with builder.if_then(builder.icmp_unsigned("==", answer, LONG(0)), likely=False):
            context.call_conv.return_exc(builder)
        builder.store(answer, cell)
    return builder.load(cell)


CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(_asked)
binding.add_symbol(SYMBOL, ctypes.cast(CALLBACK, ctypes.c_void_p).value or 0)
