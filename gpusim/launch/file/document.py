"""What a launch file may say, as plain frozen data; keys that are left out have the values given here."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Struct

from gpusim.support.document import Document, doc
from isa.nvidia.abi.launch import STACK_BYTES
from isa.reading.literals import MOST

TYPES = (
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64",
)  # fmt: skip
Mode = Literal["clamp", "border", "wrap", "mirror"]
Caches = Literal["warm", "cold"]
Number = int | float | bool
Size = Annotated[int, msgspec.Meta(ge=1, le=MOST)]
Count = Annotated[int, msgspec.Meta(ge=0, le=MOST)]
Dimensions = Annotated[list[Size], msgspec.Meta(min_length=1, max_length=5)]
Sizes = Annotated[list[Size], msgspec.Meta(min_length=1, max_length=3)]
Cluster = Annotated[list[Size], msgspec.Meta(max_length=3)]
Type = Annotated[str, doc(f"One of {', '.join(TYPES)}.")]
Member = tuple[str, Number | str | list[Number]]


class Contents(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A buffer in global memory, and what it holds before the launch."""

    name: Annotated[str, doc("A name for [[expect]] and for pointers; argument1, argument2, ... if left out.")] = ""
    buffer: Annotated[str, doc("Type of its elements; of an argument, its presence says that it is a pointer.")] = ""
    elements: Annotated[Count, doc("Number of its elements; those of the file or of the values if left out.")] = 0
    fill: Annotated[
        str,
        doc("zero, iota, constant V, hash SEED [LOW HIGH], values V V ..., addresses NAME [STEP]; zero if left out."),
    ] = ""
    file: Annotated[str, doc("A .npy file with its elements; relative to this file.")] = ""
    place: Annotated[
        Count,
        doc("Where it begins, in bytes above 0x7f0000000000, a multiple of 4096: as addresses in memory have it."),
    ] = 0
    cold: Annotated[bool, doc("No cache holds any of it when the launch begins, as behind a copy from the host.")] = (
        False
    )


