import json

from gpusim.commands.main import execute
from isa.assembler import assemble

LISTING = "    MOV R1, 3\n    IADD R2, R1, 1\n    EXIT\n"


def test_the_program_is_printed_with_codes_and_can_be_read_again(capsys, tmp_path):
    """A listing without codes gets them: the sum waits for the move's 4 cycles; the text assembles."""
    path = tmp_path / "tiny.asm"
    path.write_text(LISTING)
    assert execute(["codes", str(path), "--machine", "h200"]) == 0
    printed = capsys.readouterr().out
    assert printed.splitlines()[0] == "    [B------:R-:W-:-:S04] MOV R1, 3"
    assert [i.row.mnemonic for i in assemble(printed).instructions] == ["MOV", "IADD", "EXIT"]


def test_json_tells_whose_the_codes_are(capsys, tmp_path):
    """The document has each instruction's code, and whether the codes were assigned."""
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
    """It is refused in one line, with exit code 2."""
    assert execute(["codes", "chain", "--machine", "gtx580"]) == 2
    assert capsys.readouterr().err == (
        "error: gtx580: it has a scoreboard, and no use for control codes; take v100 or h200\n"
    )
