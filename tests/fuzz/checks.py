"""Properties of every pair; a check returns a message if one doesn't hold, and an empty text if it does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from zlib import crc32

import numpy as np
from oracle import issue_cycles, on_the_path
from scan.every_cycle import scan
from twins import differences, mistakes

from fuzz import metamorphic
from fuzz.pair import Pair
from fuzz.trial import LIMIT, MOST, Ended, Trial, ended, sums, trial, unlike
from gpusim.bounds.bounds import bound
from gpusim.engines.simulate import run_sm
from gpusim.engines.sm_run import SmRun
from gpusim.launch.feed import ADDRESS_ONLY, TRACE_DRIVEN, recordable
from gpusim.launch.launch import several_channels
from gpusim.machine.occupancy import occupancy
from gpusim.simulation.timeline.build import timeline
from gpusim.sm.account.record.declaration import ISSUE
from gpusim.sm.front.policies.declaration import REGISTERED
from isa.errors import LimitError, UserError
from isa.row import Unit
from isa.text import listing

FEW = 20_000  # cycles of the slow engines
SHORT, SELDOM = 4_000, 8  # warp instructions that program order runs quickly; of longer listings it runs one in so many
FEWEST = 4_000  # cycles of a scan of every cycle


@dataclass(frozen=True)
class Check:
    """A function that tells a trial's fault (None: it does not apply), for one in so many pairs."""

    wrong: Callable[[Trial], str | None]
    every: int = 1


def values(of: Trial) -> str | None:
    """Memory is that of program order, if it depends on the order of the program only.

    Program order takes most of the time if loops are long: of those listings, one in so many is checked.
    """
    run = of.execution
    if run.run and run.run.warp_instructions > SHORT and crc32(of.pair.listing.encode()) % SELDOM:
        return None
    truth = of.truth
    if run.run and truth.run and np.array_equal(run.run.memory, truth.run.memory):
        return ""
    if type(run.error) is type(truth.error) and run.error:
        return ""
    return None if isinstance(run.error or truth.error, LimitError) or not of.sure else _message("values", run, truth)


def _message(what: str, run: Ended, truth: Ended) -> str:
    return f"{what}: {run.error or 'a run to the end'}, in program order {truth.error or 'another memory'}"


def feeds(of: Trial) -> str | None:
    """The trace-driven feed, which takes periods at once, takes the time of the execution-driven one."""
    return _in_step(of, of.trace_driven)


def address_only(of: Trial) -> str | None:
    """The address-only feed takes the time of the execution-driven one."""
    return _in_step(of, of.sm(feed=ADDRESS_ONLY))


def _in_step(of: Trial, other: Ended) -> str | None:
    """The execution-driven feed and another one agree, if addresses and branches are those of program order."""
    wrong = unlike(of.execution, other)
    return wrong if not wrong or (recordable(of.kernel) and of.orderly) or of.sure else None


def fast_forward(of: Trial) -> str | None:
    """Periods taken at once change nothing; pairs without periods are checked now and then."""
    if of.trace_driven.run and not of.trace_driven.run.skipped and crc32(of.pair.listing.encode()) % 4:
        return None
    return unlike(of.trace_driven, of.sm(feed=TRACE_DRIVEN, fast_forward=False))


def adds_up(of: Trial) -> str | None:
    """Every warp-cycle and every issue slot has one reason."""
    runs = [each.run for each in (of.execution, of.trace_driven) if each.run]
    traced = _slots(of.execution.run) if of.execution.run else []
    return "; ".join([*(wrong for run in runs for wrong in sums(run)), *traced]) if runs else None


def _slots(run: SmRun) -> list[str]:
    """The fault in the sum of a trace's issues and the slots lost, if any."""
    issues = run.trace[run.trace.kind == ISSUE]
    slots = len(set(zip(issues.agent.tolist(), issues.cycle.tolist(), strict=True)))
    given = int(run.lost.sum()) + slots * run.interval
    return [] if given == run.cycles * len(run.lost) else [f"slots {given} of {run.cycles} x {len(run.lost)}"]


def bounded(of: Trial) -> str | None:
    """The bound is no larger than the simulation."""
    return _bounded(of, of.trace_driven, sms=1)


def _bounded(of: Trial, run: Ended, *, sms: int) -> str | None:
    """The fault of a bound, if the run came to its end, and the bound did not give up."""
    found = ended(partial(bound, of.kernel, of.machine, sms=sms, limit=LIMIT)) if run.run else run
    if found.error:
        return None if run.error or isinstance(found.error, LimitError) or not of.sure else str(found.error)
    if found.run.cycles <= run.run.cycles or not of.orderly:  # a register read too early may lead elsewhere
        return ""
    return f"bound {found.run.cycles} ({found.run.limiter}), simulated {run.run.cycles}"


def twins(of: Trial) -> str | None:
    """The reference engine leaves the same records, stalls and values."""
    if _long(of.execution):
        return None
    other = of.sm(engine="reference", trace=True)
    if of.execution.error or other.error:
        return unlike(of.execution, other)
    return ", ".join(differences(of.execution.run, other.run))


def twins_of_trace_driven(of: Trial) -> str | None:
    """The trace-driven reference engine, which takes no period at once, takes the same time."""
    return None if _long(of.trace_driven) else unlike(of.trace_driven, of.sm(engine="reference", feed=TRACE_DRIVEN))


def _long(run: Ended) -> bool:
    return isinstance(run.error, LimitError) or bool(run.run and run.run.cycles > FEW)


