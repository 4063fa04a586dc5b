"""Programs of tests/data/bulk.cu and others beside it, launched with NumPy arrays, numbers and tensor maps of arrays.

The machine code is nvcc 13.0's for sm_90a.
"""

import lzma
from functools import cache
from pathlib import Path

import numpy as np

from gpusim.engines.simulate import ENGINES, run_sm
from gpusim.engines.walks.program_order import walk
from gpusim.machine.machine import load
from isa import memory
from isa.generators import ArrayFill
from isa.kernel import Buffer
from isa.nvidia.abi import load as abi
from isa.nvidia.abi.launch import LaunchState, Value, pointer
from isa.nvidia.file import code
from isa.nvidia.tensor_map import FILLS, INTERLEAVES, PROMOTIONS, SWIZZLES, TensorMap

DATA = Path(__file__).parent / "data"
H200 = load("h200", {"chip.sms": 1})
TYPES = (  # in the driver's order
    *("uint8", "uint16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64", "bfloat16"),
    *("float32_ftz", "tfloat32", "tfloat32_ftz"),
)


class DriverMap:
    """A map with the bytes of the driver, and another address."""

    def __init__(self, text):
        self.data = bytes.fromhex(text)

    def encode(self, address):
        """Return the bytes for that address."""
        return address.to_bytes(8, "little") + self.data[8:]


def told(row):
    """Return the map of a measured row, whose numbers are those of the driver's enumerations."""
    return TensorMap(
        TYPES[row["type"]],
        tuple(row["dim"]),
        tuple(row["stride"][1:]),
        tuple(row["box"]),
        tuple(row["es"]),
        interleave=list(INTERLEAVES)[row.get("interleave", 0)],
        swizzle=list(SWIZZLES)[row["swz"]],
        promotion=list(PROMOTIONS)[row["l2"]],
        fill=list(FILLS)[row["fill"]],
    )


@cache
def made(file="bulk"):
    """Return the machine code of a file."""
    return code.of_cubin(lzma.decompress((DATA / f"{file}.cubin.xz").read_bytes()), file)


def kernel(name, *arguments, threads=32, shared=64 << 10, file="bulk"):
    """Return a launch of one block; arguments are arrays, ints, and (map, array)."""
    arrays = {id(one): one for one in map(_array, arguments) if one is not None}
    names = {key: f"a{n}" for n, key in enumerate(arrays)}
    buffers = tuple(
        Buffer(names[key], one.dtype.str[1:], one.size, ArrayFill(one.ravel())) for key, one in arrays.items()
    )
    values = [_value(one, buffers, names) for one in arguments]
    block = (threads, 1, 1)
    given = abi.arguments(made(file), name, values)
    return abi.kernel(made(file), LaunchState(name, (1, 1, 1), block, shared, arguments=given, buffers=buffers))


def _array(argument):
    found = argument[1] if isinstance(argument, tuple) else argument
    return found if isinstance(found, np.ndarray) else None


def _value(argument, buffers, names):
    if isinstance(argument, int):
        return Value(int(argument).to_bytes(4, "little", signed=True), 4)
    address = pointer(buffers, names[id(_array(argument))])
    if isinstance(argument, tuple):
        return Value(argument[0].encode(int.from_bytes(address.data, "little")), 64)
    return address


def left(launched, found):
    """Return what a memory image holds in each buffer of the launch, as its type, in the order of the arguments."""
    where = memory.bases(launched.buffers)
    return [memory.view(found, one, where[one.name]) for one in launched.buffers if one.name.startswith("a")]


def everywhere(launched, machine=H200, engines=tuple(ENGINES)):
    """Yield what is left in program order, and by each engine."""
    yield left(launched, walk(launched).memory)
    for engine in engines:
        yield left(launched, run_sm(launched, machine, engine=engine).memory)


def box(values, tensor, begin, fill=0):
    """Return the bytes of a box as an array of its elements, C order, by definition; `values` is the whole tensor.

    Axes are those of the array, outermost first; what is beyond the tensor is filled.
    """
    counts = [-(-n // s) for n, s in zip(tensor.box, steps(tensor), strict=True)][::-1]
    result = np.full(counts, fill, values.dtype)
    for index in np.ndindex(*counts):
        at = [b + i * s for b, i, s in zip(begin[::-1], index, steps(tensor)[::-1], strict=True)]
        if all(0 <= a < n for a, n in zip(at, values.shape, strict=True)):
            result[index] = values[tuple(at)]
    return result


def steps(tensor):
    """Return the distances between elements of a box; that of the first dimension says nothing."""
    return (1, *(tensor.steps or tensor.box)[1:]) if tensor.steps else (1,) * tensor.rank


def swizzled(rows, mode, first=0x800):
    """Return shared memory from address `first` on with the rows of a box, given as bytes; 16 of these stay together.

    Rows of a swizzle take all of its width; what is between them is 0xCD.
    """
    span = {"none": 0, "32B": 2, "64B": 4, "128B": 8}[mode]
    pitch = 16 * span or rows.shape[1]
    result = np.full(len(rows) * pitch, 0xCD, np.uint8)
    for r, row in enumerate(rows):
        for c in range(0, row.size, 16):
            at = (first + r * pitch + c) // 16
            turned = at ^ (at // 8 % span) if span else at
            result[16 * turned - first :][:16] = row[c : c + 16]
    return result
