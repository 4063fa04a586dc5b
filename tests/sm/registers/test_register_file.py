"""Register banks and the reuse cache, by streams of FFMAs whose rate follows from the reads of the fullest bank."""

from __future__ import annotations

from itertools import pairwise

import pytest
from timing import BANKS, cycles_of, issue_times, run_text

# An issue in every cycle, and results for which no instruction waits.
FAST: dict[str, int | str] = {**BANKS, "unit.fp32.latency": 1, "register_file.reuse": 2}
# A pair of instructions issues together if all its reads fit into one cycle.
KEPLER: dict[str, int | str] = {
    **FAST,
    "register_file.banks": 4,
    "register_file.mapping": "kepler",
    "register_file.window": 1,
    "register_file.carried": 1,
    "register_file.reuse": 0,
}
COLLECTING: dict[str, int | str] = {"register_file.collecting": 2, "register_file.window": 0}


def pace(operands: str, changes: dict[str, int | str] | None = None) -> int:
    """Cycles between issues of FFMAs with these sources, once the banks are as late as they may be."""
    text = "\n".join(f"FFMA R{20 + i}, {operands}" for i in range(12))
    times = issue_times(f"{text}\nEXIT", {**FAST, **(changes or {})})
    (steady,) = {after - before for before, after in list(pairwise(times))[-4:]}
    return steady


@pytest.mark.every
@pytest.mark.parametrize("changes", [{}, COLLECTING], ids=["window", "collecting"])
@pytest.mark.parametrize(
    ("operands", "cycles"),
    [
        ("R2, R4, R6", 3),
        ("R2, R4, R5", 2),
        ("R2, R2, R5", 1),
        ("R2, R2, R2", 1),
        ("R2, RZ, RZ", 1),
        ("R2, 1.0, R5", 1),
        ("R2, R4, 1.0", 2),
        ("R2.reuse, R4.reuse, R6", 1),
        ("R2.reuse, R4, R6", 2),
    ],
)
def test_the_fullest_bank_sets_the_pace(operands, cycles, changes):
    """Distinct registers of one bank that are not kept for reuse are read one a cycle; RZ and literals cost nothing."""
    assert pace(operands, changes) == cycles


@pytest.mark.parametrize(("banks", "cycles"), [(1, 3), (2, 2), (4, 1)])
def test_a_registers_bank_is_its_number_modulo_the_banks(banks, cycles):
    """R2, R4 and R5 share the bank if there is one; R2 and R4 share one of two banks; none share one of four."""
    assert pace("R2, R4, R5", {"register_file.banks": banks}) == cycles


@pytest.mark.parametrize(
    ("operands", "cycles"),
    [
        ("R0, R2, R8", 3),
        ("R1, R3, R11", 3),
        ("R4, R6, R12", 3),
        ("R5, R7, R5", 2),
        ("R0, R1, R4", 1),
        ("R2, R4, R8", 2),
    ],
)
def test_keplers_banks_hold_pairs_of_each_eight(operands, cycles):
    """By Zhang PPoPP'17 table 3, 0 and 2 share a bank, as do 1 and 3, 4 and 6, 5 and 7; the next eight do the same."""
    assert pace(operands, KEPLER | {"register_file.carried": 0}) == cycles


@pytest.mark.parametrize(("second", "paired"), [("R4", True), ("R5", True), ("R7", False), ("R13", False)])
def test_a_pair_goes_together_if_its_distinct_reads_lie_in_four_banks(second, paired):
    """Zhang PPoPP'17 section 4.2: registers of both FFMAs are read once, and a bank reads one register in a cycle."""
    ports: dict[str, int | str] = {"schedulers.dispatch_ports": 2, "unit.fp32.pipe": "sp int16", "pipe.int16.lanes": 32}
    text = f"FFMA R20, R0, R1, R5\nFFMA R21, R0, R1, {second}\nNOP\nEXIT"
    assert (issue_times(text, KEPLER | ports)[:2] == [0, 0]) == paired
    assert issue_times(text, KEPLER | ports | {"register_file.carried": 0})[:2] == [0, 1]


