"""Whose values registers hold, in small listings."""

from isa.dataflow.register_use import OTHER, RESULTS, Origins, joined, register_uses
from isa.text.assembler import assemble

NOWHERE = Origins({}, {})


def of(text, buffers=None, stores=None):
    """Return the uses in a listing whose loads come from these buffers and stores."""
    return register_uses(assemble(text), Origins(buffers or {}, stores or {}))


def test_a_load_brings_its_buffer_and_a_floating_point_instruction_makes_results():
    """A loaded word has its buffer's name, a product is a result, and an address is neither."""
    found = of("SHL R0, R0, 2\nLDG R1, [R0]\nFMUL R2, R1, R1\nSTG [R0], R2", {1: frozenset({"x"})})
    assert found.written == (OTHER, "x", RESULTS, OTHER)
    assert found.stored == {3: RESULTS}
    assert found.before[3] == {0: OTHER, 1: "x", 2: RESULTS}


def test_words_keep_their_name_through_shared_memory_and_moves():
    """A load from shared memory has the name of what was stored to its words, and a move passes it on."""
    text = "LDG R1, [RZ]\nMOV R2, R1\nSTS [RZ], R2\nSTS [4], R3\nLDS R4, [RZ]\nLDS R5, [4]"
    found = of(text, {0: frozenset({"x"})}, {4: frozenset({2}), 5: frozenset({3})})
    assert found.stored == {2: "x", 3: OTHER}
    assert found.written[4:] == ("x", OTHER)


def test_words_that_go_round_through_shared_memory_are_named_in_the_end():
    """A store of a word loaded from another store's words has its name, in whatever order the program has them."""
    text = "loop:\nLDS R1, [RZ]\nSTS [4], R1\nLDS R2, [4]\nSTS [8], R2\nLDG R3, [RZ]\nSTS [RZ], R3\nBRA loop"
    stores = {0: frozenset({5}), 2: frozenset({1})}
    assert of(text, {4: frozenset({"x"})}, stores).stored == {1: "x", 3: "x", 5: "x"}


def test_names_join_where_ways_meet():
    """An accumulator that starts as a constant holds results; a register loaded on two ways holds either."""
    loop = of("MOV R1, 0\nloop:\nFFMA R1, R2, R2, R1\n@P0 BRA loop\nEXIT")
    assert loop.before[1] == {1: RESULTS}
    ways = of(
        "@P0 BRA other\nLDG R1, [RZ]\nBRA meet\nother:\nLDG R1, [RZ]\nmeet:\nMOV R2, R1",
        {1: frozenset("x"), 3: frozenset("y")},
    )
    assert ways.written[4] == "x or y"


def test_a_guarded_write_gives_its_name():
    """After a guarded load a register has the name of that load's buffer, not the name it had before."""
    found = of("LDG R1, [RZ]\n@P0 LDG R1, [RZ]\nMOV R2, R1", {0: frozenset("x"), 1: frozenset("y")})
    assert found.written[2] == "y"


def test_code_that_nothing_reaches_has_no_state():
    """After a branch that is always taken nothing is known of the registers, and nothing fails."""
    found = of("BRA end\nMOV R1, R2\nend:\nEXIT")
    assert found.before == ({}, None, {})


def test_joined_names_are_a_set():
    """Joining is the same in any order and however often; `other` gives way."""
    assert joined(("x", OTHER, "y or x")) == joined(("y", "x", "x")) == "x or y"
    assert joined(()) == joined((OTHER,)) == OTHER
