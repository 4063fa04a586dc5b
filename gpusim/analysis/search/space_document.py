"""What a space file may say, as plain frozen data; keys that are left out have the values given here."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Struct

from gpusim.launch.file.document import Caches, Initial, Mode, Size
from gpusim.support.document import Document, doc
from isa.nvidia.abi.launch import STACK_BYTES

Expression = Annotated[int | float | str, doc("A number, or an expression of tunable parameters and sizes.")]
Value = int | float | str
Values = Annotated[list[Value] | str, doc('A list, or an expression such as "range(1, 9)".')]
Extent = Annotated[list[Expression], msgspec.Meta(min_length=1, max_length=3)]
Member = tuple[str, Value | list[int | float]]


class PointTexture(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """How a buffer's elements are a texture object, as in a launch file."""

    size: Annotated[Extent, doc("Texels along x, y and z; 1 where left out.")]
    channels: int = 1
    address: Mode | list[Mode] = "clamp"
    filter: str = "point"
    normalized: bool = False
    read: str = "element"
    border: list[float] = msgspec.field(default_factory=list)


class PointBuffer(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A buffer in global memory, as in a launch file."""

    name: str = ""
    buffer: Annotated[str, doc("Type of its elements.")] = ""
    elements: Annotated[Expression, doc("Number of its elements.")] = 0
    fill: Annotated[str, doc("What it holds before the launch.")] = ""
    file: Annotated[str, doc("A .npy file with its elements; relative to this file.")] = ""


class PointArgument(PointBuffer, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """An argument of the kernel, as in a launch file."""

    texture: PointTexture | None = None
    same: str = ""
    offset: Expression = 0
    value: bool | int | float | str | None = None
    type: str = ""
    struct: Annotated[list[Member], doc('Members of a struct; numbers may be expressions: ["int32", "2 * N"].')] = (
        msgspec.field(default_factory=list)
    )
    bytes: str = ""


class PointExpect(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a buffer holds after the launch, as in a launch file."""

    buffer: str
    value: Annotated[str, doc("An expression of buffers as they are before the launch; not one of parameters.")] = ""
    file: str = ""
    within: Expression = 0.0
    relative: Expression = 0.0


class PointLaunch(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The launch of each point: a launch file whose numbers may be expressions."""

    grid: Annotated[Extent, doc("Blocks in x, y and z; 1 where left out.")]
    block: Annotated[Extent, doc("Threads of a block in x, y and z.")]
    shared: Annotated[Expression, doc("Bytes of dynamic shared memory.")] = 0
    stack: Annotated[Expression, doc("Bytes of a thread's stack if the kernel calls functions.")] = STACK_BYTES
    caches: Annotated[Caches, doc("What the L2 holds when the launch begins: warm, the buffers; cold, nothing.")] = (
        "warm"
    )
    flops: Annotated[Expression, doc("Operations of the whole launch, for GFLOP/s.")] = 0
    bytes: Annotated[Expression, doc("Bytes that the launch has to move at least, for GB/s.")] = 0
    argument: list[PointArgument] = msgspec.field(default_factory=list)
    buffer: list[PointBuffer] = msgspec.field(default_factory=list)
    expect: list[PointExpect] = msgspec.field(default_factory=list)
    constants: dict[str, Initial] = msgspec.field(default_factory=dict)
    globals: dict[str, Initial] = msgspec.field(default_factory=dict)


class SpaceFile(Document, frozen=True, kw_only=True, omit_defaults=True):
    """A search space of a CUDA kernel: tunable parameters with their values, restrictions, and the launch of a point.

    Each point is compiled with -D NAME=VALUE for each tunable parameter.
    """

    source: Annotated[str, doc("The file of CUDA C, relative to this file.")]
    kernel: Annotated[str, doc("The kernel, plain or mangled; may be left out where the source has one.")] = ""
    flags: Annotated[list[str], doc('Options of the compiler, such as "-use_fast_math".')] = msgspec.field(
        default_factory=list
    )
    parameters: Annotated[dict[str, Values], doc("Tunable parameters: values by name.")]
    sizes: Annotated[
        dict[str, Expression], doc("Sizes of the problem, for expressions; not given to the compiler.")
    ] = msgspec.field(default_factory=dict)
    check: Annotated[
        dict[str, Size],
        doc("Sizes at which the values of the fastest point are checked; those of `sizes` if left out."),
    ] = msgspec.field(default_factory=dict)
    restrictions: Annotated[list[str], doc("Expressions that hold at each point.")] = msgspec.field(
        default_factory=list
    )
    launch: PointLaunch
