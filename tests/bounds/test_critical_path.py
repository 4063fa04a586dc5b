import pytest

from gpusim.bounds.bounds import works
from gpusim.bounds.chain.critical_path import carried, critical, weight
from gpusim.machine.machine import load
from isa.code_region import code_regions
from isa.dataflow.dependence import graph
from isa.text.listing import read

LOOP = """
.shared 4096
.buffer a f32 32
    MOV R0, c[a]
    MOV R1, 0
loop:
    LDS R2, [R1]
    FFMA R3, R2, R2, R3
    FFMA R3, R3, R2, R2
    IADD R1, R1, 4
    ISETP.LT P0, R1, 64
    @P0 BRA loop
    LDG R5, [R0]
    FADD R6, R5, R3
    EXIT
"""


def paths(text: str, machine: str = "gtx580", pcs=None, **settings):
    """Return the critical and the loop-carried path of a listing, or of some of its instructions."""
    kernel = read(text)
    (work,), _ = works(kernel, load(machine, settings))
    part = range(len(kernel.program)) if pcs is None else pcs
    return tuple(path(graph(kernel.program), part, weight(work)) for path in (critical, carried))


@pytest.mark.parametrize("links", [1, 7])
def test_a_chain_takes_a_latency_for_each_link(links):
    """The path of dependent FFMAs has all of them, each but the last with the 18 cycles of its result."""
    path, around = paths("FFMA R0, R0, R1, R2\n" * (links + 1) + "EXIT")
    assert path.cycles == 18 * links
    assert dict(path.parts) == dict.fromkeys(range(links), 18)
    assert (around.cycles, dict(around.parts)) == (0, {})


def test_the_paths_of_a_loop_by_hand():
    """Both paths have a load (26) and an FFMA (18), the carried one an FFMA (0) that reads before the next load."""
    kernel = read(LOOP)
    (loop,) = code_regions(kernel.program)
    through, around = paths(LOOP, pcs=loop.pcs)
    assert (through.cycles, dict(through.parts)) == (26 + 18, {2: 26, 3: 18})
    assert (around.cycles, dict(around.parts)) == (26 + 18, {2: 26, 3: 18, 4: 0})


def test_a_load_counts_with_its_passes():
    """Lanes 8 words apart delay a load's result by 7 passes of 2 cycles."""
    text = ".shared 1024\nS2R R0, LANEID\nSHL R0, R0, {}\nLDS R1, [R0]\nFADD R2, R1, R1\nEXIT".format
    assert paths(text(5))[0].parts[2] - paths(text(2))[0].parts[2] == 14


def test_overwriting_a_source_waits_until_it_has_been_read():
    """A MOV to the data of a 64-bit store waits 38 cycles, as the machine says; a MOV to an FFMA's source waits 0."""
    text = ".shared 1024\nSTS.64 [RZ], R2\nMOV R2, 0\nEXIT"
    assert paths(text)[0].cycles == 38
    assert paths("FFMA R3, R2, R2, R2\nMOV R2, 0\nEXIT")[0].cycles == 0


def test_the_machine_decides_the_lengths():
    """With results after 9 cycles instead of 18, a chain of 5 FFMAs takes 36 cycles."""
    assert paths("FFMA R0, R0, R1, R2\n" * 5 + "EXIT", **{"unit.fp32.latency": 9})[0].cycles == 36


def test_a_sum_is_carried_from_round_to_round():
    """Two sums into one register carry 36 cycles per round; the loop's counter carries 18."""
    text = "again:\nFFMA R3, R3, R2, R2\nFADD R3, R3, R2\nIADD R1, R1, 1\nISETP.LT P0, R1, 9\n@P0 BRA again\nEXIT"
    around = paths(text, pcs=range(5))[1]
    assert (around.cycles, dict(around.parts)) == (36, {0: 18, 1: 18})
    assert paths(text, pcs=range(2, 5))[1].cycles == 18


def test_the_parts_of_a_carried_path_are_those_of_its_rounds():
    """If a path goes round the loop twice, its parts add up to twice its length per round: 54 and 27 cycles."""
    text = "again:\nFADD R1, R2, R2\nFADD R2, R3, R3\nFADD R3, R1, R4\nISETP.LT P0, R5, 0\n@P0 BRA again\nEXIT"
    around = paths(text, pcs=range(5))[1]
    assert (around.cycles, sum(around.parts.values())) == (27, 54)
