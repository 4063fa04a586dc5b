"""From a Python function to a kernel for a card: through Numba's own compiler to PTX, and through ptxas."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from linecache import getlines
from types import CellType, CodeType, FunctionType
from typing import Any

from gpusim.api.numba.arguments import EXTRA
from gpusim.api.python_words import in_words_of_python
from gpusim.api.raw_module import RawFunction, RawModule
from isa.errors import UserError
from isa.reading import extra
from isa.reading.origin import base_name

_ENTRY = re.compile(r"\.entry\s+([\w$]+)")
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_ENVIRONMENT = re.compile(r"^\.common \.global \.align 8 \.u64 ([\w$]*NumbaEnv[\w$]*);\n", re.M)  # of the host's code
_PLACE = re.compile(r'File "([^"]+)", line (\d+)')
_CAUSE = re.compile(r"(?!During|File|<source|There are|Overload|Failed in|-|\[|- |\s|$).+")
OF_COMPILER = "debug", "opt", "fastmath", "lineinfo", "launch_bounds"  # options that `numba.cuda.compile` takes


def cuda() -> Any:
    """Return `numba.cuda` of the package numba-cuda; raises UserError without it."""
    extra.module("numba_cuda", EXTRA)
    return extra.module("numba.cuda", EXTRA)


def dispatchers() -> tuple[type, ...]:
    """Return the classes of what Numba's own decorators make of functions."""
    return (
        extra.module("numba.core.dispatcher", EXTRA).Dispatcher,
        extra.module("numba.cuda.dispatcher", EXTRA).CUDADispatcher,
    )


def compiled(
    function: FunctionType, types: tuple[Any, ...], options: Mapping[str, Any], architecture: int
) -> RawFunction:
    """Return the kernel of a function for arguments of Numba's types; raises UserError with the compiler's cause."""
    theirs = cuda()
    given: dict[str, Any] = {"lineinfo": not options.get("debug")}
    given |= {name: options[name] for name in OF_COMPILER if options.get(name) is not None}
    try:
        text, _ = theirs.compile(
            function, types, device=False, abi="numba", cc=divmod(architecture, 10), output="ptx", **given
        )
    except (extra.module("numba.core.errors", EXTRA).NumbaError, NotImplementedError) as error:
        raise _refused(function, error) from None
    except theirs.CudaSupportError:
        fix = "import device functions by their names, and use no grid group"
        raise UserError(f"{_where(function)}: it calls what Numba compiles on a GPU alone; {fix}") from None
    name, limit = function.__name__, options.get("max_registers")
    flags = (f"-maxrregcount={limit}",) if limit else ()
    with in_words_of_python():
        module = RawModule(_renamed(text, name), options=flags, architecture=architecture)
    file = function.__code__.co_filename
    module.given = {**module.given, base_name(file): "".join(getlines(file))}
    return module.get_function(module.kernels[0])


def own(function: FunctionType, theirs: Callable[[Any], Any]) -> FunctionType:
    """Return a copy of a function in which what it names stands as `theirs` returns it: modules, other kernels."""
    cells = tuple(CellType(theirs(cell.cell_contents)) for cell in function.__closure__ or ())
    held = dict(function.__globals__)
    made = FunctionType(function.__code__, held, function.__name__, function.__defaults__, cells)
    made.__kwdefaults__, made.__doc__ = function.__kwdefaults__, function.__doc__
    made.__module__, made.__qualname__ = function.__module__, function.__qualname__
    return made


def names(code: CodeType) -> set[str]:
    """Return the names that a function's code, and functions in it, may look up outside."""
    inner = (one for one in code.co_consts if isinstance(one, CodeType))
    return set(code.co_names).union(*map(names, inner))


def _renamed(text: str, name: str) -> str:
    """Return PTX in which the kernel has the function's own name in the place of Numba's, where PTX can have it.

    Variables that nothing names are left out.
    """
    match = _ENTRY.search(text)
    text = text.replace(match[1], name) if match and _NAME.fullmatch(name) else text
    return _ENVIRONMENT.sub(lambda one: one[0] if text.count(one[1]) > 1 else "", text)


def _refused(function: FunctionType, error: Exception) -> UserError:
    """Return the line that says where and why Numba refuses a function."""
    text = str(error)
    place = _PLACE.search(text)
    where = f"{place[1]}:{place[2]}: {function.__name__}" if place else _where(function)
    causes = [line.strip() for line in text.splitlines() if _CAUSE.match(line)]
    return UserError(f"{where}: {(causes or [type(error).__name__])[0]}")


def _where(function: FunctionType) -> str:
    """Return the place of a function, and its name."""
    return f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}: {function.__name__}"
