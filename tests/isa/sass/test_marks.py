"""What may stand before, around and behind an operand: every row refuses what it does not declare."""

from dataclasses import replace
from itertools import chain

import pytest
from matrix_exact import QUADS

from isa.instruction import PREDICATES_READ, PREDICATES_WRITTEN
from isa.nvidia.file.dump import Encoded, Section
from isa.nvidia.lowering import syntax
from isa.nvidia.lowering.lower import LoweringError, UnknownError, lowered, program
from isa.nvidia.lowering.spelling import FETCHES
from isa.nvidia.lowering.syntax import Address, Constant, Number, Register, Statement, Target, Word
from isa.operands.operand_change import PARTS
from isa.row import GLOBAL_UNITS, Unit
from isa.table import FAMILIES, TABLE, machine_family

BARE = [
    row for row in TABLE.values() if not row.is_gcn and machine_family(row.mnemonic) is None and "T" not in row.form
]
OTHERWISE = {  # texts that isa.nvidia.lowering.spelling rewrites, with the letters of their operands
    "R2P": ("R2P PR, R8, 0x7f", "-an"),
    "P2R": ("P2R R4, PR, R8, 0x7f", "d-an"),
    "UR2UP": ("UR2UP UPR, UR8, 0x7f", "-an"),
    "UP2UR": ("UP2UR UR4, UPR, UR8, 0x7f", "d-an"),
    "CCTL": ("CCTL [R8]", "-"),
    "PLOP3.LUT.SIGN.SIGN.SIGN": ("PLOP3.LUT P1, P2, R8.SIGN, R9.SIGN, R10.SIGN, 0x80, 0x8", "PpabcnN"),
    "UPLOP3.LUT.SIGN.SIGN.SIGN": ("UPLOP3.LUT UP1, UP2, UR8.SIGN, UR9.SIGN, UR10.SIGN, 0x80, 0x8", "PpabcnN"),
    **{f"QSPC.E.{x}": (f"QSPC.E.{x} P1, R4, [R8]", "Pdm") for x in "SDLG"},
}
PAIRS = "FADD2", "FMUL2", "FFMA2", "FHADD", "FHFMA"  # see test_pairs.py
APART = (*FETCHES, *PAIRS, QUADS)
SIMPLE = [family for family in FAMILIES if family.base not in OTHERWISE and not family.base.startswith(APART)]
KNOWN_PARTS = {*PARTS, *chain(*chain(*(f.parts.values() for f in FAMILIES))), "SIGN", "64", "U32", "X4", "X16", "ANEW"}
KNOWN_WORDS = sorted(
    {"ANEW"}.union(
        *([*f.modifiers, *f.silent, *f.base.split(".")[1:]] for f in FAMILIES if not f.base.startswith("TLD4"))
    )
)
MARKS = {"-": {"negated": True}, "|": {"absolute": True}, "~": {"inverted": True}}


def wide(row):
    return row.unit in GLOBAL_UNITS and "E" in row.mnemonic.split(".")


def paired(row):
    """Tell whether a row names a place in shared memory and a barrier in a pair of registers."""
    return row.unit is Unit.SYNC and row.words_of("m") == 2


def operand(letter, row, shared=""):
    """A plain operand for a letter."""
    if letter in PREDICATES_READ + PREDICATES_WRITTEN:
        return Register("UP" if letter in shared else "P", 1)
    if letter == "m":
        place = Register("R", 8, "64" if wide(row) or paired(row) else "")
        return Constant(3, 0, Register("R", 8)) if row.unit is Unit.CONSTANT else Address(place, None, 0)
    if letter == "M":
        return Address(Register("R", 8), None, 0)
    known = {"s": Word("SR_TID.X"), "l": Target(".L_x_1"), "B": Register("B", 1), "y": Word("SB0")}
    known |= dict.fromkeys("nN", Number("0x1")) | dict.fromkeys("kt", Register("R", 2))
    return known.get(letter) or Register("UR" if letter in shared else "R", 4 if letter in "dDo" else 8)


def plain(base, row, shared=""):
    """A statement of a row with plain operands."""
    name, *modifiers = base.split(".")
    return Statement(name, tuple(modifiers), tuple(operand(letter, row, shared) for letter in row.form))


