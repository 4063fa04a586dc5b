"""Kernels as `numba.cuda.jit` makes them, launched on the current card."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from types import CodeType, FunctionType, ModuleType
from typing import Any

from gpusim.analysis.account.answer import Result
from gpusim.api.card.active import current
from gpusim.api.card.card import Call
from gpusim.api.extent import extent
from gpusim.api.numba.arguments import EXTRA, passed, plain
from gpusim.api.numba.compiling import OF_COMPILER, compiled, cuda, dispatchers, names, own
from gpusim.api.python_words import in_words_of_python
from gpusim.api.raw_module import RawFunction
from gpusim.machine.architecture import number
from isa.errors import UserError
from isa.reading import extra

THREADS = 256  # of a block, where `forall` is to choose
_CONFIGURED = "give grid and block, as in {name}[blocks, threads](...)"
_UNDER_WAY: list[CodeType] = []  # of functions whose own functions are looked for
_OF_DEVICE = "a device function; call it from a kernel"
_KNOWN = (*OF_COMPILER, "device", "inline", "forceinline", "cache", "max_registers", "lto", "shared_memory_carveout")


class Kernel:
    """A Python function that runs on the card: `kernel[blocks, threads](...)`, or is called by such ones."""

    def __init__(self, function: FunctionType, signatures: Sequence[Any], options: Mapping[str, Any]) -> None:
        """Take a function, the signatures that it is for (none: those of its arguments), and options of `jit`."""
        self.py_func, self.signatures, self.options = function, tuple(signatures), dict(options)
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self._own: FunctionType | None = None
        self._dispatcher: Any = None
        self._compiled = dict[Any, RawFunction]()

    def __getitem__(self, configuration: Sequence[Any]) -> Configured:
        """Return the kernel with grid, block, stream, and bytes of dynamic shared memory; all streams are one."""
        if self.options.get("device"):
            raise UserError(f"{self.__name__}: {_OF_DEVICE}")
        if not isinstance(configuration, tuple) or not 2 <= len(configuration) <= 4:
            raise UserError(f"{self.__name__}[{configuration!r}]: {_CONFIGURED.format(name=self.__name__)}")
        grid, block, _, shared = (*configuration, 0, 0)[:4]
        return Configured(self, extent("grid", grid), extent("block", block), int(shared))

    def __call__(self, *_: Any) -> None:
        """Raise UserError: a kernel needs a grid, and a device function a kernel that calls it."""
        if self.options.get("device"):
            raise UserError(f"{self.__name__}: {_OF_DEVICE}")
        raise UserError(f"{self.__name__}: no sizes; {_CONFIGURED.format(name=self.__name__)}")

    def forall(self, ntasks: int, tpb: int = 0, stream: object = 0, sharedmem: int = 0) -> Configured:
        """Return the kernel for so many threads, in blocks of `tpb`, or of 256."""
        threads = tpb or THREADS
        return Configured(self, (-(-ntasks // threads), 1, 1), (threads, 1, 1), sharedmem)

    def function(self, *args: Any) -> RawFunction:
        """Return the kernel as compiled for the current card and arguments like these; raises UserError."""
        return self.compiled(self.types(self.given(args)))

    def given(self, args: Sequence[Any]) -> list[Any]:
        """Return the arguments with those that have a default; raises UserError for too few, or too many."""
        try:
            bound = signature(self.py_func).bind(*args)
        except TypeError as error:
            raise UserError(f"{self.__name__}: {error}") from None
        bound.apply_defaults()
        return [plain(*one) for one in zip(bound.args, self.names(len(bound.args)), strict=True)]

    def names(self, count: int) -> list[str]:
        """Return the names of so many arguments; those behind a star have numbers from 0."""
        named = signature(self.py_func).parameters.values()
        own = [one.name for one in named if one.kind is not one.VAR_POSITIONAL]
        star = [one.name for one in named if one.kind is one.VAR_POSITIONAL]
        return [*own[:count], *(f"{star[0]}[{k}]" for k in range(count - len(own)))]

    def types(self, args: Sequence[Any]) -> tuple[Any, ...]:
        """Return Numba's types for arguments: of the signature that has as many, else their own; raises UserError."""
        numba = extra.module("numba", EXTRA)
        try:
            found = tuple(map(numba.typeof, args))
        except ValueError as error:
            raise UserError(f"{self.__name__}: {str(error).splitlines()[0]}; give arrays and numbers") from None
        given = [_types(one) for one in self.signatures]
        if not given or found in given:
            return found
        fitting = [one for one in given if len(one) == len(found) and all(map(_fits, found, one))]
        if not fitting:
            has = " or ".join(f"({', '.join(map(str, one))})" for one in given)
            raise UserError(f"{self.__name__}: ({', '.join(map(str, found))}), where its signature has {has}")
        return fitting[0]

    def compiled(self, types: tuple[Any, ...]) -> RawFunction:
        """Return the kernel for arguments of these types on the current card; raises UserError."""
        key = types, number(current().machine)
        if key not in self._compiled:
            self._compiled[key] = compiled(self._function(), types, self.options, key[1])
        return self._compiled[key]

    @property
    def dispatcher(self) -> Any:
        """Numba's own, by which other kernels call this function: put in line, as Numba compiles others for a GPU."""
        if self._dispatcher is None:
            code = self.py_func.__code__
            if code in _UNDER_WAY:
                fix = "write a loop, or run the program by gpusim exec"
                raise UserError(f"{self.__name__}: it calls itself, and can't be put in line; {fix}")
            _UNDER_WAY.append(code)
            try:
                self._dispatcher = cuda().jit(device=True, inline="always")(self._function())
            finally:
                _UNDER_WAY.remove(code)
        return self._dispatcher

    def _function(self) -> FunctionType:
        """Return the function in which the modules and kernels of gpusim that it names are Numba's own."""
        if self._own is None:
            self._own = own(self.py_func, theirs)
            for name in names(self.py_func.__code__) & self._own.__globals__.keys():
                self._own.__globals__[name] = theirs(self._own.__globals__[name])
        return self._own


