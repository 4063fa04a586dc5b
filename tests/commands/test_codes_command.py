import json

from gpusim.commands.main import execute
from isa.text import listing

LISTING = "    MOV R1, 3\n    IADD R2, R1, 1\n    EXIT\n"
DENSE = """
kernel = "dense"
grid = [1]
block = [1]

[[argument]]
name = "x"
buffer = "float32"
elements = 16
fill = "zero"

[[argument]]
name = "which"
value = 1
type = "int32"
"""


def test_a_listing_is_printed_whole_with_codes(capsys, tmp_path):
    """`codes` prints a listing with its launch, its buffers and a code for each instruction; it can be read again."""
    path = tmp_path / "coded.asm"
    assert execute(["codes", "examples/saxpy.asm", "--machine", "h200"]) == 0
    path.write_text(capsys.readouterr().out)
    kernel = listing.load(path)
    assert (kernel.name, kernel.blocks, [buffer.name for buffer in kernel.buffers]) == ("saxpy", 2, ["x", "y"])
    assert all(instruction.control for instruction in kernel.program.instructions)


def test_the_program_is_printed_with_codes_and_can_be_read_again(capsys, tmp_path):
    """A listing without codes gets them: the move stalls for its 4 cycles; the output assembles."""
    path = tmp_path / "tiny.asm"
    path.write_text(LISTING)
    assert execute(["codes", str(path), "--machine", "h200"]) == 0
    printed = capsys.readouterr().out
    assert "    [B------:R-:W-:-:S04] MOV R1, 3\n" in printed
    assert [i.row.mnemonic for i in listing.read(printed).program.instructions] == ["MOV", "IADD", "EXIT"]


def test_json_tells_whose_the_codes_are(capsys, tmp_path):
    """The document has each instruction's code, and says whether the codes were assigned or given."""
    path = tmp_path / "tiny.asm"
    path.write_text(LISTING)
    assert execute(["codes", str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["machine"], document["assigned"]) == ("v100", True)
    assert document["instructions"][0]["code"] == "[B------:R-:W-:-:S04]"
    path.write_text("    [B------:R-:W-:-:S09] EXIT\n")
    assert execute(["codes", str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["assigned"], document["instructions"][0]["code"]) == (False, "[B------:R-:W-:-:S09]")


def test_a_machine_with_a_scoreboard_has_no_use_for_codes(capsys):
    """A machine with a scoreboard is refused in one line, with exit code 2."""
    assert execute(["codes", "chain", "--machine", "gtx580"]) == 2
    assert capsys.readouterr().err == "error: gtx580: it obeys no control codes; take v100 or h200\n"


def test_machine_code_is_printed_as_sass_prints_it(capsys):
    """Offsets, control codes and text are those of `gpusim sass`; the document has the offset, and the tools' text."""
    assert execute(["sass", "examples/saxpy.sass", "saxpy"]) == 0
    printed = capsys.readouterr().out
    assert execute(["codes", "examples/saxpy.sass"]) == 0
    assert capsys.readouterr().out == printed
    assert execute(["codes", "examples/saxpy.sass", "--json"]) == 0
    one = json.loads(capsys.readouterr().out)["instructions"][14]
    assert (one["pc"], one["offset"], one["line"]) == (14, 0xE0, 0)
    assert (one["code"], one["text"]) == ("[B0-----:R-:W-:Y:S04]", "IMAD.WIDE R2, R0, 0x4, R6")


def test_labels_of_machine_code_are_those_of_sass(capsys, tmp_path):
    """Labels stand before their instructions; the function that a jump table counts from is none."""
    code = "tests/isa/sass/data/launch_90.cubin"
    launch = tmp_path / "dense.toml"
    launch.write_text(DENSE)
    assert execute(["sass", code, "dense"]) == 0
    printed = capsys.readouterr().out
    assert "\n.L_x_31:\n" in printed
    assert execute(["codes", code, "--launch", str(launch)]) == 0
    assert capsys.readouterr().out == printed
