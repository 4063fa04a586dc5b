"""What `gpusim bound --gemm` says: the most that a tiled matrix product reaches on a machine's tensor cores."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from gpusim.bounds.product.potential import Potential, potentials
from gpusim.commands.frame.arguments import changes, machine_of
from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.document import new_table, right
from gpusim.machine.machine import Machine
from gpusim.machine.tensor_rates import tensor_gflops
from gpusim.support.document import Document, MachineKey, Settings, doc
from isa.errors import UserError

TENSOR_MACHINE = "h200"  # where none is given
TILE = re.compile(r"(\d{1,4})x(\d{1,4})")
Types = Literal["all", "f16", "f16_half", "bf16", "tf32", "s8", "fp8", "f64"]


@dataclass(frozen=True)
class Product:
    """The best tiling of a matrix product of one type, in one way of multiplying."""

    type: Annotated[str, doc("Of the factors; f16_half: halves whose sums are halves.")]
    by: Annotated[str, doc("mma.sync, wgmma, or wgmma with tiles that a multicast brings to several blocks.")]
    tile: Annotated[tuple[int, int], doc("Rows and columns of C of a block.")]
    own_tile: Annotated[tuple[int, int], doc("Of a warp; of a warpgroup where wgmma multiplies.")]
    depth_bytes: Annotated[int, doc("Bytes of K in a stage.")]
    stages: int
    threads: Annotated[int, doc("Threads of a block that multiply.")]
    registers: Annotated[int, doc("Registers that such a thread needs.")]
    shared_bytes: Annotated[int, doc("Shared memory of a block.")]
    blocks: Annotated[int, doc("Blocks that an SM holds.")]
    cycles: Annotated[Mapping[str, float], doc("Cycles of a block's step, 32 bytes of K, by resource; the most bound.")]
    limiter: str
    gflops: Annotated[float, doc("10^9 operations per second of the chip, two to a multiplication.")]
    percent_of_peak: Annotated[float, doc("Of the chip's tensor cores at best in this type.")]


class GemmBoundDocument(Document, frozen=True):
    """The most that a tiled matrix product reaches on a machine's tensor cores; nothing is simulated."""

    machine: MachineKey
    settings: Settings
    peak_gflops: Annotated[Mapping[str, float], doc("Of the chip's tensor cores at best, by type.")]
    products: Annotated[list[Product], doc("By type; the best tiling of each way to multiply.")]


def answer(kind: Types, tile: str | None, name: str | None, settings: Sequence[str]) -> Answer:
    """Return the best tilings of a type, or of all, on a machine; with a tile such as 128x128 only those of blocks' so.

    Raises UserError for a machine without tensor cores, a type they don't have, and a tile that no tiling has.
    """
    machine = machine_of(name or TENSOR_MACHINE, settings, None)
    found = potentials(machine, "" if kind == "all" else kind, _tile(tile))
    products = [_product(one, machine) for one in found]
    peaks = {one.kind: tensor_gflops(machine, one.kind) for one in found}
    document = GemmBoundDocument(machine.key, dict(changes(machine, settings)), peaks, products)
    return Answer(document, lambda: _screen(machine, products, peaks))


def _tile(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    if not (found := TILE.fullmatch(text)):
        raise UserError(f"--tile {text}: no rows and columns of a block's tile; write them as 128x256")
    return int(found[1]), int(found[2])


def _product(one: Potential, machine: Machine) -> Product:
    tiling, gflops = one.tiling, one.gflops(machine)
    return Product(
        type=one.kind,
        by=one.by,
        tile=(tiling.rows, tiling.columns),
        own_tile=(tiling.own_rows, tiling.own_columns),
        depth_bytes=tiling.depth * tiling.element * tiling.steps,
        stages=tiling.stages,
        threads=tiling.threads,
        registers=one.held.registers,
        shared_bytes=one.held.shared_bytes,
        blocks=one.held.blocks,
        cycles={name: float(cycles) for name, cycles in one.limits.items()},
        limiter=one.limiter,
        gflops=gflops,
        percent_of_peak=100 * gflops / tensor_gflops(machine, one.kind),
    )


def _screen(machine: Machine, products: Sequence[Product], peaks: Mapping[str, float]) -> list[object]:
    """Return a table of the tilings, and one of how busy each resource is at the bound."""
    tiles = new_table("type", "by", *right("tile", "own", "stages", "regs", "blocks", "TFLOP/s", "of peak"), "limit")
    busy = new_table("busy at the bound", "", *right(*products[0].cycles))
    for one in products:
        sides = ("x".join(map(str, sides)) for sides in (one.tile, one.own_tile))
        rate = f"{one.gflops / 1000:.1f}", f"{one.percent_of_peak:.1f} %"
        tiles.add_row(
            one.type, one.by, *sides, f"{one.stages} x {one.depth_bytes} B", str(one.registers), str(one.blocks),
            *rate, one.limiter,
        )  # fmt: skip
        longest = max(one.cycles.values())
        busy.add_row(one.type, one.by, *(f"{100 * cycles / longest:.0f} %" for cycles in one.cycles.values()))
    best = "; ".join(f"{kind} {peak / 1000:.1f}" for kind, peak in peaks.items())
    head = f"a tiled matrix product on {machine.key} ({machine.name})\npeak    {best} TFLOP/s\n"
    return [head, tiles, "", busy]
