import pytest

from isa.errors import UserError
from isa.operands.operand import PT, RZ, Address, Constant, Immediate, Label, Predicate, Register, Special, Texture
from isa.text.assembler import AssemblyError, assemble, parse
from isa.text.printer import show


def operands(text):
    """Return the operands of a one-line program."""
    return assemble(text).instructions[0].operands


@pytest.mark.every
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "FFMA R4, R8, -R12, 1.5",
            (Register(4), Register(8), Register(12, negated=True), Immediate(0x3FC00000, "float")),
        ),
        ("LDS.64 R8, [R2+0x40]", (Register(8), Address(Register(2), 0x40))),
        ("LDS R8, [R2-4]", (Register(8), Address(Register(2), 2**32 - 4))),
        ("LDS R8, [ R2 + 4 ]", (Register(8), Address(Register(2), 4))),
        ("LDS R8, [0x40]", (Register(8), Address(RZ, 0x40))),
        ("LDS R8, [RZ+0x40]", (Register(8), Address(RZ, 0x40))),
        ("MOV R1, c[n]", (Register(1), Constant("n"))),
        ("MOV R1, -0x10", (Register(1), Immediate(0xFFFFFFF0, "int"))),
        ("MOV R1, 4294967295", (Register(1), Immediate(0xFFFFFFFF, "int"))),
        ("MOV RZ, -inf", (RZ, Immediate(0xFF800000, "float"))),
        ("DADD R2, R4, 1e300", (Register(2), Register(4), Immediate(0x7E37E43C8800759C, "double"))),
        ("FADD R2, R4, 0x3f800000", (Register(2), Register(4), Immediate(0x3F800000, "int"))),
        ("S2R R0, TID.X", (Register(0), Special("TID.X"))),
        ("BAR.SYNC 0", (Immediate(0, "int"),)),
        ("BAR.SYNC 1, 64", (Immediate(1, "int"), Immediate(64, "int"))),
        ("TEX R4, tex[A], R2", (Register(4), Texture("A"), Register(2))),
        ("ISETP.LT P0, R1, R2", (Predicate(0), Register(1), Register(2))),
        ("SEL R0, R1, R2, !P3", (Register(0), Register(1), Register(2), Predicate(3, negated=True))),
        ("STG [R4+0x10], R6", (Address(Register(4), 16), Register(6))),
    ],
)
def test_operands_are_read_as_written(text, expected):
    """Each kind of operand is read as the data that it stands for."""
    assert operands(text) == expected


def test_labels_guards_comments_and_semicolons():
    """A label names the next instruction, a guard its predicate; comments and a final semicolon mean nothing."""
    program = assemble("start: a: NOP; // one\n\n# two\n@!P1 BRA end # three\n  @P0\tEXIT\nend:\n")
    assert program.labels == {"start": 0, "a": 0, "end": 3}
    assert [i.guard for i in program.instructions] == [PT, Predicate(1, negated=True), Predicate(0)]
    assert program.instructions[1].operands == (Label("end"),)
    assert [i.line for i in program.instructions] == [1, 4, 5]


def test_layout_does_not_matter():
    """Blanks, comments, number bases and hex case make no difference to the program."""
    spread = "  x :  \n\t LDS.64   R8 ,[R2 + 64]  ;// c\n @PT BRA   x"
    assert assemble(spread) == assemble("x: LDS.64 R8, [R2+0X40]\nBRA x")
    assert show(assemble(spread)) == "x:\n    LDS.64 R8, [R2+0x40]\n    BRA x\n"


def test_resources_are_part_of_the_program():
    """`.shared` and `.local` set the bytes of a block and of a thread."""
    program = assemble(".shared 0x100\n.local 16\nNOP")
    assert (program.shared_bytes, program.local_bytes) == (256, 16)


def test_parse_leaves_launch_directives_to_the_listing():
    """`parse` gives other directives with their place; `assemble` refuses them."""
    (directive,) = parse("NOP\n  .grid 2 3", "f").directives
    assert (directive.name.text, directive.argument.text) == (".grid", "2 3")
    assert (directive.argument.line, directive.argument.column) == (2, 9)
    with pytest.raises(AssemblyError, match=r"^f:2:3: .*; read this as a listing$"):
        assemble("NOP\n  .grid 2 3", "f")


