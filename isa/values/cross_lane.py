"""Value functions of cross-lane instructions: the result depends on other lanes of the warp.

`across(a, b, c, active)` takes operands as uint32 [words, ..., 32], as many words as each has registers, and as bool
[..., 32] the lanes that take part. It gives d as uint32 [words, ..., 32]; `across_truth` takes the same and gives the
predicate of every lane, as bool [..., 32]. A predicate that is read arrives as 0 or 1 in the place of c. Lanes take
part if their guard holds. In a warp of 64 lanes they reach the 32 of their own half.

A shuffle, a reduction and a vote are data: they name functions of one lane, of two words or of two masks, written like
those of isa.values.semantics, so that an engine can compile the same source.
"""

# ruff: noqa: ARG001, ARG002  (functions take all that those of their kind do; few need it)
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from isa.values.lanes import as_i32, as_u32, choose
from isa.values.semantics import fmnmx

LANES = np.arange(32, dtype=np.uint32)
LAST = np.uint32(31)
WORD = np.uint32(32)
WHOLE_WARP = 31  # c of a shuffle among all 32 lanes
HALF, LOWER = np.uint32(16), np.uint32(0xFFFF)
ONE, NONE, ALL = np.uint32(1), np.uint32(0), np.uint32(0xFFFFFFFF)
SIZE, INFINITE = np.uint32(0x7FFFFFFF), np.uint32(0x7F800000)  # of a single; the size is the pattern of a NaN too


@dataclass(frozen=True, slots=True)
class Shuffle:
    """d is pattern a of lane `there(lane, b, c)`, the lane's own if that lane is out of range, 0 if it takes no part.

    c holds the last lane in bits 0 to 4, and in bits 8 to 12 the mask of the lane bits that name a segment (PTX ISA,
    shfl.sync, which leaves the result of an inactive source undefined: an H100 gives 0, measured on 2026-11-26).
    """

    there: Callable[[Any, Any, Any], Any]
    in_range: Callable[[Any, Any, Any], Any]

    def __call__(self, a: Any, b: Any, c: Any, active: Any) -> Any:
        """Return d of every lane."""
        (b,), (c,) = b, c
        source = np.where(self.in_range(LANES, b, c), self.there(LANES, b, c), LANES).astype(np.int64)
        taken = np.take_along_axis(a, np.broadcast_to(source, a.shape), -1)
        return np.where(np.take_along_axis(active, source, -1), taken, NONE)


@dataclass(frozen=True, slots=True)
class InRange:
    """The predicate of a shuffle: whether the lane it names is in range, active or not."""

    in_range: Callable[[Any, Any, Any], Any]

    def __call__(self, a: Any, b: Any, c: Any, active: Any) -> Any:
        """Return the predicate of every lane."""
        return np.broadcast_to(self.in_range(LANES, b[0], c[0]), active.shape)


@dataclass(frozen=True, slots=True)
class Reduction:
    """d of every lane is `join` of pattern a of all lanes that take part; `first` joined with x is x."""

    join: Callable[[Any, Any], Any]
    first: int

    def __call__(self, a: Any, b: Any, c: Any, active: Any) -> Any:
        """Return d of every lane."""
        parts = np.where(active, a, np.uint32(self.first))
        while parts.shape[-1] > 1:
            half = parts.shape[-1] // 2
            parts = self.join(parts[..., :half], parts[..., half:])
        return np.broadcast_to(parts, a.shape)


@dataclass(frozen=True, slots=True)
class Vote:
    """The predicate of every lane is `agreed(yes, present)`, of the masks of lanes where c is 1 and that take part."""

    agreed: Callable[[Any, Any], Any]

    def __call__(self, a: Any, b: Any, c: Any, active: Any) -> Any:
        """Return the predicate of every lane."""
        return self.agreed(ballot(a, b, c, active)[0], _in_every_lane(active << LANES))


