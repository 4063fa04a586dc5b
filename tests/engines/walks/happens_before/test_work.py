"""Races of work that goes on by itself: right kernels have none, and clocks tell what sets of events tell."""

import re
from collections import defaultdict
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from cluster_kernels import BY_NAME as CLUSTERS
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from without_waits import EXAMPLES, TEN, right, without

from gpusim.engines.walks.happens_before import work
from gpusim.engines.walks.happens_before.conflicts import access, join, watch_of
from gpusim.engines.walks.races import races
from gpusim.sm.walk.marks import ASKED, AWAITING, FLIPPED, NOTED, PASSED, PLACED, SIGNALLED
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.operands.operand import Dependency, Immediate
from isa.table import TABLE, machine_row
from isa.text.assembler import assemble

# What is left out of a kernel, and the mnemonics of the two sides of a race that there is then.
RACING = {
    "a stage overwritten before its readers have released it": ("pipeline", "SYNCS.PHASECHK", (2,), "LDS", "LDGSTS"),
    "stages of a ring": ("bulk", "BAR.SYNC", (2,), "STS", "UBLKCP.G.S"),
    "products read what others still write": ("wgmma", "BAR.SYNC", (0,), "STS", "HGMMA"),
    "one warp's copies waited for, not the others'": ("wg128_cp3", "BAR.SYNC", (), "LDGSTS", "HGMMA"),
    "a tile copied to that others read": ("wg128_tma2", "BAR.SYNC", (1,), "HGMMA", "UTMALDG"),
    "a barrier waited for before it has begun": ("tma", "BAR.SYNC", (0,), "SYNCS.EXCH", "SYNCS.PHASECHK"),
    "a barrier copied to before it has begun": ("wg128_tma2", "BAR.SYNC", (0,), "SYNCS.EXCH", "SYNCS"),
    "a tile read before it is there": ("tma", "SYNCS.PHASECHK", (0,), "UTMALDG", "LDS"),
}


@pytest.mark.parametrize("name", [*EXAMPLES, *TEN])
def test_right_kernels_have_no_race(name):
    """Examples, and the ten kernels that were timed: copies, barriers in shared memory, products of warpgroups."""
    assert races(right(name), [0]) == []


@pytest.mark.jit
@pytest.mark.parametrize("name", RACING)
def test_what_orders_accesses_is_needed(name):
    """Without a barrier, or a wait, a race has the two instructions that it ordered."""
    kernel, pattern, which, first, second = RACING[name]
    found = races(without(right(kernel), pattern, *which), [0])
    assert any(first in one.first.text and second in one.second.text for one in found)


@pytest.mark.parametrize("name", CLUSTERS)
def test_clusters_have_no_race(name):
    """Accesses to other blocks' memory, cluster barriers, arrivals at other blocks, copies for several of them."""
    kernel, _ = CLUSTERS[name]()
    assert races(kernel, [0]) == []


@pytest.mark.parametrize("name", ["ring", "histogram", "widths", "leaves"])
def test_blocks_of_a_cluster_race_without_its_barrier(name):
    """A race has a block for each side, one of them that whose memory it is; the text names the other."""
    kernel, _ = CLUSTERS[name]()
    found = [one for one in races(without(kernel, "UCGABAR"), [0]) if one.first.block != one.second.block]
    assert found
    assert all(one.block in (one.first.block, one.second.block) for one in found)
    assert all(re.search(r"block \d+ warp", str(one)) for one in found)


WARPS, PLACES, BARRIERS = 3, 2, 1


def _program():
    """Return a kernel with an instruction of each kind of event, by its name."""
    rows = {
        "read": Instruction(machine_row("LDS"), ()),
        "write": Instruction(machine_row("STS"), ()),
        "copy": Instruction(machine_row("LDGSTS.E"), ()),
        "close": Instruction(machine_row("LDGDEPBAR"), ()),
        "wait 0": Instruction(TABLE["DEPBAR.LE"], (Dependency(0), Immediate(0, "int"))),
        "wait 1": Instruction(TABLE["DEPBAR.LE"], (Dependency(0), Immediate(1, "int"))),
        "arrive": Instruction(machine_row("SYNCS.ARRIVE.TRANS64.A1T0"), ()),
        "follow": Instruction(machine_row("ARRIVES.LDGSTSBAR.64.ARVCNT"), ()),
        "pass": Instruction(machine_row("SYNCS.PHASECHK.TRANS64.TRYWAIT"), ()),
        "await": Instruction(machine_row("SYNCS.PHASECHK.TRANS64.TRYWAIT"), ()),
        "fence": Instruction(machine_row("FENCE.VIEW.ASYNC.S"), ()),
        "load": Instruction(machine_row("UBLKCP.S.G"), ()),
        "store": Instruction(machine_row("UBLKCP.G.S"), ()),
        "flush": Instruction(machine_row("UTMACMDFLUSH"), ()),
    }
    program = replace(assemble(".shared 64\nEXIT"), instructions=tuple(rows.values()))
    return Kernel("k", program, (1, 1, 1), (32 * WARPS, 1, 1)), {name: pc for pc, name in enumerate(rows)}


