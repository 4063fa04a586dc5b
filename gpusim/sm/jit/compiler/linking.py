"""Link compiled rules into one program: an entry links every rule that it reaches and optimises them together.

Numba optimises each function, together with everything that it calls, and emits machine code as soon as it is compiled,
so it would process the deepest rules once for every rule above them. Only entries reach a rule, so it stays plain LLVM
code until an entry links it. This halves the time of the first compile.

This is a separate compiler made of Numba's parts: other code that is compiled with Numba, even from inside a rule, is
not affected.
"""

from __future__ import annotations

import gc
import secrets
from itertools import count
from typing import Any

from numba import types
from numba.core import ir, sigutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.compiler_lock import global_compiler_lock
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

# how this sees the state
from gpusim.sm.jit.compiler import records  # noqa: F401

OPTIONS = {"nogil": True, "error_model": "numpy"}
BARE = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "no_rewrites": True}  # compiled code alone calls rules
NARROW = (
    types.int8,
    types.uint8,
    types.int16,
    types.int32,
)  # columns of records: small numbers, which int64 holds unchanged


def _wide(kind: Any) -> Any:
    plain = unliteral(kind)
    return types.int64 if plain in NARROW else plain


class _NoMachineCode:
    """A stand-in where Numba would note the address of compiled code's environment: a rule has no environment."""

    def set_env(self, _name: str, _environment: Any) -> None:
        """Do nothing: there is no environment to note."""


class RuleLibrary(JITCodeLibrary):
    """The code of one rule: not optimised, not linked with what it calls, not turned into machine code."""

    @property
    def codegen(self) -> Any:
        """Return an object that stands in for the code generator, where Numba would note an address."""
        return _NoMachineCode()

    def _optimize_functions(self, module: Any) -> None:
        """Change nothing: an entry optimises every rule."""
        module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        """Accept no more code."""
        self._raise_if_finalized()
        self._finalized = True

    def get_pointer_to_function(self, _name: str) -> int:
        """Return 0: there is no machine code, so no pointer."""
        self._ensure_finalized()
        return 0

    def alone(self) -> Any:
        """Return the rule's own code, in the form in which Numba's libraries return theirs."""
        return super()._get_module_for_linking()

    def _get_module_for_linking(self) -> Any:
        """Return the rule with all rules below it, for callers that are neither rule nor entry: a user's policy."""
        below: dict[Any, None] = {}
        _collect(self, below)
        module = self.alone().clone()
        for library in [*reversed(below)][1:]:
            module.link_in(_Alone(library)._get_module_for_linking(), preserve=True)
        return module


class _Alone:
    """A library without the libraries below it, because an entry links each of them by itself."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self._reload_init = library._reload_init

    def _get_module_for_linking(self) -> Any:
        rule = isinstance(self._library, RuleLibrary)
        return self._library.alone() if rule else self._library._get_module_for_linking()


class EntryLibrary(JITCodeLibrary):
    """The code of an entry with every rule below it."""

    def finalize(self) -> None:
        """Link callers before their callees (LLVM drops code that nothing has asked for), then optimise everything."""
        self._own = {function.name for function in self._final_module.functions if not function.is_declaration}
        below: dict[Any, None] = {}
        _collect(self, below)
        del below[self]
        self._linking_libraries = [_Alone(library) for library in reversed(below)]
        super().finalize()

    def asks_for(self) -> list[Any]:
        """Return the functions that the code calls and does not have, without LLVM's own."""
        functions = self._final_module.functions
        return [one for one in functions if one.is_declaration and not one.name.startswith("llvm.")]

    def _finalize_final_module(self) -> None:
        """Make linked symbols private: a name from another process may mean something else in this one."""
        for function in self._final_module.functions:
            if not function.is_declaration and function.name not in self._own:
                function.linkage = "internal"
        super()._finalize_final_module()


def _collect(library: Any, into: dict[Any, None]) -> None:
    """Add a library after everything that it needs."""
    if library in into:
        return
    if isinstance(library, RuleLibrary | EntryLibrary):
        for needed in library._linking_libraries:
            _collect(needed, into)
    into[library] = None


