"""Translate each instruction into one function on the frame of a block, which `interpret` runs.

An action gets (frame, group, mask): it computes for the group's warps and writes the lanes of `mask` (None: all).
Values that are equal in all lanes have shape (1, 1) and broadcast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import matrix_exact
import numpy as np
from matrix_exact import ADDING
from numpy.typing import NDArray

from interpreter import access, copies, matrices, move, texture
from interpreter import operand_value as values
from interpreter.frame import Frame, Group
from interpreter.operand_value import Fetch, Mask, Observe, Scope
from isa.dataflow.waits.counted_groups import awaits_all
from isa.executing import faults
from isa.executing.beyond import Beyond
from isa.executing.places import places
from isa.instruction import PREDICATES_WRITTEN
from isa.operands.operand import PT, PT_INDEX, RZ, Address, Immediate, Operand, Predicate, Special, Texture
from isa.row import BEHIND, Row, Unit
from isa.values.cross_lane import by_lane_group

__all__ = ["Action", "Fetch", "Mask", "Observe", "Scope", "action", "guard"]

Action = Callable[[Frame, Group, Mask], None]
Locate = Callable[[Frame, Group, Mask], NDArray[np.uint32]]


def action(scope: Scope, compute: bool) -> Action | None:
    """Return the function of an instruction, None if there is nothing to do.

    Without `compute` only the addresses of memory instructions are computed, checked and observed.
    """
    own = _action(scope, compute)
    if not compute or not awaits_all(scope.kernel.program, scope.instruction):
        return own
    before = copies.waiting(0)  # by its wait mask

    def both(frame: Frame, group: Group, mask: Mask) -> None:
        before(frame, group, mask)
        if own is not None:
            own(frame, group, mask)

    return both


def _action(scope: Scope, compute: bool) -> Action | None:
    row = scope.instruction.row
    if row.grouping or row.is_load or row.is_store:
        return _of_memory(scope, compute)
    if not compute or row.steers or row.unit in (Unit.BARRIER, Unit.CONTROL):
        return None
    if row.reads_special:
        return _special(scope)
    if row.reads_barrier:
        return _found_by_barrier(scope)
    if row.is_general:
        return _general(scope)
    return _arithmetic(scope) if row.across is None else _across(scope)


def _of_memory(scope: Scope, compute: bool) -> Action | None:
    row = scope.instruction.row
    if row.grouping:
        return copies.action(scope, _locate(scope) if row.copies else None, compute)
    if row.matrices:
        return matrices.action(scope, _locate(scope), compute)
    return _memory(scope, compute) if row.texel is None else texture.fetch(scope, compute)


def guard(predicate: Predicate) -> Fetch | None:
    """Return a function giving [warp, lane] where both guard and thread are active; None for a plain PT."""
    if predicate.index == PT_INDEX and not predicate.negated:
        return None
    index, negated, whole = predicate.index, predicate.negated, predicate.whole

    def fetch(frame: Frame, group: Group) -> Any:
        held = frame.predicates[index, group.select]
        if whole:
            held = np.broadcast_to((held & group.live).any(axis=-1, keepdims=True), held.shape)
        held = ~held if negated else held
        return held if group.mask is None else held & group.mask

    return fetch


def _arithmetic(scope: Scope) -> Action:
    row = scope.instruction.row
    held = dict(scope.instruction.slots())
    a, b, c = _sources(scope, held)
    write = values.writer(held[next(letter for letter in "PdD" if letter in held)], row.width)
    number = held.get("n")
    value = partial(row.value, n=np.uint32(number.bits)) if row.value and isinstance(number, Immediate) else row.value
    assert value is not None

    def act(frame: Frame, group: Group, mask: Mask) -> None:
        write(frame, group, mask, value(a(frame, group), b(frame, group), c(frame, group)))

    return act


def _general(scope: Scope) -> Action:
    """Return an action for a row with `result` and `truth` functions: both see the old predicates and registers."""
    row, held = scope.instruction.row, dict(scope.instruction.slots())
    sources = [values.wide_source(scope, held.get(letter), row, letter) for letter in "abc"]
    truths, number = values.truths(held), np.uint64(scope.instruction.number())
    result, truth = row.result, row.truth
    write = values.writer(held["d"], 32 * row.words_of("d")) if result and "d" in held else None
    kind = np.uint64 if row.words_of("d") == 2 else np.uint32
    told = [(place, values.writer(held[x], 32)) for place, x in enumerate(PREDICATES_WRITTEN) if x in held]

    def act(frame: Frame, group: Group, mask: Mask) -> None:
        given = (*(source(frame, group) for source in sources), truths(frame, group), number)
        word = truth(*given) if truth is not None else None
        if write is not None and result is not None:
            write(frame, group, mask, np.asarray(result(*given)).astype(kind))
        for place, tell in told:
            tell(frame, group, mask, (np.asarray(word) >> np.uint32(place) & np.uint32(1)) != 0)

    return act


def _across(scope: Scope) -> Action:
    """Return an action for a cross-lane row, which may write a register, a predicate, or both."""
    row, held = scope.instruction.row, dict(scope.instruction.slots())
    single = zip("abc", _sources(scope, held), strict=True)
    sources = [values.words(scope, held[x], row, x) if row.words_of(x) > 1 else [source] for x, source in single]
    for place, letter in enumerate(BEHIND):
        sources[place] = [*sources[place], *([values.source(scope, held[letter], row)] if letter in held else [])]
    pairs = ((held.get("d"), row.across), (held.get("P"), row.across_truth))
    if row.matrix:
        return _matrix(scope, held["d"], sources)
    given = [(to, across) for to, across in pairs if to not in (None, PT) and across is not None]

    def act(frame: Frame, group: Group, mask: Mask) -> None:
        active = group.live if mask is None else mask
        spread = [np.stack([values.spread(word(frame, group), active) for word in source]) for source in sources]
        found = [(to, by_lane_group(across, *spread, active)) for to, across in given]
        for to, value in found:
            parts = [(to, value)] if isinstance(to, Predicate) else values.registers(to, value)
            for one, part in parts:
                values.writer(one, 32)(frame, group, mask, part)

    return act


def _matrix(scope: Scope, to: Operand, sources: Sequence[Sequence[Fetch]]) -> Action:
    """Return an action for a matrix instruction, which takes the registers of all threads of its warp."""
    target, name = scope.kernel.target, scope.instruction.row.mnemonic
    adding = ADDING[target.architecture if target else 90]
    known, words = scope.instruction.number() >> 32, scope.instruction.row.words_of("d")

    def act(frame: Frame, group: Group, mask: Mask) -> None:
        a, b, c = (np.stack([values.spread(word(frame, group), group.live) for word in one]) for one in sources)
        found = np.empty((words, *c.shape[1:]), np.uint32)
        for warp in np.ndindex(c.shape[1:-1]):
            selector = known or int(c[-1, *warp, 0])
            parts = (part[:, *warp] for part in (a, b, c))
            found[:, *warp] = matrix_exact.multiplied(name, *parts, adding, selector)
        for one, part in values.registers(to, found):
            values.writer(one, 32)(frame, group, mask, part)

    return act


def _sources(scope: Scope, held: Mapping[str, Operand]) -> tuple[Fetch, Fetch, Fetch]:
    row = scope.instruction.row.source
    a, b = (values.source(scope, held.get(letter), row) for letter in "ab")
    return a, b, _third(scope, held, row)


def _third(scope: Scope, held: Mapping[str, Operand], row: Row) -> Fetch:
    if "Q" in held:
        return values.predicate(held["Q"])
    addend = held.get("c", held.get("D"))
    return values.source(scope, addend, row) if addend is not None else values.uniform(row.code, 32)


def _special(scope: Scope) -> Action:
    target, name = scope.instruction.operands
    assert isinstance(name, Special)
    width = 32 * scope.instruction.row.words_of("d")
    write, which = values.writer(target, width), name.name
    kind = np.uint64 if width == 64 else np.uint32
    return lambda frame, group, mask: write(frame, group, mask, frame.specials[which][group.select].astype(kind))


def _found_by_barrier(scope: Scope) -> Action:
    """Return a read of what the warp's last BAR.RED found: a number, and whether it is not 0."""
    target, *truth = scope.instruction.operands
    write, tell = values.writer(target, 32), [values.writer(one, 32) for one in truth]

    def act(frame: Frame, group: Group, mask: Mask) -> None:
        found = frame.reduced[group.select][:, None]
        write(frame, group, mask, found)
        for one in tell:
            one(frame, group, mask, found != 0)

    return act


