"""Calls of the system: which function is called, and what stops a program."""

import pytest

from isa.sass import system
from isa.sass.dump import Encoded, Section
from isa.sass.lower import LoweringError, program

BANK_4 = {0x0: "table", 0x80: "vprintf", 0x88: "__assertfail"}
EXTERNALS = "vprintf", "__assertfail", "free"
LOADED = "MOV R2, 0x88", "LDC.64 R2, c[0x4][R2]", "NOP"


def section(*texts: str) -> Section:
    """A section of instructions with control codes that wait for nothing."""
    return Section([Encoded(16 * i, text, 0, 0x000FE20000000000) for i, text in enumerate(texts)])


def lowered(*texts: str):
    """The program of a kernel in a file that calls the system."""
    return program(
        section(*texts), {4: 0}, function="k", externals=EXTERNALS, addresses=BANK_4, registers=40, shared=0, local=0
    )


def test_an_assertion_is_a_trap_with_its_name():
    """A call of __assertfail by address stops the program; its text has the name, as calls by name have it."""
    found = lowered(*LOADED, "@P0 CALL.ABS.NOINC R2", "EXIT")
    assert found.instructions[3].row.mnemonic == "BPT.TRAP"
    assert str(found.instructions[3].guard) == str(lowered("@P0 EXIT").instructions[0].guard)
    assert found.origins[3].text == "@P0 CALL.ABS.NOINC R2 `(__assertfail)"


def test_the_same_call_by_name_is_the_same_trap():
    """Code for debuggers names the function: nothing is added to the text."""
    found = lowered("CALL.ABS.NOINC `(free)", "EXIT")
    assert found.instructions[0].row.mnemonic == "BPT.TRAP"
    assert found.origins[0].text == "CALL.ABS.NOINC `(free)"


@pytest.mark.parametrize(
    "texts",
    [
        ("MOV R4, 0x80", "LDC.64 R2, c[0x4][R4]", "CALL.ABS.NOINC R2"),
        ("IMAD.MOV.U32 R4, RZ, RZ, 0x80", "LDC.64 R2, c[0x4][R4]", "MOV R4, 0x88", "CALL.ABS.NOINC R2"),
        ("LDC.64 R2, c[0x4][0x80]", "LDC.64 R4, c[0x4][0x88]", "CALL.ABS.NOINC R2"),
        ("CALL.ABS.NOINC `(vprintf)",),
    ],
)
def test_what_is_printed_is_refused_by_its_own_name(texts):
    """The address that was loaded last into the call's register says which function it is; others aren't named."""
    with pytest.raises(LoweringError, match=r"not executed here: a call of vprintf \(1 time, first k\+0x\w+ CALL"):
        lowered(*texts, "EXIT")


@pytest.mark.parametrize("texts", [(), ("LDC.64 R2, c[0x4][R9]",), ("LDC.64 R2, c[0x4][0x0]",)])
def test_a_call_that_says_nothing_may_be_of_each(texts):
    """Without a load of a known address all functions of the system that the file calls are named."""
    with pytest.raises(LoweringError, match=r"a call of vprintf or __assertfail or free \(1 time"):
        lowered(*texts, "CALL.ABS.NOINC R2", "EXIT")


def test_a_file_that_calls_nothing_of_the_system_stays_as_it_is():
    """Its calls by address are of function pointers."""
    code = section("CALL.ABS.NOINC R2", "EXIT")
    assert system.calls(code, (), BANK_4) == (code, {}, [])


def test_a_call_by_an_unknown_address_is_no_trap():
    """In a file that calls nothing but free it may be of a function: it is refused, and does not stop a run."""
    code = section("CALL.ABS.NOINC R2", "EXIT")
    found = system.calls(code, ("free",), {})
    assert found.stops == {}
    assert [what for _, what in found.refused] == ["a call of free"]
