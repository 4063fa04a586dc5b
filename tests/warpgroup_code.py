"""Compiled kernels of products by a warpgroup, with what an H200 gave for them (measured 2026-11-22 and 2026-11-29)."""

import io
import lzma
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from read.fenced import ROOT

import gpusim
from isa.memory import bases, view

DATA = ROOT / "tests" / "measured" / "tensor"


@cache
def module(name, folder=DATA):
    """Return the module of a compressed cubin."""
    with tempfile.TemporaryDirectory() as made:
        path = Path(made) / f"{name}.cubin"
        path.write_bytes(lzma.decompress((folder / f"{name}.cubin.xz").read_bytes()))
        return gpusim.RawModule(path=path)


@cache
def recorded(name):
    """Return the arrays of a compressed file of NumPy's."""
    with np.load(io.BytesIO(lzma.decompress((DATA / f"{name}.npz.xz").read_bytes()))) as file:
        return {key: file[key] for key in file.files}


def result(memory, kernel, number, kind):
    """Return what the array of that argument, counted from 1, holds after a run."""
    buffer = next(one for one in kernel.buffers if one.name == f"argument{number}")
    return view(memory, buffer, bases(kernel.buffers)[buffer.name]).view(kind)
