"""Every command that takes settings reports those that change nothing."""

import json

import pytest
from read.schemas import check_document

from gpusim.commands import main

SAXPY = "examples/saxpy.asm"
IDLE = ["--set", "barrier.latency=99"]
NOTE = "note: barrier.latency=99 changes nothing for saxpy on {}: saxpy has no barrier\n"
COMMANDS = {
    "run": ["run", SAXPY],
    "bound": ["bound", SAXPY],
    "report": ["report", SAXPY],
    "schedule": ["schedule", SAXPY],
    "timeline": ["timeline", SAXPY],
    "explain": ["explain", SAXPY, "--warp", "0", "--cycle", "300"],
    "codes": ["codes", SAXPY, "--machine", "h200"],
    "hazards": ["hazards", SAXPY, "--machine", "h200"],
    "export": ["export", SAXPY, "--format", "csv", "--out", "OUT/t.csv"],
    "view": ["view", SAXPY, "--out", "OUT/t.html"],
    "sweep": ["sweep", SAXPY, "--jobs", "1"],
    "compare": ["compare", SAXPY, "--machine", "gtx580", "--machine", "c2050"],
    "limits": ["limits", SAXPY, "--jobs", "1"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_reports_an_ineffective_setting(name, capsys, tmp_path):
    """Each command reports an ineffective setting in one line on stderr and one entry in its document."""
    arguments = [word.replace("OUT", str(tmp_path)) for word in COMMANDS[name]]
    assert main.execute([*arguments, *IDLE, "--json"]) == 0
    out, err = capsys.readouterr()
    machine = {"codes": "h200", "hazards": "h200", "compare": "gtx580, c2050"}.get(name, "gtx580")
    assert [line for line in err.splitlines(keepends=True) if line.startswith("note:")] == [NOTE.format(machine)]
    document = json.loads(out)
    check_document(document, name)
    (message,) = (document["runs"][0] if name == "view" else document)["ineffective"]
    assert message == {"setting": "barrier.latency", "value": "99", "reason": "saxpy has no barrier"}


def test_an_effective_setting_is_not_reported(capsys):
    """A setting that affects the kernel is reported neither on stderr nor in the document."""
    assert main.execute(["bound", SAXPY, "--set", "global_memory.latency=900", "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "ineffective" not in json.loads(out)


def test_a_policy_is_reported_as_it_was_given(capsys):
    """`--policy` is named, not the path that it sets."""
    assert main.execute(["bound", SAXPY, "--policy", "lrr"]) == 0
    assert (
        capsys.readouterr().err == "note: schedulers.policy=lrr changes nothing for saxpy on gtx580: it is lrr anyway\n"
    )


def test_an_axis_is_reported_if_all_its_values_are_ineffective(capsys):
    """A sweep reports only the axis without effect, one of two, with all its values."""
    axes = ["--set", "shared_memory.banks=16,32", "--set", "global_memory.latency=300,900"]
    assert main.execute(["sweep", SAXPY, "--jobs", "1", *axes]) == 0
    notes = [line for line in capsys.readouterr().err.splitlines() if line.startswith("note:")]
    assert len(notes) == 1
    assert "shared_memory.banks=" in notes[0]
    assert all(value in notes[0] for value in ("16", "32"))


def test_an_energy_is_reported_without_the_energy_option(capsys):
    """Setting an energy is reported as ineffective without --energy, and not with it."""
    arguments = ["run", "examples/vega.asm", "--machine", "mi60", "--set", "energy.register=77777"]
    assert main.execute(arguments) == 0
    assert "energy is not asked for" in capsys.readouterr().err
    assert main.execute([*arguments, "--energy"]) == 0
    assert "changes nothing" not in capsys.readouterr().err


def test_a_space_reads_limits_alone(capsys):
    """The constraints of a search space read limits only: a setting of anything else is reported."""
    assert main.execute(["space", "sgemm-lai", "--set", "branch.latency=2", "--set", "limits.warps=40"]) == 0
    (note,) = capsys.readouterr().err.splitlines()
    assert note.startswith("note: branch.latency=2 changes nothing")


def test_a_machine_that_does_not_fit_is_refused_as_before(capsys):
    """A setting that makes the kernel too large for the SM ends the command with an error and no note."""
    assert main.execute(["bound", SAXPY, "--set", "limits.threads=32"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: saxpy")
    assert "note:" not in err


@pytest.mark.parametrize("values", ["4,8", "8,4"])
def test_the_reason_is_that_of_the_value_that_differs(capsys, values):
    """If one value is the machine's own, the reason is that of the other value; the note keeps the values in order."""
    assert main.execute(["sweep", SAXPY, "--machine", "h200", "--jobs", "1", "--set", f"unit.dp.latency={values}"]) == 0
    note = capsys.readouterr().err.splitlines()[0]
    assert (
        note == "note: unit.dp.latency=4,8 changes nothing for saxpy on h200: saxpy has no instruction of unit class dp"
    )
