"""The errors of blocks that wait for each other without end: who waits where, for which word, and who never begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpusim.support.plural import plural
from isa.errors import BlockWaitsError, DeadlockError, LimitError
from isa.executing.faults import place, spot, variable
from isa.kernel import Kernel

if TYPE_CHECKING:
    from gpusim.engines.walks.program_order import Walker
    from gpusim.engines.walks.waits.waiting import Asked, Parked

SHOWN = 3  # blocks that wait, of all


def alone(kernel: Kernel, block: int, asked: Asked) -> BlockWaitsError:
    """Return the error of a block that is run by itself, and waits for others."""
    return BlockWaitsError(
        f"{_one(kernel, block, asked)}; it waits for others, and each is run by itself here: take gpusim run"
    )


def deadlock(one: Walker, parked: Sequence[Parked], coming: int | None, resident: int) -> DeadlockError:
    """Return the error of blocks that all repeat themselves; `coming` is the first that has not begun, if there is."""
    told = _all(one.kernel, parked)
    if coming is None:
        rest = "all other blocks have ended" if len(parked) < one.kernel.blocks else "all blocks wait"
        return DeadlockError(f"{told}; no block will store it: {rest}; look for who should store it")
    return DeadlockError(
        f"{told}; none of them ends: block {coming} has not begun, as {plural(resident, 'block')} are resident at once"
        f"; launch at most {resident}, or let blocks wait only for those before them"
    )


def endless(one: Walker, parked: Sequence[Parked]) -> LimitError:
    """Return the error of blocks that have asked memory for too long without a change."""
    return LimitError(f"{_all(one.kernel, parked)}; nothing has changed for long: look for who should store it")


def _all(kernel: Kernel, parked: Sequence[Parked]) -> str:
    """Return where the first of these blocks waits, for which words the next ones do, and how many more there are."""
    first, *others = parked
    told = [_one(kernel, first.block, first.asked)]
    for each in others[: SHOWN - 1]:
        where = f" at {spot(kernel, each.asked.who[0][1])}" if _pcs(each.asked) != _pcs(first.asked) else ""
        told.append(f"block {each.block}{where} for one to {_word(kernel, each.asked)}")
    more = [f"{plural(len(parked) - SHOWN, 'block')} more"] if len(parked) > SHOWN else []
    return ", ".join([*told, *more])


def _pcs(asked: Asked) -> list[int]:
    return [pc for _, pc in asked.who]


def _one(kernel: Kernel, block: int, asked: Asked) -> str:
    """Return where a block waits, and for which word."""
    if not asked.who:
        return f"{kernel.name}: block {block} repeats itself"
    warp, pc = asked.who[0]
    return f"{place(kernel, pc, block, warp)}, waits for a store to {_word(kernel, asked)}"


def _word(kernel: Kernel, asked: Asked) -> str:
    """Return the first of the words that a block asks for, and what it holds."""
    return f"{variable(kernel, int(asked.words[0]))}, which holds {asked.held[0]}" if len(asked.words) else "memory"
