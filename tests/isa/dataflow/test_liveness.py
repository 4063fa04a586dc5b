from __future__ import annotations

from draws import draws
from hypothesis import given, settings
from strategies.launches import REPEATABLE, programs

from isa.dataflow.flow import overwrites, reads, successors, writes
from isa.dataflow.liveness import live
from isa.text.listing import read


def live_by_search(program, pc, name):
    """Tell whether some way on from pc reads the name before it is certainly overwritten, by following every way."""
    code, after = program.instructions, successors(program)
    seen, todo = set(), list(after[pc])
    while todo:
        here = todo.pop()
        if here in seen:
            continue
        seen.add(here)
        if name in reads(code[here]):
            return True
        if not (name in writes(code[here]) and overwrites(code[here])):
            todo += after[here]
    return False


@settings(REPEATABLE, max_examples=draws(60))
@given(program=programs())
def test_what_is_live_is_read_on_some_way(program):
    """Name by name, of any program, around loops too."""
    names = {name for i in program.instructions for name in reads(i) | writes(i)}
    found = live(program)
    for pc in range(len(program)):
        assert found[pc] == {name for name in names if live_by_search(program, pc, name)}


def test_a_guarded_write_ends_no_life():
    """An unguarded write ends the life of the old value; a guarded one does not, since some lanes may keep it."""
    text = "MOV R1, 1\n{}MOV R1, 2\nIADD R2, R1, R1\nEXIT\n"
    assert live(read(text.format("@P0 ")).program)[0] == {"R1", "P0"}
    assert live(read(text.format("")).program)[0] == frozenset()
