"""Calls of rules on demand, generated: the caller looks up an address in a cell of its own, and calls that."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import lower_builtin, type_callable

from gpusim.sm.jit import on_demand
from gpusim.sm.jit.compiler.kinds import KINDS
from gpusim.sm.jit.entry import FURTHER
from gpusim.sm.jit.loading import ADDRESS
from gpusim.sm.records import Sm

LONG = ir.IntType(64)
ASK = ir.FunctionType(LONG, [LONG, LONG])
REGISTERED: set[int] = set()


def register() -> None:
    """Tell Numba of all primitives and rules on demand that it does not know yet."""
    while FURTHER:
        FURTHER.pop()()
    for key in on_demand.RULES.keys() - REGISTERED:
        REGISTERED.add(key)
        _register(key)


def kind_of(key: int) -> Any:
    """Return the signature of the rules of a key."""
    found = on_demand.RULES[key]
    if found.choose:
        return types.none(KINDS[Sm])
    hints = get_type_hints(found.functions[0])
    returned = hints.pop("return")
    return KINDS[returned](*(KINDS[hint] for hint in hints.values()))


def _register(key: int) -> None:
    found, kind = on_demand.RULES[key], kind_of(key)
    if found.choose:
        chosen = types.none(types.int64, *kind.args)
        _call_by_address(found.choose, key, chosen, lambda arguments: (arguments[0], arguments[1:]))
    else:
        _call_by_address(found.functions[0], key, kind, lambda arguments: (LONG(0), arguments))


def call_at(context: Any, builder: Any, begin: Any, kind: Any, arguments: Any) -> Any:
    """Generate a call of the function of that signature at address `begin`; its errors become errors of the caller."""
    shape = context.call_conv.get_function_type(kind.return_type, kind.args)
    callee = builder.inttoptr(begin, shape.as_pointer())
    status, result = context.call_conv.call_function(builder, callee, kind.return_type, kind.args, arguments)
    with cgutils.if_unlikely(builder, status.is_error):
        context.call_conv.return_status_propagate(builder, status)
    return result


def _call_by_address(function: Callable[..., Any], key: int, kind: Any, split: Callable[[Any], Any]) -> None:
    """Let compiled code that calls a function look up an address instead, and call that.

    `split` separates the index from the arguments.
    """

    def typing(_context: Any) -> Any:
        def typed(*_kinds: Any) -> Any:
            return kind

        typed.pysig = inspect.signature(function)  # type: ignore[attr-defined]  # an attribute that Numba looks for
        return typed

    def generate(context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        index, arguments = split(given)
        begin = _looked_up(context, builder, key, index)
        return call_at(context, builder, begin, kind_of(key), arguments)

    type_callable(function)(typing)
    lower_builtin(function, *kind.args)(generate)


def _looked_up(context: Any, builder: Any, key: int, index: Any) -> Any:
    """Return the address in this caller's cell; if the cell is empty, ask first. Without an answer the caller fails."""
    kind = ir.ArrayType(LONG, len(on_demand.RULES[key].functions))
    cells = cgutils.add_global_variable(builder.module, kind, f"on_demand_{key}")
    cells.linkage, cells.initializer = "internal", ir.Constant(kind, None)
    cell = builder.gep(cells, [LONG(0), index])
    with builder.if_then(builder.icmp_unsigned("==", builder.load(cell), LONG(0)), likely=False):
        ask = cgutils.get_or_insert_function(builder.module, ASK, ADDRESS)
        answer = builder.call(ask, [LONG(key), index])
        with builder.if_then(builder.icmp_unsigned("==", answer, LONG(0)), likely=False):
            context.call_conv.return_exc(builder)
        builder.store(answer, cell)
    return builder.load(cell)
