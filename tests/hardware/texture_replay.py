"""Texture fetches in gpusim: the machine code that the chip ran, on the same textures and coordinates."""

import lzma
from functools import cache
from io import BytesIO
from pathlib import Path

import numpy as np
from interpreter.interpret import interpret

from hardware.textures import CASES, CUBIN, TABLE, Case
from isa import memory
from isa.generators import ArrayFill
from isa.kernel import Buffer, Kernel
from isa.nvidia.abi import load
from isa.nvidia.abi.launch import LaunchState, Value, handle, pointer
from isa.nvidia.file import code
from isa.texture import TextureObject

FOLDER = Path(__file__).parent / "data"
BLOCK = 128


@cache
def machine_code() -> code.Code:
    """Return the code of all kernels."""
    return code.of_cubin(lzma.decompress((FOLDER / CUBIN).read_bytes()), CUBIN)


@cache
def table() -> dict[str, np.ndarray]:
    """Return textures, places and results by the numbers of the cases."""
    return dict(np.load(BytesIO(lzma.decompress((FOLDER / TABLE).read_bytes()))))


def texture_of(case: Case, texels: np.ndarray) -> TextureObject:
    """Return the texture object of a case."""
    depth, height, width, channels = texels.shape
    whole = case.as_integer or case.dtype[0] == "f"
    return TextureObject(
        "texels",
        (width, height, depth),
        case.dtype,
        channels,
        width * channels * texels.itemsize,
        case.address,
        case.sampling,
        case.normalized,
        "element" if whole else "normalized",
        case.border,
    )


def kernel(number: int) -> Kernel:
    """Return the kernel of a case, launched as on the chip."""
    return launched(CASES[number], *of_table(number))


def of_table(number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the texels of a case, and the places of its fetches."""
    return table()[f"texels.{number}"], table()[f"at.{number}"]


def launched(case: Case, texels: np.ndarray, places: np.ndarray) -> Kernel:
    """Return the kernel of a case with these texels [z, y, x, channel] and a place for each thread."""
    buffers = (
        Buffer("texels", texels.dtype.str[1:], texels.size, ArrayFill(texels.reshape(-1))),
        Buffer("at", places.dtype.str[1:], places.size, ArrayFill(places.reshape(-1))),
        Buffer("found", "u4", places.size),
    )
    rows = len(places)
    given = [handle(0), Value(np.int32(rows).tobytes(), 4), pointer(buffers, "at"), pointer(buffers, "found")]
    state = LaunchState(
        case.kernel,
        (-(-rows // BLOCK), 1, 1),
        (BLOCK, 1, 1),
        arguments=load.arguments(machine_code(), case.kernel, given),
        buffers=buffers,
        textures=(texture_of(case, texels),),
    )
    return load.kernel(machine_code(), state)


def found(made: Kernel, words: np.ndarray) -> np.ndarray:
    """Return what a run has left, four words for each row."""
    buffer = made.buffers[2]
    return memory.view(words, buffer, memory.bases(made.buffers)["found"]).reshape(-1, 4)


def computed(number: int) -> np.ndarray:
    """Return what the interpreter fetches."""
    made = kernel(number)
    return found(made, interpret(made).memory)


def recorded(number: int) -> np.ndarray:
    """Return what the chip has fetched; the last columns of the table are left out where they are 0."""
    kept = table()[f"out.{number}"]
    return np.pad(kept, ((0, 0), (0, 4 - kept.shape[1])))
