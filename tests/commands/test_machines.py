import json
import re

import pytest
from draws import few

from gpusim.commands.main import execute
from gpusim.machine.machine import facts, names


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return the output of a command that succeeds and prints nothing on stderr."""
    assert execute(arguments) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    return printed.out


def test_the_list_names_every_machine_with_its_peaks(capsys):
    """Each machine has a line with SMs, lanes of a warp, clock, peaks and bandwidth."""
    lines = [line.split() for line in output(capsys, "machines").splitlines()]
    rows = {line[0]: line for line in lines if line[0] in names()}
    assert set(rows) == set(names())
    assert rows["gtx580"][:8] == ["gtx580", "Fermi", "16", "32", "1544", "1581", "198", "192"]
    assert rows["mi60"][3] == "64"


def test_the_list_is_whole_in_80_columns(capsys, monkeypatch):
    """In 80 columns no name and no number is cut, and a line explains the initials of the methods."""
    monkeypatch.setenv("COLUMNS", "80")
    text = output(capsys, "machines")
    assert "\N{HORIZONTAL ELLIPSIS}" not in text
    assert all(len(line) <= 80 for line in text.splitlines())
    assert set(names()) <= set(text.split())
    assert "v vendor, m measured, p paper, d derived, f fitted, g guess." in " ".join(text.split())


def test_one_machine_shows_every_number_with_its_source(capsys, monkeypatch):
    """The table of a machine has every key with value, method, source and note."""
    monkeypatch.setenv("COLUMNS", "600")
    text = output(capsys, "machines", "c2050")
    for path, fact in facts("c2050").items():
        line = next(line for line in text.splitlines() if line.startswith(f"{path} "))
        assert re.split(r"  +", line)[1:3] == [str(fact.value), fact.method]
        assert fact.source in line
        assert fact.note in line


def test_one_machine_is_whole_in_80_columns(capsys, monkeypatch):
    """In 80 columns no key, value, method or source of any machine is cut."""
    monkeypatch.setenv("COLUMNS", "80")
    for name in few(names(), 4):
        text = output(capsys, "machines", name)
        assert "\N{HORIZONTAL ELLIPSIS}" not in text
        assert all(len(line) <= 80 for line in text.splitlines())


def test_json_of_all_machines_has_a_schema_version_and_the_shares(capsys):
    """The JSON document has the schema version, all machines, and shares of methods that add up to 100 %."""
    document = json.loads(output(capsys, "machines", "--json"))
    assert document["schema_version"] == 1
    assert [machine["machine"] for machine in document["machines"]] == names()
    for machine in document["machines"]:
        assert sum(machine["methods"].values()) == pytest.approx(100)


def test_json_of_one_machine_holds_every_fact(capsys):
    """The JSON document of a machine has every key with its fact, and the peak."""
    document = json.loads(output(capsys, "machines", "gtx580-1566", "--json"))
    assert document["peak_gflops"] == pytest.approx(1603.584)
    assert document["facts"].keys() == facts("gtx580-1566").keys()
    assert document["facts"]["chip.shader_mhz"]["value"] == 1566
    assert document["facts"]["load_store.queue"]["to"].startswith("RR-7923 figure 2")


def test_a_machine_may_be_a_file(capsys, tmp_path):
    """A path that ends in .toml is read as a machine file."""
    path = tmp_path / "mine.toml"
    path.write_text('extends = "gtx580"\nname = "Mine"\n')
    assert output(capsys, "machines", str(path)).startswith("mine: Mine (Fermi)")


def test_two_machines_stand_side_by_side_with_the_differences_marked(capsys):
    """Each key of either machine has a line, with a dash for a missing value; a star marks the values that differ."""
    lines = output(capsys, "machines", "gtx580", "c2050").splitlines()[1:-1]
    shown = {line[2:].split()[0]: line for line in lines}
    one, other = facts("gtx580"), facts("c2050")
    assert shown.keys() == one.keys() | other.keys()
    for path, line in shown.items():
        values = [str(each[path].value) if path in each else "-" for each in (one, other)]
        assert line[2:].split() == [path, *" ".join(values).split()]
        assert line.startswith("* ") == (values[0] != values[1])


def test_the_document_of_two_machines_lists_what_differs(capsys):
    """The JSON document holds both values of every key, and the keys whose values differ."""
    document = json.loads(output(capsys, "machines", "gtx580", "gtx580-1566", "--json"))
    assert document["machines"] == ["gtx580", "gtx580-1566"]
    assert document["facts"]["chip.shader_mhz"] == [1544, 1566]
    assert document["differing"] == [path for path, (one, other) in document["facts"].items() if one != other]


def test_differing_shows_only_the_marked_lines(capsys):
    """--differing shows only the marked lines, and the same last line with the counts."""
    every = output(capsys, "machines", "gtx580", "c2050").splitlines()
    few = output(capsys, "machines", "gtx580", "c2050", "--differing").splitlines()
    assert [line.split() for line in few[1:-1]] == [line.split() for line in every[1:-1] if line[0] == "*"]
    assert few[-1] == every[-1]


def test_two_files_of_one_name_are_distinguished(capsys, tmp_path):
    """A file named gtx580.toml compared with gtx580 is labelled by its path."""
    path = tmp_path / "gtx580.toml"
    path.write_text('extends = "gtx580"\n[chip]\nsms = { value = 8, source = "me", method = "guess", note = "half" }\n')
    document = json.loads(output(capsys, "machines", "gtx580", str(path), "--json"))
    assert document["machines"] == ["gtx580", str(path)]
    assert document["differing"] == ["chip.sms"]


def test_differences_of_one_machine_are_refused(capsys):
    """--differing without a second machine ends in one line and exit code 2."""
    assert execute(["machines", "gtx580", "--differing"]) == 2
    assert capsys.readouterr().err == "error: --differing: is for two machines; give two names\n"


def test_more_than_two_machines_are_refused(capsys):
    """Three names end in one line and exit code 2."""
    assert execute(["machines", "gtx580", "c2050", "wide"]) == 2
    assert capsys.readouterr().err == "error: machines: 3 names; give one, or two to compare\n"
