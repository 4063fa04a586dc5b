"""Code for sm_87 begins with moves between convergence barriers, which are read as what they do together."""

from dataclasses import replace

from isa.nvidia.file.dump import Encoded, Section
from isa.nvidia.lowering.opening import EMPTYING, OPENING, emptied


def after(texts):
    """Return the lanes of each barrier after such moves, of barriers that held something before."""
    lanes = {f"B{number}": number + 1 for number in range(16)}
    for text in texts:
        barrier, source = text.split(maxsplit=1)[1].split(", ")
        lanes[barrier] = lanes[source] if source in lanes else int(source, 0)
        if source in lanes:
            lanes[source] = 0
    return lanes


def section(texts, **labels):
    """Return a section of such instructions, with one before and one behind."""
    return Section([Encoded(16 * at, text, 0, 0) for at, text in enumerate(("NOP", *texts, "EXIT"))], labels)


def test_both_leave_every_barrier_empty():
    """By hand: what ptxas writes, and what is read in its place, leave sixteen barriers without a lane."""
    assert after(OPENING) == after(EMPTYING) == {f"B{number}": 0 for number in range(16)}
    assert len(OPENING) == len(EMPTYING) == 17


def test_the_whole_opening_is_read_so_and_nothing_else():
    """A part of it stays as it is, and so does one that a branch leads into: such moves are refused."""
    whole = emptied(section(OPENING))
    assert [one.text for one in whole.instructions] == ["NOP", *EMPTYING, "EXIT"]
    assert [one.offset for one in whole.instructions] == [16 * at for at in range(19)]
    for other in (section(OPENING[:-1]), section(OPENING[1:]), section(OPENING, inside=48), section(())):
        assert emptied(replace(other)) == other
    assert emptied(section(OPENING, before=16)) != section(OPENING, before=16)