def every_cycle(of: Trial) -> str | None:
    """A scan of every warp in every cycle, which has none of the rules' code, gives the same run.

    It writes a result at issue: if a register is read too early, its values are different. It has no copies.
    """
    run, copies = of.execution.run, any(one.row.copies for one in of.kernel.program.instructions)
    if run is None or copies or run.cycles > FEWEST or of.machine.chip.sms > 1 or not of.orderly:
        return None
    resident = min(occupancy(of.kernel, of.machine).blocks, of.kernel.blocks)
    return ", ".join(mistakes(run, scan(of.kernel, of.machine, resident)))


def longest_path(of: Trial) -> str | None:
    """A single warp issues at the cycles of the longest path of its dependences."""
    counted = of.machine.wait_counters or of.machine.outstanding
    scalar = any(i.row.unit is Unit.SMEM for i in of.kernel.program.instructions)
    fits = of.machine.chip.sms == of.kernel.blocks == of.kernel.warps == 1 and not (counted and scalar)
    if not fits or not of.execution.run or of.execution.run.cycles > FEW:
        return None
    alone = on_the_path(of.machine, "selection")
    records = run_sm(of.kernel, alone, trace=True, max_cycles=MOST).trace
    issued = [(int(r.pc), int(r.cycle)) for r in records if r.kind == ISSUE]
    expected = issue_cycles(of.kernel, alone)
    return "" if issued == expected else next(f"{a} for {b}" for a, b in zip(issued, expected, strict=False) if a != b)


def chip(of: Trial) -> str | None:
    """All SMs take the same time with both feeds, at least the bound for all, and their sums are exact."""
    run, other = of.chip(), of.chip(feed=TRACE_DRIVEN)
    wrong = unlike(run, other)
    if wrong:
        return f"feeds of all SMs: {wrong}" if (recordable(of.kernel) and of.orderly) or of.sure else None
    if run.error:
        return None
    if sums(run.run):
        return "; ".join(sums(run.run))
    return _bounded(of, run, sms=of.machine.chip.sms)


def chip_of_one(of: Trial) -> str | None:
    """All SMs of a chip of one SM take the time of that SM, if its channels are not told apart."""
    apart = of.machine.chip.sms > 1 or several_channels(of.machine)
    return None if apart else unlike(of.chip(feed=TRACE_DRIVEN), of.trace_driven)


def twins_of_all_sms(of: Trial) -> str | None:
    """Both engines agree on all SMs, and their sums are exact."""
    if _long(of.trace_driven):
        return None
    runs = of.chip(feed=TRACE_DRIVEN), of.chip(engine="reference", feed=TRACE_DRIVEN)
    return unlike(*runs) or "; ".join(wrong for each in runs if each.run for wrong in sums(each.run))


def limit(of: Trial) -> str | None:
    """A run ends with a limit of its own cycles, and meets a limit of one cycle less, or of 1."""
    if not of.trace_driven.run or of.trace_driven.run.cycles < 2:
        return None
    cycles = of.trace_driven.run.cycles
    limits = (cycles, cycles - 1, 1)
    runs = [ended(partial(run_sm, of.kernel, of.machine, feed=TRACE_DRIVEN, max_cycles=most)) for most in limits]
    if runs[0].error or not all(isinstance(each.error, LimitError) for each in runs[1:]):
        return f"of {cycles} cycles: {[str(each.error) for each in runs]}"
    return ""


def text(of: Trial) -> str | None:
    """The listing is read back as the same program."""
    again = listing.read(listing.write(of.kernel), "pair").program
    return "" if again == of.kernel.program else "another program is read back"


def documents(of: Trial) -> str | None:
    """The timeline document is consistent: it has each issue, waits of at least a cycle, and the run's cycles."""
    if not of.execution.run or of.execution.run.cycles > FEW or of.machine.schedulers.policy in REGISTERED:
        return None
    if not of.orderly:  # a document has the times of the program's own order
        return None
    document = timeline(of.kernel, of.machine)
    if len(document.instructions) != of.execution.run.warp_instructions:
        return f"{len(document.instructions)} instructions in the timeline of {of.execution.run.warp_instructions}"
    spans = [(w.start, w.end) for i in document.instructions for w in i.waits]
    return "" if all(start < end for start, end in spans) and document.cycles == of.execution.run.cycles else "waits"


CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        "values": Check(values),
        "feeds": Check(feeds),
        "sums": Check(adds_up),
        "bound": Check(bounded, 2),
        "fast-forward": Check(fast_forward),
        "address-only": Check(address_only, 4),
        "text": Check(text, 10),
        "longest path": Check(longest_path, 4),
        "limit": Check(limit, 10),
        "all SMs": Check(chip, 6),
        "all SMs of one": Check(chip_of_one, 4),
        "reference": Check(twins, 8),
        "reference, trace-driven": Check(twins_of_trace_driven, 15),
        "reference, all SMs": Check(twins_of_all_sms, 8),
        "every cycle": Check(every_cycle, 8),
        "timeline": Check(documents, 20),
        **{f"same: {name}": Check(change, 12) for name, change in metamorphic.CHANGES.items()},
    }
)


def wrong(check: str, pair: Pair) -> str | None:
    """The fault of a pair by one check, exceptions included; None if the check does not apply."""
    try:
        of = trial(pair)
    except UserError as error:
        return f"no pair: {error}"
    return wrong_with(CHECKS[check], of)


def wrong_with(check: Check, of: Trial) -> str | None:
    """The same for a trial."""
    try:
        return check.wrong(of)
    except Exception as error:  # any exception is a failure of the pair, reported with its type
        return f"{type(error).__name__}: {error}"
