import json

from gpusim.commands.main import execute

WRONG = "[B------:R-:W-:-:S01] MOV R8, 7\n[B------:R-:W-:-:S15] MOV R9, R8\n[B------:R-:W-:-:S01] EXIT\n"


def wrong(folder, text: str = WRONG) -> str:
    """Write a listing whose second instruction reads too early, and return its path."""
    path = folder / "wrong.asm"
    path.write_text(text)
    return str(path)


def test_a_hazard_is_reported_and_ends_with_code_1(capsys, tmp_path):
    """One line names kind, register and both instructions of the hazard; the exit code is 1."""
    assert execute(["hazards", wrong(tmp_path)]) == 1
    head, line = capsys.readouterr().out.splitlines()
    assert head == "wrong: 1 hazard in 1 block on v100"
    assert line.startswith("RAW R8: line 2, pc 1 `MOV R9, R8` reads it before line 1, pc 0 `MOV R8, 7` has written it")


def test_right_codes_have_none(capsys, tmp_path):
    """With a stall count of 4, the latency of MOV, there is no hazard, and the exit code is 0."""
    assert execute(["hazards", wrong(tmp_path, WRONG.replace("S01] MOV", "S04] MOV"))]) == 0
    assert capsys.readouterr().out == "wrong: no hazard in 1 block on v100\n"


def test_json_has_each_hazard(capsys, tmp_path):
    """The document has kernel, machine, blocks and each hazard's fields."""
    assert execute(["hazards", wrong(tmp_path), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["kernel"], document["machine"], document["blocks"]) == ("wrong", "v100", 1)
    (hazard,) = document["hazards"]
    assert (hazard["kind"], hazard["register"], hazard["pc"], hazard["line"], hazard["other"]) == ("RAW", "R8", 1, 2, 0)
    assert document["ended"] is None


def test_a_run_that_faults_still_reports_its_hazards(capsys, tmp_path):
    """A load reads its address too early and faults: the last line says how the run ended; the exit code is 1."""
    text = ".buffer x f32 32\n[B------:R-:W-:-:S01] MOV R1, c[x]\n[B------:R-:W0:-:S01] LDG R2, [R1]\n"
    assert execute(["hazards", wrong(tmp_path, text + "[B0-----:R-:W-:-:S01] EXIT\n")]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith("then the run ended, as wrong values may make it: wrong: line 3, pc 1, ")


def test_a_machine_with_a_scoreboard_has_no_hazards(capsys):
    """A machine with a scoreboard is refused in one line, with exit code 2."""
    assert execute(["hazards", "chain", "--machine", "gtx580"]) == 2
    assert capsys.readouterr().err.startswith("error: gtx580: it obeys no control codes")