class Texture(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """How a buffer's elements are a texture object, whose handle is the argument."""

    size: Annotated[Sizes, doc("Texels along x, y and z; 1 where left out.")]
    channels: Annotated[Literal[1, 2, 4], doc("Elements of a texel.")] = 1
    address: Annotated[Mode | list[Mode], doc("Beyond the edge, of all axes or of x, y and z.")] = "clamp"
    filter: Annotated[Literal["point", "linear"], doc("The nearest texel, or those around, by weights.")] = "point"
    normalized: Annotated[bool, doc("Whether coordinates go from 0 to 1.")] = False
    read: Annotated[
        Literal["element", "normalized"], doc("normalized: 8 and 16 bits as numbers from 0, or -1, to 1.")
    ] = "element"
    border: Annotated[list[float], doc("Color beyond the edge where the mode is border.")] = msgspec.field(
        default_factory=list
    )


class TensorMap(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """How a buffer's elements are a tensor, whose map is the argument; dimensions go from the innermost outwards."""

    size: Annotated[Dimensions, doc("Elements along each dimension.")]
    box: Annotated[Dimensions, doc("Elements of a box along each.")]
    strides: Annotated[list[Count], doc("Bytes between neighbours of each but the first; dense if left out.")] = (
        msgspec.field(default_factory=list)
    )
    steps: Annotated[list[Size], doc("Distances in elements between those of a box that are copied.")] = msgspec.field(
        default_factory=list
    )
    type: Annotated[str, doc("Type of the elements if not the buffer's, such as bfloat16.")] = ""
    swizzle: Annotated[Literal["none", "32B", "64B", "128B"], doc("Pattern of a box in shared memory.")] = "none"
    interleave: Annotated[Literal["none", "16B", "32B"], doc("Layout in global memory.")] = "none"
    promotion: Annotated[Literal["none", "64B", "128B", "256B"], doc("Of the L2; changes nothing here.")] = "none"
    fill: Annotated[Literal["zeros", "nan"], doc("What is beyond the tensor.")] = "zeros"


class Argument(Contents, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """An argument of the kernel: a buffer's address, a number with its type, a struct, or bytes."""

    texture: Annotated[Texture | None, doc("The argument is a texture object of the buffer.")] = None
    tensor_map: Annotated[TensorMap | None, doc("The argument is a tensor map of the buffer.")] = None
    same: Annotated[str, doc("Name of another buffer: the argument is its address, too.")] = ""
    offset: Annotated[Count, doc("Bytes behind the beginning of the buffer to which it points.")] = 0
    value: Annotated[Number | None, doc("A number.")] = None
    type: Annotated[Type, doc(f"Type of the number: one of {', '.join(TYPES)}.")] = ""
    struct: Annotated[
        list[Member],
        doc('Members of a struct: ["int32", 7], ["float32", [1.0, 2.0]], ["pointer", "x"], ["bytes", "0700"].'),
    ] = msgspec.field(default_factory=list)
    bytes: Annotated[str, doc("Any argument as hexadecimal digits, two for each byte in memory.")] = ""


class Expect(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a buffer holds after the launch, each element within an error."""

    buffer: Annotated[str, doc("Name of the buffer.")]
    value: Annotated[str, doc("An expression over buffers as they are before the launch, such as 2 * x + y.")] = ""
    file: Annotated[str, doc("A .npy file with the elements, in place of an expression.")] = ""
    within: Annotated[float, msgspec.Meta(ge=0), doc("Allowed absolute error.")] = 0.0
    relative: Annotated[float, msgspec.Meta(ge=0), doc("Allowed error relative to the value; both are added.")] = 0.0


class Initial(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The value of a variable before the launch, from its first byte on; the rest keeps what the code says."""

    type: Annotated[Type, doc(f"Type of its elements: one of {', '.join(TYPES)}.")] = ""
    values: Annotated[list[Number], doc("Its elements.")] = msgspec.field(default_factory=list)
    file: Annotated[str, doc("A .npy file with its elements, in place of values.")] = ""


class LaunchFile(Document, frozen=True, kw_only=True, omit_defaults=True):
    """A launch of machine code: sizes, arguments, buffers with their contents, and the expected results."""

    kernel: Annotated[str, doc("The kernel, plain or mangled; may be left out where the code has one.")] = ""
    code: Annotated[str, doc("The file with the code; this file's name with another ending if left out.")] = ""
    architecture: Annotated[Count, doc("90 for sm_90, where a file has code for several.")] = 0
    nvcc_flags: Annotated[list[str], doc('Options for compiling CUDA C, such as "-O3".')] = msgspec.field(
        default_factory=list
    )
    grid: Annotated[Sizes, doc("Blocks in x, y and z; 1 where left out.")] = msgspec.field(default_factory=lambda: [1])
    block: Annotated[Sizes, doc("Threads of a block in x, y and z.")] = msgspec.field(default_factory=lambda: [1])
    cluster: Annotated[
        Cluster, doc("Blocks of a cluster in x, y and z; what the code says (`__cluster_dims__`) if left out.")
    ] = msgspec.field(default_factory=list)
    cooperative: Annotated[
        bool, doc("Whether all blocks must be resident at once, so that they may synchronise the grid.")
    ] = False
    shared: Annotated[Count, doc("Bytes of dynamic shared memory; of a text, all that it uses.")] = 0
    stack: Annotated[Count, doc("Bytes of a thread's stack if the kernel calls functions.")] = STACK_BYTES
    caches: Annotated[Caches, doc("What the L2 holds when the launch begins: warm, the buffers; cold, nothing.")] = (
        "warm"
    )
    any_machine: Annotated[bool, doc("Whether machines that don't execute the code may run it: what if.")] = False
    flops: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1), doc("Operations of the whole launch, for rates.")] = 0
    argument: Annotated[list[Argument], doc("The arguments, in order.")] = msgspec.field(default_factory=list)
    buffer: Annotated[list[Contents], doc("Further buffers, to which structs and pointers may point.")] = msgspec.field(
        default_factory=list
    )
    expect: Annotated[list[Expect], doc("The expected results.")] = msgspec.field(default_factory=list)
    constants: Annotated[dict[str, Initial], doc("Values of `__constant__` variables, by name.")] = msgspec.field(
        default_factory=dict
    )
    globals: Annotated[dict[str, Initial], doc("Values of `__device__` variables, by name.")] = msgspec.field(
        default_factory=dict
    )
