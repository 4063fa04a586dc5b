"""A cubin: one ELF file with the machine code of one architecture, and what a launch needs to know of each kernel."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from math import prod
from typing import Any

from isa.architecture import NVIDIA, nvidia
from isa.errors import UserError
from isa.nvidia.file import attributes as at
from isa.reading import extra
from isa.support.limits import MOST_LOCAL_BYTES, MOST_REGISTERS

EXTRA = "cubin"
_CUDA_MACHINE = "EM_CUDA"
_ARCHITECTURE_IN_SECOND_BYTE = 8  # of the flags, from this version of the ABI on; before it, in the first
_DAMAGED = ValueError, LookupError, AttributeError, TypeError, OverflowError  # raised at tables that make no sense
_UNKNOWN = 1 << 31  # bytes of stack: from here on, of recursion, whose depth the compiler does not know
_MOST = 1 << 31  # bytes of a section without contents
_WITH_VALUES, _ZEROS = ".nv.global.init", ".nv.global"  # sections of `__device__` variables
_CONSTANTS, _ADDRESSES = ".nv.constant3", ".nv.constant4"
_ADDENDS, _NO_ADDENDS = ".rela", ".rel"  # beginnings of the names of sections of relocations
_RELOCATED = ".text.", ".nv.global.init", ".nv.constant"  # what they may be of; others are of debuggers


class CubinError(UserError):
    """Bytes that are no cubin, or one that can't be read; the message begins with the file's name."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a kernel: its place behind the first one, and its size, both in bytes."""

    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Launch:
    """Parameters of a kernel, in constant bank 0 from byte `base` on; threads of a block, 0 where nothing is said.

    `cluster` are the blocks of a cluster by dimension, if the code says them (`__cluster_dims__`), and
    `most_cluster_blocks` their number at most (0: the code doesn't say).
    """

    base: int
    size: int
    parameters: tuple[Parameter, ...]
    most_threads: int = 0
    exact_threads: int = 0
    cluster: tuple[int, ...] = ()
    most_cluster_blocks: int = 0