@register_pass(mutates_CFG=False, analysis_only=False)
class IndexFromStart(FunctionPass):
    """Treat every index that isn't constant as unsigned, so that Numba does not test whether it is negative.

    That test took 5 % of the engine's time. As a result, a rule that indexes with -1 reads memory before the array.
    """

    _name = "index_from_start"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Change the types to which the compiler casts array indices."""
        for access in [code for code in state.calltypes if _is_access(code)]:
            array, index, *value = state.calltypes[access].args
            if isinstance(array, types.Array):
                before = state.calltypes.pop(access)  # it accepts no second one
                kind = _unsigned(index, state.typemap[access.index.name])
                state.calltypes[access] = before.replace(args=(array, kind, *value))
        return False


def _is_access(code: Any) -> bool:
    return isinstance(code, ir.SetItem) or (isinstance(code, ir.Expr) and code.op == "getitem")


def _unsigned(kind: Any, given: Any) -> Any:
    """Return the type of an index, given the type passed for it, without a sign."""
    if isinstance(kind, types.BaseTuple):
        return types.Tuple([_unsigned(*each) for each in zip(kind, given, strict=True)])
    plain = isinstance(kind, types.Integer) and not isinstance(given, types.Literal)
    return types.uintp if plain else kind


class _Shared(Flags):
    """Options that many rules share and nobody changes, so that comparing and hashing them is fast.

    Numba does both for each call that it types, option by option, which takes a twelfth of all time.
    """

    __slots__ = ("_hashed",)

    def __init__(self, flags: Flags) -> None:
        super().__init__(flags)
        self._hashed: int = super().__hash__()

    def copy(self) -> Flags:
        """Return the same options."""
        return self

    def __hash__(self) -> int:
        return self._hashed

    def __eq__(self, other: object) -> bool:
        return self is other or super().__eq__(other)


SHARED: dict[Flags, _Shared] = {}
NUMBERS = count(secrets.randbits(48))

# Passes for features that no rule uses: local functions, contexts, inlined overloads, dispatch on literal types.
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
    """Numba's compiler, with indices that count from the first element.

    An entry's code is linked by name, and only a running number in the name distinguishes two kinds of arguments. If
    two processes counted alike and cached different kinds, both would get one name, and a third process that loads both
    would run the wrong code. So each process starts counting at a different number.
    """

    library: type[JITCodeLibrary]

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        flags = self.state.flags
        self.state.flags = SHARED.get(flags) or SHARED.setdefault(flags.copy(), _Shared(flags))

    def define_pipelines(self) -> Any:
        """Return Numba's own passes, into a library of ours; object caching allows an entry to be stored on disk."""
        state = self.state
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
    """What compiles a rule, which is not compiled again for each constant or width of number passed to it."""

    def __init__(self, function: Any, *, inlined: bool) -> None:
        options = {"nopython": True, **OPTIONS, **BARE, "forceinline": inlined}
        super().__init__(function, targetoptions=options, pipeline_class=RuleCompiler)

    def get_call_template(self, arguments: Any, keywords: Any) -> Any:
        """Return Numba's template for arguments of the widest type."""
        named = {name: _wide(kind) for name, kind in keywords.items()}
        return super().get_call_template(tuple(map(_wide, arguments)), named)

    def compile(self, signature: Any) -> Any:
        """Compile the rule, without the timers of locks with which Numba surrounds it and all rules around it."""
        with global_compiler_lock:
            arguments, returned = sigutils.normalize_signature(signature)
            if tuple(arguments) not in self.overloads:
                with self._compiling_counter:
                    self.add_overload(self._compiler.compile(arguments, returned))
            return self.overloads[tuple(arguments)].entry_point


class EntryDispatcher(CPUDispatcher):
    """What compiles an entry, or a rule on demand, whose code is called by address."""

    def __init__(self, function: Any) -> None:
        options = {"nopython": True, **OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        super().__init__(function, targetoptions=options, pipeline_class=EntryCompiler)

    def compile(self, signature: Any) -> Any:
        """Compile it, without looking for garbage: a tenth of the time, and there is little."""
        collects = gc.isenabled()
        gc.disable()
        try:
            return super().compile(signature)
        finally:
            if collects:
                gc.enable()