def refuses(statement):
    """Tell whether no row takes a statement."""
    try:
        lowered(syntax.show(statement))
    except UnknownError:
        return True
    return False


def marked(one):
    """Yield an operand with each sign and each part, with the sign or part."""
    if isinstance(one, Register | Constant):
        yield from ((mark, replace(one, **fields)) for mark, fields in MARKS.items())
        yield from ((part, replace(one, part=part)) for part in sorted(KNOWN_PARTS - {one.part, ""}))


def declared(family, letter, mark):
    """Tell whether a family says that the source of a letter takes a sign or part."""
    if mark == "~" and letter in PREDICATES_READ:
        return True
    if letter in PREDICATES_READ + PREDICATES_WRITTEN:
        return False
    in_half = letter in (family.singles if mark == "F32" else family.halves) and mark in PARTS
    return mark in family.signs_of(letter) or in_half or family.part(mark, letter) is not None


def wrongly_taken(statement, letters, family):
    """Return the texts with an undeclared mark that are taken, and those with a declared one that are refused."""
    found = []
    for place, letter in enumerate(letters):
        for mark, other in marked(statement.operands[place]):
            operands = (*statement.operands[:place], other, *statement.operands[place + 1 :])
            changed = replace(statement, operands=operands)
            if refuses(changed) == bool(family and declared(family, letter, mark)):
                found.append(syntax.show(changed))
    return found


@pytest.mark.parametrize("family", SIMPLE, ids=lambda family: family.base)
def test_a_row_takes_the_marks_that_it_declares_and_no_others(family):
    """Each sign, bar, ~ and part before or behind each operand of each row is declared, or refuses the load."""
    statement = plain(family.base, family.row(family.base), family.shared)
    assert not refuses(statement), syntax.show(statement)
    assert wrongly_taken(statement, family.row(family.base).form, family) == []


@pytest.mark.parametrize("base", OTHERWISE)
def test_rewritten_texts_keep_their_marks(base):
    """What the table writes in other words loses no sign and no part on the way."""
    text, letters = OTHERWISE[base]
    statement, family = syntax.parse(text), next(f for f in FAMILIES if f.base == base)
    assert not refuses(statement)
    if "SIGN" not in base:
        assert wrongly_taken(statement, letters, family) == []
        return
    for place in (2, 3, 4):
        for mark, other in marked(statement.operands[place]):
            operands = (*statement.operands[:place], other, *statement.operands[place + 1 :])
            assert refuses(replace(statement, operands=operands)), mark


@pytest.mark.parametrize("row", BARE, ids=lambda row: row.mnemonic)
def test_rows_without_a_family_take_plain_operands(row):
    """A row that only listings and machine code without modifiers have takes no mark at all."""
    statement = plain(row.mnemonic, row)
    if row.unit is Unit.TEXTURE:
        assert refuses(statement)  # listings alone name buffers
        return
    if row.mnemonic == "BMOV.32.CLEAR":
        assert not refuses(statement)
    assert wrongly_taken(statement, row.form, None) == []


def test_no_word_is_both_a_modifier_and_a_part():
    """A row's name tells which it is: no family has a word as both, and none has a part for two operands."""
    for family in FAMILIES:
        words = [*{*family.modifiers, *family.silent}, *chain(*family.parts.values())]
        assert len(set(words)) == len(words), family.base
        assert all(len(letters) == 1 for letters in family.parts)


@pytest.mark.parametrize("family", SIMPLE, ids=lambda family: family.base)
def test_a_modifier_that_no_row_declares_refuses(family):
    """Each modifier of any other row, and one of none, is refused where the row does not declare it."""
    statement = plain(family.base, family.row(family.base), family.shared)
    for word in KNOWN_WORDS:
        mnemonic = f"{family.base}.{word}"
        if word in {*family.modifiers, *family.silent} or machine_family(mnemonic) is not family or mnemonic in TABLE:
            continue
        assert refuses(replace(statement, modifiers=(*statement.modifiers, word))), mnemonic


