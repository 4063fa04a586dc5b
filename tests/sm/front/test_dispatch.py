"""Dispatch ports: which instructions issue together in one turn of a scheduler."""

import pytest
from timing import cycles_of, plain_machine, run_text, stalled

from gpusim.sm.unit.stall import Stall
from isa.errors import UserError

SAME: dict[str, int | str] = {"schedulers.dispatch_ports": 2, "issue.pairing": "same-warp"}
OTHER: dict[str, int | str] = {"schedulers.dispatch_ports": 2, "issue.pairing": "different-warp"}


def times(text: str, changes: dict[str, int | str]) -> list[int]:
    """Cycles of all issues."""
    return [cycle for cycle, _, _ in cycles_of(run_text(text, changes))]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("MUFU.RCP R0, R1", "FADD R2, R0, R3"),
        ("MUFU.RCP R0, R1", "FADD R0, R2, R3"),
        ("ISETP.EQ P0, R0, 0", "@P0 FADD R1, R2, R3"),
        ("LDS.128 R4, [R0]", "FADD R0, R2, R3"),
        ("FMUL R0, R1, R2", "FADD R3, R4, R5"),
        ("DADD R0, R2, R4", "FADD R6, R7, R8"),
        ("FADD R6, R7, R8", "DADD R0, R2, R4"),
        ("BRA on", "FADD R0, R1, R2"),
        ("@P0 BRA on", "FADD R0, R1, R2"),
        ("BAR.SYNC 0", "FADD R0, R1, R2"),
        ("@P0 EXIT", "FADD R0, R1, R2"),
    ],
    ids=["RAW", "WAW", "guard", "WAR", "pipe", "after DP", "DP", "branch", "not taken", "barrier", "exit switched off"],
)
def test_an_instruction_that_cannot_pair_issues_a_turn_later(first, second):
    """A dependence, a busy pipe, exclusive DP, or an earlier branch, barrier or exit ends the turn of the warp."""
    both = times(f".shared 512\n{first}\non:\n{second}\nEXIT", SAME)
    assert both[1] >= both[0] + 6


@pytest.mark.parametrize("second", ["MUFU.RCP R2, R3", "STS [R2], R1", "BRA on", "BAR.SYNC 0", "EXIT"])
def test_an_independent_instruction_issues_in_the_same_turn(second):
    """An instruction of another pipe or of the load/store queue, a branch, barrier or exit issues with an addition."""
    assert times(f".shared 512\nFADD R0, R1, R1\n{second}\non:\nEXIT", SAME)[:2] == [0, 0]


def test_three_ports_ask_the_matrix_for_each_pair():
    """The third instruction must pair with the first and with the second."""
    text = "FADD R0, R1, R2\nMUFU.RCP R3, R4\nIMUL R5, R6, R7\nEXIT"
    changes = {**SAME, "schedulers.dispatch_ports": 3}
    assert times(text, changes)[:3] == [0, 0, 0]
    assert times(text, {**changes, "pairing.fp32": "sfu"})[:3] == [0, 0, 6]
    assert times(text, {**changes, "pairing.sfu": "none"})[:3] == [0, 0, 6]
    assert times(text, {**changes, "pairing.imul": "none"})[:3] == [0, 0, 0]


def test_a_full_queue_wastes_no_further_port():
    """A load that the queue refuses uses up an empty turn, but no further port of a turn in which a load has issued."""
    text = ".block 64\n.shared 512\nLDS R0, [R1]\nEXIT"
    changes = {**OTHER, "load_store.queue": 1, "issue.refused_wastes_slot": 1}
    run = run_text(text, changes)
    assert cycles_of(run, "refuse") == []
    assert cycles_of(run)[:2] == [(0, 0, 0), (2, 1, 0)]


def test_pairing_of_different_warps_lets_a_single_warp_issue_once():
    """With the pairing `different-warp`, a single warp issues once in a turn."""
    assert times("FADD R0, R1, R1\nMUFU.RCP R2, R3\nEXIT", OTHER) == [0, 6, 12]


def test_a_warp_is_selected_once_in_a_turn():
    """Two instructions of one warp in one turn of 2 cycles count as 2 warp-cycles of SELECTED."""
    run = run_text("FADD R0, R1, R1\nMUFU.RCP R2, R3\nEXIT", SAME)
    assert (run.warp_instructions, stalled(run, Stall.SELECTED)) == (3, 4)


def test_more_ports_than_the_simulator_holds_are_refused():
    """Seven ports are refused; the message names the limit of 6."""
    with pytest.raises(UserError, match=r"schedulers\.dispatch_ports=7: it takes a whole number from 1 to 6"):
        run_text("EXIT", {"schedulers.dispatch_ports": 7})


def test_a_unit_class_that_does_not_exist_is_refused():
    """The pairing matrix refuses an unknown unit class as a value and as a key."""
    with pytest.raises(
        UserError, match=r"--set pairing\.fp32: there is no unit class ls; choose from fp32, fmul, minmax"
    ):
        plain_machine({"pairing.fp32": "ls sfu"})
    with pytest.raises(UserError, match=r"--set pairing\.fp23: unknown machine key; did you mean pairing\.fp32"):
        plain_machine({"pairing.fp23": "sfu"})
