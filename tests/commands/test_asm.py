import json
from pathlib import Path

from gpusim.commands.main import execute

LISTING = """.kernel tiny
.shared 128
    S2R R0, TID.X
loop:
    ISETP.LT P0, R0, 4
@P0 BRA loop
    STS [R0], R1
end:
"""


def write(folder: Path, text: str) -> str:
    """Write a listing and return its path."""
    path = folder / "tiny.asm"
    path.write_text(text)
    return str(path)


def test_the_listing_shows_counters_units_and_registers(capsys, tmp_path):
    """Each instruction has its pc, unit, registers written and read; each label has a line of its own."""
    assert execute(["asm", write(tmp_path, LISTING)]) == 0
    headline, *lines = capsys.readouterr().out.replace("\nper ", " per ").splitlines()
    assert headline.startswith("tiny: 1 block of 32 threads, 4 instructions, 2 registers")
    rows = [line.split() for line in lines]
    assert ["0", "special", "R0", "S2R", "R0,", "TID.X"] in rows
    assert ["1", "compare", "P0", "R0", "ISETP.LT", "P0,", "R0,", "4"] in rows
    assert rows.index(["loop:"]) == rows.index(["1", "compare", "P0", "R0", "ISETP.LT", "P0,", "R0,", "4"]) - 1
    assert rows[-2] == ["end:"]
    assert lines[-1] == "1 special, 1 compare, 1 control, 1 shared"


def test_json_holds_the_program(capsys, tmp_path):
    """The JSON document holds resources, labels, counts per unit, and each instruction's line and text."""
    assert execute(["asm", write(tmp_path, LISTING), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["schema_version"], document["registers"], document["shared_bytes"]) == (1, 2, 128)
    assert document["labels"] == {"loop": 1, "end": 4}
    assert document["units"] == {"special": 1, "compare": 1, "control": 1, "shared": 1}
    assert document["instructions"][2] == {
        "pc": 2, "line": 6, "unit": "control", "text": "@P0 BRA loop", "writes": [], "reads": ["P0"]
    }  # fmt: skip


def test_a_mistake_is_reported_with_its_place(capsys, tmp_path):
    """An unknown mnemonic ends with exit code 2 and one line that names file, line, column and the nearest one."""
    path = write(tmp_path, "    FFMB R0, R1, R2, R3\n")
    assert execute(["asm", path]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith(f"error: {path}:1:5: ")
    assert "FFMA" in printed.err
    assert (printed.out, printed.err.count("\n")) == ("", 1)


def test_control_codes_are_shown_and_checked(capsys, tmp_path):
    """A listing with codes is printed with them; one that leaves a code out is refused with place, cause and fix."""
    line = "[B------:R-:W-:Y:S02] FADD R1, R2.reuse, R3"
    assert execute(["asm", write(tmp_path, f"{line}\n[B------:R-:W-:-:S01] EXIT\n"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["instructions"][0]["text"] == line
    assert execute(["asm", write(tmp_path, f"{line}\n    EXIT\n")]) == 2
    assert ":2:5: it has no control code, and those before it do; give every" in capsys.readouterr().err