@pytest.mark.parametrize("family", SIMPLE, ids=lambda family: family.base)
def test_operands_of_another_kind_refuse(family):
    """No register is a predicate, none written is uniform but where the row says so, no address is a register."""
    row = family.row(family.base)
    statement = plain(family.base, row, family.shared)
    for place, letter in enumerate(row.form):
        others = [Word("ANEW"), Constant(Register("UR", 4), 0)]
        if letter in "dDo" and row.unit is not Unit.CONSTANT:
            others += [Register("R" if letter in family.shared else "UR", 4), Register("P", 1)]
        if letter in "abc":
            others += [Register("P", 1), Address(Register("R", 8), None, 0)]
            others += [Register("R", 8)] if letter in family.shared else []
        if letter == "m":
            base = Register("R", 8)
            others += [base, *(Address(replace(base, **mark), None, 0) for mark in MARKS.values())]
            others += [Address(replace(base, part="ANEW"), None, 0), Address(None, Register("UR", 4, "ANEW"), 0)]
            others += [] if wide(row) else [Address(base, None, 0, Register("UR", 4))]
            others += [Address(replace(base, part="X4" if wide(row) or paired(row) else "64"), None, 0)]
        for other in others:
            operands = (*statement.operands[:place], other, *statement.operands[place + 1 :])
            assert refuses(replace(statement, operands=operands)), (letter, syntax.show_operand(other))


@pytest.mark.parametrize(
    "text",
    [
        "TEX.LL RZ, R9, R8, R0, UR4, 0x0, 2D, 0x1",
        "TEX.SCR.LL R10, R8, R6, R8, 0x0, 0x58, 2D",
        "TLD4.G R10, R8, R2, UR4, 0x0, 2D",
        "TXQ RZ, R5, R5, TEX_HEADER_DIMENSION, UR4, 0x0, 0x2",
    ],
)
def test_fetches_refuse_what_no_row_declares(text):
    """A texture fetch takes no sign, no part, no other modifier, no second word, and no number but 0 at its handle."""
    statement = syntax.parse(text)
    assert not refuses(statement)
    for place, one in enumerate(statement.operands):
        for mark, other in marked(one):
            operands = (*statement.operands[:place], other, *statement.operands[place + 1 :])
            assert refuses(replace(statement, operands=operands)), (place, mark)
    assert refuses(replace(statement, modifiers=(*statement.modifiers, "ANEW")))
    assert refuses(replace(statement, operands=(*statement.operands, Word("NODEP"))))
    assert refuses(syntax.parse(text.replace("UR4, 0x0", "UR4, 0x8"))) == ("UR4" in text)


@pytest.mark.parametrize(
    "text",
    [
        "CALL.REL.ANEW `(f)",
        "CALL.ABS `(f)",
        "DEPBAR.LE SB0, 0x1, R2",
        "DEPBAR.LE SB0, 0x1, {1}, {2}",
        "CCTL.E.PF2 R2",
        "NANOSLEEP c[0x0][0x160], R2",
        "QSPC.E.S P0, RZ, [R2.U32+UR4]",
        "PLOP3.LUT P1, PT, R2.SIGN, R3.SIGN, P0, 0x40, 0x0",
        "HADD2.BF16_V2 R2, -RZ.H0_H0, R3.F32",
        "HFMA2.FTZ R2, R3.F32, R4, R5",
        "V_ADD_F32 v0, v1, v2",
        "S_ENDPGM",
    ],
)
def test_texts_that_are_rewritten_are_whole(text):
    """What no known text has is not dropped, such as a call's modifiers or a second set of barriers; GCN is none."""
    with pytest.raises(UnknownError):
        lowered(text)


def test_all_of_them_are_in_one_message():
    """Two operands that their rows do not take, and a modifier, are named at once."""
    texts = ("FADD R0, R1.H0_H0, R2", "IADD3 R0, |R1|, R2, R3", "MOV.ANEW R0, R1")
    code = Section([Encoded(16 * i, text, 0, 0x000FE20000000000) for i, text in enumerate(texts)])
    with pytest.raises(LoweringError) as error:
        program(code, {}, function="k", registers=40, shared=0, local=0)
    for words in ("FADD with R1.H0_H0 as an operand", "IADD3 with |R1| as an operand", "MOV.ANEW"):
        assert words in str(error.value)
