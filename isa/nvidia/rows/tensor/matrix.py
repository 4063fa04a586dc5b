"""Families of matrix instructions of a warp: D = A B + C, each lane with parts of all (isa.values.matrix.fragments).

A name has rows, columns (8) and k without gaps: 16816 is 16 x 8 x 16. Halves of 8 rows and blocks of 16 bytes of k say
how many registers there are: one of A for each of both together, one of B for each block.

Not here, and so refused by name: HMMA.884 (sm_70: other fragments), sparse ones (.SP), those with scales (OMMA), and
QMMA of fewer bits than eight.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from isa.family import Family
from isa.row import Unit
from isa.values.cross_lane import Tile
from isa.values.matrix import floats, integers
from isa.values.matrix.tiles import of_bits, of_doubles, of_floats, of_integers

_MARKS = {"a": {"ROW": 0}, "b": {"COL": 0}}
_SIZES = {"F16": 2, "F32": 4}  # registers of C and D
_FORMATS = {"F16": floats.TO_HALF, "F32": floats.TO_SINGLE}


def _family(name: str, registers: str, kind: str, tile: Tile, flops: int, marked: bool = False) -> Family:
    fields = {"registers": registers, "across": tile, "matrix": kind, "flops": flops}
    return Family(name, "dabc", Unit.TENSOR, fields=fields, parts=_MARKS if marked else {})


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
    for result, a, b, blocks in product(_SIZES, _SMALL, _SMALL, (1, 2)):
        yield _of_floats(f"QMMA.168{16 * blocks}.{result}.{a}.{b}", blocks, result, (_SMALL[a], _SMALL[b]), 16)


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


FAMILIES = (*_floats(), *_integers(), *_bits(), *_doubles())
KINDS = tuple(dict.fromkeys(family.fields["matrix"] for family in FAMILIES))
