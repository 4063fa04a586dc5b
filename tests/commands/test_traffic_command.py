import json

import pytest

from gpusim.commands.causes.traffic import ALL, FORWARDED
from gpusim.commands.main import execute

VLP = ["traffic", "sgemm-vega-vlp", "-p", "m=64", "-p", "n=256", "-p", "k=16", "-p", "beta=0"]


def test_a_row_for_each_level_and_use(capsys):
    """The VLP SGEMM uses no shared memory and no barrier; the L1 reads 16 k of 256 columns of B, and 8 k past them."""
    assert execute(VLP) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["level", "whose", "words", "read", "words", "written"]
    assert ["L1", "B", "6,144", "0"] in [line.split() for line in lines]
    assert not [line for line in lines if line.startswith("shared memory")]
    assert "sgemm-vega-vlp: 0 barrier releases" in lines


@pytest.mark.long
@pytest.mark.jit
def test_the_document_has_the_same_counts(capsys):
    """`--json` has numbers by level and use; with forwarding 1 of 8 results is written to the registers."""
    results = []
    for more in ([], ["--forwarding"]):
        assert execute([*VLP, *more, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        (row,) = [w for w in found["words"] if (w["level"], w["whose"]) == ("registers", "results")]
        results.append(row["written"])
    assert results[0] == 64 * 256 * 16 == 8 * results[1]
    assert found["forwarding"] is True
    assert found["arithmetic"] == {"32": 64 * 256 * 16}
    assert found["barriers"] == 0


@pytest.mark.long
@pytest.mark.jit
def test_the_screen_says_whether_forwarded_results_count(capsys):
    """The screen says whether forwarded results count as register accesses, without --forwarding and with it."""
    for more, line in (([], ALL), (["--forwarding"], FORWARDED)):
        assert execute([*VLP, *more]) == 0
        assert line in " ".join(capsys.readouterr().out.split())


def test_a_kernel_that_never_ends_is_given_up(capsys, tmp_path):
    """A listing that never ends stops at --max-instructions, which the error names, with exit code 3."""
    path = tmp_path / "endless.asm"
    path.write_text("loop:\nBRA loop\n")
    assert execute(["traffic", str(path), "--max-instructions", "100"]) == 3
    assert "100" in capsys.readouterr().err


def test_a_machine_tells_the_time_of_its_dram(capsys):
    """With --machine the time is the DRAM's words over its bandwidth; results count as the machine forwards them."""
    found = []
    for more in (["-p", "lanes=64", "--machine", "mi60"], ["--machine", "gtx580"], []):
        assert execute(["traffic", "stream", *more, "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out))
    words = sum(each["read"] + each["written"] for each in found[1]["words"] if each["level"] == "DRAM")
    assert found[1]["dram_milliseconds"] == pytest.approx(4 * words / 192.4e9 * 1000)
    assert [each["machine"] for each in found] == ["mi60", "gtx580", None]
    assert [each["forwarding"] for each in found] == [True, False, False]
    assert found[2]["dram_milliseconds"] is None
    assert execute(["traffic", "stream", "--machine", "gtx580"]) == 0
    line = " ".join(capsys.readouterr().out.split())
    assert f"DRAM of gtx580 (GeForce GTX 580): {found[1]['dram_milliseconds']:.4g} ms" in line


def test_a_machine_that_can_not_run_it_is_refused(capsys):
    """A program of 64 lanes is not counted for a machine of 32."""
    assert execute(["traffic", "sgemm-vega-vlp", "--machine", "gtx580"]) == 2
    assert "is written for warps of 64 lanes; gtx580 has 32" in capsys.readouterr().err


def test_a_setting_needs_a_machine(capsys):
    """--set without --machine is refused in one line."""
    assert execute(["traffic", "transpose", "--set", "chip.dram_mbs=1"]) == 2
    assert capsys.readouterr().err == "error: --set chip.dram_mbs=1: of no machine; name one with --machine\n"
