"""Compile entries and rules on demand, and give them to the cache.

An entry becomes one function of an address, at which its arguments' words are (gpusim/sm/jit/arguments.py).
"""

from __future__ import annotations

import ctypes
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core.runtime import rtsys
from numba.core.types.misc import unliteral
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from gpusim.sm.jit import loading
from gpusim.sm.jit.code_cache import Kept
from gpusim.sm.jit.compiler import demanded, lane_words, lanes, primitives, vectors  # noqa: F401  (forms)
from gpusim.sm.jit.compiler.linking import OPTIONS, EntryDispatcher
from gpusim.sm.jit.entry import Code, Entry, Rule

LONG = ir.IntType(64)
RUNTIME = ("Py", "_Py", "numba_", "NRT_")  # what code of Numba's may call, and code from the cache may not


def called(rule: Rule) -> Any:
    """Return the type under which Numba compiles calls of a rule."""
    demanded.register()
    return types.Dispatcher(rule.dispatcher)


def compiled_entry(entry: Entry, given: tuple[Any, ...]) -> tuple[Code, Kept | None]:
    """Compile an entry for these arguments; the second result is for the cache, or None if this can't be kept.

    Raises TypeError if the entry returns anything but a number or None.
    """
    demanded.register()
    unpacked = _unpacked([numba.typeof(value) for value in given])

    def outer(words: int) -> Any:
        return entry(*unpacked(words))

    outer.__qualname__, outer.__module__ = entry.py_func.__qualname__, entry.py_func.__module__
    return compiled(outer, types.int64)


def compiled(function: Any, *kinds: Any, returned: Any = None) -> tuple[Code, Kept | None]:
    """Compile a function for arguments of these kinds, as `compiled_entry` does."""
    demanded.register()
    dispatcher = EntryDispatcher(function)
    rtsys.initialize(dispatcher.targetctx)  # what Numba's code may call
    dispatcher.compile(returned(*kinds) if returned else kinds)
    result = dispatcher.overloads[kinds]
    library, symbol = result.library, result.fndesc.llvm_func_name
    begin = int(library.get_pointer_to_function(symbol))
    returns = str(unliteral(result.signature.return_type))
    names = {one.name for one in library.asks_for()} - loading.KNOWN.keys()
    alone = not library.has_dynamic_globals and not any(name.startswith(RUNTIME) for name in names)
    kept = Kept(symbol, returns, library.serialize_using_object_code()[2][0]) if alone else None
    return Code(begin, returns, dispatcher, cached=False), kept


def _unpacked(kinds: list[Any]) -> Any:
    """Return a function of an address that gives the arguments whose words are there."""

    @intrinsic
    def unpacked(_typing: Any, _words: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, given: Any) -> Any:
            words = _Words(context, builder, builder.inttoptr(given[0], LONG.as_pointer()))
            return words.value(to)

        return to(types.int64), generate

    to = types.Tuple(kinds)
    return unpacked


class _Words:
    """The code that reads words one after the other."""

    def __init__(self, context: Any, builder: Any, begin: Any) -> None:
        self.context, self.builder, self.begin, self.read = context, builder, begin, 0

    def word(self) -> Any:
        """Generate the read of the next word."""
        self.read += 1
        return self.builder.load(self.builder.gep(self.begin, [LONG(self.read - 1)]))

    def value(self, kind: Any) -> Any:
        """Generate the argument of that kind that comes next."""
        if isinstance(kind, types.BaseTuple):
            return self.context.make_tuple(self.builder, kind, [self.value(one) for one in kind.types])
        if isinstance(kind, types.Array):
            return self._array(kind)
        word, of = self.word(), self.context.get_value_type(kind)
        if isinstance(kind, types.Record):
            return self.builder.inttoptr(word, of)
        if isinstance(kind, types.Float):
            number = self.builder.bitcast(word, ir.DoubleType())
            return number if kind.bitwidth == 64 else self.builder.fptrunc(number, of)
        return word if of == LONG else self.builder.trunc(word, of)

    def _array(self, kind: Any) -> Any:
        data, *parts = [self.word() for _ in range(1 + 2 * kind.ndim)]
        array = make_array(kind)(self.context, self.builder)
        element = self.context.get_data_type(kind.dtype)
        populate_array(
            array,
            data=self.builder.inttoptr(data, element.as_pointer()),
            shape=parts[: kind.ndim],
            strides=parts[kind.ndim :],
            itemsize=LONG(self.context.get_abi_sizeof(element)),
            meminfo=None,
            parent=None,
        )
        return array._getvalue()


def raise_again(status: int, error: int) -> None:
    """Raise what compiled code has left as its error: Numba raises it where code fails that fails in the same way."""

    def failed(_result: Any, place: Any, *_: Any) -> int:
        ctypes.c_int64.from_address(place).value = error
        return status

    shape = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64, ctypes.c_int64)
    called_back = shape(failed)
    begin = ctypes.cast(called_back, ctypes.c_void_p).value

    @intrinsic
    def fail(_typing: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, _given: Any) -> Any:
            return demanded.call_at(context, builder, LONG(begin), signature, [])

        return types.none(), generate

    numba.njit(lambda: fail(), **OPTIONS)()  # noqa: PLW0108