BAD = [
    ("FFMAA R1, R2, R3, R4", 1, "unknown instruction FFMAA; did you mean FFMA?"),
    ("ffma R1, R2, R3, R4", 1, "did you mean FFMA?"),
    ("@!P0  MUFU.RPC R1, R2", 7, "did you mean MUFU.RCP?"),
    ("FADD R1, R2", 1, "takes 3 operands, not 2; write FADD Rd, Ra, Rb"),
    ("FADD R1, , R2", 10, "an operand of FADD is empty"),
    ("EXIT R1", 1, "EXIT takes 0 operands"),
    ("MOV R1, foo", 9, "write a register"),
    ("FADD R255, R1, R2", 6, "above R254"),
    ("MOV R1, R300", 9, "above R254"),
    ("MOV R300, 0", 5, "MOV R300 reaches above R254, the highest register; take R0 to R254"),
    ("LDS.64 R301, [R2]", 8, "take R0 to R252"),
    ("BAR 0", 1, "unknown instruction BAR; did you mean BAR.SYNC?"),
    ("XYZZY R1", 1, "unknown instruction XYZZY; docs/listing.md lists them all"),
    ("LDS R1, [R255]", 9, "there is no R255"),
    ("LDS.64 R3, [R2]", 8, "take R2 or another multiple of 2"),
    ("DADD R4, R6, R9", 14, "take R8 or another multiple of 2"),
    ("STS.128 [R2], R6", 15, "take R4 or another multiple of 4"),
    ("LDS.64 R254, [R2]", 8, "above R254"),
    ("LDS.128 R252, [R2]", 9, "above R254"),
    ("LDS.64 R2, [0x44]", 12, "address 0x44 is misaligned for LDS.64; take a multiple of 8"),
    ("STG.128 [RZ+8], R4", 9, "take a multiple of 16"),
    ("LDS R2, [2]", 9, "take a multiple of 4"),
    ("LDS R1, R2", 9, "write [R2+0x10]"),
    ("LDS R1, [R2+x]", 9, "offset of the address"),
    ("LDS R1, [R2+0x100000000]", 9, "does not fit 32 bits"),
    ("BRA nowhere", 5, "undefined label nowhere; no label is defined"),
    ("loop: BRA lop", 11, "undefined label lop; did you mean loop?"),
    ("a: NOP\n a: NOP", 2, "label a defined twice"),
    ("FFMA R1, 1.0, c[n], R2", 15, "FFMA takes one non-register source; MOV c[n] first"),
    ("IADD R1, 1, 2", 13, "MOV 2 first"),
    ("BAR.SYNC 16", 10, "there is no barrier 16; take 0 to 15"),
    ("BAR.SYNC -1", 10, "there is no barrier -1"),
    ("BAR.SYNC 1, 33", 13, "take a multiple of 32"),
    ("BAR.SYNC 1, 0", 13, "take a multiple of 32 above 0"),
    ("LOP3 R1, R2, R3, R4, 256", 22, "LOP3 takes no number 256; write 0 to 0xff"),
    ("LOP3 R1, R2, R3, R4, -1", 22, "LOP3 takes no number -1"),
    ("WARPSYNC 0x100000000", 10, "write 0 to 0xffffffff"),
    ("HADD2 R1, R2, 1.0", 15, "HADD2 takes two halves; write their patterns in hex"),
    ("HADD2 R1, -R2, R3", 11, "HADD2 can't negate R2"),
    ("BAR.SYNC x", 10, "not an integer"),
    ("BAR.SYNC -R1", 10, "BAR.SYNC can't negate R1"),
    ("BRX R2, there", 9, "no list of labels"),
    ("BRX R2, [there]", 9, "undefined label there"),
    ("DEPBAR.LE SB6, 0", 11, "no dependency barrier"),
    ("FADD R1, R2, 1", 14, "write 1.0, or a pattern in hex"),
    ("FADD R1, R2, 1e39", 14, "beyond the 32-bit range"),
    ("MOV R1, 0x100000000", 9, "does not fit 32 bits"),
    ("MOV R1, -R2", 9, "MOV can't negate R2"),
    ("IMUL R1, -R2, R3", 10, "IMUL can't negate R2"),
    ("FADD -R1, R2, R3", 6, "leave out the -"),
    ("DADD R2, R4, c[x]", 14, "c[x] has 32 bits, DADD takes 64"),
    ("STS.128 [R1], 1.0", 15, "takes no immediate"),
    ("@P7 NOP", 2, "write P0 to P6 or PT"),
    ("@P0", 4, "no instruction after the guard or code"),
    ("ISETP.LT !P1, R1, R2", 10, "leave out the !"),
    ("SEL R1, R2, R3, R4", 17, "not a predicate"),
    ("S2R R1, TID", 9, "not a special register; did you mean TID"),
    ("TEX R1, A, R2", 9, "write tex[buffer]"),
    ("BRA 5", 5, "not a label"),
    ("NOP; NOP", 6, "write one instruction a line"),
    (".shared -1", 9, "whole number"),
    (".shared 5", 9, "5 bytes are no whole 32-bit words; take 8"),
    (".local 18", 8, "18 bytes are no whole 32-bit words; take 20"),
    (".shared 4\n.shared 8", 1, ".shared given twice"),
]


@pytest.mark.every
@pytest.mark.parametrize(("text", "column", "message"), BAD, ids=[text for text, _, _ in BAD])
def test_mistakes_are_reported_with_place_cause_and_fix(text, column, message):
    """A mistake raises AssemblyError: one line with name, line, column, what is wrong and what to write."""
    with pytest.raises(AssemblyError) as caught:
        assemble(text, "bad.asm")
    error, line = caught.value, text.count("\n") + 1
    assert (error.line, error.column) == (line, column)
    assert str(error).startswith(f"bad.asm:{line}:{column}: ")
    assert message in str(error)
    assert ";" in str(error)
    assert "\n" not in str(error)
    assert isinstance(error, UserError)
    assert error.exit_code == 2


def test_negation_is_for_float_rows_and_iadd():
    """Floating-point rows and IADD take `-R` as a source, RZ included."""
    for text in (
        "FFMA R0, -R1, -R2, -R3",
        "DADD R0, -R2, -R4",
        "MUFU.RCP R0, -R1",
        "FSETP.LT P0, -R1, R2",
        "IADD R0, -R1, -RZ",
    ):
        negated = [o.negated for o in operands(text) if isinstance(o, Register)]
        assert any(negated)
