"""Forwarding: results that go straight from one instruction to the next."""

from isa.dataflow.forwarding import forwarded
from isa.text.assembler import assemble


def of(text):
    """Return the forwarded reads and writes of a listing, as sets."""
    reads, writes = forwarded(assemble(text))
    return set(reads), set(writes)


def test_a_chain_on_one_accumulator_reads_it_first_and_writes_it_last():
    """Of three multiply-adds the second and third read the accumulator forwarded; the first two don't write it."""
    chain = "\n".join(f"V_FMA_F32 v4, v{a}, s{b}, v4" for a, b in ((8, 1), (9, 2), (10, 3)))
    assert of(chain) == ({(1, 4), (2, 4)}, {(0, 4), (1, 4)})


def test_a_result_that_is_read_but_stays_is_written():
    """A product that the next instruction reads and does not overwrite is forwarded and written as well."""
    assert of("FMUL R1, R2, R2\nFADD R3, R1, R2") == ({(1, 1)}, set())


def test_a_result_read_two_instructions_later_is_not_forwarded():
    """With another instruction between writer and reader, the reader takes the result from the register file."""
    assert of("FMUL R1, R2, R2\nFMUL R4, R2, R2\nFADD R3, R1, R2") == (set(), set())


def test_loads_branches_guards_and_scalar_instructions_hand_nothing_over():
    """Loaded words, guarded results, results before a label or a store, and scalar results are not forwarded."""
    assert of("LDS R1, [RZ]\nFADD R1, R1, R1") == (set(), set())
    assert of("@P0 FADD R1, R1, R1\nFADD R1, R1, R1") == (set(), set())
    assert of("FADD R1, R1, R1\nloop:\nFADD R1, R1, R1\nBRA loop") == (set(), set())
    assert of("FADD R1, R1, R1\nSTS [RZ], R1") == (set(), set())
    assert of("S_ADD_U32 s1, s1, s2\nS_ADD_U32 s1, s1, s2") == (set(), set())


def test_wide_results_are_handed_over_word_by_word():
    """A double takes two registers, both of which are forwarded."""
    assert of("DFMA R0, R2, R4, R0\nDFMA R0, R2, R4, R0") == ({(1, 0), (1, 1)}, {(0, 0), (0, 1)})
