"""Snippets in gpusim: the machine code that the chip ran, on the same inputs."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from interpreter.interpret import interpret

from hardware import table
from hardware.inputs import SETS
from hardware.snippet import Snippet, stored_bits
from isa import memory
from isa.generators import ArrayFill
from isa.kernel import Buffer, Kernel
from isa.nvidia.abi import load
from isa.nvidia.abi.launch import LaunchState, Value, pointer
from isa.nvidia.file import code


@cache
def machine_code() -> code.Code:
    """Return the code of all snippets."""
    return code.of_cubin(table.cubin(), table.CUBIN)


def kernel(one: Snippet) -> Kernel:
    """Return the kernel of a snippet, launched as on the chip."""
    columns = table.inputs(one.inputs)
    rows = SETS[one.inputs].rows
    results = Buffer("d", "u1", sum(rows * stored_bits(bits) // 8 for bits in one.results))
    given = [Buffer(x, c.dtype.str[1:], c.size, ArrayFill(c)) for x, c in zip("abc", columns, strict=True)]
    buffers = (results,) if one.uniform else (*given, results)
    pointers = [pointer(buffers, buffer.name) for buffer in buffers]
    if one.uniform:
        pointers = [*(Value(column.tobytes(), 16) for column in columns), *pointers]
    grid, block = table.launch(one)
    arguments = load.arguments(machine_code(), one.name, pointers)
    state = LaunchState(one.name, (grid, 1, 1), (block, 1, 1), arguments=arguments, buffers=buffers)
    return load.kernel(machine_code(), state)


def computed(one: Snippet) -> list[np.ndarray]:
    """Return the columns that the interpreter computes."""
    made = kernel(one)
    return columns(one, made, interpret(made).memory)


def columns(one: Snippet, made: Kernel, words: np.ndarray) -> list[np.ndarray]:
    """Return the columns of results in global memory after a run."""
    buffer = next(b for b in made.buffers if b.name == "d")
    found = memory.view(words, buffer, memory.bases(made.buffers)["d"])
    sizes = [SETS[one.inputs].rows * stored_bits(bits) // 8 for bits in one.results]
    parts = np.split(found, np.cumsum(sizes)[:-1])
    whole = [part.view(f"u{stored_bits(bits) // 8}") for part, bits in zip(parts, one.results, strict=True)]
    return [x.astype(table.KEPT.get(bits, x.dtype.str)) for x, bits in zip(whole, one.results, strict=True)]


@dataclass(frozen=True)
class Difference:
    """A row whose result differs: inputs, what gpusim has, what the chip has."""

    row: int
    inputs: tuple[int, ...]
    ours: int
    chip: int


def differences(one: Snippet, found: list[np.ndarray]) -> list[Difference]:
    """Return all rows in which results differ from the chip's."""
    given, wrong = table.inputs(one.inputs)[: len(one.sources)], list[Difference]()
    for ours, chip in zip(found, table.results(one), strict=True):
        for row in np.flatnonzero(ours != chip):
            wrong.append(Difference(int(row), tuple(int(x[row]) for x in given), int(ours[row]), int(chip[row])))
    return wrong
