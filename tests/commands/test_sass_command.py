import json
import re

import pytest
from read.fenced import ROOT

from gpusim.commands.main import execute
from isa.errors import UserError
from isa.nvidia.compiler import compile

DATA = ROOT / "tests" / "isa" / "sass" / "data"
CUBIN, DUMP = str(DATA / "sm_90.cubin"), "examples/saxpy.sass"


def test_kernels_are_listed_with_their_resources(capsys):
    """Each kernel of a cubin has a row with its plain name, registers, shared memory and parameters."""
    assert execute(["sass", CUBIN]) == 0
    head, _, *rows = capsys.readouterr().out.splitlines()
    assert head.endswith("sm_90.cubin: sm_90, 2 kernels, 104 instructions")
    assert [row.split() for row in rows] == [
        ["pairs", "24", "8", "0", "0", "2", "_Z5pairs4Pairs"],
        ["flip", "80", "24", "1152", "0", "4", "128", "flip"],
    ]


def test_a_kernel_is_printed_with_codes_labels_and_source_lines(capsys):
    """A line has offset, control code and text; a label and a new line of source stand before the instruction."""
    assert execute(["sass", CUBIN, "pairs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "// /example/variables.cu:23"
    assert lines[1] == "0000  [B------:R-:W-:-:S08]  LDC R1, c[0x0][0x28]"
    label = lines.index(".L_x_0:")
    assert re.fullmatch(r"00c0  \[B------:R-:W-:Y:S00\]  BRA `\(\.L_x_0\)", lines[label + 1])


def test_a_dump_has_no_resources(capsys):
    """Of a text the functions and their code are known, and no resources; JSON has null for these."""
    assert execute(["sass", DUMP, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (kernel,) = document["kernels"]
    assert (document["architecture"], kernel["name"], kernel["instructions"]) == (90, "saxpy", 40)
    assert (kernel["registers"], kernel["parameters"], document["instructions"]) == (None, None, [])
    assert sum(document["mnemonics"].values()) == 40


def test_json_of_a_kernel(capsys):
    """The document of a named kernel has its instructions with code, file and line, and its labels."""
    assert execute(["sass", CUBIN, "flip", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    first = document["instructions"][0]
    assert (first["offset"], first["code"], first["file"]) == (0, "[B------:R-:W0:-:S08]", "/example/variables.cu")
    assert len(document["instructions"]) == document["kernels"][0]["instructions"] == 80
    assert document["labels"]["$flip$_Z6halvedfi"] == 800
    assert document["kernels"][0]["parameters"] == [[0, 8], [8, 4], [12, 1], [16, 8]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([CUBIN, "flop"], "no kernel flop; did you mean flip?"),
        ([CUBIN, "x"], "no kernel x; it has pairs, flip"),
        ([str(DATA / "both.fatbin")], "it holds machine code for sm_80, sm_90; choose one, as in --arch 90"),
        ([CUBIN, "--arch", "80"], "machine code for sm_90, not for sm_80"),
        ([CUBIN, "--nvcc-flags", "-O3"], "neither CUDA C nor PTX to compile with -O3"),
        (["examples/saxpy.asm"], "no instructions; print it with cuobjdump -sass, or with nvdisasm -hex -c"),
        (["nowhere.cubin"], "No such file"),
    ],
)
def test_what_is_not_there_is_refused(capsys, arguments, message):
    """A kernel, an architecture or a file that isn't there is refused in one line, with exit code 2."""
    assert execute(["sass", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert message in error
    assert error.count("\n") == 1


def test_each_error_of_the_compiler_is_a_line(capsys, monkeypatch):
    """Every error of the compiler is printed on a line of its own; the exit code is 2."""

    def refuse(*_):
        raise UserError("k.cu:1:2: one", ["k.cu:3:4: two"])

    monkeypatch.setattr(compile, "compile_file", refuse)
    assert execute(["sass", "k.cu"]) == 2
    assert capsys.readouterr().err == "error: k.cu:1:2: one\nerror: k.cu:3:4: two\n"


def test_options_reach_the_compiler(capsys, monkeypatch):
    """`--nvcc-flags` is split as a shell does, and goes to the compiler with the architecture."""
    asked = []
    made = (DATA / "sm_80.cubin").read_bytes()
    monkeypatch.setattr(compile, "compile_file", lambda *given: asked.append(given) or made)
    assert execute(["sass", "k.cu", "--arch", "80", "--nvcc-flags", "-O3 '-DA=1 2'"]) == 0
    assert asked == [("k.cu", 80, ("-O3", "-DA=1 2"))]
    assert capsys.readouterr().out.startswith("k.cu: sm_80, 2 kernels")
    assert execute(["sass", "k.cu", "--nvcc-flags", "-DA='1"]) == 2
    assert capsys.readouterr().err == "error: --nvcc-flags -DA='1: no closing quotation\n"
