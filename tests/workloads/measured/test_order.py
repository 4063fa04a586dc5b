from isa.operands.operand import Predicate, Register
from workloads.builder import at, instruction
from workloads.measured.order import ordered

A, B, P = Register(4), Register(5), Predicate(0)


def fma(chain):
    """Return a step of a chain of multiply-adds."""
    return instruction("FFMA", Register(8 + chain), A, Register(8 + chain), B)


def add(chain):
    """Return a step of a chain of integer additions."""
    return instruction("IADD3", Register(40 + chain), A, Register(40 + chain), B)


def letters(steps):
    """Return the order as the first letters of the mnemonics."""
    return "".join(step.row.mnemonic[0] for step in ordered(steps))


def test_the_start_of_the_longest_path_goes_first():
    """The first of three dependent additions goes before a multiply-add, which fills the cycle between two of them."""
    assert letters([fma(0), add(0), add(0), add(0)]) == "IFII"


def test_equal_paths_keep_the_order_of_the_source():
    """Chains of one length keep the order of the source."""
    steps = [fma(i % 8) for i in range(32)]
    assert ordered(steps) == steps


def test_a_busy_unit_leaves_its_cycle_to_others():
    """The ALU takes an addition every other cycle: multiply-adds fill the others, though their path is shorter."""
    steps = [add(i % 4) for i in range(24)] + [fma(i) for i in range(8)]
    assert letters(steps)[:16] == "IF" * 8


def test_loads_of_a_chain_are_forty_cycles_apart():
    """A load comes 40 slots after the load before it in its chain, while other instructions fill the slots."""
    loads = [instruction("LDS", Register(40 + i % 4), at(Register(2))) for i in range(16)]
    made = ordered([*loads, *(fma(i % 8) for i in range(100))])
    assert [i for i, step in enumerate(made) if step.row.mnemonic == "LDS"][:8] == [0, 4, 8, 12, 40, 44, 48, 52]


def test_no_instruction_overtakes_one_that_it_depends_on():
    """A comparison and its guarded instruction stay in order in each chain, though chains share a predicate."""
    steps = [
        made
        for i in range(12)
        for made in (
            instruction("ISETP.LT", P, Register(8 + i % 3), A),
            instruction("IADD3", Register(8 + i % 3), A, B, A, guard=P),
        )
    ]
    made = ordered(steps)
    assert [step.row.mnemonic for step in made] == ["ISETP.LT", "IADD3"] * 12
    assert all(
        guarded.operands[0] == compare.operands[1] for compare, guarded in zip(made[::2], made[1::2], strict=True)
    )