class Configured:
    """A kernel with its sizes, to be called."""

    def __init__(
        self, kernel: Kernel, grid: tuple[int, int, int], block: tuple[int, int, int], shared: int = 0
    ) -> None:
        """Take what stands between the brackets."""
        self.kernel, self.grid, self.block, self.shared = kernel, grid, block, shared

    def __call__(self, *args: Any) -> Result | None:
        """Run a launch, leave the results in the arrays, and return how it ran; None of a grid without blocks.

        Raises UserError for arguments that Numba or the kernel doesn't take, and as a call of `gpusim.RawModule`'s
        kernels does.
        """
        values = self.kernel.given(args)
        types = self.kernel.types(values)
        each = zip(types, values, self.kernel.names(len(values)), strict=True)
        parts = [part for kind, value, name in each for part in passed(kind, value, name)]
        function = self.kernel.compiled(types)
        if 0 in self.grid:
            return None
        with in_words_of_python():
            names, arguments = (tuple(part[k] for part in parts) for k in (0, 1))
            return current().launch(Call(function, self.grid, self.block, self.shared, arguments, None, names))


def jit(func_or_sig: Any = None, **options: Any) -> Any:
    """Return a kernel of a Python function, or what makes one, as `numba.cuda.jit` does.

    A signature, or a list of them, may come first. Raises UserError for an option that is not taken here, such as
    `link`.
    """
    taken = {name: value for name, value in options.items() if value or name in _KNOWN}
    if unknown := [name for name in taken if name not in _KNOWN]:
        raise UserError(f"{unknown[0]}: no option of kernels here; leave it out")
    if isinstance(func_or_sig, FunctionType):
        return Kernel(func_or_sig, (), options)
    signatures = func_or_sig if isinstance(func_or_sig, list) else [func_or_sig] if func_or_sig is not None else []
    return lambda function: Kernel(function, signatures, options)


def kernel(dispatcher: Any) -> Kernel:
    """Return a kernel of what `numba.cuda.jit` has made, or of a Python function."""
    if isinstance(dispatcher, Kernel):
        return dispatcher
    function = getattr(dispatcher, "py_func", dispatcher)
    if not isinstance(function, FunctionType):
        raise UserError(f"{type(dispatcher).__name__}: no kernel; give a function that numba.cuda.jit is put before")
    known = {name: value for name, value in getattr(dispatcher, "targetoptions", {}).items() if name in _KNOWN}
    return Kernel(function, (), known)


def theirs(value: Any) -> Any:
    """Return what Numba's compiler is to find in the place of what a program names: its own module and functions."""
    if isinstance(value, Kernel):
        return value.dispatcher
    if isinstance(value, dispatchers()):
        return kernel(value).dispatcher
    if isinstance(value, ModuleType) and value.__name__ == f"{__package__}.host":
        return cuda()
    return value


def _types(given: Any) -> tuple[Any, ...]:
    """Return the types of the arguments of a signature, given as such, as a text or a tuple."""
    if isinstance(given, tuple):
        return given
    found: Callable[..., Any] = extra.module("numba.core.sigutils", EXTRA).normalize_signature
    return tuple(found(given)[0])


def _fits(given: Any, wanted: Any) -> bool:
    """Tell whether an argument of a type can be one of another type: arrays of the same elements, or two numbers."""
    arrays = [hasattr(one, "ndim") for one in (given, wanted)]
    if all(arrays):
        return (given.dtype, given.ndim) == (wanted.dtype, wanted.ndim) and wanted.layout in ("A", given.layout)
    return not any(arrays)
