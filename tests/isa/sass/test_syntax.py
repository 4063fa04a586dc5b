from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from isa.nvidia.file.dump import read
from isa.nvidia.lowering.syntax import (
    ZERO,
    Address,
    Constant,
    Number,
    Register,
    Statement,
    Target,
    Word,
    head,
    operand,
    parse,
    show,
)

DATA = Path(__file__).with_name("data")
FORMS = {
    "R12": Register("R", 12),
    "RZ": Register("R", 255),
    "-R4.reuse": Register("R", 4, negated=True, reused=True),
    "|R4|": Register("R", 4, absolute=True),
    "-|R4|": Register("R", 4, negated=True, absolute=True),
    "~R4": Register("R", 4, inverted=True),
    "R4.H0_H0": Register("R", 4, "H0_H0"),
    "!P2": Register("P", 2, inverted=True),
    "PT": Register("P", 7),
    "!UPT": Register("UP", 7, inverted=True),
    "-UR63": Register("UR", 63, negated=True),
    "-URZ": Register("UR", 255, negated=True),
    "B0": Register("B", 0),
    "c[0x0][0x160]": Constant(0, 0x160),
    "-c[0x0][0x160]": Constant(0, 0x160, negated=True),
    "c[0x3][R7]": Constant(3, 0, Register("R", 7)),
    "c[0x3][R7+0x10]": Constant(3, 16, Register("R", 7)),
    "c[0x0][RZ]": Constant(0, 0, Register("R", 255)),
    "cx[UR4][0x8]": Constant(Register("UR", 4), 8),
    "[R2]": Address(Register("R", 2), None, 0),
    "[R2+-0x4]": Address(Register("R", 2), None, -4),
    "[R5+UR5+0x80]": Address(Register("R", 5), Register("UR", 5), 128),
    "[UR4]": Address(None, Register("UR", 4), 0),
    "[0x10]": Address(None, None, 16),
    "[R2.X4]": Address(Register("R", 2, "X4"), None, 0),
    "desc[UR6][R8.64+0x4]": Address(Register("R", 8, "64"), None, 4, Register("UR", 6)),
    "0x690": Number("0x690"),
    "-1.5": Number("-1.5"),
    "+INF": Number("+INF"),
    "`(.L_x_217)": Target(".L_x_217"),
    "SR_TID.X": Word("SR_TID.X"),
    "32@lo(table)": Word("32@lo(table)"),
    "32@hi((kernel + .L_x_0@srel))": Word("32@hi((kernel + .L_x_0@srel))"),
    "SB0": Word("SB0"),
    "2D": Word("2D"),
    "{0,1}": Word("{0,1}"),
}


@pytest.mark.every
@pytest.mark.parametrize(("text", "expected"), FORMS.items())
def test_operands(text, expected):
    """Each form of an operand is read into its parts; RZ, URZ, PT and UPT have the numbers of the encoding."""
    assert operand(text) == expected


def test_a_statement():
    """Guard, mnemonic, modifiers and operands are apart."""
    guard = Register("P", 0, inverted=True)
    parts = Register("P", 1), Register("P", 7), Register("R", 13), Register("UR", 9), Register("P", 7), Register("P", 0)
    expected = Statement("ISETP", ("GE", "U32", "AND", "EX"), parts, guard)
    assert parse("@!P0 ISETP.GE.U32.AND.EX P1, PT, R13, UR9, PT, P0") == expected
    assert parse("EXIT") == Statement("EXIT")
    assert [head(text) for text in ("@!P0 LDG.E.64 R2, [R4.64]", "EXIT")] == ["LDG.E.64", "EXIT"]
    assert parse("RET.REL.NODEC R20 `(k)").operands == (Register("R", 20), Target("k"))


def test_targets_behind_a_register():
    """An indirect branch has a register and an offset, and may name its targets; calls and returns have a label."""
    remark = '  (*"BRANCH_TARGETS .L_x_38,.L_x_39"*)'
    parts = Register("R", 2), Number("-0x160")
    assert parse(f"BRX R2 -0x160{remark}") == parse("BRX R2 -0x160") == Statement("BRX", (), parts)
    assert head(f"@P0 BRX R2 -0x160{remark}") == "BRX"
    for text in ("BRX R2 -0x160", "CALL.REL.NOINC R2 `(kernel)", "RET.REL.NODEC R20 `(kernel)", "CALL.ABS.NOINC R2"):
        assert show(parse(text)) == text


