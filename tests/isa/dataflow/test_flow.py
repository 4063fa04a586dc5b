from isa.dataflow.flow import predecessors, reads, successors, writes
from isa.text.assembler import assemble

PROGRAM = assemble("l:\n@P0 BRA end\n@P1 EXIT\nBRA l\nEXIT\nend:\nLDS.64 R2, [R6]\n@!P2 SEL R4, R2, R5, !P3")


def test_successors_follow_guards():
    """A guarded branch or exit may go on, an unguarded one may not; the last instruction has nothing after it."""
    assert successors(PROGRAM) == [(1, 4), (2,), (0,), (), (5,), ()]


def test_predecessors_are_the_inverse():
    """Instruction u comes before v exactly if v comes after u."""
    pairs = {(u, v) for u, after in enumerate(successors(PROGRAM)) for v in after}
    assert {(u, v) for v, before in enumerate(predecessors(PROGRAM)) for u in before} == pairs


def test_reads_and_writes_name_each_word_and_predicate():
    """Wide registers count word by word; guards, predicate operands and address bases are reads."""
    load, select = PROGRAM.instructions[4:]
    assert (reads(load), writes(load)) == ({"R6"}, {"R2", "R3"})
    assert (reads(select), writes(select)) == ({"R2", "R5", "P2", "P3"}, {"R4"})
