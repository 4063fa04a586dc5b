"""Families of matrix instructions of a warp: D = A B + C, each lane with parts of all (isa.values.matrix.fragments).

A name has rows, columns (8) and k without gaps: 16816 is 16 x 8 x 16. Halves of 8 rows and blocks of 16 bytes of k say
how many registers there are: one of A for each of both together, one of B for each block.

A of a sparse one (.SP) has half the numbers of its k, and a register and the lanes of it that say which.

HMMA.884 computes four products of 8 x 8 x 4, a part of them in each of two or four steps (isa.values.matrix.quads). How
its A and B lie is a part of these operands in texts, here of the name (isa.nvidia.lowering.spelling).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from isa.family import Family
from isa.row import Unit
from isa.values.cross_lane import Tile
from isa.values.matrix import floats, integers, scales
from isa.values.matrix.tiles import (
    Fill,
    of_bits,
    of_doubles,
    of_floats,
    of_integers,
    of_quads,
    of_scaled_floats,
    of_scaled_groups,
    of_sparse_floats,
    of_sparse_integers,
)

_LAYOUTS = "ROW", "COL"
_MARKS = {"a": {"ROW": 0}, "b": {"COL": 0}}
_SIZES = {"F16": 2, "F32": 4}  # registers of C and D
_FORMATS = {"F16": floats.TO_HALF, "F32": floats.TO_SINGLE}


def _family(
    name: str, registers: str, kind: str, tile: Tile, flops: int, marked: bool = False, form: str = "dabc"
) -> Family:
    fields = {"registers": registers, "across": tile, "matrix": kind, "flops": flops}
    return Family(name, form, Unit.TENSOR, fields=fields, parts=_MARKS if marked else {})


def _counts(halves: int, blocks: int, results: int) -> str:
    return f"d{results}a{halves * blocks}b{blocks}c{results}"


# fmt: off
_OF_FLOATS = (  # shapes by blocks, results, the type in the name, kinds of A and B, k of a block, marks of operands
    *((("1688", "16816"), result, "", (floats.HALF, floats.HALF), 8) for result in _SIZES),
    (("1688", "16816"), "F32", ".BF16", (floats.BFLOAT, floats.BFLOAT), 8),
    (("1684", "1688"), "F32", ".TF32", (floats.TENSOR, floats.TENSOR), 4),
)
# fmt: on
_SMALL = {"E4M3": floats.E4M3, "E5M2": floats.E5M2}
_ANY_SMALL = {**_SMALL, "E2M3": floats.E2M3, "E3M2": floats.E3M2, "E2M1": floats.E2M1}  # a byte each, from sm_120 on
_BYTES = {"S8": integers.S8, "U8": integers.U8}
_NIBBLES = {"S4": integers.S4, "U4": integers.U4}
_OF_INTEGERS = (  # a shape, blocks and halves
    (_BYTES, "8816", (1, 1)),
    (_BYTES, "16816", (1, 2)),
    (_BYTES, "16832", (2, 2)),
    (_NIBBLES, "8832", (1, 1)),
    (_NIBBLES, "16832", (1, 2)),
    (_NIBBLES, "16864", (2, 2)),
)
_OF_BITS = (("88128", (1, 1)), ("168128", (1, 2)), ("168256", (2, 2)))
_OF_DOUBLES = (("884", 4, 1), ("8x8x4", 4, 1), ("16x8x4", 4, 2), ("16x8x8", 8, 2), ("16x8x16", 16, 2))


def _floats() -> Iterator[Family]:
    for shapes, result, of, kinds, depth in _OF_FLOATS:
        for blocks, shape in enumerate(shapes, 1):
            yield _of_floats(f"HMMA.{shape}.{result}{of}", blocks, result, kinds, depth)
    for blocks, types in ((1, _SMALL), (2, _ANY_SMALL)):
        for result, a, b in product(_SIZES, types, types):
            yield _of_floats(f"QMMA.168{16 * blocks}.{result}.{a}.{b}", blocks, result, (types[a], types[b]), 16)


def _of_floats(name: str, blocks: int, result: str, kinds: tuple[floats.Kind, floats.Kind], depth: int) -> Family:
    tile = Tile(of_floats(name, blocks, kinds, _FORMATS[result]), _SIZES[result])
    kind = f"{result.lower()}_16x{16 * blocks}"
    return _family(name, _counts(2, blocks, _SIZES[result]), kind, tile, 8 * depth * blocks, name.startswith("QMMA"))


def _integers() -> Iterator[Family]:
    for (types, shape, (blocks, halves)), clamps in product(_OF_INTEGERS, ("", ".SAT")):
        for a, b in product(types, types):
            name = f"IMMA.{shape}.{a}.{b}{clamps}"
            fill = of_integers(name, (blocks, halves), (types[a], types[b]), int(clamps != ""))
            kind = f"s32_{8 * halves}x{16 * blocks}"
            yield _family(name, _counts(halves, blocks, 2 * halves), kind, Tile(fill, 2 * halves), 0, True)


def _bits() -> Iterator[Family]:
    for (shape, (blocks, halves)), (code, operation) in product(_OF_BITS, enumerate(("AND", "XOR"))):
        name = f"BMMA.{shape}.{operation}.POPC"
        fill, kind = of_bits(name, (blocks, halves), code), f"s32_{8 * halves}x{16 * blocks}"
        yield _family(name, _counts(halves, blocks, 2 * halves), kind, Tile(fill, 2 * halves), 0, True)


def _doubles() -> Iterator[Family]:
    for shape, depth, halves in _OF_DOUBLES:
        name, steps, results = f"DMMA.{shape}", depth // 4, 4 * halves
        registers = f"d{results}a{2 * halves * steps}b{2 * steps}c{results}"
        kind, tile = f"f64_{8 * halves}x{8 * depth}", Tile(of_doubles(name, depth, halves), results)
        yield _family(name, registers, kind, tile, 4 * depth * halves)


# fmt: off
_SPARSE_FLOATS = (  # as those of floats; the depth is that of a block of A
    *((("16816", "16832"), result, "", (floats.HALF, floats.HALF), 8) for result in _SIZES),
    (("16816", "16832"), "F32", ".BF16", (floats.BFLOAT, floats.BFLOAT), 8),
    (("1688", "16816"), "F32", ".TF32", (floats.TENSOR, floats.TENSOR), 4),
)
# fmt: on
_SPARSE_INTEGERS = ((_BYTES, ("16832", "16864")), (_NIBBLES, ("16864", "168128")))


def _sparse() -> Iterator[Family]:
    """Yield the families whose A has half the numbers of its k: of as many blocks they take as long as whole ones."""
    for shapes, result, of, kinds, depth in _SPARSE_FLOATS:
        for blocks, shape in enumerate(shapes, 1):
            yield _of_sparse_floats(f"HMMA.SP.{shape}.{result}{of}", blocks, result, kinds, depth)
    for result, a, b in product(_SIZES, _ANY_SMALL, _ANY_SMALL):
        kinds = _ANY_SMALL[a], _ANY_SMALL[b]
        yield _of_sparse_floats(f"QMMA.SP.16864.{result}.{a}.{b}", 2, result, kinds, 16)
    for (types, shapes), clamps in product(_SPARSE_INTEGERS, ("", ".SAT")):
        for (blocks, shape), a, b in product(enumerate(shapes, 1), types, types):
            name = f"IMMA.SP.{shape}.{a}.{b}{clamps}"
            tile = Tile(of_sparse_integers(name, blocks, (types[a], types[b]), int(clamps != "")), 4)
            registers = f"d4a{2 * blocks}b{2 * blocks}c4"
            yield _family(name, registers, f"s32_16x{16 * blocks}", tile, 0, True, "dabcin")


def _scaled() -> Iterator[Family]:
    """Yield the families with scales: a register of A's, one of B's, and a uniform one that says which bytes.

    Of a sparse A the register before its scales says which numbers there are.
    """
    for shapes, sparse in ((("16832", "16864"), 0), (("SP.16864", "SP.168128"), 1)):
        for a, b in product(_ANY_SMALL, _ANY_SMALL):
            name = f"QMMA.SF.{shapes[0]}.F32.{a}.{b}.E8"
            yield _of_scaled(name, of_scaled_floats(name, (_ANY_SMALL[a], _ANY_SMALL[b]), sparse), 16, sparse)
        for scale, count, kind in (("E8", 2, scales.E8), ("UE4M3.4X", 4, scales.UE4M3)):
            name = f"OMMA.SF.{shapes[1]}.F32.E2M1.E2M1.{scale}"
            yield _of_scaled(name, of_scaled_groups(name, count, kind, sparse), 32, sparse)


def _of_scaled(name: str, fill: Fill, depth: int, sparse: int) -> Family:
    registers, form = ("d4a4b4c4i2", "dabcijJn") if sparse else ("d4a4b2c4", "dabcijJ")
    return _family(name, registers, "f32_16x32", Tile(fill, 4), 16 * depth, form=form)


def _of_sparse_floats(
    name: str, blocks: int, result: str, kinds: tuple[floats.Kind, floats.Kind], depth: int
) -> Family:
    tile = Tile(of_sparse_floats(name, blocks, kinds, _FORMATS[result]), _SIZES[result])
    registers = f"d{_SIZES[result]}a{2 * blocks}b{2 * blocks}c{_SIZES[result]}"
    kind = f"{result.lower()}_16x{16 * blocks}"
    return _family(name, registers, kind, tile, 8 * depth * blocks, name.startswith("QMMA"), "dabcin")


def _quads() -> Iterator[Family]:
    """Yield the families of products by eight lanes: a lane has a row of A, or a column of it, and of B alike."""
    for (result, addend), a, b in product((("F16", "F16"), ("F32", "F16"), ("F32", "F32")), _LAYOUTS, _LAYOUTS):
        for step in range(4 if result == "F32" else 2):
            name = f"HMMA.884.{result}.{addend}.STEP{step}.{a}.{b}"
            tile = Tile(of_quads(name, step, (a == "COL", b == "ROW"), (result == "F32", addend == "F32")), 2)
            yield _family(name, "d2a2b2c2", f"{result.lower()}_8x8", tile, 16 if result == "F32" else 32)


FAMILIES = (*_floats(), *_quads(), *_sparse(), *_scaled(), *_integers(), *_bits(), *_doubles())
KINDS = tuple(dict.fromkeys(family.fields["matrix"] for family in FAMILIES))
