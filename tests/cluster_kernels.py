"""Kernels with clusters as nvcc compiles them (data/clusters.cu and others beside it), and what they compute."""

from __future__ import annotations

import lzma
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isa import memory
from isa.generators import ArrayFill
from isa.kernel import Buffer, Kernel
from isa.nvidia.abi import load
from isa.nvidia.abi.launch import LaunchState, Value, extent, pointer
from isa.nvidia.file import code

DATA = Path(__file__).parent / "data"
Words = NDArray[np.uint32]
WORD = 1 << 32


@cache
def compiled(architecture: int = 90) -> code.Code:
    """Return the code for an architecture."""
    return _read(f"clusters_{architecture}")


@cache
def _read(name: str) -> code.Code:
    return code.of_cubin(lzma.decompress((DATA / f"{name}.cubin.xz").read_bytes()), f"{name}.cubin")


def launched(
    name: str,
    grid: Sequence[int],
    block: int,
    arrays: Mapping[str, Words],
    *numbers: int,
    shared: int = 0,
    cluster: Sequence[int] | None = None,
    architecture: int = 90,
) -> Kernel:
    """Return a launch on arrays, then whole numbers."""
    files = f"clusters_{architecture}", "cluster_signals_90", "cluster_updates_90"
    found = next(one for one in map(_read, files) if one.cubin and name in one.cubin.functions)
    buffers = tuple(Buffer(key, "u4", len(held), ArrayFill(held)) for key, held in arrays.items())
    values = [pointer(buffers, key) for key in arrays] + [Value(n.to_bytes(4, "little"), 4) for n in numbers]
    state = LaunchState(
        kernel=name,
        grid=extent(grid),
        block=extent((block,)),
        dynamic_shared=shared,
        arguments=load.arguments(found, name, values),
        buffers=buffers,
        sms=132,
        cluster=extent(cluster) if cluster else None,
    )
    return load.kernel(found, state)


def left(kernel: Kernel, words: Words, name: str = "out") -> Words:
    """Return what a buffer holds in a memory."""
    buffer = next(one for one in kernel.buffers if one.name == name)
    return memory.view(words, buffer, memory.bases(kernel.buffers)[name]).view(np.uint32)


