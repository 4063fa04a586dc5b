"""One SM that stands for all: what it brings from the DRAM, what it waits for, and what others have brought before."""

import pytest
from timing import cycles_of

from gpusim.engines.simulate import ENGINES, run_sm
from gpusim.launch.feed import FEEDS
from gpusim.machine.machine import load
from isa.text.listing import read

# Four SMs with a block each: waves of blocks 0 to 3, 4 to 7, 8 to 11, 12 to 14. The SM has blocks 0, 4, 8 and 12, whose
# columns and rows are (0, 0), (1, 1), (2, 2), (0, 4).
GRID = ".grid 3 5\n.block 32\n.buffer a f32 1024\nS2R R0, CTAID.X\nS2R R1, CTAID.Y\n"
END = "IADD R3, R3, c[a]\nLDG R4, [R3]\nIADD R5, R4, 1\nEXIT"
ROWS, COLUMNS = "SHL R3, R1, 7\n", "SHL R3, R0, 7\n"
OWN, SAME = "IMAD R3, R1, 3, R0\nSHL R3, R3, 7\n", "MOV R3, 0\n"
BY_PRODUCT = "IMUL R3, R1, R1\nLOP.AND R3, R3, 7\nSHL R3, R3, 7\n"
FOUR_SMS = {"chip.sms": 4, "limits.blocks": 1, "cache.hits": "tags", "l1.global_loads": 0}


def waits(which, machine, **options):
    """Return the cycles from each block's load to the instruction that needs the word."""
    kernel = read(GRID + which + END)
    run = run_sm(kernel, machine, trace=True, **options)
    add = len(kernel.program) - 2
    found = [(cycle, pc) for cycle, _, pc in cycles_of(run) if pc in (add - 1, add)]
    return [after - before for (before, _), (after, _) in zip(found[::2], found[1::2], strict=True)]


@pytest.fixture(scope="module")
def machine():
    """A machine whose SM stands for four."""
    return load("rtx2080ti", FOUR_SMS)


def missing():
    """Return the cycles of a load that the L2 lacks."""
    return waits(OWN, load("rtx2080ti", FOUR_SMS | {"chip.sms": 1}))[0]


@pytest.mark.parametrize(
    ("which", "lacking"),
    [
        (OWN, [True, True, True, True]),
        (ROWS, [True, True, False, False]),
        (COLUMNS, [True, False, False, False]),
        (SAME, [True, False, False, False]),
    ],
)
def test_blocks_in_step_wait_for_what_no_wave_has_asked_for(which, lacking, machine):
    """A line of the block's own is new each time; a column's, or everybody's, is there from the second wave on.

    Of rows half of the second wave is in step, 3 in 8 of each further one: the SM waits in the first wave, in the
    second (1/2, and then owes as much), and not in the third and fourth (-1/8, 1/4). No block of the SM asks for column
    1 or 2 before its blocks 4 and 8 do.
    """
    far = machine.cache.l2_latency_32
    assert [one > far + 50 for one in waits(which, machine)] == lacking


def test_who_waits_for_others_waits_as_long_as_they(machine):
    """The first block waits as on a chip of one SM, whoever brings the line, but for the channel's time."""
    alone = missing()
    assert waits(SAME, machine)[0] <= alone <= waits(OWN, machine)[0]


def test_addresses_that_move_irregularly_are_not_known_to_be_shared(machine):
    """Where an address is no linear function of the block, the SM brings what is new to it, up to its part."""
    assert [one > machine.cache.l2_latency_32 + 50 for one in waits(BY_PRODUCT, machine)] == [True, True, True, False]


@pytest.mark.parametrize("which", [OWN, ROWS, COLUMNS, SAME, BY_PRODUCT])
def test_engines_and_feeds_agree(which, machine):
    """Both engines find the same waits on every feed."""
    found = {tuple(waits(which, machine, engine=engine, feed=feed)) for engine in ENGINES for feed in FEEDS}
    assert len(found) == 1
