"""Calls of the system: which function is called, and what stops a program."""

import lzma
from pathlib import Path

import numpy as np
import pytest
from interpreter.interpret import interpret

import gpusim
from isa.architecture import Target
from isa.errors import ExecutionError
from isa.kernel import Kernel
from isa.nvidia.file.dump import Encoded, Section
from isa.nvidia.lowering import system
from isa.nvidia.lowering.lower import program

DATA = Path(__file__).with_name("data")
CODES = "system_debug_80", "system_debug_90", "system_plain_75", "system_plain_80"
ASSERTS = "__assertfail"
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
    ("texts", "name"),
    [
        (("MOV R4, 0x80", "LDC.64 R2, c[0x4][R4]", "CALL.ABS.NOINC R2"), "vprintf"),
        (("IMAD.MOV.U32 R4, RZ, RZ, 0x80", "LDC.64 R2, c[0x4][R4]", "MOV R4, 0x88", "CALL.ABS.NOINC R2"), "vprintf"),
        (("LDC.64 R2, c[0x4][0x80]", "LDC.64 R4, c[0x4][0x88]", "CALL.ABS.NOINC R2"), "vprintf"),
        ((*LOADED, "MOV R8, R2", "IMAD.MOV.U32 R9, RZ, RZ, R3", "MOV R2, R4", "CALL.ABS.NOINC R8"), "__assertfail"),
        (("MOV R5, 0x88", "MOV R4, R5", "LDC.64 R2, c[0x4][R4]", "CALL.ABS.NOINC R2"), "__assertfail"),
        (("CALL.ABS.NOINC `(vprintf)",), "vprintf"),
    ],
)
def test_the_address_that_was_loaded_last_says_which_function_is_called(texts, name):
    """Also through moves: the call is a trap, with the function's name."""
    found = lowered(*texts, "EXIT")
    assert found.instructions[-2].row.mnemonic == "BPT.TRAP"
    assert found.origins[-2].text.endswith(f"`({name})")


@pytest.mark.parametrize("texts", [(), ("LDC.64 R2, c[0x4][R9]",), ("LDC.64 R2, c[0x4][0x0]",)])
def test_a_call_that_says_nothing_stays_one(texts):
    """Without a load of a known address it may be of any function, and goes where the register says."""
    code = section(*texts, "CALL.ABS.NOINC R2", "EXIT")
    assert system.calls(code, EXTERNALS, BANK_4) == (code, {})


@pytest.mark.jit
@pytest.mark.parametrize("engine", ["compiled", "interpreter"])
@pytest.mark.parametrize(
    ("name", "why"), [("free", "free is called, which is not executed"), (ASSERTS, "an assertion")]
)
def test_a_call_of_a_place_that_stands_for_a_function_ends_the_run(engine, name, why):
    """Lanes call address 0x1230, behind the code: the error is told at the call, by the function's name."""
    code = section("MOV R2, 0x1230", "MOV R3, 0x0", "CALL.ABS.NOINC R2", "EXIT")
    ends = program(code, {}, function="k", outside={0x1230: name}, registers=8, shared=0, local=0)
    kernel = Kernel("k", ends, grid=(1, 1, 1), block=(32, 1, 1), target=Target("nvidia", 90))
    with pytest.raises(ExecutionError, match=rf"k: k\+0x20 CALL.ABS.NOINC R2, block 0, warp 0, lane 0: {why}"):
        gpusim.simulate(kernel, "h200") if engine == "compiled" else interpret(kernel)


def test_a_file_that_calls_nothing_of_the_system_stays_as_it_is():
    """Its calls by address are of function pointers."""
    code = section("CALL.ABS.NOINC R2", "EXIT")
    assert system.calls(code, (), BANK_4) == (code, {})


def left(folder, code, which):
    """Return what a kernel of data/system.cu leaves in 32 numbers if it makes a call of a kind, 0 for none."""
    path, architecture = folder / f"{code}.cubin", int(code[-2:])
    path.write_bytes(lzma.decompress((DATA / f"{code}.cubin.xz").read_bytes()))
    o, machine = np.zeros(32, np.uint32), {75: "rtx2080ti", 80: "a100", 90: "h200"}[architecture]
    gpusim.RawModule(path=path).get_function("calls")((1,), (32,), (o, np.uint32(which)), machine=machine)
    return o


@pytest.mark.jit
@pytest.mark.parametrize("code", CODES)
def test_calls_that_are_not_made_stop_nothing(tmp_path, code):
    """At every level of optimisation, with virtual functions in a file that calls free."""
    assert left(tmp_path, code, 0).tolist() == [i * i for i in range(32)]


@pytest.mark.jit
@pytest.mark.parametrize("code", CODES)
def test_an_assertion_that_fails_ends_the_run(tmp_path, code):
    """The message has the call with the function's name, the lane and the reason; the error CUDA's number and line."""
    with pytest.raises(ExecutionError, match=r"CALL.ABS.NOINC .*`\(\w+\).*, lane 3: an assertion fails") as raised:
        left(tmp_path, code, 1)
    assert raised.value.cuda_error == 710
    line = "system.cu:22: void calls(unsigned int *, unsigned int): block: [0,0,0], thread: [3,0,0] Assertion "
    assert raised.value.asserted.endswith(f"{line}`which != 1 || i != 3` failed.\n")


@pytest.mark.jit
@pytest.mark.parametrize("code", CODES)
def test_other_functions_are_executed(tmp_path, capsys, code):
    """A thread prints its number; another gets memory, whose first number is what was there before: 0."""
    assert left(tmp_path, code, 2).tolist() == [i * i for i in range(32)]
    assert capsys.readouterr().out == "4\n"
    assert left(tmp_path, code, 3)[5] == 0


@pytest.mark.jit
@pytest.mark.parametrize("code", CODES)
def test_what_malloc_did_not_give_is_not_taken_back(tmp_path, code):
    """A thread frees the beginning of an array: an error, as on an H200."""
    with pytest.raises(ExecutionError, match="lane 6: ") as raised:
        left(tmp_path, code, 4)
    assert raised.value.cuda_error in (700, 719)
