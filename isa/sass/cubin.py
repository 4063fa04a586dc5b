"""A cubin: one ELF file with the machine code of one architecture, and what a launch needs to know of each kernel."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from math import prod
from typing import Any

from isa.errors import UserError
from isa.reading import extra
from isa.sass import attributes as at

ARCHITECTURES = 75, 80, 86, 87, 89, 90  # whose encoding of control codes is the one that isa/sass/encoding.py reads
EXTRA = "cuda"
_CUDA_MACHINE = "EM_CUDA"
_ARCHITECTURE_IN_SECOND_BYTE = 8  # of the flags, from this version of the ABI on; before it, in the first
_DAMAGED = ValueError, LookupError, AttributeError, TypeError  # raised at tables that contradict each other
_MOST = 1 << 31  # bytes of a section without contents
_WITH_VALUES, _ZEROS = ".nv.global.init", ".nv.global"  # sections of `__device__` variables
_RELOCATIONS = {".rela.nv.constant4": "<QQq", ".rel.nv.constant4": "<QQ"}  # sections, and how an entry is packed


class CubinError(UserError):
    """Bytes that are no cubin, or one that can't be read; the message begins with the file's name."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a kernel: its place behind the first one, and its size, both in bytes."""

    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Launch:
    """Parameters of a kernel, in constant bank 0 from byte `base` on; threads of a block, 0 where nothing is said."""

    base: int
    size: int
    parameters: tuple[Parameter, ...]
    most_threads: int = 0
    exact_threads: int = 0


@dataclass(frozen=True)
class Function:
    """One function: its code, 16 bytes an instruction, and its resources; `launch` is None if it is no kernel.

    Its code begins `start` bytes behind the beginning of the section of `home`, the function that it is compiled into.
    `shared_bytes` are those that the kernel declares and those that the system keeps (1024 on sm_90), `stack_bytes`
    those of each thread's frame.
    """

    name: str
    code: bytes = field(repr=False)
    home: str
    start: int
    registers: int
    shared_bytes: int
    stack_bytes: int
    launch: Launch | None


@dataclass(frozen=True, slots=True)
class Variable:
    """A `__device__` variable, or a `__constant__` one: its place in `memory` or `constants`, and its size in bytes."""

    name: str
    constant: bool
    offset: int
    size: int


@dataclass(frozen=True)
class Cubin:
    """Contents of a file. Functions and variables go by their mangled names.

    `constants` is the initial bank 3, `memory` the initial global memory. Bank 4 has `address_bytes` bytes; `addresses`
    are the symbols whose addresses it holds, by their place there.
    """

    architecture: int
    functions: Mapping[str, Function]
    constants: bytes = field(repr=False)
    memory: bytes = field(repr=False)
    variables: Mapping[str, Variable]
    address_bytes: int
    addresses: Mapping[int, str]

    @property
    def kernels(self) -> tuple[str, ...]:
        """Names of the functions that can be launched, in the file's order."""
        return tuple(name for name, function in self.functions.items() if function.launch)


def read(data: bytes, name: str) -> Cubin:
    """Return what a cubin's bytes hold; `name` is the file's, for messages.

    Raises CubinError for bytes that are no cubin, for one of an architecture that is not read, and UserError without
    pyelftools.
    """
    elffile, exceptions = (extra.module(f"elftools.{part}", EXTRA) for part in ("elf.elffile", "common.exceptions"))
    try:
        elf = elffile.ELFFile(BytesIO(data))
        _check(elf, name)
        return _cubin(elf)
    except (exceptions.ELFError, struct.error, *_DAMAGED) as error:
        raise CubinError(f"{name}: no cubin, or a damaged one ({error}); make one with nvcc -cubin") from None


def _check(elf: Any, name: str) -> None:
    machine = elf.header["e_machine"]
    if machine != _CUDA_MACHINE:
        raise CubinError(f"{name}: an ELF file for {machine}, not for a GPU; make a cubin with nvcc -cubin")
    architecture = _architecture(elf)
    if architecture not in ARCHITECTURES:
        known = ", ".join(f"sm_{one}" for one in ARCHITECTURES)
        raise CubinError(f"{name}: machine code for sm_{architecture}; this reads {known}: compile for one of these")


def _architecture(elf: Any) -> int:
    flags, abi = elf.header["e_flags"], elf.header["e_ident"]["EI_ABIVERSION"]
    return int(flags >> 8 & 0xFF if abi >= _ARCHITECTURE_IN_SECOND_BYTE else flags & 0xFF)


