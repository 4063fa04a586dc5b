"""The value functions of the instruction table, compiled: 32 lanes at a time, chosen by the decoded index.

Each primitive of `isa.values.lanes` gets a machine instruction of the same meaning, and each value function a loop over
lanes. The results equal those of the NumPy originals bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba.core import types
from numba.extending import intrinsic, overload, register_jitable

from gpusim.sm.jit.on_demand import one_on_demand
from gpusim.sm.jit.rule import COMPILED, rule
from gpusim.sm.records import Sm
from gpusim.sm.unit.capacities import LANES
from gpusim.sm.unit.opcodes import COMPARISONS, CONVERSIONS, LOOKUPS, UPDATES, VALUES32, VALUES64
from isa.table import RESULTS, TRUTHS
from isa.values import lanes as original
from isa.values.parts import PARTS


@intrinsic
def _fma(_typing: Any, a: Any, b: Any, c: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return a(a, b, c), generate


def _bit_cast(to: Any) -> Any:
    @intrinsic
    def cast(_typing: Any, a: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return builder.bitcast(arguments[0], context.get_value_type(to))

        return to(a), generate

    return cast


_to_f32, _to_f64, _to_i32 = _bit_cast(types.float32), _bit_cast(types.float64), _bit_cast(types.int32)
_to_u32, _to_u64 = _bit_cast(types.uint32), _bit_cast(types.uint64)


@register_jitable
def _from_half(pattern: int) -> Any:
    """Return the double equal to the half in the low 16 bits: a single with the same digits, moved to place."""
    magnitude = np.uint32(pattern & 0x7FFF)
    if magnitude >= 0x7C00:
        number = np.inf if magnitude == 0x7C00 else np.nan
    else:
        number = np.float64(_to_f32(np.uint32(magnitude << 13))) * 2.0**112  # exponents count from -127, not from -15
    return -number if pattern & 0x8000 else number


@register_jitable
def _to_half(number: Any) -> Any:
    """Return the half nearest to a double, as a pattern: rounded steps above a power of two carry into the exponent."""
    if np.isnan(number):
        return np.uint32(0x7FFF)
    bits, magnitude = _to_u64(number), abs(number)
    sign = np.uint32(bits >> np.uint64(48)) & np.uint32(0x8000)
    if magnitude >= 65520.0:
        return np.uint32(sign | 0x7C00)
    exponent = np.int64(bits >> np.uint64(52)) & 2047
    exponent = exponent if exponent > 1009 else np.int64(1009)  # that of the least normal half, also for smaller values
    steps = np.rint(magnitude * _to_f64(np.uint64(2056 - exponent) << np.uint64(52)))
    return np.uint32(sign + ((exponent - 1009) << 10) + np.int64(steps))


def _either(typed: Any, for_float: Any, for_integer: Any) -> Any:
    """Return the implementation for an argument of that Numba type."""
    return for_float if isinstance(typed, types.Float) else for_integer


# An overload is a function of types that returns the function of values to compile: one lambda inside the other.
# ruff: noqa: ARG005, PLW0108
MACHINE_CODE: dict[Callable[..., Any], Callable[..., Any]] = {
    original.as_u32: lambda x: _either(x, lambda x: _to_u32(np.float32(x)), lambda x: np.uint32(x)),
    original.as_u64: lambda x: _either(x, lambda x: _to_u64(np.float64(x)), lambda x: np.uint64(x)),
    original.as_i32: lambda x: lambda x: _to_i32(np.uint32(x)),
    original.as_f32: lambda x: lambda x: _to_f32(np.uint32(x)),
    original.as_f64: lambda x: lambda x: _to_f64(np.uint64(x)),
    original.as_i64: lambda x: lambda x: np.int64(x),
    original.widen: lambda x: lambda x: np.uint64(np.uint32(x)),
    original.narrow: lambda x: lambda x: np.uint32(x),
    original.choose: lambda condition, yes, no: lambda condition, yes, no: yes if condition else no,
    original.fma16: lambda a, b, c: lambda a, b, c: _to_half(_from_half(a) * _from_half(b) + _from_half(c)),
    original.fma32: lambda a, b, c: lambda a, b, c: _fma(np.float32(a), np.float32(b), np.float32(c)),
    original.fma64: lambda a, b, c: lambda a, b, c: _fma(np.float64(a), np.float64(b), np.float64(c)),
}
for primitive, implementation in MACHINE_CODE.items():
    overload(primitive)(implementation)
for part in PARTS:
    register_jitable(part)


def lanewise(value: Callable[..., Any], names: str) -> Callable[[Sm], None]:
    """Return a rule (sm) that sets each lane of one field of `sm.scratch` to the value of that lane of three others."""
    d, a, b, c = names.split()
    if not COMPILED:

        def interpreted(sm: Sm) -> None:
            with np.errstate(all="ignore"):  # overflow and NaN are results here, not errors
                found = value(sm.scratch[a], sm.scratch[b], sm.scratch[c])
                np.copyto(np.asarray(sm.scratch[d]), found, casting="unsafe")

        return interpreted
    compiled = rule(value)

    def apply(sm: Sm) -> None:
        scratch = sm.scratch
        for lane in range(LANES):
            scratch[d][lane] = compiled(scratch[a][lane], scratch[b][lane], scratch[c][lane])

    apply.__qualname__ = f"{value.__qualname__}_of_lanes"
    return apply


def of_one_lane(update: Callable[..., Any], names: str) -> Callable[[Sm], None]:
    """Return a rule (sm) that sets lane `sm.scratch.lane` of one field to the update of that lane of three others."""
    d, a, b, c = names.split()
    if not COMPILED:

        def interpreted(sm: Sm) -> None:
            scratch, lane = sm.scratch, int(sm.scratch.lane)
            with np.errstate(all="ignore"):
                scratch[d][lane] = update(scratch[a][lane], scratch[b][lane], scratch[c][lane])

        return interpreted
    compiled = rule(update)

    def apply(sm: Sm) -> None:
        scratch, lane = sm.scratch, sm.scratch.lane
        scratch[d][lane] = compiled(scratch[a][lane], scratch[b][lane], scratch[c][lane])

    apply.__qualname__ = f"{update.__qualname__}_of_one_lane"
    return apply


def lanewise_general(value: Callable[..., Any], into: str) -> Callable[[Sm], None]:
    """Return a rule (sm) that sets each lane of a field of `sm.scratch` as `isa.values.general` describes."""
    if not COMPILED:

        def interpreted(sm: Sm) -> None:
            scratch = sm.scratch
            with np.errstate(all="ignore"):
                found = value(scratch.a64, scratch.b64, scratch.c64, scratch.p, np.uint64(scratch.n))
                np.copyto(np.asarray(scratch[into]), found, casting="unsafe")

        return interpreted
    compiled = rule(value)

    def apply(sm: Sm) -> None:
        scratch = sm.scratch
        for lane in range(LANES):
            scratch[into][lane] = compiled(
                scratch.a64[lane], scratch.b64[lane], scratch.c64[lane], scratch.p[lane], scratch.n
            )

    apply.__qualname__ = f"{value.__qualname__}_of_lanes"
    return apply


def lanewise_by_table(value: Callable[..., Any]) -> Callable[[Sm, int], None]:
    """Return a rule (sm, table) that sets each lane of `sm.scratch.d` from that lane of a, b, c, and the table."""
    if not COMPILED:

        def interpreted(sm: Sm, table: int) -> None:
            scratch = sm.scratch
            with np.errstate(all="ignore"):
                found = value(scratch.a, scratch.b, scratch.c, np.uint32(table))
                np.copyto(np.asarray(scratch.d), found, casting="unsafe")

        return interpreted
    compiled = rule(value)

    def apply(sm: Sm, table: int) -> None:
        scratch = sm.scratch
        for lane in range(LANES):
            scratch.d[lane] = compiled(scratch.a[lane], scratch.b[lane], scratch.c[lane], table)

    return rule(apply)


compute32 = one_on_demand("compute32", [lanewise(value, "d a b c") for value in VALUES32])
compute64 = one_on_demand("compute64", [lanewise(value, "d64 a64 b64 c64") for value in VALUES64])
(look_up,) = map(lanewise_by_table, LOOKUPS)
WIDTHS = "d64 a b c", "d a64 b64 c64"  # of each conversion
convert = one_on_demand("convert", [lanewise(value, names) for value, names in zip(CONVERSIONS, WIDTHS, strict=True)])
compare = one_on_demand("compare", [lanewise(value, "flag a b c") for value in COMPARISONS])
results = one_on_demand("results", [lanewise_general(value, "d64") for value in RESULTS])
truths = one_on_demand("truths", [lanewise_general(value, "flag") for value in TRUTHS])
update32 = one_on_demand("update32", [of_one_lane(update, "d a b c") for update in UPDATES])
update64 = one_on_demand("update64", [of_one_lane(update, "d64 a64 b64 c64") for update in UPDATES])