@dataclass(frozen=True, slots=True)
class Tile:
    """d is a matrix of which each lane holds parts, as of the operands: all lanes take part, whatever their guards.

    `fill(d, a, b, c, n, tiles)` sets d, all uint32 [words, 32]: loops over numbers, which an engine compiles; n says
    how the architecture adds (isa.architecture.Architecture.sums), `tiles` how many such matrices share a: one here.
    `gives` are the words of d.
    """

    fill: Callable[[Any, Any, Any, Any, Any, Any], None]
    gives: int

    def __call__(self, a: Any, b: Any, c: Any, active: Any, n: int) -> Any:
        """Return d of every lane."""
        d = np.zeros((self.gives, *active.shape), np.uint32)
        for warp in np.ndindex(active.shape[:-1]):
            self.fill(d[:, *warp], a[:, *warp], b[:, *warp], c[:, *warp], n, 1)
        return d


def by_lane_group(across: Callable[..., Any], *given: Any) -> Any:
    """Return `across` of those operands [words, warp, lane] and active lanes, in groups of 32 lanes."""
    *operands, active = given
    parts = (part.reshape(len(part), -1, len(LANES)) for part in operands)
    found = across(*parts, active.reshape(-1, len(LANES)))
    return found.reshape(found.shape[:-2] + active.shape)


# Shuffles. Lanes, counts and limits are below 32, so that no sum here wraps around.


def segment(c: Any) -> Any:
    """Mask of the lane bits that name the segment."""
    return (c >> 8) & LAST


def limit(lane: Any, c: Any) -> Any:
    """Last lane of the segment that a shuffle may name, first one if it goes up."""
    return ((lane & segment(c)) | (c & ~segment(c))) & LAST


def lane_below(lane: Any, b: Any, c: Any) -> Any:
    """Lane b modulo 32 places below."""
    return (lane + WORD - (b & LAST)) & LAST


def in_range_below(lane: Any, b: Any, c: Any) -> Any:
    """Tell whether that lane is not below the first one."""
    return lane >= (b & LAST) + limit(lane, c)


def lane_above(lane: Any, b: Any, c: Any) -> Any:
    """Lane b modulo 32 places above."""
    return (lane + (b & LAST)) & LAST


def in_range_above(lane: Any, b: Any, c: Any) -> Any:
    """Tell whether that lane is not above the last one."""
    return lane + (b & LAST) <= limit(lane, c)


def lane_across(lane: Any, b: Any, c: Any) -> Any:
    """Lane whose number is this one's, exclusive or b modulo 32."""
    return lane ^ (b & LAST)


def in_range_across(lane: Any, b: Any, c: Any) -> Any:
    """Tell whether that lane is not above the last one."""
    return (lane ^ (b & LAST)) <= limit(lane, c)


def lane_named(lane: Any, b: Any, c: Any) -> Any:
    """Lane b of the segment, modulo its lanes."""
    return ((lane & segment(c)) | (b & ~segment(c))) & LAST


def in_range_named(lane: Any, b: Any, c: Any) -> Any:
    """Tell whether that lane is not above the last one."""
    return (((lane & segment(c)) | (b & ~segment(c))) & LAST) <= limit(lane, c)


shuffle_index, index_in_range = Shuffle(lane_named, in_range_named), InRange(in_range_named)
shuffle_up, up_in_range = Shuffle(lane_below, in_range_below), InRange(in_range_below)
shuffle_down, down_in_range = Shuffle(lane_above, in_range_above), InRange(in_range_above)
shuffle_butterfly, butterfly_in_range = Shuffle(lane_across, in_range_across), InRange(in_range_across)


# Reductions of patterns.


def sum_of(x: Any, y: Any) -> Any:
    """Sum modulo 2**32."""
    return as_u32(x + y)


def least(x: Any, y: Any) -> Any:
    """Unsigned minimum."""
    return choose(x < y, x, y)