def _cubin(elf: Any) -> Cubin:
    symbols = list(elf.get_section_by_name(".symtab").iter_symbols())
    counts = _counts(elf, symbols)
    functions = {one.name: one for one in _functions(elf, symbols, counts)}
    variables = {one.name: one for one in _variables(elf, symbols)}
    return Cubin(
        _architecture(elf),
        functions,
        constants=_bytes(elf, ".nv.constant3"),
        memory=_memory(elf),
        variables=variables,
        address_bytes=_size(elf, ".nv.constant4"),
        addresses=_addresses(elf, symbols),
    )


def _bytes(elf: Any, section: str) -> bytes:
    """Return a section's bytes; none if the file has no such section."""
    found = elf.get_section_by_name(section)
    return bytes(found.data()) if found else b""


def _size(elf: Any, section: str) -> int:
    found = elf.get_section_by_name(section)
    size = int(found["sh_size"]) if found else 0
    if size > _MOST:
        raise ValueError(f"{section} has {size} bytes")
    return size


def _memory(elf: Any) -> bytes:
    """Return the initial global memory: the variables with values, then zeros for the others."""
    return _bytes(elf, _WITH_VALUES) + bytes(_size(elf, _ZEROS))


def _counts(elf: Any, symbols: Sequence[Any]) -> dict[tuple[int, str], int]:
    """Return the numbers that the file's own attributes give its functions, by attribute and function."""
    found: dict[tuple[int, str], int] = {}
    for number, value in at.attributes(_bytes(elf, ".nv.info")):
        if number in (at.REGISTERS, at.FRAME_BYTES):
            symbol, count = at.words(value)
            found[number, symbols[symbol].name] = count
    return found


def _functions(elf: Any, symbols: Iterable[Any], counts: Mapping[tuple[int, str], int]) -> Iterator[Function]:
    for symbol in symbols:
        name = symbol.name
        if symbol["st_info"]["type"] != "STT_FUNC":
            continue
        section, start = elf.get_section(symbol["st_shndx"]), symbol["st_value"]
        own = list(at.attributes(_bytes(elf, f".nv.info.{name}")))
        yield Function(
            name,
            bytes(section.data()[start : start + symbol["st_size"]]),
            section.name.removeprefix(".text."),
            start,
            registers=counts.get((at.REGISTERS, name), 0),
            shared_bytes=_size(elf, f".nv.shared.{name}"),
            stack_bytes=counts.get((at.FRAME_BYTES, name), 0),
            launch=_launch(elf, name, own),
        )


def _launch(elf: Any, name: str, own: Sequence[at.Attribute]) -> Launch | None:
    """Return the launch of a kernel; None for a function that isn't one: it has no constant bank of its own."""
    if elf.get_section_by_name(f".nv.constant0.{name}") is None:
        return None
    single = dict(own)  # all but the parameters, of which there are several
    _, bank = at.words(single[at.PARAMETER_BANK])
    parameters = sorted(_parameter(value) for number, value in own if number == at.PARAMETER)
    return Launch(
        base=bank & 0xFFFF,
        size=bank >> 16,
        parameters=tuple(Parameter(offset, size) for _, offset, size in parameters),
        most_threads=_product(single.get(at.MOST_THREADS, b"")),
        exact_threads=_product(single.get(at.EXACT_THREADS, b"")),
    )


def _parameter(value: bytes) -> tuple[int, int, int]:
    """Return ordinal, offset and size of a parameter."""
    _, place, shape = at.words(value)
    return place & 0xFFFF, place >> 16, shape >> 18


def _product(value: bytes) -> int:
    return prod(at.words(value)) if value else 0


def _variables(elf: Any, symbols: Iterable[Any]) -> Iterator[Variable]:
    """Yield the variables of global memory, whose zeros come after those with values, and of constant bank 3."""
    starts = {_WITH_VALUES: 0, _ZEROS: len(_bytes(elf, _WITH_VALUES)), ".nv.constant3": 0}
    for symbol in symbols:
        if symbol["st_info"]["type"] == "STT_OBJECT" and isinstance(symbol["st_shndx"], int):
            section = elf.get_section(symbol["st_shndx"]).name
            if section in starts:
                offset = starts[section] + symbol["st_value"]
                yield Variable(symbol.name, section == ".nv.constant3", offset, symbol["st_size"])


def _addresses(elf: Any, symbols: Sequence[Any]) -> dict[int, str]:
    """Return the names of the symbols whose 64-bit addresses constant bank 4 holds, by offset in bytes."""
    found: dict[int, str] = {}
    for section, form in _RELOCATIONS.items():
        entries = struct.iter_unpack(form, _bytes(elf, section))
        found |= {offset: symbols[info >> 32].name for offset, info, *_ in entries}
    return found
