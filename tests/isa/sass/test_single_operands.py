"""Singles as operands of halves: how sm_75 makes half constants, in CUDA C that nvcc 13.0 -fmad=false compiled."""

import lzma
from pathlib import Path

import numpy as np
import pytest
from interpreter.interpret import interpret
from read.fenced import ROOT

from isa import memory
from isa.generators import ArrayFill
from isa.kernel import Buffer
from isa.nvidia.abi import load
from isa.nvidia.abi.launch import LaunchState, Value, pointer
from isa.nvidia.file import code
from isa.nvidia.lowering.lower import lowered
from isa.operands.operand import BankConstant

DATA = Path(__file__).with_name("data")
GENERATED = ROOT / "tests" / "measured" / "generated"


def launched(file, name, grid, block, arrays, further=()):
    """Return what a kernel of a compressed cubin leaves in its arrays."""
    machine_code = code.of_cubin(lzma.decompress(file.read_bytes()), file.name)
    buffers = tuple(Buffer(x, a.dtype.str[1:], a.size, ArrayFill(a)) for x, a in arrays.items())
    given = [*(pointer(buffers, x) for x in arrays), *further]
    arguments = load.arguments(machine_code, name, given)
    kernel = load.kernel(machine_code, LaunchState(name, grid, block, arguments=arguments, buffers=buffers))
    words, bases = interpret(kernel).memory, memory.bases(buffers)
    return {b.name: memory.view(words, b, bases[b.name]) for b in buffers}


def test_a_single_stays_with_its_operand():
    """`c[0x2][0x4].F32` is an operand of HADD2, whose row is not that of HADD2.F32."""
    form = lowered("HADD2 R2, -RZ.H0_H0, c[0x2][0x4].F32")
    assert (form.row.mnemonic, form.operands[2]) == ("HADD2", BankConstant(2, 4, part="F32"))
    assert lowered("HADD2.F32 R2, -RZ.H0_H0, R3.H0_H0").row.mnemonic == "HADD2.F32"


def test_half_constants_of_sm_75_are_halves():
    """2 - min(13653 as a half, x), where 1 + 1 is made of a single: 0xdfdb gives 0x5fe3, as float64 says of all x."""
    x = np.arange(0, 1 << 16, 64, dtype=np.uint32)
    x[0] = 0xDFDB
    found = launched(
        DATA / "half_constant_75.cubin.xz", "k", (1, 1, 1), (x.size, 1, 1), {"in": x, "out": np.zeros_like(x)}
    )["out"]
    numbers = x.astype(np.uint16).view(np.float16)
    with np.errstate(over="ignore"):
        expected = np.float16(2.0 - np.fmin(np.uint16(13653).view(np.float16), numbers).astype(np.float64))
    assert found[0] == 0x5FE3
    assert found.astype(np.uint16).view(np.float16).tolist() == expected.tolist()


@pytest.mark.parametrize("seed", [21002, 24019, *(pytest.param(one, marks=pytest.mark.long) for one in (22002, 25004))])
def test_kernels_for_sm_75_compute_what_their_text_says(seed):
    """Each word that a generated kernel leaves is that of the same C text, compiled for the host lane by lane."""
    want = np.load(GENERATED / f"k{seed}.npz")
    grid, *block = (int(one) for one in want["shape"])
    private = np.arange(want["priv"].size, dtype=np.uint32) * np.uint32(7) + np.uint32(3)
    private.reshape(-1, 8)[:, 6] = 0x42280000
    arrays = {
        "in": want["x"],
        "out": np.zeros(want["out"].size, np.uint32),
        "gat": np.arange(16, dtype=np.uint32) * np.uint32(0x01010101),
        "priv": private,
    }
    further = [Value(want["s"].tobytes(), 8)]
    found = launched(GENERATED / f"k{seed}_75.cubin.xz", f"k{seed}", (grid, 1, 1), (*block, 1), arrays, further)
    for name in ("out", "gat", "priv"):
        assert np.flatnonzero(found[name] != want[name]).tolist() == [], name
