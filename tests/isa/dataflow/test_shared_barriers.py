"""Dependency barriers that tell of more than somebody needs: by hand."""

from isa.dataflow.shared_barriers import RESULT, SOURCES, SharedBarrier, shared_barriers, words
from isa.text.assembler import assemble

PLAIN = "[B------:R-:W-:-:S01]"
LOADS = "[B------:R-:W0:-:S01] LDG R1, [R8]\n[B------:R-:W0:-:S01] LDS R2, [RZ]\n"


def test_a_reader_waits_for_what_shares_its_barrier():
    """The sum needs the LDS at 1 and waits for the LDG at 0 too; who needs both waits for nobody else."""
    one = assemble(f"{LOADS}[B0-----:R-:W-:-:S01] FADD R3, R2, R2\n{PLAIN} EXIT")
    assert shared_barriers(one) == {2: (SharedBarrier(0, 0, RESULT, (1,)),)}
    both = assemble(f"{LOADS}[B0-----:R-:W-:-:S01] FADD R3, R1, R2\n{PLAIN} EXIT")
    assert shared_barriers(both) == {}


def test_a_barrier_that_has_been_waited_for_is_free():
    """Behind a wait the barrier tells of the next load alone; on a path around the wait, of both."""
    wait, load = "[B0-----:R-:W-:-:S01] MOV R5, R1", "[B------:R-:W0:-:S01] LDS R2, [RZ]"
    head, use = "[B------:R-:W0:-:S01] LDG R1, [R8]", f"[B0-----:R-:W-:-:S01] FADD R3, R2, R2\n{PLAIN} EXIT"
    assert shared_barriers(assemble("\n".join([head, wait, load, use]))) == {}
    around = f"{PLAIN} @P0 BRA on"
    found = shared_barriers(assemble("\n".join([head, around, wait, "on:", load, use])))
    assert found == {4: (SharedBarrier(0, 0, RESULT, (3,)),)}


def test_sources_are_distinguished_from_the_result():
    """Who overwrites the address of a load, whose result holds the same barrier, waits for that result too."""
    text = f"[B------:R1:W1:-:S01] LDG R1, [R8]\n[B-1----:R-:W-:-:S01] IADD R8, R8, 4\n{PLAIN} EXIT"
    assert shared_barriers(assemble(text)) == {1: (SharedBarrier(1, 0, RESULT, (0,)),)}
    both = f"[B------:R1:W1:-:S01] LDG R1, [R8]\n[B-1----:R-:W-:-:S01] FADD R2, R1, R1\n{PLAIN} EXIT"
    assert shared_barriers(assemble(both)) == {1: (SharedBarrier(1, 0, SOURCES, (0,)),)}


def test_a_program_without_codes_shares_nothing():
    """Where the hardware keeps the order there are no barriers to share."""
    assert shared_barriers(assemble("LDG R1, [R8]\nLDS R2, [RZ]\nFADD R3, R2, R2\nEXIT")) == {}


def test_the_words_name_both_without_their_codes():
    """Whose result or sources they are, the barrier, and who is needed; others that are needed are counted."""
    lines = [PLAIN + " LDG R1, [R8]", "LDS R2, [RZ]"]
    reported = words(SharedBarrier(3, 0, RESULT, (1,)), lines.__getitem__)
    assert reported == "barrier 3, which `LDG R1, [R8]` at pc 0 holds beside `LDS R2, [RZ]` at pc 1"
    reported = words(SharedBarrier(3, 0, SOURCES, (0, 1)), lines.__getitem__)
    assert reported.startswith("barrier 3, which the sources of `LDG R1, [R8]` at pc 0 hold beside")
    assert reported.endswith("at pc 1 (and 1 more)")
