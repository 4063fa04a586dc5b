"""How compiled rules become one program: an entry links every rule that it reaches and optimises them together.

Numba optimises each function and emits machine code for it as soon as it is compiled, together with all that it calls:
the deepest rules would be worked on once for every rule above them. A rule is only reached from entries, so it is kept
as plain LLVM code until an entry takes it. This halves the time of the first compile.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.typed_passes import DumpParforDiagnostics, InlineOverloads
from numba.core.types.misc import unliteral
from numba.core.untyped_passes import (
    FindLiterallyCalls,
    InlineClosureLikes,
    InlineInlinables,
    LiteralPropagationSubPipelinePass,
    LiteralUnroll,
    MakeFunctionToJitFunction,
    WithLifting,
)
from numba.np import arrayobj

NARROW = types.int8, types.uint8, types.int32  # columns of records: small numbers, which int64 holds as they are


def for_any_number(dispatcher: Any) -> Any:
    """Return the dispatcher, which no longer compiles anew for each constant or width of number passed to it."""
    by_literals = dispatcher.get_call_template

    def template(arguments: Any, keywords: Any) -> Any:
        named = {name: _wide(kind) for name, kind in keywords.items()}
        return by_literals(tuple(map(_wide, arguments)), named)

    dispatcher.get_call_template = template
    return dispatcher


def _wide(kind: Any) -> Any:
    plain = unliteral(kind)
    return types.int64 if plain in NARROW else plain


class _NoMachineCode:
    """Stands where Numba would note the address of compiled code's environment: a rule has none of its own."""

    def set_env(self, _name: str, _environment: Any) -> None:
        """Nothing to note."""


class RuleLibrary(JITCodeLibrary):
    """The code of one rule: not optimised, not linked with what it calls, not turned into machine code."""

    @property
    def codegen(self) -> Any:
        """Where Numba would note an address."""
        return _NoMachineCode()

    def finalize(self) -> None:
        """Take no more code."""
        self._raise_if_finalized()
        self._finalized = True

    def get_pointer_to_function(self, _name: str) -> int:
        """No machine code, no pointer."""
        self._ensure_finalized()
        return 0


class EntryLibrary(JITCodeLibrary):
    """The code of an entry with every rule below it."""

    def finalize(self) -> None:
        """Link callers before what they call (LLVM drops what nothing has asked for yet), then optimise everything."""
        below: dict[Any, None] = {}
        _collect(self, below)
        del below[self]
        self._linking_libraries = list(reversed(below))
        super().finalize()


def _collect(library: Any, into: dict[Any, None]) -> None:
    """Add a library behind everything that it needs."""
    if library in into:
        return
    if isinstance(library, RuleLibrary | EntryLibrary):
        for needed in library._linking_libraries:
            _collect(needed, into)
    into[library] = None


@contextmanager
def _no_index_from_the_end() -> Iterator[None]:
    """While this lasts, an index is not looked at for being negative, which took 5 % of the engine's time."""
    before = arrayobj.fix_integer_index

    def as_it_is(context: Any, builder: Any, kind: Any, index: Any, _size: Any) -> Any:
        return context.cast(builder, index, kind, types.intp)

    arrayobj.fix_integer_index = as_it_is
    try:
        yield
    finally:
        arrayobj.fix_integer_index = before


_spell = lru_cache(maxsize=None)(types.Record.__repr__)


@contextmanager
def _records_spelt_once() -> Iterator[None]:
    """While this lasts, the text of a record's type is made once, not in each pass of every rule: a tenth of all."""
    record: Any = types.Record
    before, record.__repr__ = record.__repr__, _spell
    try:
        yield
    finally:
        record.__repr__ = before


# Passes for what no rule has: local functions, contexts, overloads with bodies to inline, values told by their type.
NEEDLESS = {
    WithLifting,
    InlineClosureLikes,
    MakeFunctionToJitFunction,
    InlineInlinables,
    FindLiterallyCalls,
    LiteralUnroll,
    LiteralPropagationSubPipelinePass,
    InlineOverloads,
    DumpParforDiagnostics,
}


class _OurCompiler(Compiler):
    """Numba's compiler, where indices count from the first element."""

    library: type[JITCodeLibrary]

    def define_pipelines(self) -> Any:
        """Return Numba's own passes, into a library of ours; object caching lets an entry be stored on disk."""
        state = self.state
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        pipelines = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.passes = [step for step in pipeline.passes if step[0] not in NEEDLESS]
        return pipelines

    def _compile_core(self) -> Any:
        with _no_index_from_the_end(), _records_spelt_once():
            return super()._compile_core()


class RuleCompiler(_OurCompiler):
    """The compiler of rules, into libraries without machine code."""

    library = RuleLibrary


class EntryCompiler(_OurCompiler):
    """The compiler of entries, into libraries with every rule below them."""

    library = EntryLibrary
