"""Load object files of compiled code by LLVM alone: one library of a JIT for each, so that no names meet."""

from __future__ import annotations

import ctypes
from functools import cache
from itertools import count
from typing import Any, NamedTuple

from llvmlite import binding

# Names that object files may ask for: the address of a rule (on_demand.py), and what frees an array that Numba owns,
# which is never called: arrays of ours belong to NumPy.
ADDRESS, FREE = "gpusim_address_of_rule", "NRT_MemInfo_call_dtor"
FREED = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)
KNOWN: dict[str, int] = {FREE: ctypes.cast(FREED, ctypes.c_void_p).value or 0}
NUMBERS = count()


class Loaded(NamedTuple):
    """Code in memory: where it begins, and what holds it."""

    begin: int
    library: Any


def offer(name: str, function: Any) -> None:
    """Offer a function of ctypes to code by a name."""
    KNOWN[name] = ctypes.cast(function, ctypes.c_void_p).value or 0
    binding.add_symbol(name, KNOWN[name])  # for code compiled by this process


def loaded(symbol: str, code: bytes) -> Loaded | None:
    """Return where a symbol of an object file lies, loaded now, or None if the file asks for unknown names."""
    builder = binding.JITLibraryBuilder().add_object_img(code).add_current_process().export_symbol(symbol)
    for name, begin in KNOWN.items():
        builder.import_symbol(name, begin)
    try:
        library = builder.link(_jit(), f"gpusim {next(NUMBERS)}")
        return Loaded(library[symbol], library)
    except RuntimeError:
        return None


@cache
def _jit() -> Any:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine(jit=True)
    return binding.create_lljit_compiler(machine)
