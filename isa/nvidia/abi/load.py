"""From machine code and a launch to a kernel: its program, its constant banks, and global memory with its variables.

Constant bank 0 begins with sizes and places that the driver fills in; the parameters follow (isa.architecture).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from types import MappingProxyType

import numpy as np

from isa import memory
from isa.architecture import Architecture, Target, nvidia
from isa.errors import UserError
from isa.generators import ArrayFill
from isa.kernel import Buffer, Dim3, Kernel
from isa.nvidia.abi import relocate
from isa.nvidia.abi.check import check, cluster_of
from isa.nvidia.abi.launch import WINDOW, LaunchError, LaunchState, Value, natural, packed
from isa.nvidia.abi.meeting import MEETING_BYTES, has_place
from isa.nvidia.abi.on_chip import MEETING
from isa.nvidia.file import link
from isa.nvidia.file.code import Code
from isa.nvidia.file.cubin import Cubin, Function, Relocation
from isa.nvidia.file.dump import Section
from isa.nvidia.file.names import plain
from isa.nvidia.lowering import lower, syntax
from isa.nvidia.lowering.system import reads
from isa.nvidia.system import memory as system
from isa.operands.operand import BankConstant
from isa.operands.windows import LOCAL_WINDOW, SHARED_PLACE, SHARED_WINDOW
from isa.program import WORD_BYTES, Program
from isa.support.bulk import without_collection
from isa.support.once import once

PARAMETERS, OF_COMPILER, CONSTANTS, ADDRESSES = 0, 2, 3, 4  # constant banks
OF_GROUPS, OF_SYSTEM_BYTES = 288, 1024  # bytes of that part (an H100's), and of all where a kernel asks for it
VARIABLES = "nv.global"  # the buffer of `__device__` variables; no argument has a name with a dot
_BANK = re.compile(r"\bc\[0x([0-9a-f]+)\]")
_GROWTH = re.compile(r"^(?:@!?U?P\w+ )?(?!LD)[A-Z]\S* R1, .*(?<!U)R(?!1\b|Z\b)\d")  # R1 from a register: alloca
_MOST_BANK = 1 << 16  # bytes of a constant bank
_BEHIND = 3  # bytes that are read behind the last parameter if it is a byte that is an operand: its whole word
_LINE = 16  # bytes of the widest constant operand: a bank ends with a whole one


@without_collection()
def kernel(code: Code, state: LaunchState) -> Kernel:
    """Return the kernel that a launch is of; its buffers are those of the launch, then the file's own.

    Raises LaunchError for a launch that the code doesn't take, and LoweringError for code that is not executed.
    """
    function = code.cubin.functions[state.kernel] if code.cubin else None
    check(state, function, code.architecture)
    code, state = system.provided(code, state)
    _check_room(state, code.cubin)
    section = link.linked(
        code, state.kernel, _of_variables(code.cubin, state) if code.cubin else 0, system.places(state)
    )
    local = _local_bytes(section, function, state)
    row = nvidia(code.architecture)
    shared, reserved, of_system = _shared(section, row, function, state)
    symbols = _symbols(code, state, 0)
    banks = _banks(code, state, function, (local, of_system), symbols)
    buffers = _buffers(section, code, state, banks, symbols)
    places = _places(buffers)
    if CONSTANTS in places or _takes_parameters(section, row) or has_place(section, row, state):
        symbols = _symbols(code, state, WINDOW + places.get(CONSTANTS, 0))
        banks = _banks(code, state, function, (local, of_system), symbols)
        banks[PARAMETERS] = _with_addresses(banks[PARAMETERS], row, places, memory.bases(buffers).get(MEETING))
        buffers = _buffers(section, code, state, banks, symbols)
    program = _program(section, code, state, (local, shared, reserved), _places(buffers), symbols)
    if code.cubin:
        _check_banks(program, banks)
    return Kernel(
        name=plain(state.kernel),
        program=program,
        grid=state.grid,
        block=state.block,
        buffers=buffers,
        banks=MappingProxyType(banks),
        window=WINDOW,
        textures=state.textures,
        target=Target("nvidia", code.architecture) if code.architecture else None,
        sms=state.sms,
        page_bytes=memory.DEVICE_PAGE_BYTES,
        cluster=cluster_of(state, function),
        cooperative=state.cooperative,
    )


def with_arguments(kernel: Kernel, code: Code, name: str, arguments: bytes) -> Kernel:
    """Return the same launch with other arguments: the parameter block of its kernel, by its mangled name.

    Its program is the same object, of which what was worked out is known.
    """
    launch = code.cubin.functions[name].launch if code.cubin else None
    base = launch.base if launch else nvidia(code.architecture).parameters
    bank = kernel.banks[PARAMETERS][:base] + arguments
    bank += bytes(-len(bank) % _LINE)
    own = bank_name(PARAMETERS)
    buffers = tuple(bytes_buffer(own, bank) if one.name == own else one for one in kernel.buffers)
    return replace(kernel, banks=MappingProxyType({**kernel.banks, PARAMETERS: bank}), buffers=buffers)


def _check_banks(program: Program, banks: Mapping[int, bytes]) -> None:
    """Raise UserError for a constant of a bank that neither the file nor the launch has."""
    for pc, instruction in enumerate(program.instructions):
        for operand in instruction.operands:
            if isinstance(operand, BankConstant) and operand.bank not in banks:
                what = f"c[{operand.bank:#x}][{operand.offset:#x}]: neither the file nor the launch has this bank"
                raise UserError(f"{program.place(pc)}: {what}; compile it at another level, or with another release")


@once
def placed(kernel: Kernel, sms: int) -> Kernel:
    """Return the kernel of machine code for a machine with so many SMs."""
    bank = bytearray(kernel.banks[PARAMETERS])
    row = nvidia(kernel.target.architecture if kernel.target else 0)
    struct.pack_into("<I", bank, row.sms, sms)
    name, changed = bank_name(PARAMETERS), bytes(bank)
    return replace(
        kernel,
        sms=sms,
        banks=MappingProxyType({**kernel.banks, PARAMETERS: changed}),
        buffers=tuple(bytes_buffer(name, changed) if one.name == name else one for one in kernel.buffers),
    )


def arguments(code: Code, name: str, values: Sequence[Value]) -> bytes:
    """Return the parameter block of a kernel; of a text, which has no table of parameters, each lies where C puts it.

    Raises LaunchError for arguments whose number, sizes or alignments are not those of the parameters.
    """
    launch = code.cubin.functions[name].launch if code.cubin else None
    return packed(plain(name), values, launch or natural(values))


def _check_room(state: LaunchState, cubin: Cubin | None) -> None:
    """Raise LaunchError unless all buffers, variables and constant banks have places with 32-bit addresses."""
    banks = (Buffer(bank_name(number), "u1", _MOST_BANK) for number in range(ADDRESSES + 1))
    try:
        where = memory.bases((*_with_variables(cubin, state), *banks))
    except ValueError as error:
        raise LaunchError("arguments", f"{error}; take fewer elements") from None
    if max(where.values()) + _MOST_BANK > SHARED_PLACE:
        raise LaunchError("arguments", f"buffers need more than {SHARED_PLACE} bytes; take fewer elements")


def _program(
    section: Section,
    code: Code,
    state: LaunchState,
    nbytes: tuple[int, int, int],
    places: Mapping[int, int],
    symbols: Mapping[str, int],
) -> Program:
    function = code.cubin.functions[state.kernel] if code.cubin else None
    externals = code.cubin.externals if code.cubin else ()
    local, shared, reserved = nbytes
    return lower.program(
        section,
        places,
        function=plain(state.kernel),
        externals=externals,
        addresses=code.cubin.addresses if code.cubin else {},
        outside={symbols[name]: name for name in externals},
        row=nvidia(code.architecture),
        registers=function.registers if function else 0,
        shared=shared,
        reserved=reserved,
        local=local,
    )


def _local_bytes(section: Section, function: Function | None, state: LaunchState) -> int:
    """Return the bytes of a thread's stack: the kernel's frame, or what one that calls or allocates has."""
    frame = max(function.stack_bytes, function.least_stack_bytes) if function else 0
    calls = any("CALL" in one.text and syntax.head(one.text).startswith("CALL") for one in section.instructions)
    grows = calls or any(_GROWTH.search(one.text) for one in section.instructions)
    return _whole_words(max(frame, state.stack) if grows else frame)


def _shared(section: Section, row: Architecture, function: Function | None, state: LaunchState) -> tuple[int, int, int]:
    """Return the bytes of a block's shared memory, those of the system, and where cooperative groups' part begins.

    Kernels from sm_90 on have the system's bytes before their own, others behind them, where only those count that ask
    for them. A kernel from sm_90 on that has no shared memory counts them if it asks where they are, or for their
    number.
    """
    before = row.system_before
    declared = function.shared_bytes if function else before
    asks = row.groups is not None and any(reads(one.text, row.groups + 4) for one in section.instructions)
    if before and (asks or any("SR_SMEMSZ" in one.text for one in section.instructions)):
        declared = max(declared, before)
    own = _whole_words(declared + state.dynamic_shared)
    if before or not asks:
        return own, min(declared, before), 0
    begin = own + -own % _LINE
    return begin + OF_SYSTEM_BYTES, OF_SYSTEM_BYTES, begin


def _banks(
    code: Code, state: LaunchState, function: Function | None, nbytes: tuple[int, int], symbols: Mapping[str, int]
) -> dict[int, bytes]:
    """Return the constant banks by number; empty ones are left out."""
    local, of_system = nbytes
    launch = function.launch if function else None
    row = nvidia(code.architecture)
    bank = _parameters(state, launch.base if launch else row.parameters, local, of_system, row)
    banks = {PARAMETERS: _with_clusters(bank, row, state, cluster_of(state, function))}
    if code.cubin:
        constants, addresses = code.cubin.constants, bytes(code.cubin.address_bytes)
        held = any(one.name == bank_name(CONSTANTS) for one in state.buffers)  # then it may have been changed
        banks[CONSTANTS] = constants if held else relocate.relocated(constants, relocate.CONSTANTS, code.cubin, symbols)
        banks[ADDRESSES] = relocate.relocated(addresses, relocate.ADDRESSES, code.cubin, symbols)
        if function:
            banks[OF_COMPILER] = relocate.relocated(
                function.bank_2, f".nv.constant2.{function.home}", code.cubin, symbols
            )
    banks[PARAMETERS] += bytes(_BEHIND)
    return {number: bank + bytes(-len(bank) % _LINE) for number, bank in banks.items() if bank}


def _parameters(state: LaunchState, base: int, local: int, of_system: int, row: Architecture) -> bytes:
    """Return bank 0: what the row has places for, then the parameters from `base` on.

    The rest is zero, also the descriptor of global memory (0x208 on sm_90, 0x118 on sm_80), which says nothing here.
    """
    bank = bytearray(base)
    struct.pack_into("<3I", bank, row.block, *state.block)
    struct.pack_into("<3I", bank, row.grid, *state.grid)
    struct.pack_into("<2Q", bank, row.windows, SHARED_WINDOW, LOCAL_WINDOW)
    struct.pack_into("<I", bank, row.stack, local)
    struct.pack_into("<I", bank, row.dynamic_shared, state.dynamic_shared)
    struct.pack_into("<I", bank, row.sms, state.sms)
    struct.pack_into("<I", bank, row.system_bytes, OF_SYSTEM_BYTES if of_system else row.system_before)
    if row.groups is not None:
        struct.pack_into("<2I", bank, row.groups, of_system + OF_GROUPS, of_system)
    return bytes(bank) + state.arguments


def _with_clusters(bank: bytes, row: Architecture, state: LaunchState, cluster: Dim3) -> bytes:
    """Return bank 0 with the clusters of the launch; without them each block is one."""
    at, found = row.cluster, bytearray(bank)
    if at is None:
        return bank
    struct.pack_into("<I", found, at.explicit, prod(cluster) > 1)
    struct.pack_into("<3I", found, at.blocks, *cluster)
    struct.pack_into("<3f", found, at.reciprocals, *(1 / unit for unit in cluster))
    struct.pack_into("<3I", found, at.clusters, *(size // unit for size, unit in zip(state.grid, cluster, strict=True)))
    struct.pack_into("<I", found, at.total, prod(cluster))
    return bytes(found)


def _with_addresses(bank: bytes, row: Architecture, places: Mapping[int, int], meeting: int | None) -> bytes:
    """Return bank 0 with the addresses in global memory of bank 3, its own parameters, and where blocks meet."""
    found = bytearray(bank)
    if CONSTANTS in places:
        struct.pack_into("<Q", found, row.constants, WINDOW + places[CONSTANTS])
    if PARAMETERS in places and row.addressed is not None:
        struct.pack_into("<Q", found, row.addressed, WINDOW + places[PARAMETERS] + row.parameters)
    if meeting is not None:
        struct.pack_into("<2I", found, row.meeting, *divmod(WINDOW + meeting, 1 << 32))
    return bytes(found)


def _takes_parameters(section: Section, row: Architecture) -> bool:
    """Tell whether code takes the address of its parameters, as that of a tensor map among them."""
    return row.addressed is not None and any(reads(one.text, row.addressed) for one in section.instructions)


def initial(code: Code, variables: int, constants: int) -> tuple[bytes, bytes]:
    """Return what `__device__` and `__constant__` variables hold at first, if they lie at these 64-bit addresses.

    Raises UserError for addresses in them that are not known.
    """
    if code.cubin is None:
        return b"", b""
    every = code.cubin.variables.values()
    where = {one.name: (constants if one.constant else variables) + one.offset for one in every}
    symbols = {**link.pointers(code), **where}
    of_device = relocate.relocated(code.cubin.memory, relocate.WITH_VALUES, code.cubin, symbols)
    return of_device, relocate.relocated(code.cubin.constants, relocate.CONSTANTS, code.cubin, symbols)


def system_bytes(code: Code) -> int:
    """Return the bytes of a kernel's shared memory that are the system's, before its own."""
    return nvidia(code.architecture).system_before


def _symbols(code: Code, state: LaunchState, constants: int) -> Mapping[str, int]:
    """Return the 64-bit addresses of variables and functions; bank 3 lies at `constants`."""
    if code.cubin is None:
        return {}
    first = _of_variables(code.cubin, state)
    variables = code.cubin.variables.values()
    where = {one.name: (constants if one.constant else first) + one.offset for one in variables}
    return {**link.places(code, state.kernel), **where}


def _of_variables(cubin: Cubin, state: LaunchState) -> int:
    """Return the 64-bit address of the first variable, whose buffer comes after those of the launch."""
    return WINDOW + memory.bases(_with_variables(cubin, state))[VARIABLES]


def _with_variables(cubin: Cubin | None, state: LaunchState) -> tuple[Buffer, ...]:
    """Return the launch's buffers and that of the variables, which may be one of them: then they outlive the launch."""
    if any(one.name == VARIABLES for one in state.buffers):
        return state.buffers
    return *state.buffers, bytes_buffer(VARIABLES, cubin.memory if cubin else b"")


