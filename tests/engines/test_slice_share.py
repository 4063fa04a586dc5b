"""What blocks of other SMs do in the slices where an SM's own atomics are, as far as a walk of some blocks shows."""

import numpy as np
import pytest

from gpusim.commands import main
from gpusim.engines.slice_share import LONG, Place, shares, slices_of, unseen, untold
from gpusim.machine.machine import load
from gpusim.sm.memory.l2_atomic import l2_atomic
from isa.text.listing import read

SMS, SLICES, BYTES = 8, 80, 512
HEAD = ".grid {}\n.block 32\n.buffer x u32 65536\nMOV R2, c[x]\nMOV R1, 1\nS2R R3, CTAID.X\n"
LOOP = "MOV R5, 0\nagain:\nIADD R5, R5, 1\nISETP.LT P0, R5, {}\n@P0 BRA again\n"


def share(body, grid=SMS, index=0):
    """Return the share of the only atomic of eight SMs, of which one is simulated; it has no known one."""
    kernel = read(HEAD.format(grid) + body + "\nEXIT")
    (found,) = shares(kernel, Place(index, SMS, SMS, SLICES, BYTES)).values()
    return found


@pytest.mark.parametrize(
    ("condition", "grid", "expected"),
    [
        ("EQ P0, R3, 0", 8, 1),
        ("LT P0, R3, 3", 8, 3),
        ("LT P0, R3, 100", 8, 8),
        ("GE P0, R3, 8", 16, 8),  # the second wave alone
        ("EQ P0, R3, 8", 16, 1),
        ("LT P0, R3, 2", 4, 4),  # of a wave of four, as if there were eight
    ],
)
def test_blocks_that_do_not_do_it_add_nothing(condition, grid, expected):
    """Of eight SMs, by hand: as many times the own work as blocks of its wave meet the condition."""
    assert share(f"ISETP.{condition}\n@P0 RED.ADD [R2], R1", grid) == expected


def test_blocks_that_do_more_add_more():
    """Blocks 1 to 7 have 32 lanes at the word, block 0 has one: 1 + 7 x 32 times its work."""
    guard = "S2R R4, LANEID\nISETP.EQ P0, R4, 0\nISETP.GT P1, R3, 0"
    assert share(f"{guard}\n@P1 ISETP.GE P0, R4, 0\n@P0 RED.ADD [R2], R1") == 1 + 7 * 32


@pytest.mark.parametrize(("places", "expected"), [(1, 8), (2, 4), (4, 2)])
def test_blocks_at_other_places_add_nothing(places, expected):
    """Eight blocks take turns at so many places, each in a slice of its own."""
    assert share(f"LOP.AND R3, R3, {places - 1}\nSHL R3, R3, 12\nIADD R2, R2, R3\nRED.ADD [R2], R1") == expected


@pytest.mark.parametrize(("blocks", "expected"), [(1, 1), (3, 3), (100, 8)])
def test_stores_of_all_blocks_to_one_place_count(blocks, expected):
    """Of eight SMs, by hand: those whose blocks store there; each request once, however many lanes it has."""
    assert share(f"ISETP.LT P0, R3, {blocks}\n@P0 STG [R2], R1") == expected


def test_what_the_steps_tell_is_not_walked():
    """Where all blocks go the same way and places lie evenly, nothing is untold."""
    kernel = read(HEAD.format(8) + "SHL R3, R3, 2\nIADD R2, R2, R3\nRED.ADD [R2], R1\nEXIT")
    assert untold(kernel) == []
    assert shares(kernel, Place(0, SMS, SMS, SLICES, BYTES)) == {}


def test_slices_are_those_of_the_rule():
    """Each line lies in the slice that the rule says."""
    machine = type("Machine", (), {"slices": SLICES, "slice_lines": 4})
    lines = np.arange(4096)
    assert slices_of(lines // 4, SLICES).tolist() == [l2_atomic.slice_of(machine, line) for line in lines.tolist()]


@pytest.mark.jit
@pytest.mark.parametrize(("rounds", "said"), [(10, False), (LONG, True)])
def test_an_atomic_behind_the_end_of_the_walk_is_told(rounds, said, tmp_path, capsys):
    """Behind a loop that is longer than the walk the note names the atomic; behind a short one there is none."""
    listing = tmp_path / "late.asm"
    body = LOOP.format(rounds) + "ISETP.EQ P0, R3, 0\n@P0 RED.ADD [R2], R1\nEXIT\n"
    listing.write_text(HEAD.format(132) + body)
    assert bool(unseen(read(listing.read_text()), load("h200"), 0)) == said
    assert main.execute(["run", str(listing), "--machine", "h200"]) == 0
    assert ("may be of one SM or of all, and one SM is timed: add --sms all" in capsys.readouterr().err) == said
