import csv
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from gpusim.commands.main import execute

KEYS = ["id", "seed", "what", "published", "ours", "error", "kind", "passed", "note", "seconds"]


def test_the_document_has_every_key_of_a_row(capsys):
    """The JSON document gives each claim with published and computed value, error, kind, verdict, note and seconds."""
    assert execute(["reproduce", "LS30", "LS02", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [list(claim) for claim in document["claims"]] == [KEYS, KEYS]
    first, second = document["claims"]
    assert (first["id"], first["ours"], first["kind"]) == ("LS02", "772 / 1544 / 192.4", "input")
    assert (second["passed"], second["error"]) == (True, 0)
    assert document["summary"]["analytic"] == {"n": 1, "passed": 1, "failed": 0, "without": 0}


def test_the_screen_ends_with_the_totals(capsys):
    """A row for each claim in order, then how many pass, in all and of each kind; a failed claim is no error."""
    assert execute(["reproduce", "LS02", "LS30", "--set", "gtx580:chip.core_mhz=700"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if line[:2] == "LS"] == ["LS02", "LS30"]
    assert "fail" in next(line for line in lines if line.startswith("LS02"))
    assert lines[-3:] == [
        "1 of 2 claims pass; 0 have nothing to compare with",
        "analytic: 1 of 1 pass",
        "input: 0 of 1 pass",
    ]


def test_rows_are_written_to_files(tmp_path, capsys):
    """--csv and --markdown leave the rows in files, whole ones, and nothing else."""
    table, page = tmp_path / "rows.csv", tmp_path / "page.md"
    assert execute(["reproduce", "LS30", "--csv", str(table), "--markdown", str(page)]) == 0
    capsys.readouterr()
    (row,) = csv.DictReader(table.open(newline=""))
    assert list(row) == KEYS
    assert (row["id"], row["ours"]) == ("LS30", "96")
    assert "| LS30 |" in page.read_text()
    assert sorted(tmp_path.iterdir()) == [page, table]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["LS99"], "reproduce LS99: there is no such claim or document; did you mean "),
        (["LS30", "--set", "chip.sms=3"], "--set chip.sms=3: which machine? give --set machine:path=value"),
        (["LS30", "--set", "gtx580:chip.sm=3"], "--set chip.sm: unknown machine key; did you mean chip.sms?"),
        (["LS30", "--set", "gtx58:chip.sms=3"], "machine gtx58: no such machine; did you mean gtx580?"),
        (["LS30", "--csv", "/nowhere/rows.csv"], "/nowhere/rows.csv: there is no directory /nowhere; "),
    ],
)
def test_bad_input_is_told_before_anything_is_computed(arguments, message, capsys):
    """An unknown claim, machine, number or directory ends in one line and exit code 2."""
    assert execute(["reproduce", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {message}")


@pytest.mark.jit
def test_an_interrupt_ends_the_processes_too():
    """Ctrl-C while runs are under way ends with 130 and one line, and no process stays."""
    command = [sys.executable, "-m", "gpusim", "reproduce", "LS49", "--set", "gtx580-1566:chip.sms=1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as running:
        time.sleep(3)
        os.kill(running.pid, signal.SIGINT)
        _, err = running.communicate(timeout=20)
    assert running.returncode == 130
    assert err.decode().splitlines()[-1] == "error: interrupted"
    with pytest.raises(ProcessLookupError):
        os.killpg(running.pid, 0)