def _buffers(
    section: Section, code: Code, state: LaunchState, banks: Mapping[int, bytes], symbols: Mapping[str, int]
) -> tuple[Buffer, ...]:
    """Return the launch's buffers, and those of `_own_buffers` that are not among them."""
    given = {one.name for one in state.buffers}
    return *state.buffers, *(one for one in _own_buffers(section, code, state, banks, symbols) if one.name not in given)


def _own_buffers(
    section: Section, code: Code, state: LaunchState, banks: Mapping[int, bytes], symbols: Mapping[str, int]
) -> Iterator[Buffer]:
    """Yield the buffers that no argument names: the file's variables, where blocks meet, banks that code loads from.

    Code that takes the address of a `__constant__` variable, or has it in a variable, loads from that bank by pointers.
    """
    cubin, place = code.cubin, nvidia(code.architecture).constants
    if cubin and cubin.memory:
        yield bytes_buffer(VARIABLES, relocate.relocated(cubin.memory, relocate.WITH_VALUES, cubin, symbols))
    if has_place(section, nvidia(code.architecture), state):
        yield bytes_buffer(MEETING, bytes(MEETING_BYTES))
    loaded = {
        int(bank, 16)
        for one in section.instructions
        if "LDC" in one.text and syntax.head(one.text).lstrip("U").startswith("LDC")
        for bank in _BANK.findall(one.text)
    }
    if any(reads(one.text, place) for one in section.instructions):
        loaded.add(CONSTANTS)
    if _takes_parameters(section, nvidia(code.architecture)):
        loaded.add(PARAMETERS)
    if cubin and any(_is_of_constant(one, cubin) for one in cubin.relocations):
        loaded.add(CONSTANTS)
    for number in sorted(loaded & banks.keys()):
        yield bytes_buffer(bank_name(number), banks[number])


def _is_of_constant(one: Relocation, cubin: Cubin) -> bool:
    """Tell whether it is the address of a `__constant__` variable outside code."""
    variable = cubin.variables.get(one.symbol)
    return variable is not None and variable.constant and not one.section.startswith(".text.")


def _places(buffers: tuple[Buffer, ...]) -> dict[int, int]:
    """Return the byte addresses of the constant banks that lie in global memory, by number."""
    where = memory.bases(buffers)
    return {number: where[bank_name(number)] for number in range(ADDRESSES + 1) if bank_name(number) in where}


def bank_name(bank: int) -> str:
    """Return the name of the buffer that a constant bank lies in, where code loads from it."""
    return f"c[{bank:#x}]"


def bytes_buffer(name: str, data: bytes) -> Buffer:
    """Return a buffer of bytes."""
    return Buffer(name, "u1", len(data), ArrayFill(np.frombuffer(data, np.uint8)))


def _whole_words(nbytes: int) -> int:
    return nbytes + -nbytes % WORD_BYTES
