"""Listings of products by a warpgroup, whose tiles come by tensor copies, among other instructions; and what they give.

Stages are waited for at barriers in shared memory; a stage is copied to again when all warps have waited for its
products. So there is no race, whatever is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from isa import memory
from isa.kernel import Kernel
from isa.text.listing import read

TILE, STEP, ROW = 64, 16, 128  # rows and halves of a tile, halves of a product, bytes of a row
STAGE = 2 * TILE * ROW  # bytes: a tile of A, and one of B
FIRST, OTHER = 24, 64  # registers of the sums, and of the instructions among them
HIGH = 0x40000040  # upper word of a descriptor: 1,024 bytes between groups of 8 rows, swizzle of 128 bytes
MACHINE = {
    "warpgroup.columns": (1, 2, 4),
    "warpgroup.queue": (1, 2, 6),
    "register_file.matrix_slack": (0, 1, 3),
    "fence.gpu": (1, 252),
    "schedulers.policy": ("cggty", "gto", "lrr"),
    "launch.warp_skew": (0, 3),
}
AMONG = (
    "FFMA R{d}, R{a}, R{b}, R{c}",
    "IMAD R{d}, R{a}, R{b}, R{c}",
    "FADD R{d}, R{a}, R{b}",
    "MUFU.RCP R{d}, R{a}",
    "LOP3 R{d}, R{a}, R{b}, R{c}, 0x96",
    "MEMBAR.SC.GPU",
)


@dataclass(frozen=True)
class Products:
    """A listing, and for each tile of K how many steps of it are multiplied, by so many columns."""

    text: str
    columns: int
    steps: tuple[int, ...]

    def launch(self) -> Kernel:
        """Return its launch."""
        return read(self.text)

    def sums(self, kernel: Kernel) -> np.ndarray:
        """Return what each thread stores, [thread, word]: rows of A times rows of B."""
        a, b = (one.fill(np.arange(one.elements)).astype(np.float64).reshape(TILE, -1) for one in kernel.buffers[:2])
        taken = np.concatenate([np.arange(STEP * n) + TILE * tile for tile, n in enumerate(self.steps)])
        full = a[:, taken] @ b[: self.columns, taken].T
        thread, word = np.indices((2 * TILE, self.columns // 2))
        row = thread // 32 * 16 + thread % 32 // 4 + 8 * (word // 2 % 2)
        return full[row, thread % 4 * 2 + word % 2 + 8 * (word // 4)].astype(np.float32)

    def left(self, kernel: Kernel, found: np.ndarray) -> np.ndarray:
        """Return what a memory has in the place of the sums."""
        out = kernel.buffers[2]
        return memory.view(found, out, memory.bases(kernel.buffers)[out.name]).view(np.float32).reshape(2 * TILE, -1)


def _uniform(first: int, *words: int) -> list[str]:
    return [f"UMOV UR{first + place}, {word:#x}" for place, word in enumerate(words)]


def _copied(tile: int, stages: int, parts: int) -> list[str]:
    """Return the copies of a tile of K into its stage, by the first thread: A in some parts, and B."""
    stage = tile % stages
    bar, lines = stages * STAGE + 8 * stage, [f"MOV R2, {STAGE}"]
    lines += [*_uniform(2, bar), "@P0 SYNCS.ARRIVE.TRANS64 RZ, [UR2], R2"]
    for part in range(parts):
        rows = TILE // parts * part
        lines += [*_uniform(12, stage * STAGE + rows * ROW, bar, TILE * tile, rows), "@P0 UTMALDG.2D UR12, UR20"]
    return [*lines, *_uniform(16, stage * STAGE + TILE * ROW, bar, TILE * tile, 0), "@P0 UTMALDG.2D UR16, UR22"]


@st.composite
def products(draw: st.DrawFn) -> Products:
    """One to three tiles of K, in one or two stages, with other instructions among the products."""
    columns, stages, parts = draw(st.sampled_from((8, 24, 64))), draw(st.integers(1, 2)), draw(st.sampled_from((1, 2)))
    steps = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    few = st.lists(st.sampled_from(AMONG), max_size=draw(st.sampled_from((0, 2, 6))))

    def among() -> list[str]:
        registers = st.integers(OTHER, OTHER + 7)
        return [one.format(**{name: draw(registers) for name in "dabc"}) for one in draw(few)]

    sums = f"R{FIRST}"
    body = ["S2R R0, TID.X", "ISETP.EQ P0, R0, 0", *_uniform(4, 0x1FFFFE, 0x7FFFF800)]
    body += [f"IMAD R{OTHER + i}, R0, {0x3F800001 + i}, R0" for i in range(8)]
    for stage in range(stages):
        body += [*_uniform(2, stages * STAGE + 8 * stage), "@P0 SYNCS.EXCH.64 URZ, [UR2], UR4"]
    body += ["UMOV UR20, c[of_a]", "UMOV UR21, 0", "UMOV UR22, c[of_b]", "UMOV UR23, 0", "FENCE.VIEW.ASYNC.S"]
    for tile in range(min(stages, len(steps))):
        body += _copied(tile, stages, parts)
    body += ["BAR.SYNC 0"]
    for tile, count in enumerate(steps):
        stage = tile % stages
        body += [*_uniform(2, stages * STAGE + 8 * stage), f"MOV R3, {(tile // stages & 1) << 31:#x}", f"wait{tile}:"]
        body += ["SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR2], R3", f"@!P1 BRA wait{tile}", "WARPGROUP.ARRIVE"]
        for step in range(count):
            first, adds = (stage * STAGE >> 4) + 2 * step, "PT" if tile or step else "!PT"
            closes = ".gsb0" if step == count - 1 else ""
            body += _uniform(8, first, HIGH, first + (TILE * ROW >> 4), HIGH)
            body += [f"HGMMA.64x{columns}x16.F32{closes} {sums}, UR8, {sums}, {adds}", *among()]
        if tile + stages < len(steps):
            body += ["WARPGROUP.DEPBAR.LE 0", "BAR.SYNC 0", *_copied(tile + stages, stages, parts)]
        else:
            body += [f"WARPGROUP.DEPBAR.LE {draw(st.integers(0, 1))}", *among()]
    words = columns // 2
    body += ["WARPGROUP.DEPBAR.LE 0", f"IMUL R1, R0, {4 * words}", "IADD R1, R1, c[out]"]
    body += [f"STG.64 [R1+{4 * word}], R{FIRST + word}" for word in range(0, words, 2)]
    body += ["SHL R1, R0, 5", "IADD R1, R1, c[others]"]
    body += [f"STG [R1+{4 * i}], R{OTHER + i}" for i in range(8)]
    depth = TILE * len(steps)
    head = f""".block 128
.shared {stages * STAGE + 8 * stages}
.buffer a f16 {TILE * depth} = hash 1 -2 2
.buffer b f16 {TILE * depth} = hash 2 -2 2
.buffer out f32 {128 * words}
.buffer others u32 1024
.map of_a = a {TILE}x{depth} box {TILE // parts}x{TILE} swizzle 128B
.map of_b = b {TILE}x{depth} box {TILE}x{TILE} swizzle 128B
"""
    return Products(head + "\n".join([*body, "EXIT"]), columns, steps)


SETTINGS = st.fixed_dictionaries({path: st.sampled_from(values) for path, values in MACHINE.items()})
