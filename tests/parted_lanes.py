"""Programs whose lanes part, and what an H200 noted of them (tests/measured/parted_lanes.cu)."""

from __future__ import annotations

import lzma
from typing import Any

import numpy as np
from numpy.typing import NDArray
from read.fenced import ROOT

from isa import memory
from isa.generators import ArrayFill
from isa.kernel import Buffer, Kernel
from isa.nvidia.abi import load
from isa.nvidia.abi.launch import LaunchState, Value, pointer
from isa.nvidia.file import cubin, dump
from isa.nvidia.file.code import Code

MEASURED = ROOT / "tests" / "measured"
NOTES = np.load(MEASURED / "parted_lanes.npz")
PLACES = 4000 * 96  # words of notes: for each, time, lanes and place, lane by lane


def kernel(name: str, case: int) -> Kernel:
    """Return a launch of one warp of one of the programs."""
    given, number = NOTES[f"{name}.{case}.input"], int(NOTES[f"{name}.{case}.k"])
    return launched("parted_lanes", name, (given, number), words=PLACES + 1024, threads=32)


def launched(file: str, name: str, values: tuple[NDArray[np.uint32], int], *, words: int, threads: int) -> Kernel:
    """Return a launch of a kernel(notes[words], given, number) of a file by a block; `values`: the latter two."""
    binary, text = (lzma.decompress((MEASURED / f"{file}.{kind}.xz").read_bytes()) for kind in ("cubin", "sass"))
    found = Code(90, dump.read(text.decode(), name).sections, cubin.read(binary, name))
    given, number = values
    buffers = (Buffer("g", "<u4", words), Buffer("c", "<u4", len(given), ArrayFill(given)))
    passed = [pointer(buffers, "g"), pointer(buffers, "c"), Value(number.to_bytes(4, "little"), 4)]
    arguments = load.arguments(found, name, passed)
    return load.kernel(found, LaunchState(name, (1, 1, 1), (threads, 1, 1), 0, arguments, buffers))


def notes(launched: Kernel, words: Any) -> tuple[Any, Any]:
    """Return the notes [number, what, lane] that a run left in memory, and how many each lane made."""
    first = memory.bases(launched.buffers)["g"] // 4
    found = words[first : first + PLACES + 32]
    return found[:PLACES].reshape(-1, 3, 32), found[PLACES:]
