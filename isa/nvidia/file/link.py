"""Code whose functions have sections of their own, as nvlink puts it together: a kernel with all that it calls.

Separately compiled code (`-rdc=true`) and code for debuggers (`-G`) are like this. Calls name a function; addresses of
code and variables are `32@lo(symbol)` and `32@hi(symbol)`, whose values the file's relocations say. Here the kernel
lies at 0, the functions that it calls lie behind it, and the addresses are numbers.

A pointer to a function is the address of its code here. A kernel that calls by pointers also has the functions whose
addresses variables hold from the beginning, such as tables of virtual functions. These lie at the same addresses in all
kernels of a file, behind the longest: one kernel may call what another has stored.

Jump tables and numbers of all functions lie in constant bank 2 of each kernel, at the same places in each: nvlink puts
them there, and their places into the functions' code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from operator import itemgetter
from types import MappingProxyType

from isa.errors import UserError
from isa.nvidia.file.code import Code
from isa.nvidia.file.cubin import Cubin, Function, Relocation
from isa.nvidia.file.dump import Encoded, Section
from isa.nvidia.file.encoding import BYTES

LOW, HIGH = 0x38, 0x39  # kinds of relocations: R_CUDA_ABS32_LO_32 and HI_32
_CALLED = re.compile(r"\bCALL\.\S+ .*`\((?P<name>[^)]+)\)")
_BY_POINTER = re.compile(r"\bCALL\.\S+ R\d")
_ADDRESS = re.compile(r"32@(?:lo|hi)\((?:[^()]|\([^()]*\))*\)")
_OWN_BANK = "c[0x2]"
_OF_VARIABLES = ".nv.global.init", ".nv.constant3"


def linked(code: Code, kernel: str, variables: int, others: Mapping[str, int] = MappingProxyType({})) -> Section:
    """Return a kernel's section with those of the functions that it calls.

    `variables` is the address of the file's first variable, `others` are those of symbols that are not in the file.
    A function with a constant bank 2 that is not its kernel's is left out, so that its calls are refused. Raises
    UserError for a kernel without instructions.
    """
    own, cubin = code.sections[kernel], code.cubin
    if not own.instructions:
        raise UserError(f"{kernel}: no instructions in its section; compile its file anew")
    if cubin is None:
        return own
    starts = _starts(code, cubin, kernel)
    filled = _filled(cubin, {**others, **_places(code, cubin, starts)}, starts.keys(), variables)
    if len(starts) == 1 and not filled:
        return own
    whole = Section(labels={f.name: starts[f.home] + f.start for f in cubin.functions.values() if f.home in starts})
    for name, start in sorted(starts.items(), key=itemgetter(1)):
        section = code.sections[name]
        whole.instructions += _gap(whole.instructions, start)
        # A text has a function's label before its section: it is none of the one before.
        whole.labels |= {x: start + offset for x, offset in section.labels.items() if x not in cubin.functions}
        whole.instructions += [_moved(one, start, filled.get((name, one.offset))) for one in section.instructions]
    return whole


def starts(code: Code, kernel: str) -> Mapping[str, int]:
    """Return the functions whose sections a kernel is linked with, its own first, and where these begin, in bytes."""
    return _starts(code, code.cubin, kernel) if code.cubin else {kernel: 0}


def places(code: Code, kernel: str) -> Mapping[str, int]:
    """Return the code addresses of a file's functions in a kernel's linked section.

    Behind the section lie the functions of the system, and all that are left out if the kernel calls nothing by
    pointers: if it does, these have no address.
    """
    cubin = code.cubin
    if cubin is None:
        return {}
    return _places(code, cubin, _starts(code, cubin, kernel))


def pointers(code: Code) -> Mapping[str, int]:
    """Return the addresses, the same in all kernels, of the functions that a file's variables point to."""
    if code.cubin is None:
        return {}
    homes = _pointed(code, code.cubin)
    return {f.name: homes[f.home] + f.start for f in code.cubin.functions.values() if f.home in homes}


def _pointed(code: Code, cubin: Cubin) -> dict[str, int]:
    """Return where the sections of these functions begin."""
    places, end = dict[str, int](), max((_size(code, name) for name in cubin.kernels), default=0)
    for one in cubin.relocations:
        home = cubin.functions[one.symbol].home if one.symbol in cubin.functions else ""
        if one.section.startswith(_OF_VARIABLES) and home in code.sections and home not in places:
            places[home], end = end, end + _size(code, home)
    return places