def greatest(x: Any, y: Any) -> Any:
    """Unsigned maximum."""
    return choose(x < y, y, x)


def signed_least(x: Any, y: Any) -> Any:
    """Signed minimum."""
    return choose(as_i32(x) < as_i32(y), x, y)


def signed_greatest(x: Any, y: Any) -> Any:
    """Signed maximum."""
    return choose(as_i32(x) < as_i32(y), y, x)


def common_bits(x: Any, y: Any) -> Any:
    """Bitwise and."""
    return x & y


def all_bits(x: Any, y: Any) -> Any:
    """Bitwise or."""
    return x | y


def odd_bits(x: Any, y: Any) -> Any:
    """Bitwise exclusive or."""
    return x ^ y


def least_single(x: Any, y: Any) -> Any:
    """Minimum of singles, a number in place of a NaN."""
    return fmnmx(x, y, ONE)


def greatest_single(x: Any, y: Any) -> Any:
    """Maximum of singles, a number in place of a NaN."""
    return fmnmx(x, y, NONE)


def least_size(x: Any, y: Any) -> Any:
    """Minimum of sizes of singles, a number in place of a NaN."""
    return fmnmx(x & SIZE, y & SIZE, ONE)


def greatest_size(x: Any, y: Any) -> Any:
    """Maximum of sizes of singles, a number in place of a NaN."""
    return fmnmx(x & SIZE, y & SIZE, NONE)


def unless_nan(x: Any, y: Any, found: Any) -> Any:
    """Return what was found of two singles, NaN if one of them is."""
    return choose(((x & SIZE) > INFINITE) | ((y & SIZE) > INFINITE), SIZE, found)


def least_or_nan(x: Any, y: Any) -> Any:
    """Minimum of singles; of any NaN, NaN."""
    return unless_nan(x, y, fmnmx(x, y, ONE))


def greatest_or_nan(x: Any, y: Any) -> Any:
    """Maximum of singles; of any NaN, NaN."""
    return unless_nan(x, y, fmnmx(x, y, NONE))


def least_size_or_nan(x: Any, y: Any) -> Any:
    """Minimum of sizes of singles; of any NaN, NaN."""
    return unless_nan(x, y, fmnmx(x & SIZE, y & SIZE, ONE))


def greatest_size_or_nan(x: Any, y: Any) -> Any:
    """Maximum of sizes of singles; of any NaN, NaN."""
    return unless_nan(x, y, fmnmx(x & SIZE, y & SIZE, NONE))


SINGLES = {  # by what a text says behind CREDUX
    "MIN.F32": Reduction(least_single, 0x7FFFFFFF),
    "MAX.F32": Reduction(greatest_single, 0x7FFFFFFF),
    "MINABS.F32": Reduction(least_size, 0x7FFFFFFF),
    "MAXABS.F32": Reduction(greatest_size, 0x7FFFFFFF),
    "MIN.F32.NAN": Reduction(least_or_nan, 0x7F800000),
    "MAX.F32.NAN": Reduction(greatest_or_nan, 0xFF800000),
    "MINABS.F32.NAN": Reduction(least_size_or_nan, 0x7F800000),
    "MAXABS.F32.NAN": Reduction(greatest_size_or_nan, 0),
}
total = Reduction(sum_of, 0)
minimum, maximum = Reduction(least, 0xFFFFFFFF), Reduction(greatest, 0)
signed_minimum, signed_maximum = Reduction(signed_least, 0x7FFFFFFF), Reduction(signed_greatest, 0x80000000)
every_bit, any_bit, parity = Reduction(common_bits, 0xFFFFFFFF), Reduction(all_bits, 0), Reduction(odd_bits, 0)


# Votes.


def ballot(a: Any, b: Any, c: Any, active: Any) -> Any:
    """Return a word whose bit i is set if c is 1 in lane i."""
    return _in_every_lane(np.where(active, (c & ONE) << LANES, NONE))