def _memory(scope: Scope, compute: bool) -> Action:
    pc, observe = scope.pc, scope.observe
    locate, carry = _locate(scope), move.carried(scope) if compute else None

    def act(frame: Frame, group: Group, mask: Mask) -> None:
        addresses = locate(frame, group, mask)
        if observe is not None:
            observe(pc, group.warps, addresses, group.live if mask is None else mask)
        if carry is not None and (mask is None or mask.any()):
            carry(frame, group, mask, addresses)

    return act


def _locate(scope: Scope) -> Locate:
    """Return a function giving checked byte addresses [warp, lane], cached while their registers are unwritten."""
    pc = scope.pc
    registers, fetch = _address(scope)
    check = _check(scope)

    def locate(frame: Frame, group: Group, mask: Mask) -> NDArray[np.uint32]:
        version = sum([frame.versions[register] for register in registers])
        known = frame.located.get(pc)
        if known is not None and known[0] == version and known[1] is group and mask is group.mask:
            return known[2]
        addresses: NDArray[np.uint32] = values.spread(fetch(frame, group), group.live)
        if addresses.dtype == np.uint64:
            addresses = _in_window(scope, frame, group, mask, addresses)
        check(frame, group, mask, addresses)
        if mask is group.mask:
            frame.located[pc] = (version, group, addresses)
        return addresses

    return locate


