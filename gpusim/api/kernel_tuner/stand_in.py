"""What a script finds by the names `kernel_tuner` and `cupy` on a simulated card.

A module of ours has the names of Kernel Tuner's, with functions of ours among them; Kernel Tuner's own modules stay as
they are, and parts such as `kernel_tuner.util` are found where they were.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from gpusim.api.card.active import Active, active
from gpusim.machine.machine import Machine
from isa.errors import UserError

NAME = "kernel_tuner"
_CALLERS = "running", "tuning"  # modules of ours that call Kernel Tuner's own functions
_PARTS = "interface", "kernelbuilder"  # of Kernel Tuner, that have what is replaced
_CUPY = "cupy", "cupy.cuda"
_BEFORE = dict[str, ModuleType | None]()  # what these names found
_OURS = dict[str, ModuleType]()  # what stands in the place of others, by their names
_ACTIVE = list[Active]()  # the card of CuPy's kernels, one at most


def install(functions: Sequence[Callable[..., Any]]) -> None:
    """Let these be found in the place of Kernel Tuner's functions of the same names, and gpusim.cupy as CuPy.

    Raises UserError where the main program holds Kernel Tuner's own ones already.
    """
    if _OURS:
        return
    for one in _CALLERS:
        import_module(f"gpusim.api.kernel_tuner.{one}")
    from gpusim.api.kernel_tuner.running import PythonKernel  # noqa: PLC0415  (an extra)

    given = {one.__name__: one for one in (*functions, PythonKernel)}
    whole, parts = import_module(NAME), {name: import_module(f"{NAME}.{name}") for name in _PARTS}
    _check_unused([whole, *(vars(part)[name] for part in parts.values() for name in given if name in vars(part))])
    made = {name: _like(part, given) for name, part in parts.items()}
    _OURS.update({f"{NAME}.{name}": part for name, part in made.items()})
    _OURS.update({name: import_module(f"gpusim.api.{name}") for name in _CUPY})
    _OURS[NAME] = _like(whole, {**given, **made})
    _BEFORE.update({name: sys.modules.get(name) for name in _OURS})
    sys.modules.update(_OURS)


def remove() -> None:
    """Let the names find what they found before."""
    for name, before in _BEFORE.items():
        if before:
            sys.modules[name] = before
        else:
            del sys.modules[name]
    _BEFORE.clear()
    _OURS.clear()
    _end()


def activate(machine: Machine) -> None:
    """Let CuPy's kernels run on a machine from now on."""
    _end()
    _ACTIVE.append(active(machine))


def _end() -> None:
    while _ACTIVE:
        _ACTIVE.pop().end()


def _like(own: ModuleType, given: Mapping[str, Any]) -> ModuleType:
    """Return a module with all names of another one, the given ones that it has in the place of its own."""
    made = ModuleType(own.__name__, own.__doc__)
    made.__dict__.update({**vars(own), **{name: one for name, one in given.items() if name in vars(own)}})
    return made


def _check_unused(own: list[object]) -> None:
    """Raise UserError where the main program has one of these by a name of its own."""
    for name, held in vars(sys.modules["__main__"]).items():
        if any(held is each for each in own):
            raise UserError(f"use(): the script has {name} from kernel_tuner already; put use() above that import")