def _size(code: Code, name: str) -> int:
    """Return the bytes of a section; none of one that has no code."""
    return BYTES * len(code.sections[name].instructions) if name in code.sections else 0


def _gap(before: Sequence[Encoded], start: int) -> Iterator[Encoded]:
    """Yield what lies between the code so far and the next section, where nothing ever goes."""
    for offset in range(BYTES * len(before), start, BYTES):
        yield before[-1]._replace(offset=offset, text="NOP")


def _places(code: Code, cubin: Cubin, starts: Mapping[str, int]) -> Mapping[str, int]:
    found = {f.name: starts[f.home] + f.start for f in cubin.functions.values() if f.home in starts}
    by_pointer = any(_calls_by_pointer(code.sections[name]) for name in starts)
    if not by_pointer:
        found = {**pointers(code), **found}
    behind = [*cubin.externals, *(name for name in cubin.functions if not by_pointer and name not in found)]
    end = max(start + _size(code, name) for name, start in starts.items())
    return found | {name: end + BYTES * number for number, name in enumerate(behind)}


def _starts(code: Code, cubin: Cubin, kernel: str) -> dict[str, int]:
    """Return where the sections of a kernel and of all that it calls begin, in bytes."""
    reached = _reached(code, cubin, kernel)
    fixed = _pointed(code, cubin)
    starts = {kernel: 0} | {name: fixed[name] for name in reached if name in fixed and name != kernel}
    end = max(start + _size(code, name) for name, start in starts.items())
    for name in reached:
        if name not in starts:
            starts[name], end = end, end + _size(code, name)
    return starts


def _reached(code: Code, cubin: Cubin, kernel: str) -> list[str]:
    """Return the sections of a kernel and of all that it calls, in the order in which they are found."""
    found, todo = list[str](), [kernel]
    while todo:
        name = todo.pop(0)
        if name not in found:
            found.append(name)
            others = _named(code.sections[name], cubin, name)
            todo += [other for other in others if _reads_bank_of(cubin.functions[kernel], code, other)]
    return found


def _named(section: Section, cubin: Cubin, name: str) -> Iterator[str]:
    """Yield the sections of the functions that a section calls, may call by pointers, or takes the addresses of."""
    calls = (match["name"] for one in section.instructions if (match := _CALLED.search(one.text)))
    by_pointer = _calls_by_pointer(section)
    taken = (
        one.symbol
        for one in cubin.relocations
        if one.section == f".text.{name}" or (by_pointer and not one.section.startswith(".text."))
    )
    for symbol in (*calls, *taken):
        if symbol in cubin.functions:
            yield cubin.functions[symbol].home


def _calls_by_pointer(section: Section) -> bool:
    """Tell whether a section calls what a register has the address of."""
    return any("CALL" in one.text and _BY_POINTER.search(one.text) for one in section.instructions)


def _reads_bank_of(kernel: Function, code: Code, name: str) -> bool:
    """Tell whether a function has code here that reads no constant bank 2, or the kernel's."""
    assert code.cubin is not None
    if name not in code.sections:
        return False
    own = code.cubin.functions[name].bank_2 if name in code.cubin.functions else b""
    reads = any(_OWN_BANK in one.text for one in code.sections[name].instructions)
    return not reads or (bool(kernel.bank_2) and not own)


def _filled(
    cubin: Cubin, functions: Mapping[str, int], sections: Collection[str], variables: int
) -> dict[tuple[str, int], int]:
    """Return by section and offset the 32 bits that relocations of the sections' code put there."""
    address = _addresses(cubin, functions, variables)
    found = dict[tuple[str, int], int]()
    for one in cubin.relocations:
        home = one.section.removeprefix(".text.")
        place = address(one) if one.kind in (LOW, HIGH) and home in sections else None
        if place is not None:
            found[home, one.offset] = (place >> 32 if one.kind == HIGH else place) & 0xFFFFFFFF
    return found


def _addresses(cubin: Cubin, functions: Mapping[str, int], variables: int) -> Callable[[Relocation], int | None]:
    """Return a function giving the address that a relocation means; None for one that is not known here."""

    def address(one: Relocation) -> int | None:
        variable, function = cubin.variables.get(one.symbol), functions.get(one.symbol)
        if variable is not None and not variable.constant:
            return variables + variable.offset + one.addend
        return None if function is None else function + one.addend

    return address


def _moved(one: Encoded, start: int, word: int | None) -> Encoded:
    """Return an instruction at its place behind `start`, with a number in the place of an address."""
    text = one.text if word is None else _ADDRESS.sub(hex(word), one.text)
    return one._replace(offset=start + one.offset, text=text)