def _address(scope: Scope) -> tuple[tuple[int, ...], Fetch]:
    """Return the registers on which addresses depend, and the function that computes them."""
    if scope.instruction.row.unit is Unit.TEXTURE:
        return _texel(scope)
    operand = scope.instruction.address()
    assert isinstance(operand, Address)
    if operand.wide or operand.uniform or operand.scale > 1:
        return operand.registers, _sum_of(scope, operand)
    base = values.register(operand.base.index, 32)
    offset = np.full((1, 1), operand.offset & 0xFFFFFFFF, np.uint32)
    return operand.registers, lambda frame, group: base(frame, group) + offset


def _sum_of(scope: Scope, operand: Address) -> Fetch:
    """Return a function giving an address of several parts; of one with 64 bits the place in the window.

    What lies above the window's 4 GiB is kept in the upper half, for the check.
    """
    uniform = operand.uniform or RZ
    base, other = (
        values.register(r.index, 64 if pair else 32)
        for r, pair in ((operand.base, operand.pair), (uniform, operand.uniform_pair))
    )
    fixed = np.uint64((operand.offset - (scope.kernel.window if operand.wide else 0)) % (1 << 64))
    scale, kind = np.uint64(operand.scale), np.uint64 if operand.wide else np.uint32

    def locate(frame: Frame, group: Group) -> Any:
        parts = base(frame, group).astype(np.uint64) * scale + other(frame, group).astype(np.uint64)
        return (parts + fixed).astype(kind)

    return locate


