"""Dependency barriers that hold more than the waiting instruction needs, worked out by hand."""

from isa.dataflow.waits.shared_barriers import RESULT, SOURCES, SharedBarrier, shared_barriers, words
from isa.text.assembler import assemble

PLAIN = "[B------:R-:W-:-:S01]"
LOADS = "[B------:R-:W0:-:S01] LDG R1, [R8]\n[B------:R-:W0:-:S01] LDS R2, [RZ]\n"


def test_a_reader_waits_for_all_that_share_its_barrier():
    """A sum that needs only the LDS at 1 waits for the LDG at 0 too; a sum that needs both has no shared barrier."""
    one = assemble(f"{LOADS}[B0-----:R-:W-:-:S01] FADD R3, R2, R2\n{PLAIN} EXIT")
    assert shared_barriers(one) == {2: (SharedBarrier(0, 0, RESULT, (1,)),)}
    both = assemble(f"{LOADS}[B0-----:R-:W-:-:S01] FADD R3, R1, R2\n{PLAIN} EXIT")
    assert shared_barriers(both) == {}


def test_a_barrier_that_has_been_waited_for_is_free():
    """After a wait the barrier holds only the next load; on a path around the wait it holds both."""
    wait, load = "[B0-----:R-:W-:-:S01] MOV R5, R1", "[B------:R-:W0:-:S01] LDS R2, [RZ]"
    head, use = "[B------:R-:W0:-:S01] LDG R1, [R8]", f"[B0-----:R-:W-:-:S01] FADD R3, R2, R2\n{PLAIN} EXIT"
    assert shared_barriers(assemble("\n".join([head, wait, load, use]))) == {}
    around = f"{PLAIN} @P0 BRA on"
    found = shared_barriers(assemble("\n".join([head, around, wait, "on:", load, use])))
    assert found == {4: (SharedBarrier(0, 0, RESULT, (3,)),)}


def test_sources_are_distinguished_from_the_result():
    """If a load's sources and result hold one barrier, a write of its address or read of its result waits for both."""
    text = f"[B------:R1:W1:-:S01] LDG R1, [R8]\n[B-1----:R-:W-:-:S01] IADD R8, R8, 4\n{PLAIN} EXIT"
    assert shared_barriers(assemble(text)) == {1: (SharedBarrier(1, 0, RESULT, (0,)),)}
    both = f"[B------:R1:W1:-:S01] LDG R1, [R8]\n[B-1----:R-:W-:-:S01] FADD R2, R1, R1\n{PLAIN} EXIT"
    assert shared_barriers(assemble(both)) == {1: (SharedBarrier(1, 0, SOURCES, (0,)),)}


def test_a_program_without_codes_shares_nothing():
    """A program without control codes has no shared barriers."""
    assert shared_barriers(assemble("LDG R1, [R8]\nLDS R2, [RZ]\nFADD R3, R2, R2\nEXIT")) == {}


def test_the_words_name_both_without_their_codes():
    """The text names the barrier, the instruction that holds it and one that is needed, and counts the others."""
    lines = [PLAIN + " LDG R1, [R8]", "LDS R2, [RZ]"]
    reported = words(SharedBarrier(3, 0, RESULT, (1,)), lines.__getitem__, "pc {}".format)
    assert reported == "barrier 3, which `LDG R1, [R8]` at pc 0 holds with `LDS R2, [RZ]` at pc 1"
    reported = words(SharedBarrier(3, 0, SOURCES, (0, 1)), lines.__getitem__, "pc {}".format)
    assert reported.startswith("barrier 3, which the sources of `LDG R1, [R8]` at pc 0 hold with")
    assert reported.endswith("at pc 1 (and 1 more)")