def ring(blocks: int, threads: int, rounds: int) -> tuple[Kernel, Words]:
    """Return a launch in which blocks of clusters of four read, add to and overwrite their neighbours; and its end."""
    kernel = launched(
        "ring", (blocks,), threads, {"out": np.zeros(blocks * threads, np.uint32)}, rounds, shared=4 * threads
    )
    thread = np.arange(threads)
    held = [1000 * b + thread for b in range(blocks)]
    after = [b // 4 * 4 + (b + 1) % 4 for b in range(blocks)]
    sums = [sum(held[after[b]][(thread + i) % threads] for i in range(rounds)) for b in range(blocks)]
    total = [one.copy() for one in held]
    for b in range(blocks):
        total[after[b]] += sums[b]
    return kernel, np.concatenate([total[b] + sums[b] + 7 * (5 + thread) for b in range(blocks)]).astype(np.uint32)


def histogram(blocks: int, cluster: int, each: int, bins: int, threads: int = 32) -> tuple[Kernel, Words]:
    """Return a launch that counts numbers in bins which lie in turn in the blocks of a cluster; and the counts."""
    numbers = np.random.default_rng(blocks * cluster).integers(0, 1 << 31, blocks * each, dtype=np.uint32)
    clusters = blocks // cluster
    arrays = {"in": numbers, "out": np.zeros(clusters * bins, np.uint32)}
    kernel = launched("histogram", (blocks,), threads, arrays, each, bins, shared=4 * bins, cluster=(cluster,))
    parts = numbers.reshape(clusters, -1) % bins
    return kernel, np.concatenate([np.bincount(one, minlength=bins) for one in parts]).astype(np.uint32)


def widths() -> tuple[Kernel, Words]:
    """Return a launch of accesses of all sizes to the other block of a pair, and what they leave."""
    held = {
        (b, t): [((b + 1) * 0x01020304 * (t + 1) + i) % WORD for i in range(4)] for b in range(4) for t in range(32)
    }
    left_there, told = {key: list(words) for key, words in held.items()}, dict[tuple[int, int], list[int]]()
    for b, t in held:
        there, words = held[b ^ 1, t], left_there[b ^ 1, t]
        octets = b"".join(word.to_bytes(4, "little") for word in there)
        half = int.from_bytes(octets[2 * (t % 8) : 2 * (t % 8) + 2], "little")
        told[b, t] = [there[0] ^ there[1] ^ there[2] ^ there[3], (there[0] + there[1]) % WORD, octets[t % 16], half]
        told[b, t] += there[:2]
        words[0], words[1] = t, t + 100 if t % 2 else words[1]
        words[2], words[3] = words[2] & ~0xFF | 0xAB, words[3] & 0xFFFF | 0xCDEF << 16
    for (b, t), words in left_there.items():
        told[b, t] += [(words[0] + words[1]) % WORD, (words[2] + words[3]) % WORD]
    kernel = launched("widths", (4,), 32, {"out": np.zeros(4 * 32 * 8, np.uint32)}, shared=512)
    return kernel, np.array([told[b, t] for b in range(4) for t in range(32)], np.uint64).ravel().astype(np.uint32)


def leaves(rounds: int = 20) -> tuple[Kernel, Words]:
    """Return a launch in which warps of the first block leave before the barrier of their cluster; and its end."""
    numbers = list(range(32))
    for _ in range(rounds):
        numbers = [(3 * one + 1) % WORD for one in numbers]
    kernel = launched("leaves", (2,), 64, {"out": np.zeros(128, np.uint32)}, rounds, shared=256)
    return kernel, np.array([0] * 64 + numbers * 2, np.uint32)


def round_robin(cluster: int, rounds: int) -> tuple[Kernel, Words]:
    """Return a launch in which a number goes round, by stores and arrivals at the next block's barrier; and its end."""
    number = 0
    for rank in [*range(cluster)] * rounds:
        number = (3 * number + rank + 1) % WORD
    kernel = launched("round_robin", (cluster,), 32, {"out": np.zeros(1, np.uint32)}, rounds, cluster=(cluster,))
    return kernel, np.array([number], np.uint32)


def multicast(cluster: int, words: int) -> tuple[Kernel, Words]:
    """Return a launch whose blocks each load a part of a tile for all of their cluster; and what all have."""
    tile = 7 * np.arange(words, dtype=np.uint32)
    arrays = {"in": tile, "out": np.zeros(cluster * words, np.uint32)}
    kernel = launched("multicast", (cluster,), 32, arrays, 4 * words, shared=4 * words + 1024, cluster=(cluster,))
    return kernel, np.concatenate([tile + np.uint32(rank) for rank in range(cluster)])


def pushed(cluster: int, words: int) -> tuple[Kernel, Words]:
    """Return a launch whose blocks copy a tile to the next block's shared memory; and what each then has."""
    arrays = {"out": np.zeros(cluster * words, np.uint32)}
    kernel = launched("pushed", (cluster,), 32, arrays, 4 * words, shared=8 * words + 256, cluster=(cluster,))
    tiles = [10_000 * ((rank - 1) % cluster) + np.arange(words) for rank in range(cluster)]
    return kernel, np.concatenate(tiles).astype(np.uint32)


def everyone(cluster: int) -> tuple[Kernel, Words]:
    """Return a launch in which a thread of each block arrives at the barrier of each; and what is written then."""
    kernel = launched("everyone", (cluster,), 32, {"out": np.zeros(cluster, np.uint32)}, cluster=(cluster,))
    return kernel, np.arange(1, cluster + 1, dtype=np.uint32)


def sent(cluster: int) -> tuple[Kernel, Words]:
    """Return a launch whose threads send words to the next block, with their bytes; and what each block then has."""
    found = list[Words]()
    for rank in range(cluster):
        first = 1000 * ((rank - 1) % cluster) + np.arange(32)
        pairs, quads = (np.stack([first + i for i in words], 1) for words in (range(1, 3), range(3, 7)))
        found += [first, pairs.ravel(), quads.ravel()]
    kernel = launched("sent", (cluster,), 32, {"out": np.zeros(224 * cluster, np.uint32)}, cluster=(cluster,))
    return kernel, np.concatenate(found).astype(np.uint32)


UPDATES: Mapping[str, Callable[[int, int], int]] = {  # of a word, or a pair, in memory by another
    "add_u32": lambda c, a: (c + a) % WORD,
    "add_s32": lambda c, a: (c + a) % WORD,
    "add_u64": lambda c, a: (c + a) % WORD**2,
    "min_u32": min,
    "max_u32": max,
    "min_s32": lambda c, a: min(c, a, key=_signed),
    "max_s32": lambda c, a: max(c, a, key=_signed),
    "inc_u32": lambda c, a: 0 if c >= a else c + 1,
    "dec_u32": lambda c, a: a if c == 0 or c > a else c - 1,
    "and_b32": operator.and_,
    "or_b32": operator.or_,
    "xor_b32": operator.xor,
}
LINES = [name for name in UPDATES if name not in ("max_u32", "min_s32")]


def _signed(word: int) -> int:
    return word - WORD if word >> 31 else word


def updated(name: str) -> tuple[Kernel, Words]:
    """Return a launch in which threads update words of both blocks of a cluster (REDAS), each once; and its end."""
    given = np.random.default_rng(3).integers(0, WORD, 1024, np.uint64).astype(np.uint32)
    given[:512:3] &= 7
    pairs, words = name.endswith("64"), given[:512].copy()
    for block in range(2):
        for k in range(64):
            at = 256 * (block ^ k & 1) + 2 * ((k * 5 + block) % 64)
            low, high = given[512 + 64 * block + k], given[640 + 64 * block + k]
            words[at : at + 1 + pairs] = _updated(name, words[at : at + 1 + pairs], [low, high][: 1 + pairs])
    kernel = launched(f"words_{name}", (2,), 64, {"in": given, "out": np.zeros(512, np.uint32)}, shared=16384)
    return kernel, words


def lines_updated(name: str) -> tuple[Kernel, Words]:
    """Return a launch in which each block of a cluster updates 512 bytes of the other (UBLKRED.S.S); and its end."""
    given = np.random.default_rng(4).integers(0, WORD, 512, np.uint64).astype(np.uint32)
    given[::3] &= 7
    step, words = 2 if name.endswith("64") else 1, given.copy()
    for block in range(2):
        for at in range(0, 128, step):
            to, of = 256 * (block ^ 1) + at, 256 * block + 128 + at
            words[to : to + step] = _updated(name, words[to : to + step], given[of : of + step])
    kernel = launched(f"line_{name}", (2,), 64, {"in": given, "out": np.zeros(512, np.uint32)}, shared=16384)
    return kernel, words


def _updated(name: str, held: Words, others: Sequence[int]) -> list[int]:
    """Return the words that stand in place of some."""
    whole, other = (sum(int(word) << 32 * i for i, word in enumerate(one)) for one in (held, others))
    found = UPDATES[name](whole, other)
    return [found >> 32 * i & 0xFFFFFFFF for i in range(len(held))]


def dropped() -> tuple[Kernel, Words]:
    """Return a launch in which a block leaves the other's barrier for three: the states that it then gives.

    They have the phase in bit 31 and from bit 11 on less the arrivals still to come (seen on an H200): two, in turns.
    """
    states = [phase << 31 | (1 << 20) - left << 11 for phase in (0, 1, 0) for left in (2, 1)]
    words = np.array([*states, 0, 0] * 2, np.uint32)
    return launched("leave", (2,), 64, {"out": np.zeros(16, np.uint32)}, shared=16384), words


BY_NAME: Mapping[str, Callable[[], tuple[Kernel, Words]]] = {
    "ring": lambda: ring(8, 64, 3),
    "histogram": lambda: histogram(8, 4, 48, 64),
    "widths": widths,
    "leaves": leaves,
    "round robin": lambda: round_robin(3, 2),
    "multicast": lambda: multicast(4, 256),
    "everyone": lambda: everyone(4),
    "sent": lambda: sent(3),
    "pushed": lambda: pushed(2, 64),
}
