"""Machine code is shown by its offsets, as NVIDIA's tools print them, and listings by pc."""

import json
import re

import pytest
from read.fenced import ROOT

from gpusim.commands import main

pytestmark = pytest.mark.jit
SASS, ASM = str(ROOT / "examples" / "saxpy.sass"), str(ROOT / "examples" / "saxpy.asm")
LOAD = "0x0100"  # the offset of its first load
COMMANDS = {
    "run": [],
    "report": [],
    "timeline": ["--cycles", "0:900"],
    "explain": ["--warp", "0", "--cycle", "60"],
}


def shown(capsys, command, file, *options):
    """Return what a command prints of a file."""
    assert main.execute([command, file, *COMMANDS[command], *options]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_screens_of_machine_code_have_offsets(command, capsys):
    """A column `offset` has 16 bytes an instruction in hexadecimal, and no column or phrase has a pc."""
    text = shown(capsys, command, SASS)
    numbers = {int(found, 16) for found in re.findall(r"^ *(?:\d+ +\d+ +|\d+ +)?(0x[0-9a-f]{4}) ", text, re.M)}
    assert numbers
    assert all(number % 16 == 0 and number < 0x280 for number in numbers)
    assert re.search(r"\boffset\b", text)
    assert not re.search(r"\bpc\b", text)


@pytest.mark.parametrize("command", COMMANDS)
def test_screens_of_a_listing_have_pcs(command, capsys):
    """A listing has the column `pc`, and no offset."""
    text = shown(capsys, command, ASM)
    assert re.search(r"\bpc\b", text)
    assert "0x0" not in text


def test_an_offset_stands_beside_its_instruction(capsys):
    """The report's row of the first load has the offset at which `gpusim sass` prints it; memory's goes by its text."""
    first, *_ = (line for line in shown(capsys, "report", SASS, "--all").splitlines() if "LDG.E R2," in line)
    assert first.split()[0] == LOAD
    assert main.execute(["sass", SASS, "saxpy"]) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "LDG.E R2," in line)
    assert int(line.split()[0], 16) == int(LOAD, 16)


@pytest.mark.parametrize(
    ("command", "rows"),
    [("run", "waiting_most"), ("report", "instructions"), ("report", "bottlenecks"), ("explain", "steps")],
)
@pytest.mark.parametrize("file", [SASS, ASM])
def test_documents_have_both(command, rows, file, capsys):
    """`--json` has pc and offset; of a listing, and of rows without an instruction, the offset is -1."""
    found = json.loads(shown(capsys, command, file, "--json"))[rows]
    assert found
    for one in found:
        assert one["offset"] == (16 * one["pc"] if file == SASS and one["pc"] >= 0 else -1)
