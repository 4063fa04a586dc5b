import pytest

from isa.operands.operand import Immediate, Register
from workloads.measured.edited import edited


def steps(name):
    """Return the copies of an edited loop: all but the two counting instructions and the branch."""
    kind, _, rest = name.partition(":")
    stream = edited(kind, rest, 4)
    return [i for i in stream.body if i.row.mnemonic not in ("UIADD3", "ISETP.GE", "BRA")]


def sources(made):
    """Return the numbers of the registers that an instruction reads, in order of its places."""
    return [o.index for letter, o in made.slots() if letter in "abc" and isinstance(o, Register)]


@pytest.mark.parametrize("banks", ["EEE", "EOE", "OOE", "OEO"])
@pytest.mark.parametrize("op", ["FFMA", "LOP3", "SHF"])
def test_sources_are_in_the_banks_of_the_name(op, banks):
    """Each place reads even or odd registers as its letter says, never one twice, in 220 copies."""
    made = steps(f"bank2:{op}:{banks}")
    assert len(made) == 220
    for copy in made:
        assert [r % 2 for r in sources(copy)] == ["EO".index(letter) for letter in banks]
        assert len(set(sources(copy))) == 3


@pytest.mark.parametrize("residues", ["000", "312", "023"])
def test_four_banks_are_residues_modulo_4(residues):
    """The digits of a name are register numbers modulo 4."""
    for copy in steps(f"bank4:FFMA:{residues}"):
        assert [r % 4 for r in sources(copy)] == [int(digit) for digit in residues]


def test_a_pair_begins_at_the_residue():
    """Sources and destinations of double precision are even registers of the residues."""
    for copy in steps("bank4:DFMA:020"):
        assert [r % 4 for r in sources(copy)] == [0, 2, 0]
        assert copy.writes()[0] % 2 == 0


def test_nothing_read_is_written_within_the_loop():
    """Except in accumulation no copy waits for another: sources and destinations have no register in common."""
    for name in ("bank2:FFMA:EEE", "mix:FFMAx2:IMADx1", "alt:FFMAx3:HFMA2 EOE", "one:DFMA"):
        made = steps(name)
        assert not {r for copy in made for r in copy.reads()} & {r for copy in made for r in copy.writes()}


def test_accumulation_reads_what_it_writes():
    """With `c=d` the third source is the destination, an even register; `c=d12` has 12 destinations."""
    for copy in steps("acc:FFMA:EOE c=d"):
        assert sources(copy)[2] == copy.writes()[0]
        assert copy.writes()[0] % 2 == 0
    assert len({copy.writes()[0] for copy in steps("acc:FFMA:EEx c=d12")}) == 12


def test_equal_letters_are_one_register():
    """In `aba` the first and the last place read one register, and the middle another of the same bank."""
    for copy in steps("same:FFMA:aba O"):
        first, middle, last = sources(copy)
        assert first == last != middle
        assert first % 2 == middle % 2 == 1


@pytest.mark.parametrize(("name", "kept"), [
    ("reuse:FFMA:a fixed EEE reuse a", {"a"}),
    ("reuse:FFMA:ab fixed EEE reuse ab", {"a", "b"}),
    ("reuse:DFMA:ab fixed 000 reuse ab", {"a", "b"}),
    ("const:FFMA:a fixed EEE noreuse", set()),
])  # fmt: skip
def test_fixed_places_keep_their_register(name, kept):
    """The places that are fixed hold one register throughout, flagged where the name says reuse."""
    made = steps(name)
    for letter in kept | {"a"}:
        assert len({o.index for copy in made for place, o in copy.slots() if place == letter}) == 1
    for copy in made:
        assert {letter for letter, o in copy.slots() if isinstance(o, Register) and o.reuse} == kept


@pytest.mark.parametrize(("group", "size"), [("pairs", 2), ("quads", 4)])
def test_a_group_keeps_its_register_until_the_last(group, size):
    """The first source is the same within pairs or quads, and flagged in all but the last copy of each."""
    made = steps(f"reuse:FFMA:a {group} EEE reuse a")
    for i, copy in enumerate(made[:40]):
        assert sources(copy)[0] == sources(made[i - i % size])[0]
        assert copy.operands[1].reuse == (i % size < size - 1)


@pytest.mark.parametrize(("stall", "stays"), [(1, True), (3, False), (7, True)])
def test_the_control_code_is_that_of_the_name(stall, stays):
    """Every copy has the stall count and the yield bit of the name."""
    for name in ("FFMA:EOE", "FFMAaaa"):
        made = steps(f"stall:{name} stall{stall} yieldbit{int(stays)}")
        assert {(copy.control.stall, copy.control.yields) for copy in made} == {(stall, not stays)}


@pytest.mark.parametrize(("name", "number"), [
    ("FFMAx2:LDS32x1:n2=73", 73), ("FFMAx35:LDS64x1:n2=7", 7), ("FFMAx1:IMADx3:n2=163", 163),
    ("FFMAx7:MUFUx1:n2=28", 28), ("DFMAx1:LDS128x3:n2=163", 163),
])  # fmt: skip
def test_a_mix_has_as_many_of_the_second_as_its_name_counts(name, number):
    """Of 217 copies `n2` are of the second operation, as the measured file counted them."""
    made, second = steps(f"mix:{name}"), name.split(":")[1]
    wanted = {"LDS3": "LDS", "LDS6": "LDS.64", "LDS1": "LDS.128", "IMAD": "IMAD", "MUFU": "MUFU.EX2"}[second[:4]]
    assert len(made) == 217
    assert sum(copy.row.mnemonic == wanted for copy in made) == number


def test_alternation_puts_the_second_last():
    """Three of the first are followed by one of the second."""
    made = [copy.row.mnemonic for copy in steps("alt:FFMAx3:LOP3 EEO")]
    assert made[:8] == ["FFMA", "FFMA", "FFMA", "LOP3"] * 2


def test_a_number_takes_no_bank():
    """With an immediate or a uniform register an FFMA reads two registers, from the banks of the name."""
    for name in ("imm:FFMA R,imm,R EO", "ur:FFMA R,UR4,R EO"):
        for copy in steps(name):
            assert [r % 2 for r in sources(copy)] == [0, 1]
            assert isinstance(copy.operands[2], Immediate)


@pytest.mark.parametrize("name", ["bank2:TEX:EEE", "bank2:FFMA:EEX", "mix:FFMA", "stall:FFMA", "nothing:FFMA"])
def test_an_unknown_name_has_no_stream(name):
    """A name of no known form has no stream."""
    kind, _, rest = name.partition(":")
    assert edited(kind, rest, 4) is None