def test_reuse_stands_behind_the_bar():
    """An absolute register that is kept for reuse is printed as it was read."""
    assert parse("FMUL R0, |R11|.reuse, R2").operands[1] == Register("R", 11, absolute=True, reused=True)
    assert show(parse("FMUL R0, -|R11|.reuse, R2")) == "FMUL R0, -|R11|.reuse, R2"


HALVES = ["|R5|.H0_H0", "-|R5|.reuse.H1_H1", "R2.reuse.H0_H0", "-RZ.H0_H0", "c[0x0] [0x178].H0_H0"]


@pytest.mark.parametrize("text", HALVES)
def test_a_part_stands_behind_bars_and_reuse(text):
    """Halves of a register are read, and printed, behind its bars and behind its mark of reuse."""
    one = operand(text)
    assert (one.part, getattr(one, "reused", False)) == (text.rpartition(".")[2], ".reuse" in text)
    assert show(parse(f"HADD2 R0, R1, {text}")) == f"HADD2 R0, R1, {text}"


@pytest.mark.parametrize("text", ["|UR4.H0_H0|", "-|UR4.H1_H1|", "UR4.H0_H0", "|UR4|"])
def test_a_part_of_a_uniform_register_stands_within_its_bars(text):
    """A half of a uniform register, as HADD2 of sm_90 reads it, is read, and printed, between the bars."""
    part = "H0_H0" if "H0" in text else "H1_H1" if "H1" in text else ""
    assert operand(text) == Register("UR", 4, part, negated=text[0] == "-", absolute="|" in text)
    assert show(parse(f"HADD2 R11, -RZ.H0_H0, {text}")) == f"HADD2 R11, -RZ.H0_H0, {text}"


def test_an_operand_is_read_once():
    """The same text gives the same record, so that long code takes no longer than its different operands."""
    assert operand("R12.reuse") is operand("R12.reuse")


@pytest.mark.parametrize("file", ["sm_80.sass"])
def test_texts_of_the_tools_come_back(file):
    """Every instruction that a tool printed is read, and printed as it was."""
    texts = [i.text for s in read((DATA / file).read_text(), file).sections.values() for i in s.instructions]
    assert [show(parse(text)) for text in texts] == texts
    assert len(set(texts)) > 50


@pytest.mark.parametrize("text", ["", "ffma R1", "FFMA R1, R2,, R3", "FFMA R1, [R2", "LDS R1, [R2+R3]", "@P9x NOP"])
def test_other_texts_are_refused(text):
    """A text that is no instruction raises ValueError, which quotes what it can't read."""
    with pytest.raises(ValueError, match=r"is no|adds more"):
        parse(text)


registers = st.builds(
    Register,
    st.just("R"),
    st.integers(0, 255),
    st.sampled_from(["", "64", "H0_H0", "X16"]),
    negated=st.booleans(),
    absolute=st.booleans(),
    reused=st.booleans(),
)
plain = st.builds(Register, st.just("R"), st.integers(0, 255), st.sampled_from(["", "64"]))
uniform = st.builds(Register, st.just("UR"), st.integers(0, 255))
halves = st.builds(
    Register,
    st.just("UR"),
    st.integers(0, 255),
    st.sampled_from(["", "H0_H0", "H1_H1"]),
    negated=st.booleans(),
    absolute=st.booleans(),
)
predicates = st.builds(Register, st.sampled_from(["P", "UP"]), st.integers(0, 7), inverted=st.booleans())
constants = st.builds(Constant, st.integers(0, 17), st.integers(0, 0xFFFF), st.none() | plain, negated=st.booleans())
offsets = st.integers(-(1 << 23), (1 << 23) - 1)
addresses = st.builds(Address, st.none() | plain, st.none() | uniform, offsets, st.none() | uniform)
numbers = st.builds(lambda n: Number(f"{n:#x}"), st.integers(-(1 << 31), (1 << 32) - 1))
operands = registers | halves | predicates | constants | addresses | numbers | st.builds(Target, st.just(".L_x_1"))


@given(st.lists(operands, max_size=6), st.none() | predicates)
def test_what_is_shown_is_read_back(drawn, guard):
    """Any statement of these operands is read back from its text."""
    statement = Statement("IMAD", ("WIDE", "U32"), tuple(drawn), guard)
    assert parse(show(statement)) == statement


def test_numbers():
    """An integer's value is exact; a text with a point, INF or QNAN is a float."""
    values = {"0x10": 16, "-0x4": -4, "7": 7, "-1.5": -1.5, "+INF": float("inf"), "1e-05": 1e-05}
    assert {text: Number(text).value for text in values} == values
    assert Number("-QNAN").is_float
    assert not Number("4").is_float
    assert ZERO["R"] == 255