KERNEL, PC = _program()
MARK = {"copy": PLACED, "arrive": SIGNALLED, "follow": SIGNALLED, "pass": PASSED, "await": AWAITING} | dict.fromkeys(
    ("load", "store"), ASKED
)
EVENTS = st.lists(
    st.tuples(
        st.sampled_from((*PC, *("read", "write", "flip", "pass", "arrive") * 2, "flip", "meet")),
        st.integers(0, WARPS - 1),
        st.integers(0, PLACES - 1),
        st.integers(0, BARRIERS - 1),
    ),
    min_size=30,
    max_size=120,
)


@dataclass
class Sets:
    """What each warp knows, as sets of events; what it lets copies see; what arrives at barriers, and has come there.

    An event is its number, whether it is of work under way, the warp, the place, and whether it writes.
    """

    events: list = field(default_factory=list)
    knows: list = field(default_factory=lambda: [set() for _ in range(WARPS)])
    sees: list = field(default_factory=lambda: [set() for _ in range(WARPS)])
    open: dict = field(default_factory=lambda: defaultdict(set))
    groups: dict = field(default_factory=lambda: defaultdict(list))
    comes: dict = field(default_factory=lambda: defaultdict(lambda: (set(), set())))
    over: dict = field(default_factory=dict)
    waits: dict = field(default_factory=lambda: defaultdict(list))

    def touch(self, work_of, warp, place, writes, ignored=None):
        """Add an access; return whether it races with an earlier one, and whether it misses a fence."""
        met = [
            e for e in self.events if e[3] == place and (writes or e[4]) and not (ignored and e[1:3] == (ignored, warp))
        ]
        races = any(e[0] not in self.knows[warp] for e in met)
        blind = work_of in ("store",) and any(
            e[4] and not e[1] and e[0] in self.knows[warp] and e[0] not in self.sees[warp] for e in met
        )
        self.events.append((len(self.events), work_of, warp, place, writes))
        if not work_of:
            self.knows[warp].add(len(self.events) - 1)
        return races, blind

    def step(self, name, warp, place, barrier):
        """Do an event; return the same, of none that is an access nothing."""
        if name in ("read", "write"):
            return self.touch("", warp, place, name == "write")
        if name in ("copy", "load", "store"):
            found = self.touch(name, warp, place, name != "store", "copy" if name == "copy" else None)
            if name == "load":
                self.comes[barrier][0].update(self.knows[warp], {len(self.events) - 1})
                self.comes[barrier][1].update(self.sees[warp])
            else:
                self.open[name, warp].add(len(self.events) - 1)
            return found
        if name in ("close", "flush"):
            kind = "copy" if name == "close" else "store"
            self.groups[kind, warp].append(self.open.pop((kind, warp), set()))
        elif name.startswith("wait"):
            for kind in ("copy", "store"):
                done = self.groups[kind, warp]
                self.knows[warp] |= set().union(*done[: max(0, len(done) - int(name[-1]))])
        elif name == "fence":
            self.sees[warp] |= self.knows[warp]
        else:
            self._order(name, warp, barrier)
        return None

    def _order(self, name, warp, barrier):
        comes = self.comes[barrier]
        if name in ("arrive", "follow"):
            comes[0].update(self.knows[warp])
            comes[1].update(self.sees[warp])
        if name == "follow":
            comes[0].update(self.open["copy", warp], *self.groups["copy", warp])
        if name == "flip":
            self.over[barrier] = (set(comes[0]), set(comes[1]))
        if name == "await":
            self.waits[barrier].append(warp)
        if name in ("pass", "flip") and barrier in self.over:
            for who in [warp] if name == "pass" else self.waits.pop(barrier, []):
                self.knows[who] |= self.over[barrier][0]
                self.sees[who] |= self.over[barrier][1]
        if name == "meet":
            for of in (self.knows, self.sees):
                every = set().union(*of)
                of[:] = [set(every) for _ in of]


def told(watch, name, warp, place, barrier):
    """Tell the clocks of an event; return what they find at it, by whether a fence is missed."""
    watch.found.clear()
    row, warps, on = np.zeros((1, 32), np.uint32), np.array([warp]), np.zeros((1, 32), np.bool_)
    on[0, 0], at = True, 32 + 8 * barrier
    if name in ("read", "write"):
        touch = watch.touch(PC[name], np.array([4 * place]), 4, warps)
        access(watch, touch, KERNEL.program.instructions[PC[name]].row)
    elif name == "meet":
        join(watch, np.arange(WARPS))
    else:
        row[0, 0] = 4 * place if name == "copy" else at
        if name in ("load", "store"):
            row[0, :5] = at, 4 * place, 4, 0, 0
        mark = FLIPPED if name == "flip" else MARK.get(name, NOTED)
        work.note(watch, mark, PC.get(name, 0), warps, row, on)
    return {one.unfenced for one in watch.found.values()}


@given(EVENTS)
@settings(deadline=None, max_examples=draws(400))
def test_clocks_find_what_sets_of_events_find(events):
    """At each access: whether an earlier one is not known to be over; if all are, whether a store sees the writes."""
    watch, sets = watch_of(KERNEL, frozenset(), 0, {}, among_atomics=False), Sets()
    watch.later = True
    for number, (name, *rest) in enumerate(events):
        expected, found = sets.step(name, *rest), told(watch, name, *rest)
        if expected is not None:
            races, blind = expected
            assert (False in found) == races, events[: number + 1]
            assert races or (True in found) == blind, events[: number + 1]
