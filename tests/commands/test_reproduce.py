import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from functools import partial

import pytest

from gpusim.commands.main import execute
from gpusim.reproduction import ledger, unclaimed
from gpusim.reproduction.finding import predicted
from gpusim.reproduction.pages import drawing
from gpusim.reproduction.pages.plot import Curve, Plot

KEYS = ["id", "seed", "what", "published", "ours", "error", "kind", "passed", "note", "seconds"]
MORE = ["tolerance", "machines", "runs", "turned_by", "impossible", "tried", "untried"]


def test_the_document_has_every_key_of_a_row(capsys):
    """The JSON document has every key of each claim, in order, and a summary by kind."""
    assert execute(["reproduce", "LS30", "LS02", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [list(claim) for claim in document["claims"]] == [KEYS + MORE] * 2
    first, second = document["claims"]
    assert (first["id"], first["ours"], first["kind"]) == ("LS02", "772 / 1544 / 192.4", "input")
    assert (second["passed"], second["error"]) == (True, 0)
    assert [(claim["tolerance"], claim["machines"]) for claim in (first, second)] == [
        ("exact", ["gtx580"]),
        ("exact", []),
    ]
    assert document["summary"]["counted"] == {"n": 1, "passed": 1, "failed": 0, "without": 0}
    assert [(claim["runs"], claim["turned_by"], claim["tried"]) for claim in document["claims"]] == [
        (0, None, None)
    ] * 2


def test_the_screen_ends_with_the_totals(capsys):
    """A row for each claim in order, then how many pass, in all and by kind; a failed claim is no error."""
    assert execute(["reproduce", "LS02", "LS30", "--set", "gtx580:chip.core_mhz=700"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if line[:2] == "LS"] == ["LS02", "LS30"]
    assert "fail" in next(line for line in lines if line.startswith("LS02"))
    assert lines[-3:] == [
        "1 of 2 claims pass; 0 have nothing to compare with",
        "counted: 1 of 1 pass",
        "input: 0 of 1 pass",
    ]


def test_rows_are_written_to_files(tmp_path, capsys):
    """--csv and --markdown write the rows to two complete files, and no other file is left."""
    table, page = tmp_path / "rows.csv", tmp_path / "page.md"
    assert execute(["reproduce", "LS30", "--csv", str(table), "--markdown", str(page)]) == 0
    capsys.readouterr()
    (row,) = csv.DictReader(table.open(newline=""))
    assert list(row) == [*KEYS, *MORE, "set"]
    assert (row["id"], row["ours"], row["tolerance"], row["machines"], row["set"]) == ("LS30", "96", "exact", "", "")
    assert "| LS30 |" in page.read_text()
    assert sorted(tmp_path.iterdir()) == [page, table]


def test_changed_machines_are_reported_everywhere(tmp_path, capsys):
    """The screen, the page, each CSV row and the document all state the changed settings."""
    table, page, given = tmp_path / "rows.csv", tmp_path / "page.md", "gtx580:chip.core_mhz=700"
    files = ["--csv", str(table), "--markdown", str(page)]
    assert execute(["reproduce", "LS02", "LS13", "--set", given, *files]) == 0
    assert capsys.readouterr().out.startswith(f"on changed machines: {given}\n")
    assert [row["set"] for row in csv.DictReader(table.open(newline=""))] == [given] * 2
    assert f"On changed machines: {given}.\n" in page.read_text().split("## ")[0]
    assert execute(["reproduce", "LS02", "--set", given, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["set"] == {"gtx580": {"chip.core_mhz": "700"}}


def test_tolerance_and_machines_are_on_the_screen(capsys):
    """Each row shows the claim's tolerance and the machines on which it was computed."""
    assert execute(["reproduce", "LS14"]) == 0
    assert "tolerance: 0.1 %; on gt200, gtx580, gtx680-speculated; " in capsys.readouterr().out


def test_a_setting_that_no_claim_uses_is_reported(capsys):
    """A warning names the unused machine and the used ones; settings of used ones get no warning."""
    assert execute(["reproduce", "LS16", "LS02", "--set", "gt200:chip.sms=3"]) == 0
    message = "none of these claims uses gt200; they use gtx580, gtx580-1566"
    assert capsys.readouterr().err == f"warning: --set gt200: {message}\n"
    assert execute(["reproduce", "LS16", "--set", "gtx580-1566:chip.sms=3"]) == 0
    assert capsys.readouterr().err == ""


def test_one_file_cannot_be_both(tmp_path, monkeypatch, capsys):
    """One file for --csv and --markdown, in two spellings, is refused before anything is computed."""
    monkeypatch.chdir(tmp_path)
    assert execute(["reproduce", "LS30", "--csv", str(tmp_path / "rows"), "--markdown", "rows"]) == 2
    assert capsys.readouterr() == ("", "error: --markdown rows: --csv writes this file; name another\n")
    assert execute(["reproduce", "LS30", "--sensitivity", "--tried", "rows", "--csv", "rows"]) == 2
    assert capsys.readouterr() == ("", "error: --tried rows: --csv writes this file; name another\n")
    assert list(tmp_path.iterdir()) == []


def by_policy(bench):
    """Pass under one policy alone."""
    return predicted(33.3 if bench.machine("gtx580").schedulers.policy == "gto" else 0)


TURNED = "gtx580:schedulers.policy=gto"


@pytest.mark.long
def test_what_turns_a_claim_is_reported_everywhere(monkeypatch, tmp_path, capsys):
    """--sensitivity adds what turns a verdict to the screen, the page, the table and the document."""
    monkeypatch.setattr(ledger, "FINDERS", {"LS18": by_policy})
    table, page, tried = (tmp_path / name for name in ("rows.csv", "page.md", "tried.csv"))
    arguments = ["reproduce", "LS18", "--sensitivity", "--tried", str(tried)]
    assert execute([*arguments, "--csv", str(table), "--markdown", str(page)]) == 0
    message = next(line for line in capsys.readouterr().out.splitlines() if "turned by" in line)
    found = re.fullmatch(rf"LS18 turned by {TURNED} of (\d+)", message)
    (row,) = csv.DictReader(table.open(newline=""))
    assert (row["turned_by"], row["tried"]) == (TURNED, found[1])
    assert f"| {TURNED} of {found[1]} |" in page.read_text()
    assert len(list(csv.DictReader(tried.open(newline="")))) == int(found[1])
    for again in (arguments, [word for word in arguments if word != "--sensitivity"]):
        assert execute([*again, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["claims"][0]["turned_by"] == [TURNED]


def test_what_is_out_of_date_is_not_shown(monkeypatch, tmp_path, capsys):
    """Of a claim that comes to something else by now, --tried alone shows nothing and tries nothing."""
    monkeypatch.setattr(ledger, "FINDERS", {"LS18": by_policy})
    tried = tmp_path / "tried.csv"
    tried.write_text(f"id,set,of,ours,passed\nLS18,{TURNED},000000000000,33.3,pass\n")
    assert execute(["reproduce", "LS18", "--tried", str(tried), "--json"]) == 0
    (claim,) = json.loads(capsys.readouterr().out)["claims"]
    assert (claim["turned_by"], claim["tried"], claim["untried"] > 0) == ([], 0, True)
    assert len(tried.read_text().splitlines()) == 2


@pytest.mark.long
def test_plots_are_drawn_and_shown_on_the_page(monkeypatch, tmp_path, capsys):
    """--plots draws the plots of the chosen documents, and the page shows them with their notes under the document."""
    pytest.importorskip("matplotlib")
    plot = Plot("a title", "x", "y", (Curve("c", (1, 2), (3, 4)),), note="A note.")
    monkeypatch.setattr(drawing, "PLOTS", {"lai-figure-7": lambda _: plot, "tan-figure-7": lambda _: plot})
    page, folder = tmp_path / "page.md", tmp_path / "pictures"
    assert execute(["reproduce", "LS30", "--markdown", str(page), "--plots", str(folder)]) == 0
    assert f"\n\n{folder / 'lai-figure-7.svg'}: a title\n\n1 of 1 claims pass" in capsys.readouterr().out
    assert execute(["reproduce", "LS30", "--json", "--plots", str(folder)]) == 0
    json.loads(capsys.readouterr().out)
    assert [path.name for path in folder.iterdir()] == ["lai-figure-7.svg"]
    assert "\n![a title](pictures/lai-figure-7.svg)\n\nA note.\n" in page.read_text()


def test_an_interrupt_leaves_the_plots_that_are_drawn(monkeypatch, tmp_path, capsys):
    """Plots are written one by one: Ctrl-C during the second one leaves the first one whole, and no other file."""
    pytest.importorskip("matplotlib")

    def interrupt(_):
        raise KeyboardInterrupt

    plot = Plot("a title", "x", "y", (Curve("c", (1, 2), (3, 4)),))
    monkeypatch.setattr(drawing, "PLOTS", {"lai-figure-7": lambda _: plot, "lai-figure-8": interrupt})
    assert execute(["reproduce", "LS30", "--plots", str(tmp_path)]) == 130
    out, err = capsys.readouterr()
    assert f"{tmp_path / 'lai-figure-7.svg'}: a title\n" in out
    assert err.endswith("error: interrupted\n")
    assert [path.name for path in tmp_path.iterdir()] == ["lai-figure-7.svg"]
    assert (tmp_path / "lai-figure-7.svg").read_text().endswith("</svg>\n")


def test_what_is_not_claimed_is_in_page_and_document(monkeypatch, tmp_path, capsys):
    """Of the documents whose claims are computed, the page and the JSON document have what is not claimed."""
    path, page = tmp_path / "unclaimed.csv", tmp_path / "page.md"
    path.write_text("seed,place,what,because\nlai,section 7,the year,no result\ntan,section 7,the year,no result\n")
    monkeypatch.setattr(unclaimed, "read", partial(unclaimed.read, path))
    assert execute(["reproduce", "LS30", "--json", "--markdown", str(page)]) == 0
    about = {"place": "section 7", "what": "the year", "because": "no result"}
    assert json.loads(capsys.readouterr().out)["unclaimed"] == [{"seed": "lai", **about}]
    text = page.read_text()
    assert "### Not claimed, because\n\n| place | what | because |\n|---|---|---|\n| section 7 | the year |" in text
    assert "- 1 sentence of the documents is not claimed\n" in text


def test_an_error_in_a_claim_ends_with_exit_code_1(monkeypatch, capsys):
    """A claim that raises an error is a row of its own kind, and the exit code is 1."""

    def stumble(_):
        raise ZeroDivisionError("by nought")

    monkeypatch.setattr(ledger, "FINDERS", {"LS01": stumble})
    assert execute(["reproduce", "LS01"]) == 1
    out = capsys.readouterr().out
    assert "ZeroDivisionError: by nought" in out
    assert out.endswith("not computed: 0 of 1 pass\n")


def test_the_screen_fits_80_columns(monkeypatch, capsys):
    """In 80 columns no line is longer and no word is cut, even for the longest kind."""
    monkeypatch.setenv("COLUMNS", "80")
    assert execute(["reproduce", "KZ08", "KZ12", "LS44"]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert "reproducible" in out
    assert "\N{HORIZONTAL ELLIPSIS}" not in out


@pytest.mark.long
@pytest.mark.jit
def test_the_setting_in_the_help_changes_the_claims_it_names(capsys):
    """The `--set` of the help's example changes the result of every claim that the example names."""
    assert execute(["reproduce", "--help"]) == 0
    message = " ".join(re.sub(r"[^\x20-\x7e]", " ", capsys.readouterr().out).split())
    example = re.search(r"Example: gpusim (reproduce [A-Z0-9 ]+) (--set \S+)", message)
    names, setting = example[1].split(), example[2].split()
    rates = []
    for changed in ([], setting):
        assert execute([*names, *changed, "--json"]) == 0
        out, err = capsys.readouterr()
        assert "warning" not in err
        rates.append([claim["ours"] for claim in json.loads(out)["claims"]])
    assert all(before != after for before, after in zip(*rates, strict=True))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["LS99"], "reproduce LS99: there is no such claim or document; did you mean "),
        (["LS30", "--set", "chip.sms=3"], "--set chip.sms=3: which machine? give --set machine:path=value"),
        (["LS30", "--set", "gtx580:chip.sm=3"], "--set chip.sm: unknown machine key; did you mean chip.sms?"),
        (["LS30", "--set", "gtx58:chip.sms=3"], "machine gtx58: no such machine; did you mean gtx580?"),
        (["LS30", "--csv", "/nowhere/rows.csv"], "/nowhere/rows.csv: there is no directory /nowhere; "),
        (["LS30", "--tried", "x.csv"], "--tried x.csv: there is no such file; let --sensitivity write it"),
        (
            ["LS30", "--tried", "x.csv", "--sensitivity", "--set", "gtx580:chip.sms=3"],
            "--tried x.csv: keeps what is tried on machines as they are; leave out --set",
        ),
    ],
)
def test_bad_input_is_reported_before_anything_is_computed(arguments, message, capsys):
    """An unknown claim, machine, number or directory ends in one line and exit code 2."""
    assert execute(["reproduce", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {message}")


@pytest.mark.long
@pytest.mark.jit
def test_an_interrupt_ends_the_processes_too():
    """Ctrl-C during a run ends with 130 and one line, and leaves no process."""
    command = [sys.executable, "-m", "gpusim", "reproduce", "VG27"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as running:
        time.sleep(3)
        os.kill(running.pid, signal.SIGINT)
        _, err = running.communicate(timeout=20)
    assert running.returncode == 130
    assert err.decode().splitlines()[-1] == "error: interrupted"
    with pytest.raises(ProcessLookupError):
        os.killpg(running.pid, 0)
