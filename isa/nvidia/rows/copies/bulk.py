"""Families of the copy engine's commands. The table has registers in the place of the addresses that texts have.

a: where the copy goes in shared memory, then the barrier that it signals (loads), then the coordinates; of what goes to
global memory its address there. b: the other side's address, or that of the tensor map. c: of bulk copies their
length, of tensor copies a mask of the blocks of a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from isa.family import Family
from isa.row import JOINS, Bulk, Groups, Unit
from isa.values import atomic as v

MULTICAST = 1 << 10  # in the code of a row: to several blocks of a cluster
TILED = 1 << 11  # by a tensor map
OF_PIXELS = 1 << 12  # of images, which are rows of a matrix (im2col)
UPDATES_NEARBY = 1 << 14  # what it copies to shared memory are operands of a reduction
FETCHES = 1 << 13  # a tensor map, for later copies
DIMENSIONS = 7  # mask of the dimensions of a tensor copy
UPDATE = 3  # first bit of the number of a reduction's operation, in OPERATIONS, or with its type in UPDATES
OPERATIONS = "ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR"
_BITS = {"AND": v.both_bits, "OR": v.either_bit, "XOR": v.odd_bit}
_WORDS = {"ADD": v.add, "INC": v.increment, "DEC": v.decrement, **_BITS}
_OF_TYPE: Mapping[str, Mapping[str, Callable[..., Any]]] = {  # what each element becomes, as by an atomic
    "U32": {**_WORDS, "MIN": v.minimum, "MAX": v.maximum},
    "S32": {**_WORDS, "MIN": v.signed_minimum32, "MAX": v.signed_maximum32},
    "U64": {"ADD": v.add, "MIN": v.minimum, "MAX": v.maximum, **_BITS},
    "S64": {"ADD": v.add, "MIN": v.signed_minimum64, "MAX": v.signed_maximum64},
    "F16": {"ADD": v.add_halves, "MIN": v.min_halves, "MAX": v.max_halves},
    "F32": {"ADD": v.add_single},
    "F64": {"ADD": v.add_double},
    "BF16": {"ADD": v.add_bfloats, "MIN": v.min_bfloats, "MAX": v.max_bfloats},
}
TYPES = tuple(_OF_TYPE)
_NUMBERS: Mapping[str, int] = {name: n << UPDATE for n, name in enumerate(OPERATIONS)}
UPDATES: Mapping[tuple[str, str], Callable[..., Any]] = {  # by type and operation
    (kind, operation): function for kind, some in _OF_TYPE.items() for operation, function in some.items()
}


def _plain(base: str, registers: str, bulk: Bulk, code: int = 0, **other: Any) -> Family:
    """Return the family of a bulk copy."""
    grouped = {"grouping": JOINS, "groups": Groups.BULK} if bulk in (Bulk.STORE, Bulk.REDUCE) else {}
    form = "abc" if "c" in registers else "ab"
    fields = {"registers": registers, "bulk": bulk, "code": code, **grouped}
    return Family(base, form, Unit.SYNC, fields=fields, shared=form, **other)


def _tiled(
    base: str, bulk: Bulk, before: int, last: str = "", least: int = 1, code: int = 0, **other: Any
) -> tuple[Family, ...]:
    """Return the families of a tensor copy of up to five dimensions, whose coordinates follow so many registers."""
    grouped = {"grouping": JOINS, "groups": Groups.BULK} if bulk in (Bulk.STORE, Bulk.REDUCE) else {}
    return tuple(
        Family(
            f"{base}.{rank}D{last}",
            "abc",
            Unit.SYNC,
            optional="c",
            fields={"registers": f"a{before + rank}b2", "bulk": bulk, "code": rank | TILED | code, **grouped},
            shared="abc",
            **other,
        )
        for rank in range(least, 6)
    )


def _names(kind: str) -> tuple[str, ...]:
    """Return how texts name a type: words without a sign in no way, reals with their rounding."""
    return ("",) if kind == "U32" else (f".{kind}.RN",) if "F" in kind else (f".{kind}",)


FAMILIES = (
    _plain("UBLKCP.S.G", "a2b2c1", Bulk.LOAD, modifiers={"MULTICAST": MULTICAST}),
    _plain("UBLKCP.G.S", "a2b1c1", Bulk.STORE),
    _plain("UBLKCP.S.S", "a2b1c1", Bulk.NEARBY),
    *(
        _plain(f"UBLKRED.G.S.{operation}{name}", "a2b1c1", Bulk.REDUCE, code=number << UPDATE)
        for number, (kind, operation) in enumerate(UPDATES)
        for name in _names(kind)
    ),
    *(
        _plain(f"UBLKRED.S.S.{operation}{name}", "a2b1c1", Bulk.NEARBY, code=number << UPDATE | UPDATES_NEARBY)
        for number, (kind, operation) in enumerate(UPDATES)
        for name in _names(kind)
        if "F" not in kind
    ),
    _plain("UBLKPF.L2", "a2b1", Bulk.PREFETCH),
    *_tiled("UTMALDG", Bulk.LOAD, 2, modifiers={"MULTICAST": MULTICAST}),
    *_tiled("UTMALDG", Bulk.LOAD, 2, ".IM2COL", 3, OF_PIXELS, modifiers={"MULTICAST": MULTICAST}),
    *_tiled("UTMASTG", Bulk.STORE, 1),
    *_tiled("UTMASTG", Bulk.STORE, 1, ".IM2COL", 3, OF_PIXELS),
    *_tiled("UTMAREDG", Bulk.REDUCE, 1, modifiers=_NUMBERS),
    *_tiled("UTMAREDG", Bulk.REDUCE, 1, ".IM2COL", 3, OF_PIXELS, modifiers=_NUMBERS),
    *_tiled("UTMAPF.L2", Bulk.PREFETCH, 0),
    *_tiled("UTMAPF.L2", Bulk.PREFETCH, 0, ".IM2COL", 3, OF_PIXELS),
    Family(
        "UTMACCTL",
        "a",
        Unit.SYNC,
        silent=frozenset({"IV"}),
        modifiers={"PF": FETCHES},
        fields={"registers": "a2", "bulk": Bulk.MAP},
        shared="a",
    ),
)
