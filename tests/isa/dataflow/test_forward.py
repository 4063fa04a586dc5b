"""Forward data flow, by hand: which instructions some path to each place has executed."""

from isa.dataflow.forward import forward
from isa.program import Program
from isa.text.listing import read


def passed(text):
    """By pc: the pcs of some path that leads there; None where none does; and how often an instruction is followed."""
    program, followed = read(text).program, []

    def behind(pc, state):
        followed.append(pc)
        return state | {pc}

    def merged(known, arriving):
        if known is not None and arriving <= known:
            return None
        return arriving | (known or frozenset())

    found = forward(program, frozenset(), behind, merged)
    return [None if one is None else sorted(one) for one in found], len(followed)


def test_paths_merge_where_they_meet():
    """Behind a branch over pc 1, pc 2 comes after 0 and perhaps 1: each instruction is followed once."""
    assert passed("@P0 BRA on\nNOP\non:\nEXIT") == ([[], [0], [0, 1]], 3)


def test_a_loop_is_followed_until_nothing_is_new():
    """What a round has passed comes to its beginning: two rounds say all, and only then pc 2 is followed, once."""
    assert passed("again:\nNOP\n@P0 BRA again\nEXIT") == ([[0, 1], [0, 1], [0, 1]], 5)


def test_a_place_that_no_path_leads_to_has_no_state():
    """Behind a branch that all lanes take."""
    assert passed("BRA on\nNOP\non:\nEXIT")[0] == [[], None, [0]]


def test_returns_go_on_behind_each_call():
    """Three calls of a function that returns: behind each, all that any of them has passed may have been."""
    call = "LEPC R20, back{0}\nCALL.REL.NOINC f\nback{0}:"
    text = "\n".join(call.format(n) for n in range(3)) + "\nEXIT\nf:\nRET.ABS.NODEC R20"
    found, _ = passed(text)
    everything = [0, 1, 2, 3, 4, 5, 7]
    assert (found[0], found[1]) == ([], [0])
    assert found[2] == found[4] == found[6] == found[7] == everything


def test_an_empty_program_has_no_states():
    """No instruction, no place."""
    assert forward(Program((), {}), 0, lambda *_: 0, lambda *_: None) == []
