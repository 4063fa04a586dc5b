"""Rows of integers: how the engines see control codes."""

from dataclasses import replace

import numpy as np
import pytest
from read.fenced import ROOT
from timing import plain_machine, run_text

from gpusim.launch import decode as decoding
from gpusim.launch.decode import decode
from gpusim.launch.file.prepare import prepared
from gpusim.machine.machine import load
from isa.text.listing import read

CODES = """
    [B0----5:R3:W0:Y:S12] FFMA R4, R1.reuse, R2, -R3.reuse
    [B------:R-:W-:-:S01] EXIT
"""
FIELDS = ("stall_count", "yields", "read_barrier", "write_barrier", "wait_mask", "reuse")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CODES, [(12, 1, 3, 0, 0b100001, 0b101), (1, 0, -1, -1, 0, 0), (0, 0, -1, -1, 0, 0)]),
        ("EXIT", [(0, 0, -1, -1, 0, 0)] * 2),
    ],
)
def test_a_row_holds_the_control_code(text, expected):
    """Each field has its column, and no barrier is -1; the row after the last instruction has no code."""
    kernel = read(text)
    rows = decode(kernel, plain_machine(), np.ones(len(kernel.program), np.bool_), {})
    assert [tuple(int(row[name]) for name in FIELDS) for row in rows] == expected


def test_a_fermi_ignores_control_codes():
    """The GTX 580 uses its scoreboard: its cycles and its trace are the same with codes and without."""
    plain = "\n".join(line.split("] ")[-1].replace(".reuse", "") for line in CODES.splitlines())
    one, other = run_text(CODES), run_text(plain)
    assert one.cycles == other.cycles
    assert np.array_equal(one.trace, other.trace)


def test_a_launch_with_another_grid_has_its_own_constants(monkeypatch):
    """Of a launch that differs in grid and constants alone the rows are those of one that is decoded by itself."""
    monkeypatch.setattr(decoding, "_LAST", [])
    machine, first = load("h200"), prepared(str(ROOT / "examples" / "cuda" / "dot_double.cubin"))
    words = np.frombuffer(first.banks[0], np.uint8) ^ 1
    second = replace(first, grid=(2 * first.grid[0], 1, 1), banks={**first.banks, 0: words.tobytes()})
    evaluate = np.ones(len(first.program), np.bool_)
    before = decode(first, machine, evaluate, {})
    shared = decode(second, machine, evaluate, {})
    decoding._LAST.clear()
    alone = decode(second, machine, evaluate, {})
    assert shared.tobytes() == alone.tobytes()
    assert shared.tobytes() != before.tobytes()
