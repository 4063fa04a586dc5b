"""Results that come back from the load/store unit: what they cost who writes the same register bank, or reads them."""

from __future__ import annotations

import pytest
from timing import BANKS, cycles_of, issue_times, run_text

from gpusim.machine import machine as model
from isa.errors import UserError

LATENCY, LEAD, PATIENCE, NOTICE = 26, 20, 8, 3
# An issue in every cycle, and results of FFMAs for which no instruction waits.
FAST: dict[str, int | str] = {
    **BANKS,
    "schedulers.count": 1,
    "shared_memory.rule": "volta",
    "shared_memory.pass_cycles": 1,
    "unit.fp32.latency": 1,
    **{f"shared_memory.latency_{width}": LATENCY for width in (32, 64, 128)},
    "write_back.lead": LEAD,
    "write_back.apart": 0,
    "write_back.patience": PATIENCE,
    "write_back.notice": NOTICE,
    "write_back.near": LATENCY,
    "write_back.room": 0,
}
ASKS = LATENCY - LEAD + PATIENCE  # the cycle in which a load that is served in cycle 0 asks for one without an issue
EVEN, ODD = "FFMA R{even}, R1, R1, R1", "FFMA R{odd}, R1, R1, R1"


def lost(load: str, adds: list[str], **changes: int) -> int:
    """Cycles that FFMAs behind a load lose, of which each would issue a cycle after the last."""
    lines = [add.format(even=20 + i % 16 * 2, odd=21 + i % 16 * 2) for i, add in enumerate(adds)]
    text = "\n".join([".shared 1024", load, *lines, "EXIT"])
    times = issue_times(text, FAST | {f"write_back.{key}": value for key, value in changes.items()})
    return times[len(adds)] - len(adds)


def test_a_result_costs_nothing_beside_the_other_bank():
    """Where FFMAs write odd registers, or registers in turn, a load to an even one loses nothing."""
    assert lost("LDS R8, [RZ]", [ODD] * 40) == 0
    assert lost("LDS R8, [RZ]", [EVEN, ODD] * 20) == 0


def test_a_result_stops_who_writes_its_bank_all_the_time():
    """Where all FFMAs write its bank, the first of three lost cycles has the write, and tells of it after two more."""
    assert lost("LDS R8, [RZ]", [EVEN] * 40) == NOTICE


@pytest.mark.parametrize(("free", "cycles"), [(ASKS - 1, 0), (ASKS, 0), (ASKS + 1, 1), (ASKS + 2, 2), (ASKS + 3, 3)])
def test_the_stop_is_as_long_as_the_wait_was_too_long(free, cycles):
    """A cycle without a write to the bank, from when the result comes on, saves all or some of the lost cycles."""
    adds = [EVEN] * 40
    adds[free - 1] = ODD
    assert lost("LDS R8, [RZ]", adds) == cycles


@pytest.mark.parametrize(("adds", "later"), [(5, 0), (6, 1), (8, 3), (10, 5)])
def test_a_reader_waits_for_the_write(adds, later):
    """FFMAs in cycles 1 to n keep the bank: R8 is written in n + 1, not in 6, and read LEAD cycles after that."""
    found = []
    for row in (ODD, EVEN):
        lines = [row.format(even=20 + 2 * i, odd=21 + 2 * i) for i in range(adds)]
        text = "\n".join([".shared 1024", "LDS R8, [RZ]", *lines, "FADD R4, R8, R1", "EXIT"])
        found.append(issue_times(text, FAST)[adds + 1])
    assert found == [LATENCY, LATENCY + later]


def test_an_access_is_done_with_its_last_result():
    """R8 to R11 come in twos, which need both banks: FFMAs in 1 to 10 keep one, and R8 is read after both writes."""
    adds = "".join(f"FFMA R{21 + 2 * i}, R1, R1, R1\n" for i in range(10))
    times = issue_times(f".shared 1024\nLDS.128 R8, [RZ]\n{adds}FADD R4, R8, R1\nEXIT", FAST)
    assert times[11] == 12 + LEAD


def test_wide_results_are_written_one_register_a_cycle():
    """Of four registers two are of a bank that has no cycle to spare; one stop of three cycles is enough for them."""
    assert lost("LDS.128 R8, [RZ]", [EVEN] * 40, apart=1) == NOTICE
    assert lost("LDS.64 R8, [RZ]", [EVEN] * 40) == NOTICE


def test_registers_of_one_pass_need_both_banks_at_once():
    """A load of 64 bits by lanes of one address takes a pass for two registers: it stops who writes either bank."""
    assert lost("LDS.64 R8, [RZ]", [EVEN, ODD] * 20) == NOTICE


@pytest.mark.parametrize(("room", "together"), [(0, 3), (3, 3), (2, 2), (1, 1)])
def test_shared_memory_waits_for_room(room, together):
    """With so many results on their way no load is served before one is written."""
    text = ".shared 1024\n" + "".join(f"LDS R{8 + 2 * i}, [RZ]\n" for i in range(3)) + "EXIT"
    served = [cycle for cycle, *_ in cycles_of(run_text(text, FAST | {"write_back.room": room}), "serve")]
    assert sum(cycle < served[0] + LATENCY - LEAD for cycle in served) == together


def test_results_that_are_far_take_no_room():
    """Results count from `near` cycles before they can be written on."""
    text = ".shared 1024\n" + "".join(f"LDS R{8 + 2 * i}, [RZ]\n" for i in range(3)) + "EXIT"
    changes = {"write_back.room": 1, "write_back.near": LATENCY - LEAD - 3}
    first, second, third = (c for c, *_ in cycles_of(run_text(text, FAST | changes), "serve"))
    assert (second, third) == (first + 1, first + 2)
    changes["write_back.near"] += 2
    first, second, third = (c for c, *_ in cycles_of(run_text(text, FAST | changes), "serve"))
    assert (second, third) == (first + LATENCY - LEAD + 1, first + 2 * (LATENCY - LEAD + 1))


def test_patience_is_not_much_less_than_the_notice():
    """A scheduler that might be asked to stop for a second result before it stops for the first is refused."""
    with pytest.raises(UserError, match=r"write_back\.patience: a wait of 0 cycles; take 1, two less than the notice"):
        model.load("h200", {"write_back.patience": 0})
