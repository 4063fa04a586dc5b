"""A file's code with those functions of the system that it calls: they are linked to its kernels as any other code.

functions.sass has them as nvcc compiles functions.cu for sm_80: no instruction of it is of that architecture alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from isa.nvidia.file import dump, link
from isa.nvidia.file.code import Code
from isa.nvidia.file.cubin import Cubin, Function, Relocation
from isa.nvidia.file.dump import Section
from isa.nvidia.file.inlined import SourceLine
from isa.nvidia.lowering import system as calls
from isa.reading.origin import SYSTEM

FILE = "functions.sass"
RING, HEAP = "system_ring", "system_heap"  # the symbols of its memory
NAMES: Mapping[str, str] = MappingProxyType(  # by those that code calls
    {
        "vprintf": "system_vprintf",
        "malloc": "system_malloc",
        "free": "system_free",
        "__nv_aligned_device_malloc_impl": "system_aligned",
    }
)
REGISTERS = 24  # of each: the fewest that nvcc takes for a function
_ADDRESS = re.compile(r"32@(?P<half>lo|hi)\((?P<symbol>\w+)\)")


def with_functions(code: Code, kernel: str) -> Code:
    """Return code with the functions of the system that a kernel may call; the same if it calls none."""
    known = [name for name in code.cubin.externals if name in NAMES] if code.cubin else []
    found = _called(code, kernel) if known else frozenset()
    called = known if "" in found else [name for name in known if name in found]
    if not called:
        return code
    whole = _joined(code, called)
    reached = link.starts(whole, kernel).keys()
    return whole if any(name in reached for name in called) else code


def _called(code: Code, kernel: str) -> frozenset[str]:
    """Return what a kernel and all that it is linked with call of other code; "" for what they do not say."""
    addresses = code.cubin.addresses if code.cubin else {}
    return frozenset().union(*(calls.called(code.sections[name], addresses) for name in link.starts(code, kernel)))


def memory_of(code: Code, kernel: str) -> frozenset[str]:
    """Return which memory of the system a kernel of such code works with."""
    if code.cubin is None or not any(name in code.cubin.functions for name in NAMES):
        return frozenset()
    reached = link.starts(code, kernel).keys()
    names = {one.section.removeprefix(".text."): one.symbol for one in code.cubin.relocations}
    return frozenset(names[name] for name in reached if names.get(name) in (RING, HEAP))


def _joined(code: Code, called: list[str]) -> Code:
    """Return code with these functions, and those that they call."""
    cubin = code.cubin
    assert cubin is not None
    names = {*called, *(("malloc",) if "__nv_aligned_device_malloc_impl" in called else ())}
    sections = {name: _sections()[NAMES[name]] for name in sorted(names)}
    functions = {name: _function(name) for name in sections}
    relocations = (one for name, section in sections.items() for one in _relocations(name, section))
    joined: Cubin = replace(
        cubin,
        functions={**cubin.functions, **functions},
        externals=tuple(one for one in cubin.externals if one not in functions),
        relocations=(*cubin.relocations, *relocations),
    )
    return replace(code, sections={**code.sections, **sections}, cubin=joined)


def _function(name: str) -> Function:
    return Function(name, b"", name, 0, REGISTERS, shared_bytes=0, stack_bytes=0, launch=None)


def _relocations(name: str, section: Section) -> Iterator[Relocation]:
    """Yield the addresses that a loader fills in."""
    for one in section.instructions:
        if match := _ADDRESS.search(one.text):
            kind = link.LOW if match["half"] == "lo" else link.HIGH
            yield Relocation(f".text.{name}", one.offset, kind, match["symbol"], 0)


@cache
def _sections() -> Mapping[str, Section]:
    """Return the sections of the functions, in which calls have the names that code calls."""
    text = files(__package__).joinpath(FILE).read_text(encoding="utf-8")
    for outside, inside in NAMES.items():
        text = text.replace(f"`({inside})", f"`({outside})")
    sections = dump.read(text, FILE).sections
    source = SourceLine(SYSTEM, 0)
    return {
        name: Section([one._replace(source=source) for one in x.instructions], x.labels) for name, x in sections.items()
    }
