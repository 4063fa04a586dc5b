"""What each actor of a block or a cluster knows to be over, and the latest accesses to each word of shared memory.

An actor is a warp or a part of its work that goes on by itself. Each has a vector clock (Mattern, Parallel and
Distributed Algorithms, 1989): entry v is the last epoch of actor v that is certainly earlier. There is a second clock
of what copies and matrix instructions see of the words that warps have written: it follows the first one only where a
fence lets it (PTX ISA, "Async proxy").

Only the latest access of each kind is kept per word and actor: if the latest is ordered before an access, so are those
before it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["reads", "expected", "writes", "atomics", "begun"]
KINDS: tuple[Kind, ...] = ("reads", "expected", "writes", "atomics", "begun")  # begun: barriers in shared memory
Key = tuple[str, int]  # what goes on by itself, and whose it is, or at which barrier
Words = NDArray[np.int64]


@dataclass(eq=False)
class Past:
    """Epoch and pc of the latest access of a kind, [word, actor]; epoch 0: none."""

    epoch: NDArray[np.int32]
    pc: NDArray[np.int32]


@dataclass(eq=False)
class Known:
    """The clocks [which, actor, actor], those of warps first, and the accesses so far.

    `owner` has the warp to which an actor belongs; `issued` those that wait for what others have at that barrier.
    """

    warps: int
    clocks: NDArray[np.int32]
    past: dict[Kind, Past]
    actors: dict[Key, int] = field(default_factory=dict)
    owner: list[int] = field(default_factory=list)

    @property
    def order(self) -> NDArray[np.int32]:
        """The clocks of the order of accesses."""
        clocks: NDArray[np.int32] = self.clocks[0]
        return clocks

    @property
    def seen(self) -> NDArray[np.int32]:
        """The clocks of what copies and matrix instructions see."""
        clocks: NDArray[np.int32] = self.clocks[1]
        return clocks


def nothing(warps: int, words: int) -> Known:
    """Return what is known as so many warps begin, which have so many words."""
    clocks = np.zeros((2, warps, warps), np.int32)
    clocks[0] = np.eye(warps, dtype=np.int32)
    past: dict[Kind, Past] = {
        kind: Past(np.zeros((words, warps), np.int32), np.zeros((words, warps), np.int32)) for kind in KINDS
    }
    return Known(warps, clocks, past, owner=list(range(warps)))


def actor(known: Known, key: Key, warp: int) -> int:
    """Return the actor of that key, a new one if there was none, and let it be the warp's."""
    if key not in known.actors:
        known.actors[key] = len(known.owner)
        known.owner.append(warp)
        if len(known.owner) > known.clocks.shape[1]:
            _grow(known)
        known.order[known.actors[key], known.actors[key]] = 1
    known.owner[known.actors[key]] = warp
    return known.actors[key]


def _grow(known: Known) -> None:
    """Make room for as many actors again."""
    more = known.clocks.shape[1]
    known.clocks = np.pad(known.clocks, ((0, 0), (0, more), (0, more)))
    for past in known.past.values():
        past.epoch, past.pc = (np.pad(held, ((0, 0), (0, more))) for held in (past.epoch, past.pc))


def learn(known: Known, who: int, of: NDArray[np.int32]) -> None:
    """Let an actor know what clocks of one actor [which, actor] say."""
    width = of.shape[1]
    known.clocks[:, who, :width] = np.maximum(known.clocks[:, who, :width], of)


def meet(known: Known, warps: Words) -> None:
    """Order all before a barrier before all after it, for the warps that it releases."""
    known.clocks[:, warps] = known.clocks[:, warps].max(axis=1, keepdims=True)
    known.order[warps, warps] += 1


def leave(known: Known, warp: int) -> NDArray[np.int32]:
    """Return what a warp knows, for others to learn: what it does from now on is not part of it."""
    clocks = known.clocks[:, warp].copy()
    known.order[warp, warp] += 1
    return clocks


def fence(known: Known, warp: int) -> None:
    """Let copies and matrix instructions see all that a warp knows to be written."""
    known.seen[warp] = np.maximum(known.seen[warp], known.order[warp])
    known.order[warp, warp] += 1


def record(known: Known, kind: Kind, words: Words, actors: Words | int, pc: int) -> None:
    """Keep accesses to words by an actor each, in their present epochs."""
    past = known.past[kind]
    past.epoch[words, actors] = known.order[actors, actors]
    past.pc[words, actors] = pc