@pytest.mark.parametrize(("warps", "last"), [(1, 3), (2, 8)])
def test_only_the_warp_that_issued_last_has_its_operands_at_hand(warps, last):
    """A single warp reads R0 and R2, of one bank, for the first of three FFMAs only (0, 2, 3); two warps for each."""
    text = f".block {32 * warps}\n" + "FFMA R20, R0, R2, R1\n" * 3 + "EXIT"
    run = run_text(text, KEPLER | {"unit.fp32.latency": 1})
    assert [cycle for cycle, warp, _ in cycles_of(run) if warp == 0][2] == last


def test_a_wide_operand_is_a_read_in_each_of_two_banks():
    """Three different 64-bit sources are six reads, three in each of two banks; the destination is not read."""
    text = "\n".join(f"DFMA R{20 + 2 * i}, R2, R4, R6" for i in range(12))
    wide = {"pipe.dp.lanes": 32, "unit.dp.latency": 1, "double.exclusive": "off"}
    times = issue_times(f"{text}\nEXIT", {**FAST, **wide})
    assert [after - before for before, after in pairwise(times)][-4:] == [3, 3, 3, 3]


def test_a_kept_source_lasts_until_it_is_used_unflagged():
    """R2, kept by the first FFMA, spares the second and third a read, but not the fourth, after an unflagged use."""
    flags = (".reuse", ".reuse", "", "", "")
    text = "\n".join(f"FFMA R{20 + i}, R2{flag}, R4, R6" for i, flag in enumerate(flags))
    assert issue_times(f"{text}\nEXIT", {**FAST, "register_file.window": 1}) == [0, 3, 5, 7, 10]


def test_another_operand_slot_keeps_its_own():
    """R2, kept as the first source, is read again as the second source."""
    text = "FFMA R20, R2.reuse, R4, R6\nFFMA R21, R4, R2, R6\nNOP\nEXIT"
    assert issue_times(text, COLLECTING | FAST | {"register_file.window": 1}) == [0, 3, 4]


@pytest.mark.parametrize(("between", "last"), [("DADD R22, R8.reuse, RZ", 3), ("FADD R22, R8.reuse, RZ", 4)])
def test_sources_of_64_bits_are_kept_apart_from_those_of_32(between, last):
    """R2, kept as the first source, stays if a 64-bit source of its bank is kept next, and not if a 32-bit one is."""
    text = f"FFMA R20, R2.reuse, R2, R2\n{between}\nFFMA R21, R2, R4, R5\nFFMA R24, R6, R6, R6\nEXIT"
    wide: dict[str, int | str] = {"pipe.dp.lanes": 32, "unit.dp.latency": 1, "double.exclusive": "off"}
    assert issue_times(text, {**FAST, **wide, "register_file.window": 1}) == [0, 1, 2, last]


@pytest.mark.parametrize(
    ("addresses", "again", "lost"),
    [("R1 R3", 0, 0), ("R1 R3", 3, 3), ("R1 R3 R5 R7", 1, 2), ("R1 R3 R5 R7", 3, 6), ("R1 R2 R3 R4", 3, 0)],
)
def test_every_second_address_in_a_row_takes_its_bank_for_longer(addresses, again, lost):
    """Loads in a row take `address_again` cycles of their bank for each pair in it."""
    loads = [f"LDS R{20 + i}, [{register}]" for i, register in enumerate(addresses.split())]
    adds = [f"FFMA R{30 + i}, R1, R1, R1" for i in range(20)]
    text = "\n".join([".shared 1024", *adds[:8], *loads, *adds[8:], "EXIT"])
    times = issue_times(text, {**FAST, "register_file.address_again": again})
    assert times[-1] - times[0] == len(times) - 1 + lost
