"""Timelines worked out by hand, one for each stall reason; the working is in the files of tests/golden."""

from collections import Counter

import pytest
from read.worked import GOLDEN, overrides, sections

from gpusim.engines.simulate import ENGINES, run_sm
from gpusim.machine.machine import load
from gpusim.sm.account.record.declaration import TRACE_KINDS
from gpusim.sm.unit.stall import Stall, label
from isa.text.listing import read

EVENT_WORDS = {"issue": "", "refuse": "", "serve": " for {}", "release": " at {}", "write": ""}


def events(run) -> list[str]:
    """Trace records as the golden files write them, without those of blocks placed and retired."""
    records = ((TRACE_KINDS[r.kind], r) for r in run.trace)
    return [
        f"{kind} {r.cycle} warp {r.warp} pc {r.pc}" + EVENT_WORDS[kind].format(r.detail)
        for kind, r in records
        if kind in EVENT_WORDS
    ]


def by_reason(table, empty=0) -> Counter[str]:
    """Cycles of each reason that has any."""
    return +Counter({label(reason): int(table[:, reason].sum()) for reason in Stall}) + Counter(no_warp=empty)


def counted(text: str) -> Counter[str]:
    """Reasons and cycles of a section."""
    return Counter({reason: int(cycles) for reason, cycles in (line.split() for line in text.splitlines())})


@pytest.mark.every
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_hand_worked_timeline(path, engine):
    """Every event, the sums of stalls and lost slots, and the cycles are those of the working."""
    golden = sections(path)
    run = run_sm(read(golden["listing"]), load("gtx580", overrides(golden["machine"])), engine=engine, trace=True)
    assert events(run) == golden["events"].splitlines()
    assert by_reason(run.stalls, run.empty) == counted(golden["stalls"])
    assert by_reason(run.lost) == counted(golden["lost"])
    assert run.cycles == int(golden["cycles"])


def test_every_stall_reason_has_a_timeline():
    """The golden files together show every stall reason."""
    shown = set().union(*(counted(sections(path)["stalls"]) for path in GOLDEN))
    assert shown == {label(reason) for reason in Stall}