@dataclass(frozen=True)
class Function:
    """One function: its code, 16 bytes an instruction, and its resources; `launch` is None if it is no kernel.

    Its code begins `start` bytes behind the beginning of the section of `home`, the function that it is compiled into.
    `shared_bytes` are those that the kernel declares and those that the system keeps (1024 on sm_90); dynamic shared
    memory begins behind them. `stack_bytes` are those of each thread's frame, `least_stack_bytes` those of a kernel and
    all that it calls (recursion not counted). `bank_2` is its section's constant bank 2: jump tables, the offsets of
    functions whose address is taken, and numbers. `branch_targets` are those of indirect branches of its section.
    """

    name: str
    code: bytes = field(repr=False)
    home: str
    start: int
    registers: int
    shared_bytes: int
    stack_bytes: int
    launch: Launch | None
    least_stack_bytes: int = 0
    barriers: int = 0
    bank_2: bytes = field(default=b"", repr=False)
    branch_targets: Mapping[int, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Relocation:
    """Bytes that a loader fills: from `offset` of a section on, as `kind` says, the address of `symbol` plus `addend`.

    An address without a kind of its own is 64 bits wide: kind 2 (R_CUDA_64) and, in a pointer's initial value, 4
    (R_CUDA_G64). Kinds in code (`.text.`) appear in the text as well: 0x38 and 0x39 (R_CUDA_ABS32_LO_32 and HI_32) as
    `32@lo(symbol)` and `32@hi(symbol)`, targets of calls as `` `(symbol) ``.
    """

    section: str
    offset: int
    kind: int
    symbol: str
    addend: int


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

    `constants` is the initial bank 3, `memory` the initial global memory, whose address is a multiple of
    `memory_alignment`. Bank 4 has `address_bytes` bytes; `addresses` are the symbols whose addresses it holds, by their
    place there. `externals` are functions of the system that the code calls, such as `vprintf`; `relocations` are all
    addresses that a loader fills in, those of bank 4 too.
    """

    architecture: int
    functions: Mapping[str, Function]
    constants: bytes = field(repr=False)
    memory: bytes = field(repr=False)
    variables: Mapping[str, Variable]
    address_bytes: int
    addresses: Mapping[int, str]
    memory_alignment: int = 1
    externals: tuple[str, ...] = ()
    relocations: tuple[Relocation, ...] = ()

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
    if architecture not in NVIDIA:
        raise CubinError(unread(name, architecture))
    if elf.header["e_type"] == "ET_REL":
        raise CubinError(f"{name}: machine code that is not linked; compile without -rdc=true, or link it with nvlink")


def unread(name: str, *architectures: int) -> str:
    """Return the message on a file whose machine code is all of architectures that are not read."""
    given, known = (", ".join(f"sm_{one}" for one in those) for those in (architectures, NVIDIA))
    return f"{name}: machine code for {given}; this reads {known}: compile for one of these"


def _architecture(elf: Any) -> int:
    flags, abi = elf.header["e_flags"], elf.header["e_ident"]["EI_ABIVERSION"]
    return int(flags >> 8 & 0xFF if abi >= _ARCHITECTURE_IN_SECOND_BYTE else flags & 0xFF)


def _cubin(elf: Any) -> Cubin:
    symbols = list(elf.get_section_by_name(".symtab").iter_symbols())
    counts = _counts(elf, symbols)
    functions = {one.name: one for one in _functions(elf, symbols, counts)}
    variables = {one.name: one for one in _variables(elf, symbols)}
    relocations = tuple(_relocations(elf, symbols))
    return Cubin(
        _architecture(elf),
        functions,
        constants=_bytes(elf, _CONSTANTS),
        memory=_memory(elf),
        variables=variables,
        address_bytes=_size(elf, _ADDRESSES),
        addresses={one.offset: one.symbol for one in relocations if one.section == _ADDRESSES},
        memory_alignment=max(_alignment(elf, _WITH_VALUES), _alignment(elf, _ZEROS)),
        externals=tuple(one.name for one in symbols if _is_function(one) and not isinstance(one["st_shndx"], int)),
        relocations=relocations,
    )


def _is_function(symbol: Any) -> bool:
    return bool(symbol["st_info"]["type"] == "STT_FUNC")


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


def _alignment(elf: Any, section: str) -> int:
    found = elf.get_section_by_name(section)
    alignment = max(1, int(found["sh_addralign"])) if found else 1
    if alignment > _MOST:
        raise ValueError(f"{section} is aligned to {alignment} bytes")
    return alignment


def _zeros_start(elf: Any) -> int:
    """Return where the variables without values begin in the initial memory, behind those with values."""
    alignment = _alignment(elf, _ZEROS)
    return -(-_size(elf, _WITH_VALUES) // alignment) * alignment


def _memory(elf: Any) -> bytes:
    """Return the initial global memory: the variables with values, then zeros for the others."""
    zeros = _size(elf, _ZEROS)
    return _bytes(elf, _WITH_VALUES).ljust(_zeros_start(elf) if zeros else 0, b"\0") + bytes(zeros)


def _counts(elf: Any, symbols: Sequence[Any]) -> dict[tuple[int, str], int]:
    """Return the numbers that the file's own attributes give its functions, by attribute and function."""
    found: dict[tuple[int, str], int] = {}
    for number, value in at.attributes(_bytes(elf, ".nv.info")):
        if number in (at.REGISTERS, at.FRAME_BYTES, at.LEAST_STACK_BYTES):
            symbol, count = at.words(value)
            most = MOST_REGISTERS if number == at.REGISTERS else MOST_LOCAL_BYTES
            if most < count < _UNKNOWN:
                raise ValueError(f"{symbols[symbol].name} has {count} where {most} is the most")
            found[number, symbols[symbol].name] = count if count < _UNKNOWN else 0
    return found


def _functions(elf: Any, symbols: Iterable[Any], counts: Mapping[tuple[int, str], int]) -> Iterator[Function]:
    for symbol in symbols:
        name = symbol.name
        if not (_is_function(symbol) and isinstance(symbol["st_shndx"], int)):
            continue
        section, start = elf.get_section(symbol["st_shndx"]), symbol["st_value"]
        home = section.name.removeprefix(".text.")
        own = list(at.attributes(_bytes(elf, f".nv.info.{name}")))
        whole = dict(own if name == home else at.attributes(_bytes(elf, f".nv.info.{home}")))
        yield Function(
            name,
            bytes(section.data()[start : start + symbol["st_size"]]),
            home,
            start,
            registers=counts.get((at.REGISTERS, name), 0),
            shared_bytes=_size(elf, f".nv.shared.{name}"),
            stack_bytes=counts.get((at.FRAME_BYTES, name), 0),
            launch=_launch(elf, name, own),
            least_stack_bytes=counts.get((at.LEAST_STACK_BYTES, name), 0),
            barriers=int.from_bytes(dict(own).get(at.BARRIERS, b""), "little"),
            bank_2=_bytes(elf, f".nv.constant2.{home}"),
            branch_targets=at.branch_targets(whole.get(at.BRANCH_TARGETS, b"")),
        )


def _launch(elf: Any, name: str, own: Sequence[at.Attribute]) -> Launch | None:
    """Return the launch of a kernel; None for a function that isn't one: it has no constant bank of its own."""
    section = elf.get_section_by_name(f".nv.constant0.{name}")
    if section is None:
        return None
    single = dict(own)  # all but the parameters, of which there are several
    without = struct.pack("<2I", 0, section.data_size & 0xFFFF)  # parameters: the bank ends where they would begin
    _, bank = at.words(single.get(at.PARAMETER_BANK, without))
    base, least = bank & 0xFFFF, nvidia(_architecture(elf)).parameters
    if base < least:
        raise ValueError(f"{name} has its parameters at {base:#x}, before {least:#x}")
    cluster = at.words(single.get(at.CLUSTER, b""))
    if 0 in cluster:
        raise ValueError(f"{name} has clusters of no blocks")
    parameters = sorted(_parameter(value) for number, value in own if number == at.PARAMETER)
    return Launch(
        base=base,
        size=bank >> 16,
        parameters=tuple(Parameter(offset, size) for _, offset, size in parameters),
        most_threads=_product(single.get(at.MOST_THREADS, b"")),
        exact_threads=_product(single.get(at.EXACT_THREADS, b"")),
        cluster=cluster,
        most_cluster_blocks=_product(single.get(at.MOST_CLUSTER_BLOCKS, b"")),
    )


def _parameter(value: bytes) -> tuple[int, int, int]:
    """Return ordinal, offset and size of a parameter."""
    _, place, shape = at.words(value)
    return place & 0xFFFF, place >> 16, shape >> 18


def _product(value: bytes) -> int:
    return prod(at.words(value)) if value else 0


def _variables(elf: Any, symbols: Iterable[Any]) -> Iterator[Variable]:
    """Yield the variables of global memory, whose zeros come after those with values, and of constant bank 3."""
    starts = {_WITH_VALUES: 0, _ZEROS: _zeros_start(elf), _CONSTANTS: 0}
    for symbol in symbols:
        if symbol["st_info"]["type"] == "STT_OBJECT" and isinstance(symbol["st_shndx"], int):
            section = elf.get_section(symbol["st_shndx"]).name
            if section in starts:
                offset = starts[section] + symbol["st_value"]
                yield Variable(symbol.name, section == _CONSTANTS, offset, symbol["st_size"])


def _relocations(elf: Any, symbols: Sequence[Any]) -> Iterator[Relocation]:
    """Yield the relocations of code, constants and variables, section by section."""
    for section in elf.iter_sections():
        beginning = _ADDENDS if section.name.startswith(f"{_ADDENDS}.") else _NO_ADDENDS
        of = section.name.removeprefix(beginning)
        if of == section.name or not of.startswith(_RELOCATED):
            continue
        form = "<QQq" if beginning == _ADDENDS else "<QQ"
        for offset, info, *addend in struct.iter_unpack(form, section.data()):
            in_place = 0 if of.startswith(".text.") else _word(elf, of, offset)
            yield Relocation(of, offset, info & 0xFFFFFFFF, symbols[info >> 32].name, *(addend or [in_place]))


def _word(elf: Any, section: str, offset: int) -> int:
    """Return the 64 bits at an offset, to which a relocation without an addend of its own adds."""
    (word,) = struct.unpack_from("<q", _bytes(elf, section), offset)
    return int(word)