def in_any(yes: Any, present: Any) -> Any:
    """Tell whether any lane says yes."""
    return yes != NONE


def in_all(yes: Any, present: Any) -> Any:
    """Tell whether all lanes say yes."""
    return yes == present


def all_alike(yes: Any, present: Any) -> Any:
    """Tell whether all lanes say the same."""
    return (yes == NONE) | (yes == present)


any_lane, all_lanes, equal_lanes = Vote(in_any), Vote(in_all), Vote(all_alike)


# Matches, and what the first lane has.


def match_any(a: Any, b: Any, c: Any, active: Any) -> Any:
    """Return the mask of the lanes whose a is this lane's (PTX ISA, match.any)."""
    same = (a[..., :, None] == a[..., None, :]).all(axis=0) & active[..., None, :]
    return np.where(same, ONE << LANES, NONE).sum(axis=-1, dtype=np.uint32)[None]


def all_match(a: Any, b: Any, c: Any, active: Any) -> Any:
    """Tell whether all lanes have the same a."""
    same = (a == _of_first(a, active)).all(axis=0) | ~active
    return np.broadcast_to(same.all(axis=-1, keepdims=True), active.shape)


def match_all(a: Any, b: Any, c: Any, active: Any) -> Any:
    """Return the mask of all lanes that take part if they have the same a, else 0 (PTX ISA, match.all)."""
    return np.where(all_match(a, b, c, active), _in_every_lane(active << LANES), NONE)[None]


def of_first_lane(a: Any, b: Any, c: Any, active: Any) -> Any:
    """Return pattern a of the first lane that takes part; of no lane, 0."""
    return np.where(active.any(axis=-1, keepdims=True), _of_first(a, active), NONE)


def is_other(a: Any, b: Any, c: Any, active: Any) -> Any:
    """Tell each lane whether its a is not that of the first lane that takes part, or c is 1."""
    return (a != of_first_lane(a, b, c, active)).any(axis=0) | (c[0] != NONE)


def first_lane(a: Any, b: Any, c: Any, active: Any) -> Any:
    """Return the number of the first lane where c is 1; 0 if there is none."""
    willing = active & (c[0] != NONE)
    return np.broadcast_to(willing.argmax(axis=-1)[..., None].astype(np.uint32), active.shape)[None]


def is_first(a: Any, b: Any, c: Any, active: Any) -> Any:
    """Tell each lane whether it is the first one where c is 1 (PTX ISA, elect.sync)."""
    return active & (c[0] != NONE) & (first_lane(a, b, c, active)[0] == LANES)


def transposed(a: Any, b: Any, c: Any, active: Any) -> Any:
    """Return a matrix of 8 x 8 halves transposed: lane 4 r + t has the halves 2 t and 2 t + 1 of row r.

    Of a lane that takes no part they are 0 (PTX ISA, movmatrix, asks for all lanes).
    """
    words = np.where(active, a[0], NONE)
    halves = np.stack([words & LOWER, words >> HALF], axis=-1).reshape(*words.shape[:-1], 8, 8)
    turned = np.swapaxes(halves, -1, -2).reshape(*words.shape, 2)
    return (turned[..., 0] | turned[..., 1] << HALF)[None]


def _of_first(a: Any, active: Any) -> Any:
    """Return a of the first active lane, in every lane."""
    first = active.argmax(axis=-1)[..., None]
    return np.broadcast_to(np.take_along_axis(a, np.broadcast_to(first, (*a.shape[:-1], 1)), -1), a.shape)


def _in_every_lane(parts: Any) -> Any:
    """Return the parts' sum, modulo 2**32."""
    whole = parts.sum(axis=-1, keepdims=True, dtype=np.uint32)
    return np.broadcast_to(whole, parts.shape)


PARTS = (segment, limit, fmnmx, unless_nan)  # of other functions
