from isa.operands.operand import Predicate, Register
from workloads.builder import at, instruction
from workloads.measured.codes import coded

A, B, X, Y = (Register(i) for i in (4, 5, 8, 9))
PLACE, P = Register(2), Predicate(0)
END = instruction("BRA", "loop")


def stalls(*body):
    """Return the stall counts of a body, negative where the warp yields."""
    made = coded([*body, END])[:-1]
    return [-i.control.stall if i.control.yields else i.control.stall for i in made]


def test_a_dependent_instruction_comes_after_the_latency():
    """The latency is 4 cycles inside the FMA or ALU group, 5 across, 6 or 10 for halves, 8 for doubles; warps yield."""
    fma, add = instruction("FFMA", X, A, X, B), instruction("IADD3", X, X, A, B)
    assert stalls(fma, fma, fma)[:2] == [-4, -4]
    assert stalls(fma, add, fma)[:2] == [-5, -5]
    half, mma = instruction("HFMA2", X, X, A, B), instruction("HFMA2.MMA", X, X, A, B)
    assert stalls(half, mma, half)[:2] == [-6, -10]
    double = instruction("DFMA", X, Register(4), X, Register(6))
    assert stalls(double, double)[:1] == [-8]


def test_independent_instructions_wait_for_their_unit_only():
    """An FMA follows an FMA after 1 cycle, an IMAD after 2; the ALU takes one in 2 cycles, and every sixth yields."""
    fmas = [instruction("FFMA", Register(8 + i % 4), A, Register(8 + i % 4), B) for i in range(8)]
    assert stalls(*fmas) == [1] * 8
    multiply = instruction("IMAD", Register(20), A, B, A)
    assert stalls(multiply, fmas[0], multiply)[:2] == [2, 1]
    logic = [instruction("LOP3", Register(8 + i % 4), Register(8 + i % 4), A, B, 0x96) for i in range(13)]
    assert stalls(*logic)[:12] == [2, 2, 2, 2, 2, -2] * 2


def test_a_guard_comes_13_cycles_after_its_comparison():
    """A guarded instruction waits 13 cycles for the predicate, a select 4."""
    compare = instruction("ISETP.LT", P, X, A)
    assert stalls(compare, instruction("IADD3", X, X, A, B, guard=P))[0] == -13
    assert stalls(compare, instruction("SEL", X, X, A, P))[0] == -4


def test_a_result_gets_the_first_barrier_that_nobody_waits_for():
    """Each chain has its own barrier: its next load waits for it, also in the next iteration, and takes it again."""
    loads = [instruction("LDS", Register(8 + i % 2), at(PLACE)) for i in range(4)]
    made = coded([*loads, END])
    assert [i.control.write_barrier for i in made] == [0, 1, 0, 1, None]
    assert [i.control.waits for i in made] == [1, 2, 1, 2, 0]
    assert [i.control.stall for i in made[:3]] == [4, 4, 4]
    mufu = [instruction("MUFU.EX2", X, X), instruction("MUFU.EX2", Y, Y), instruction("FADD", X, X, A)]
    assert [i.control.write_barrier for i in coded([*mufu, *mufu[1:2], END])] == [1, 0, None, 0, None]


def test_chains_beyond_the_barriers_share_the_last_one():
    """If all barriers are taken, further chains share the last: one wait for it waits for all that hold it."""
    loads = [instruction("LDS", Register(8 + i % 8), at(PLACE)) for i in range(16)]
    made = coded([*loads, END])
    assert [i.control.write_barrier for i in made[:8]] == [0, 1, 2, 3, 4, 5, 5, 5]
    assert [i.control.waits for i in made[8:16]] == [1, 2, 4, 8, 16, 32, 0, 0]
    assert max(i.control.write_barrier for i in coded([*loads, END], barriers=5)[:8]) == 4


def test_a_wait_for_the_barrier_of_the_instruction_before_comes_two_cycles_later():
    """The stall count before a barrier's first waiter is 2 at least, since a barrier is seen one cycle late."""
    made = coded([instruction("REDUX.SUM", X, X), instruction("MOV", X, X), END])
    assert made[0].control.stall == 2


def test_a_source_is_kept_for_the_same_place():
    """A source is flagged if the next instruction reads its register at the same place and no other warp goes first."""
    made = coded([instruction("FFMA", Register(8 + i), A, Register(8 + i), B) for i in range(4)] + [END])
    assert [tuple(o.reuse for o in i.operands[1:]) for i in made[:4]] == [(True, False, True)] * 3 + [(False,) * 3]
    chain = coded([instruction("FFMA", X, A, X, B)] * 2 + [END])
    assert not any(o.reuse for o in chain[0].operands)
    double = instruction("DFMA", Register(12), Register(4), Register(12), Register(6))
    mixed = coded([instruction("FFMA", X, A, X, B), double, instruction("FFMA", Y, A, Y, B), END])
    assert [o.reuse for o in mixed[0].operands[1:]] == [True, False, True]
