"""Register banks and the reuse cache, by streams of FFMAs whose rate follows from the reads of the fullest bank."""

from __future__ import annotations

from itertools import pairwise

import pytest
from timing import issue_times

# An issue in every cycle, and results that nobody waits for.
FAST: dict[str, int | str] = {
    "schedulers.interval": 1,
    "schedulers.reissue": 1,
    "pipe.sp.lanes": 32,
    "unit.fp32.latency": 1,
    "register_file.banks": 2,
    "register_file.collecting": 0,
    "register_file.window": 2,
    "register_file.reuse": 2,
    "register_file.returned": 0,
}
COLLECTING: dict[str, int | str] = {"register_file.collecting": 2, "register_file.window": 0}


def pace(operands: str, changes: dict[str, int | str] | None = None) -> int:
    """Cycles between issues of FFMAs with these sources, once the banks have fallen behind as far as they may."""
    text = "\n".join(f"FFMA R{20 + i}, {operands}" for i in range(12))
    times = issue_times(f"{text}\nEXIT", {**FAST, **(changes or {})})
    (steady,) = {after - before for before, after in list(pairwise(times))[-4:]}
    return steady


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
    """R2, R4 and R5 share a bank where there is one, R2 and R4 where there are two, none where there are four."""
    assert pace("R2, R4, R5", {"register_file.banks": banks}) == cycles


def test_a_wide_operand_is_a_read_in_each_of_two_banks():
    """Three different 64-bit sources are six reads, three of each of two banks, and do not read their destination."""
    text = "\n".join(f"DFMA R{20 + 2 * i}, R2, R4, R6" for i in range(12))
    wide = {"pipe.dp.lanes": 32, "unit.dp.latency": 1, "double.exclusive": "off"}
    times = issue_times(f"{text}\nEXIT", {**FAST, **wide})
    assert [after - before for before, after in pairwise(times)][-4:] == [3, 3, 3, 3]


def test_a_kept_source_lasts_until_it_is_used_unflagged():
    """R2, kept by the first FFMA, spares the second and third a read, but not the fourth, behind an unflagged use."""
    flags = (".reuse", ".reuse", "", "", "")
    text = "\n".join(f"FFMA R{20 + i}, R2{flag}, R4, R6" for i, flag in enumerate(flags))
    assert issue_times(f"{text}\nEXIT", {**FAST, "register_file.window": 1}) == [0, 3, 5, 7, 10]


def test_another_operand_slot_keeps_its_own():
    """R2 kept as the first source is read again as the second one."""
    text = "FFMA R20, R2.reuse, R4, R6\nFFMA R21, R4, R2, R6\nNOP\nEXIT"
    assert issue_times(text, COLLECTING | FAST | {"register_file.window": 1}) == [0, 3, 4]


@pytest.mark.parametrize(("between", "last"), [("DADD R22, R8.reuse, RZ", 3), ("FADD R22, R8.reuse, RZ", 4)])
def test_sources_of_64_bits_are_kept_apart_from_those_of_32(between, last):
    """R2, kept as the first source, stays where a pair of its bank is kept next, and not where one register is."""
    text = f"FFMA R20, R2.reuse, R2, R2\n{between}\nFFMA R21, R2, R4, R5\nFFMA R24, R6, R6, R6\nEXIT"
    wide: dict[str, int | str] = {"pipe.dp.lanes": 32, "unit.dp.latency": 1, "double.exclusive": "off"}
    assert issue_times(text, {**FAST, **wide, "register_file.window": 1}) == [0, 1, 2, last]
