import json

import pytest

from gpusim.commands import main

pytestmark = pytest.mark.jit
ARGUMENTS = ["limits", "chain", "-p", "length=20", "--jobs", "1"]


@pytest.mark.long
def test_the_screen_has_cycles_and_settings_of_each_limit(capsys, monkeypatch):
    """Within 80 columns the screen has each limit with its settings, and says why one is not lifted."""
    monkeypatch.setenv("COLUMNS", "80")
    assert main.execute(ARGUMENTS) == 0
    text = capsys.readouterr().out
    assert "with every limit lifted" in text
    for limit, setting in (("latency", "unit.*.latency=1"), ("pipes", "pipe.*.lanes=32")):
        assert f"\n{limit}: " in text
        assert setting in text
    assert "barriers: not lifted: the kernel has none" in text
    assert all(len(line) <= 80 for line in text.splitlines())


def test_the_document_has_every_setting_by_path(capsys):
    """`--json` has the user's settings, each limit's settings and savings; the savings in order add up."""
    assert main.execute([*ARGUMENTS, "--set", "unit.fp32.latency=10", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["settings"] == {"unit.fp32.latency": 10}
    limits = {each["name"]: each for each in found["study"]["limits"]}
    assert limits["latency"]["settings"]["unit.fp32.latency"] == 1
    assert limits["latency"]["saves_alone"] >= 4 * 19
    saved = sum(each["saves_in_order"] for each in found["study"]["limits"])
    assert saved == found["study"]["cycles"] - found["study"]["ideal"]


@pytest.mark.long
def test_a_listing_that_never_ends_is_given_up(tmp_path, capsys, monkeypatch):
    """A listing that never ends gives one line and exit code 3, as with `run`."""
    (file := tmp_path / "loop.asm").write_text("top:\nBRA top\n")
    monkeypatch.setattr("gpusim.commands.frame.arguments.MAX_CYCLES", 1000)
    assert main.execute(["limits", str(file), "--jobs", "1"]) == 3
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert "still running after 1000 cycles" in captured.err
