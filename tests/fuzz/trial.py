"""The results of a pair: its runs on every engine and feed, and its values in program order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
from interpreter.interpret import interpret

from fuzz.pair import Pair, kernel_of, machine_of
from gpusim.engines.busiest_sm import busiest_sm
from gpusim.engines.simulate import run_chip, run_noting, run_sm
from gpusim.engines.sm_run import SmRun
from gpusim.engines.walks.contended import contended
from gpusim.engines.walks.races import races
from gpusim.launch.codes.assign_codes import has_codes
from gpusim.launch.feed import TRACE_DRIVEN
from gpusim.machine.machine import Machine
from gpusim.machine.simulated_sms import blocks_of
from gpusim.sm.registers.control_code.declaration import by_codes
from isa.errors import UserError
from isa.kernel import Kernel

MOST = 1_000_000  # cycles of a run
LIMIT = 150_000  # warp instructions of a block in program order
TIMES = ("stalls", "lost", "issued", "active", "load_store_cycles")
NUMBERS = ("cycles", "empty", "blocks", "warp_slots", "pipe_cycles")


@dataclass(frozen=True)
class Ended:
    """A run that came to its end, or the error that ended it."""

    run: Any = None
    error: UserError | None = None


def ended(run: Callable[[], Any]) -> Ended:
    """Call, and return the result or the user's error."""
    try:
        return Ended(run())
    except UserError as error:
        return Ended(error=error)


def unlike(one: Ended, other: Ended) -> str:
    """The differences of two runs in time, or in the error that ended them; empty if there are none."""
    if one.error or other.error:
        texts = [repr(each.error) if each.error else "no error" for each in (one, other)]
        return "" if texts[0] == texts[1] else " | ".join(texts)
    arrays = [name for name in TIMES if not np.array_equal(getattr(one.run, name), getattr(other.run, name))]
    names = arrays + [name for name in NUMBERS if getattr(one.run, name) != getattr(other.run, name)]
    return f"{', '.join(names)} differ ({one.run.cycles}, {other.run.cycles} cycles)" if names else ""


@dataclass(frozen=True)
class Trial:
    """A pair and its runs."""

    pair: Pair
    kernel: Kernel
    machine: Machine

    @cached_property
    def execution(self) -> Ended:
        """The compiled engine with values and a trace."""
        return self.sm(trace=True)

    @cached_property
    def trace_driven(self) -> Ended:
        """The compiled engine without values, periods taken at once."""
        return self.sm(feed=TRACE_DRIVEN)

    def sm(self, **options: Any) -> Ended:
        """A run of one SM."""
        return ended(partial(run_sm, self.kernel, self.machine, max_cycles=MOST, **options))

    def chip(self, **options: Any) -> Ended:
        """A run of all SMs."""
        return ended(partial(run_chip, self.kernel, self.machine, max_cycles=MOST, **options))

    @property
    def blocks(self) -> range:
        """The blocks of the SM with most work."""
        return blocks_of(self.kernel, self.machine, 1, busiest_sm(self.kernel, self.machine))

    @property
    def truth(self) -> Ended:
        """The memory after the SM's blocks in program order."""
        return in_order(self.pair.listing, self.blocks)

    @cached_property
    def orderly(self) -> bool:
        """Whether no register is read or written too early, by wrong codes or a lack of waits."""
        coded = by_codes(self.machine) and has_codes(self.kernel.program)
        if self.machine.wait_counters is None and not coded:
            return True
        found, _ = run_noting(self.kernel, self.machine, blocks=len(self.blocks), max_cycles=MOST)
        return len(found) == 0

    @cached_property
    def sure(self) -> bool:
        """Whether values don't depend on time: the run is orderly, has no race, and its barriers wait."""
        waits = not (self.machine.what_if and self.machine.what_if.barriers == "pass")
        racing = ended(partial(races, self.kernel, self.blocks, limit=LIMIT)).run
        return waits and self.orderly and not racing and not self.contends

    @cached_property
    def contends(self) -> bool:
        """Whether atomics give values that depend on the order of warps."""
        rows = [instruction.row for instruction in self.kernel.program.instructions]
        atomics = frozenset(pc for pc, row in enumerate(rows) if row.update is not None and row.is_load)
        return bool(atomics and contended(self.kernel, range(self.kernel.blocks), atomics, LIMIT))


def trial(pair: Pair) -> Trial:
    """Return a pair with its kernel and machine; raise UserError if one is not valid."""
    return Trial(pair, kernel_of(pair.listing), machine_of(pair))


@lru_cache(16)
def in_order(listing: str, blocks: range) -> Ended:
    """Return the interpretation of some blocks of a listing, in program order between barriers."""
    return ended(lambda: interpret(kernel_of(listing), blocks, limit=LIMIT))


def sums(run: SmRun) -> list[str]:
    """The faults in the sum of stalls, which must be warp slots times cycles, and in lost slots."""
    wrong = []
    if run.stalls.min() < 0 or run.stalls.sum() + run.empty != run.cycles * run.warp_slots:
        wrong.append(f"stalls {run.stalls.sum()} + {run.empty} of {run.cycles} x {run.warp_slots}")
    if run.lost.min() < 0:
        wrong.append("lost slots below 0")
    return wrong