def _texel(scope: Scope) -> tuple[tuple[int, ...], Fetch]:
    """Return registers and address of the element in column a and row b of rows of c (or a of one row), clamped."""
    row, held = scope.instruction.row, dict(scope.instruction.slots())
    texture = held["t"]
    assert isinstance(texture, Texture)
    buffers = {b.name: b for b in scope.kernel.buffers if b.nbytes >= row.nbytes}
    if texture.name not in buffers:
        raise faults.undefined_name(scope.kernel, scope.pc, "tex", texture.name, buffers)
    start, elements = scope.constants[texture.name], buffers[texture.name].nbytes // row.nbytes
    a, b = (values.source(scope, held.get(letter), row.source) for letter in "ab")
    c = values.source(scope, held.get("c", Immediate(elements, "int")), row.source)

    def locate(frame: Frame, group: Group) -> Any:
        pitch = np.maximum(c(frame, group).astype(np.int64), 1)
        column = np.clip(a(frame, group).view(np.int32), 0, pitch - 1)
        line = np.clip(b(frame, group).view(np.int32), 0, np.maximum(elements // pitch, 1) - 1)
        element = np.minimum(line * pitch + column, elements - 1)
        return (element * row.nbytes + start).astype(np.uint32)

    return scope.instruction.reads(), locate


def _in_window(scope: Scope, frame: Frame, group: Group, mask: Mask, found: NDArray[Any]) -> NDArray[np.uint32]:
    """Return 32-bit addresses from places in the window of 64-bit ones; raises ExecutionError for one beyond it.

    A generic address may lie in the windows of shared and local memory too.
    """
    if access.leaves_global(scope.kernel, scope.instruction.row):
        at, beyond = places(found + np.uint64(scope.kernel.window), scope.kernel.window)
    else:
        at, beyond = found.astype(np.uint32), (found >> np.uint64(32)) != 0
    beyond &= group.live if mask is None else mask
    if beyond.any():
        row, lane = np.argwhere(beyond)[0]
        address = (int(found[row, lane]) + scope.kernel.window) % (1 << 64)
        warp = group.members[row]
        raise faults.out_of_bounds(scope.kernel, scope.pc, frame.block, warp, lane=int(lane), address=address)
    return at


def _check(scope: Scope) -> Callable[[Frame, Group, Mask, NDArray[np.uint32]], None]:
    row = scope.instruction.row
    nbytes, alignment, allowed = row.accessed_bytes, row.alignment, access.ranges(scope.kernel, row)
    buffers = access.ranges(scope.kernel, row, exact=True)
    if row.fills:
        return _check_filled(scope, allowed)

    def check(frame: Frame, group: Group, mask: Mask, addresses: NDArray[np.uint32]) -> None:
        used = addresses if mask is None else addresses[mask]
        if used.size and (access.misaligned(used, alignment) or not access.inside(allowed, used, nbytes)):
            raise _fault(scope, frame, group, mask, addresses)
        if buffers != allowed and used.size and not access.inside(buffers, used, nbytes):
            frame.beyond.append(_beyond(scope, frame, group, mask, addresses))

    return check


def _check_filled(scope: Scope, allowed: access.Ranges) -> Callable[[Frame, Group, Mask, NDArray[np.uint32]], None]:
    """Return the check of a copy whose addresses say how many bytes they leave out."""
    size = scope.instruction.row.nbytes

    def check(frame: Frame, group: Group, mask: Mask, addresses: NDArray[np.uint32]) -> None:
        left = addresses % np.uint32(size)
        active = group.live if mask is None else mask
        for row, lane in np.argwhere(active & access.outside(allowed, addresses - left, size - left)):
            address = access.whole(scope.kernel, scope.instruction, int(addresses[row, lane] - left[row, lane]))
            where = group.members[row]
            raise faults.out_of_bounds(scope.kernel, scope.pc, frame.block, where, lane=int(lane), address=address)

    return check


def _beyond(scope: Scope, frame: Frame, group: Group, mask: Mask, addresses: NDArray[np.uint32]) -> Beyond:
    """Return the loads of an instruction that read behind a buffer."""
    row = scope.instruction.row
    buffers = access.ranges(scope.kernel, row, exact=True)
    found = (group.live if mask is None else mask) & access.outside(buffers, addresses, row.nbytes)
    at, lane = np.argwhere(found)[0]
    address = access.whole(scope.kernel, scope.instruction, int(addresses[at, lane]))
    return Beyond(int(found.sum()), scope.pc, frame.block, int(group.members[at]), int(lane), address)


def _fault(scope: Scope, frame: Frame, group: Group, mask: Mask, addresses: NDArray[np.uint32]) -> Exception:
    """Return the error of the first lane whose address is bad, misalignment first."""
    nbytes, ranges = scope.instruction.row.accessed_bytes, access.ranges(scope.kernel, scope.instruction.row)
    active = group.live if mask is None else mask
    crooked = active & ((addresses & np.uint32(scope.instruction.row.alignment - 1)) != 0)
    build = faults.misaligned if crooked.any() else faults.out_of_bounds
    bad = crooked if crooked.any() else active & access.outside(ranges, addresses, nbytes)
    row, lane = np.argwhere(bad)[0]
    whole = access.whole(scope.kernel, scope.instruction, int(addresses[row, lane]))
    return build(scope.kernel, scope.pc, frame.block, group.members[row], lane=int(lane), address=whole)
