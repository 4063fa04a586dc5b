"""How compiled rules become one program: an entry links every rule that it reaches and optimises them together.

Numba optimises each function and emits machine code for it as soon as it is compiled, together with all that it calls:
the deepest rules would be worked on once for every rule above them. A rule is only reached from entries, so it is kept
as plain LLVM code until an entry takes it. This halves the time of the first compile.

All of it is a compiler of our own made of Numba's parts: what others compile with Numba, even from inside a rule, is
compiled as if we weren't there.
"""

from __future__ import annotations

import secrets
from itertools import count
from typing import Any

from numba import types
from numba.core import ir
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import DumpParforDiagnostics, InlineOverloads, PreLowerStripPhis
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

from gpusim.jit.code_cache import CodeCache

NARROW = types.int8, types.uint8, types.int32  # columns of records: small numbers, which int64 holds as they are


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

    def alone(self) -> Any:
        """Return the rule's own code, as libraries of Numba return theirs."""
        return super()._get_module_for_linking()

    def _get_module_for_linking(self) -> Any:
        """Return the rule with all below it, for what isn't ours and calls it, such as a user's policy."""
        below: dict[Any, None] = {}
        _collect(self, below)
        module = self.alone().clone()
        for library in [*reversed(below)][1:]:
            module.link_in(_Alone(library)._get_module_for_linking(), preserve=True)
        return module


class _Alone:
    """A library without what lies below it, as an entry links each by itself."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self._reload_init = library._reload_init

    def _get_module_for_linking(self) -> Any:
        rule = isinstance(self._library, RuleLibrary)
        return self._library.alone() if rule else self._library._get_module_for_linking()


class EntryLibrary(JITCodeLibrary):
    """The code of an entry with every rule below it."""

    def finalize(self) -> None:
        """Link callers before what they call (LLVM drops what nothing has asked for yet), then optimise everything."""
        self._own = {function.name for function in self._final_module.functions if not function.is_declaration}
        below: dict[Any, None] = {}
        _collect(self, below)
        del below[self]
        self._linking_libraries = [_Alone(library) for library in reversed(below)]
        super().finalize()

    def _finalize_final_module(self) -> None:
        """Keep to itself what was linked: a name of another process may be that of something else in this one."""
        for function in self._final_module.functions:
            if not function.is_declaration and function.name not in self._own:
                function.linkage = "internal"
        super()._finalize_final_module()


def _collect(library: Any, into: dict[Any, None]) -> None:
    """Add a library behind everything that it needs."""
    if library in into:
        return
    if isinstance(library, RuleLibrary | EntryLibrary):
        for needed in library._linking_libraries:
            _collect(needed, into)
    into[library] = None


@register_pass(mutates_CFG=False, analysis_only=False)
class IndexFromStart(FunctionPass):
    """Takes every index that isn't constant as an unsigned number, which Numba needn't look at for being negative.

    That look took 5 % of the engine's time. A rule that indexes with -1 so reads what lies before the array.
    """

    _name = "index_from_start"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Change the types that the compiler casts indices of arrays to."""
        for access in [code for code in state.calltypes if _is_access(code)]:
            array, index, *value = state.calltypes[access].args
            if isinstance(array, types.Array):
                before = state.calltypes.pop(access)  # it takes no second one
                kind = _unsigned(index, state.typemap[access.index.name])
                state.calltypes[access] = before.replace(args=(array, kind, *value))
        return False


def _is_access(code: Any) -> bool:
    return isinstance(code, ir.SetItem) or (isinstance(code, ir.Expr) and code.op == "getitem")


def _unsigned(kind: Any, given: Any) -> Any:
    """The type of an index, of which it is known what is given for it, as one without a sign."""
    if isinstance(kind, types.BaseTuple):
        return types.Tuple([_unsigned(*each) for each in zip(kind, given, strict=True)])
    plain = isinstance(kind, types.Integer) and not isinstance(given, types.Literal)
    return types.uintp if plain else kind


class _Brief(tuple[Any, ...]):
    """The types of a rule's arguments, which Numba spells out for each pass: a tenth of all time, for large records."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{len(self)} arguments"


class _Shared(Flags):
    """Options that many rules have in common, and nobody changes: compared and hashed at once.

    Numba does both for each call that it types, option by option: a twelfth of all time.
    """

    __slots__ = ("_hashed",)

    def __init__(self, flags: Flags) -> None:
        super().__init__(flags)
        self._hashed = super().__hash__()

    def copy(self) -> Flags:
        """Return the same options."""
        return self

    def __hash__(self) -> int:
        return self._hashed

    def __eq__(self, other: object) -> bool:
        return self is other or super().__eq__(other)


SHARED: dict[Flags, _Shared] = {}
NUMBERS = count(secrets.randbits(48))

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
    """Numba's compiler, where indices count from the first element.

    An entry's code is linked by name, and in a name only a running number tells two kinds of arguments apart. Two
    processes that count alike and cache different ones would give one name to both, and a third process that loads both
    would run the wrong one. So each process starts counting at a number of its own.
    """

    library: type[JITCodeLibrary]

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        flags = self.state.flags
        self.state.flags = SHARED.get(flags) or SHARED.setdefault(flags.copy(), _Shared(flags))

    def define_pipelines(self) -> Any:
        """Return Numba's own passes, into a library of ours; object caching lets an entry be stored on disk."""
        state = self.state
        state.args = _Brief(state.args)
        state.func_id.unique_id = next(NUMBERS)
        state.func_id.unique_name = f"{state.func_id.func_qualname}${state.func_id.unique_id}"
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        pipelines = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.passes = [step for step in pipeline.passes if step[0] not in NEEDLESS]
            pipeline.add_pass_after(IndexFromStart, PreLowerStripPhis)
            pipeline.finalize()
        return pipelines


class RuleCompiler(_OurCompiler):
    """The compiler of rules, into libraries without machine code."""

    library = RuleLibrary


class EntryCompiler(_OurCompiler):
    """The compiler of entries, into libraries with every rule below them."""

    library = EntryLibrary


class RuleDispatcher(CPUDispatcher):
    """A rule, which is not compiled anew for each constant or width of number passed to it."""

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        super().__init__(function, targetoptions={"nopython": True, **options}, pipeline_class=RuleCompiler)

    def get_call_template(self, arguments: Any, keywords: Any) -> Any:
        """Numba's, for arguments of the widest kind."""
        named = {name: _wide(kind) for name, kind in keywords.items()}
        return super().get_call_template(tuple(map(_wide, arguments)), named)


class EntryDispatcher(CPUDispatcher):
    """An entry, whose code is kept in a cache of ours."""

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        super().__init__(function, targetoptions={"nopython": True, **options}, pipeline_class=EntryCompiler)
        self._cache = CodeCache(function)
