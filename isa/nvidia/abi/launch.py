"""What a launch gives the hardware beside the code: sizes, the parameter block, and buffers with their addresses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from isa import memory
from isa.errors import UserError
from isa.kernel import Buffer, Dim3
from isa.nvidia.file.cubin import Launch, Parameter
from isa.texture import HANDLE_BYTES, TextureObject

WINDOW = 0x7F00_0000_0000  # 64-bit address of the image's first byte; a round number where drivers place allocations
POINTER_BYTES = 8
STACK_BYTES = 1024  # of a thread that calls functions: the CUDA runtime's cudaLimitStackSize where nobody changes it


class LaunchError(UserError):
    """A launch that its kernel doesn't take; `part` says which part of it: grid, block, or the argument's number."""

    def __init__(self, part: str | int, message: str) -> None:
        """Keep the part beside the message."""
        super().__init__(message)
        self.part = part


@dataclass(frozen=True)
class LaunchState:
    """A launch of `kernel`, a mangled name, by blocks of `block` threads.

    `arguments` is the parameter block, as it lies in constant bank 0; pointers in it are those that `pointer` gives for
    `buffers`, handles those that `handle` gives for `textures`. `dynamic_shared` and `stack` are bytes, of a block and
    of a thread that calls functions. `sms` is the machine's number of SMs, for code that reads it. `cluster` is the
    blocks of a cluster (None: what the code says). `cooperative`: all blocks are resident at once, and may meet.
    """

    kernel: str
    grid: Dim3
    block: Dim3
    dynamic_shared: int = 0
    arguments: bytes = b""
    buffers: tuple[Buffer, ...] = ()
    stack: int = STACK_BYTES
    textures: tuple[TextureObject, ...] = ()
    sms: int = 0
    cluster: Dim3 | None = None
    cooperative: bool = False


@dataclass(frozen=True, slots=True)
class Value:
    """The bytes of an argument as they lie in memory, and the multiple of bytes at which they must begin."""

    data: bytes
    alignment: int


def pointer(buffers: Sequence[Buffer], name: str, offset: int = 0) -> Value:
    """Return the 64-bit address of the byte at an offset of a buffer; raises ValueError beyond 32-bit places."""
    address = WINDOW + memory.bases(buffers)[name] + offset
    return Value(address.to_bytes(POINTER_BYTES, "little"), POINTER_BYTES)


def handle(number: int) -> Value:
    """Return the handle of a texture object, of which the launch has that many before it."""
    return Value((number + 1).to_bytes(HANDLE_BYTES, "little"), HANDLE_BYTES)


def struct(members: Iterable[Value]) -> Value:
    """Return the bytes of a C struct: each member at the next multiple of its alignment, the whole padded likewise."""
    data, alignment = bytearray(), 1
    for member in members:
        data += bytes(-len(data) % member.alignment) + member.data
        alignment = max(alignment, member.alignment)
    return Value(bytes(data) + bytes(-len(data) % alignment), alignment)


def packed(kernel: str, values: Sequence[Value], launch: Launch) -> bytes:
    """Return the parameter block of these arguments; raises LaunchError for wrong numbers, sizes or alignments.

    `kernel` is the name in messages.
    """
    if len(values) != len(launch.parameters):
        takes = ", ".join(f"{one.size}" for one in launch.parameters)
        has = f"{len(launch.parameters)} parameters, of {takes} bytes" if takes else "no parameters"
        raise LaunchError("arguments", f"{kernel} has {has}; {len(values)} arguments are given")
    block = bytearray(launch.size)
    for number, (value, parameter) in enumerate(zip(values, launch.parameters, strict=True)):
        _check(kernel, number, value, parameter, launch.base)
        block[parameter.offset : parameter.offset + parameter.size] = value.data
    return bytes(block)


def natural(values: Sequence[Value]) -> Launch:
    """Return parameters of just these arguments without a table that says so: each at a multiple of its alignment."""
    found, end = list[Parameter](), 0
    for value in values:
        found.append(Parameter(end + -end % value.alignment, len(value.data)))
        end = found[-1].offset + found[-1].size
    return Launch(0, end, tuple(found))


def extent(sizes: Sequence[int]) -> Dim3:
    """Return a size in x, y and z; those that are not given are 1. Raises ValueError for none, or more than three."""
    if not 1 <= len(sizes) <= 3:
        raise ValueError(f"{len(sizes)} sizes; give x, x and y, or x, y and z")
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


def _check(kernel: str, number: int, value: Value, parameter: Parameter, base: int) -> None:
    which = f"parameter {number + 1} of {kernel}"
    if len(value.data) != parameter.size:
        raise LaunchError(number, f"{which} has {parameter.size} bytes; {len(value.data)} are given")
    if (base + parameter.offset) % value.alignment:
        place = f"begins at byte {parameter.offset}"
        raise LaunchError(number, f"{which} {place}, which is no multiple of the {value.alignment} that a member needs")
