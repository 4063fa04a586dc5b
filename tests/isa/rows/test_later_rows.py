"""Rows that compilers write from sm_100 on, against Python's own numbers."""

import operator
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.instruction import Instruction
from isa.nvidia.lowering.lower import UnknownError, lowered
from isa.operands.operand import FIRST_SCALAR, PT, RZ, Register
from isa.row import Unit
from isa.table import TABLE, machine_row

PAIR, WORD, BYTE = 1 << 64, 1 << 32, 1 << 8
RELATIONS = {name: getattr(operator, name.lower()) for name in ("LT", "EQ", "LE", "GT", "NE", "GE")}
pairs = st.integers(0, PAIR - 1) | st.sampled_from([0, 1, WORD - 1, WORD, PAIR // 2 - 1, PAIR // 2, PAIR - 1])
words = st.integers(0, WORD - 1) | st.sampled_from([0, 1, WORD // 2 - 1, WORD // 2, WORD - 1])


def signed(number, size):
    """Return an unsigned number as a signed one of the same bits."""
    return number - size if number >= size // 2 else number


def changed(operand, value, size):
    """Return a source as the row gets it: negated or inverted, if its operand says so."""
    if operand.inverted:
        return size - 1 - value
    return (size - value) % size if operand.negated else value


def computed(text, *values, truths=0, size=PAIR):
    """Return what a text's row computes of its sources and of the predicates that it reads, and what it tells."""
    form = lowered(text)
    sources = dict(zip("abc", values, strict=False))
    held = {letter: operand for letter, operand in Instruction(form.row, form.operands).slots() if letter in sources}
    sources |= {x: changed(o, sources[x], size) for x, o in held.items() if isinstance(o, Register)}
    given = [np.array([sources.get(x, 0)], np.uint64) for x in "abc"]
    given += [np.array([truths], np.uint32), np.array([Instruction(form.row, form.operands).number()], np.uint64)]
    result = int(form.row.result(*given)[0]) if form.row.result else None
    return result, int(form.row.truth(*given)[0]) if form.row.truth else None


@given(a=pairs, b=pairs, carry=st.booleans())
def test_a_sum_of_pairs_and_its_carry(a, b, carry):
    """IADD.64 is the sum modulo 2**64, P0 whether it is 2**64 or more; X adds a carry."""
    assert computed("IADD.64 R4, P0, R2, R6", a, b) == ((a + b) % PAIR, a + b >= PAIR)
    total = a + b + carry
    assert computed("IADD.64.X R4, P0, R2, R6, P1", a, b, truths=carry) == (total % PAIR, total >= PAIR)


@given(a=pairs, b=pairs)
def test_a_difference_of_pairs_carries_where_it_does_not_borrow(a, b):
    """IADD.64 of a and -b has the carry of a + ~b + 1, also where b is 0; so has that of -a and b."""
    assert computed("IADD.64 R4, P0, R2, -R6", a, b, truths=1) == ((a - b) % PAIR, a >= b)
    assert computed("IADD.64 R4, P0, -R2, R6", a, b, truths=1) == ((b - a) % PAIR, b >= a)
    assert computed("IADD.64 R4, R2, -R6", a, b)[0] == (a - b) % PAIR


@given(a=pairs, b=pairs, c=pairs)
def test_a_uniform_sum_of_three_pairs(a, b, c):
    """UIADD3.64 is the sum modulo 2**64; one that writes a carry is refused."""
    assert computed("UIADD3.64 UR4, UPT, UPT, UR6, -UR8, UR10", a, b, c)[0] == (a - b + c) % PAIR
    with pytest.raises(UnknownError, match=r"UIADD3\.64"):
        lowered("UIADD3.64 UR4, UP0, UPT, UR6, UR8, UR10")


@pytest.mark.parametrize(("relation", "kind"), list(product(RELATIONS, "SU")))
@given(a=pairs, b=pairs, other=st.booleans())
def test_pairs_are_compared(relation, kind, a, b, other):
    """ISETP.S64 and U64 compare all 64 bits, and combine the relation and its opposite with a predicate."""
    x, y = (signed(one, PAIR) if kind == "S" else one for one in (a, b))
    holds = RELATIONS[relation](x, y)
    for name, combine in (("AND", operator.and_), ("OR", operator.or_), ("XOR", operator.xor)):
        _, found = computed(f"ISETP.{relation}.{kind}64.{name} P0, P1, R4, R6, P2", a, b, truths=other)
        assert found == combine(holds, other) + 2 * combine(not holds, other)


@pytest.mark.parametrize("kind", "SU")
@given(a=pairs, b=pairs)
def test_the_extreme_of_pairs(kind, a, b):
    """IMNMX.S64 and U64 take the least of two pairs with PT, the greatest with !PT."""

    def key(one):
        return signed(one, PAIR) if kind == "S" else one

    for last, extreme in (("PT", min), ("!PT", max)):
        text = f"IMNMX.{kind}64 PT, PT, R4, R6, R8, {last}, !PT"
        assert computed(text, a, b, truths=last == "PT")[0] == extreme(a, b, key=key)
    with pytest.raises(UnknownError, match=r"IMNMX\.[SU]64"):
        lowered(f"IMNMX.{kind}64 P0, PT, R4, R6, R8, PT, !PT")


@given(a=pairs, b=pairs, first=st.booleans())
def test_pairs_are_moved_and_chosen(a, b, first):
    """MOV.64 and UMOV.64 move both words, SEL.64 those of a where P0 is true."""
    assert computed("MOV.64 R4, R6", a)[0] == computed("UMOV.64 UR4, UR6", a)[0] == a
    assert computed("SEL.64 R4, R6, R8, P0", a, b, truths=first)[0] == (a if first else b)
    assert [lowered(f"{text} R4, R6").row.words_of("d") for text in ("MOV.64", "MOV")] == [2, 1]


def bytes_of(word):
    """Return the four bytes of a word, the lowest first."""
    return word.to_bytes(4, "little")


def test_a_sum_of_words_may_have_a_minus_as_in_a_listing():
    """IADD takes one before each source, of threads and of the warp; it has no other mark."""
    for text in ("IADD R4, R5, -R6", "IADD R4, -R5, RZ", "IADD R4, R5, -UR6"):
        form = lowered(text)
        negated = [o.negated for o in form.operands[1:] if isinstance(o, Register)]
        assert form.row == TABLE["IADD"]
        assert negated.count(True) == 1
    with pytest.raises(UnknownError, match="~R6"):
        lowered("IADD R4, R5, ~R6")


@given(a=words, b=words)
def test_bytes_of_words(a, b):
    """VIADD.U8x4 adds or subtracts each byte, VIMNMX.U8x4 takes the least or the greatest."""
    each = list(zip(bytes_of(a), bytes_of(b), strict=True))
    assert bytes_of(computed("VIADD.U8x4 R4, R5, R6", a, b, size=WORD)[0]) == bytes((x + y) % BYTE for x, y in each)
    assert bytes_of(computed("VIADD.U8x4 R4, R5, -R6", a, b, size=WORD)[0]) == bytes((x - y) % BYTE for x, y in each)
    for last, extreme in (("PT", min), ("!PT", max)):
        found = computed(f"VIMNMX.U8x4 R4, R5, R6, {last}", a, b, truths=last == "PT")[0]
        assert bytes_of(found) == bytes(extreme(x, y) for x, y in each)


@given(a=words, b=words)
def test_a_sum_that_saturates(a, b):
    """VIADD.S32.ISAT of a and b, or -b, is the nearest signed word."""
    for mark, total in (("", signed(a, WORD) + signed(b, WORD)), ("-", signed(a, WORD) - signed(b, WORD))):
        nearest = min(max(total, -WORD // 2), WORD // 2 - 1)
        assert computed(f"VIADD.S32.ISAT R4, R5, {mark}R6", a, b, size=WORD)[0] % WORD == nearest % WORD


@given(numbers=st.tuples(*[st.floats(width=32, allow_nan=False)] * 3))
def test_the_extreme_of_three_singles(numbers):
    """FMNMX3 takes the least of three with PT, the greatest with !PT; zeros may have either sign."""
    given_words = [int(np.float32(one).view(np.uint32)) for one in numbers]
    for last, extreme in (("PT", min), ("!PT", max)):
        found = computed(f"FMNMX3 R4, R5, R6, R7, {last}", *given_words, truths=last == "PT", size=WORD)[0]
        assert np.uint32(found).view(np.float32) == np.float32(extreme(numbers))


def test_predicates_that_an_extreme_does_not_write_say_nothing():
    """VIMNMX of sm_100 names two, PT and PT."""
    assert lowered("VIMNMX R4, PT, PT, R5, R6, !PT") == lowered("VIMNMX R4, R5, R6, !PT")
    assert lowered("VIMNMX.U32 R4, PT, PT, R5, R6, PT") == lowered("VIMNMX.U32 R4, R5, R6, PT")


def test_what_a_barrier_of_lanes_is_for_says_nothing():
    """BSSY, BSYNC and BREAK are the same with RECONVERGENT or RELIABLE behind them."""
    for text, marked in (
        ("BSSY{} B0, 0x90", "RECONVERGENT"),
        ("BSYNC{} B1", "RECONVERGENT"),
        ("BREAK{} B2", "RELIABLE"),
    ):
        assert lowered(text.format(f".{marked}")) == lowered(text.format(""))


@pytest.mark.parametrize(("suffix", "words_written"), [("", 1), (".64", 2), (".128", 4)])
def test_a_uniform_load_of_constants(suffix, words_written):
    """LDCU loads one, two or four uniform registers from a constant bank; another register is refused."""
    form = lowered(f"LDCU{suffix} UR4, c[0x0][UR8+0x380]")
    assert (form.row.unit, form.row.words) == (Unit.CONSTANT, words_written)
    assert (form.operands[0], form.operands[1].registers) == (Register(FIRST_SCALAR + 4), (FIRST_SCALAR + 8,))
    with pytest.raises(UnknownError, match="R4 as an operand"):
        lowered(f"LDCU{suffix} R4, c[0x0][0x380]")


def test_a_swap_tells_by_a_predicate():
    """ATOMS.CAST.SPIN writes P0, or a register where it is of sm_90."""
    assert lowered("ATOMS.CAST.SPIN P0, [R3], R12, R14").operands[1] == RZ
    assert lowered("ATOMS.CAST.SPIN R5, [R3], R12, R14").operands[:2] == (PT, Register(5))


@pytest.mark.parametrize(
    "name", ["FADD", "FMUL", "FFMA", "FMNMX", "I2F.U32.RP", "I2FP.F32.S32", "F2I.TRUNC.NTZ", "I2F.F16"]
)
def test_the_uniform_data_path_computes_as_threads_do(name):
    """A row of the warp has the functions of the thread's, and counts no operations of threads."""
    row, uniform = machine_row(name), machine_row(f"U{name}")
    assert (uniform.result, uniform.value, uniform.code, uniform.form) == (row.result, row.value, row.code, row.form)
    assert (uniform.unit, uniform.flops) == (Unit.UNIFORM, 0)


def test_a_whole_number_is_a_float_of_a_uniform_row():
    """UFADD takes 1 as 1.0, as FADD does."""
    assert lowered("UFADD UR4, UR5, 1").operands[2] == lowered("FADD R4, R5, 1").operands[2]


def test_uniform_clocks_have_one_word_or_two():
    """CS2UR reads two words of a special register, CS2UR.32 one."""
    assert [lowered(f"CS2UR{x} UR4, SR_CLOCKLO").row.words_of("d") for x in ("", ".32")] == [2, 1]
