"""Records in compiled code: attributes as in Python (gpusim/sm/state/layout.py), by Numba's interface for extensions.

The type of a record is known by its name. Where an array lies apart, its record says so, and says the same as long as
compiled code runs: so LLVM may keep what it has read.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel.models import RecordModel
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, lower_cast, lower_getattr_generic, register_model, typeof_impl
from numba.np.arrayobj import make_array, populate_array, record_getattr

from gpusim.sm.state.layout import Row, Rows, fields, layout, places_of
from gpusim.sm.unit.structure import SINCE_VOLTA

LONG = ir.IntType(64)
BYTE = ir.IntType(8)


class Record(types.Record):
    """The type of a kind of records; where a machine's structure is `known`, some of its numbers are constants."""

    def __init__(self, record: str, *, known: bool) -> None:
        kind = layout(record)
        assert kind.fields is not None
        self.record, self.numbers = record, SINCE_VOLTA if known and record == "machine" else {}
        inside = {
            one.name: _inner(one.kind, one.shape, known=known and one.kind == "machine")
            for one in fields(record)
            if not one.apart
        }
        parts = [
            (name, {"type": inside.get(name, types.int64), "offset": part[1]}) for name, part in kind.fields.items()
        ]
        self.fields = dict(self._normalize_fields(parts))
        self.size, self.bitwidth, self.aligned = kind.itemsize, 8 * kind.itemsize, True
        self.apart = {
            name: (types.Array(_inner(place.field.kind, ()), len(place.sizes), "C"), place)
            for name, place in places_of(record).items()
        }
        types.Type.__init__(self, f"record {record}{' since Volta' if known else ''}")

    def can_convert_to(self, typingctx: Any, other: Any) -> Any:  # noqa: ARG002
        """Return that a record may be taken for one of which no number is known."""
        return Conversion.safe if isinstance(other, Record) and other.record == self.record else None

    def __repr__(self) -> str:
        """Return the name: Numba asks for it often, and would say all fields, of records inside too."""
        return str(self.name)


@lower_cast(Record, Record)
def _less_known(_context: Any, _builder: Any, _known: Any, _any: Any, record: Any) -> Any:
    return record


def _inner(kind: str, shape: tuple[int, ...], *, known: bool = False) -> Any:
    """Return the type of a number or record, or of so many in their record."""
    one = record_type(kind, known=known) if fields(kind) else numba.from_dtype(np.dtype(kind))
    return types.NestedArray(one, shape) if shape else one


@cache
def record_type(record: str, *, known: bool = False) -> Record:
    """Return the type of a kind of records."""
    return Record(record, known=known)


@cache
def _type_of_rows(record: str, dimensions: int) -> Any:
    return types.Array(record_type(record), dimensions, "C")


typeof_impl.register(Rows)(lambda rows, _: _type_of_rows(rows.dtype.type.__name__, rows.ndim))
typeof_impl.register(Row)(lambda row, _: record_type(type(row).__name__))


register_model(Record)(RecordModel)


@infer_getattr
class _Apart(AttributeTemplate):
    """The types of the arrays that lie apart; Numba knows the other attributes."""

    key = Record

    def generic_resolve(self, record: Record, name: str) -> Any:
        """Return the type of an attribute, or None."""
        found = record.apart.get(name)
        return found and found[0]


@lower_getattr_generic(Record)
def _attribute(context: Any, builder: Any, record: Record, value: Any, name: str) -> Any:
    """Generate the attribute of a record."""
    if name in record.numbers:
        return context.get_constant(record.typeof(name), record.numbers[name])
    if name not in record.apart:
        return record_getattr(context, builder, record, value, name)
    kind, place = record.apart[name]
    begin = builder.bitcast(value, BYTE.as_pointer())
    data = builder.gep(begin, [_word(builder, begin, place.distance)])
    array = make_array(kind)(context, builder)
    element = context.get_data_type(kind.dtype)
    shape = [_word(builder, begin, number) if known else LONG(number) for known, number in place.sizes]
    size = LONG(context.get_abi_sizeof(element))
    strides = [size]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    populate_array(
        array,
        data=builder.bitcast(data, element.as_pointer()),
        shape=cgutils.pack_array(builder, shape),
        strides=cgutils.pack_array(builder, strides),
        itemsize=size,
        meminfo=None,
        parent=None,
    )
    return array._getvalue()


def _word(builder: Any, begin: Any, byte: int) -> Any:
    """Generate the read of a word that never changes."""
    found = builder.load(builder.bitcast(builder.gep(begin, [LONG(byte)]), LONG.as_pointer()))
    found.set_metadata("invariant.load", builder.module.add_metadata([]))
    return found
