import json

from gpusim.commands.main import execute
from gpusim.commands.traffic import ALL, FORWARDED

VLP = ["traffic", "sgemm-vega-vlp", "-p", "m=64", "-p", "n=256", "-p", "k=16", "-p", "beta=0"]


def test_a_row_for_each_level_and_use(capsys):
    """The VLP SGEMM uses no shared memory and no barrier; the L1 reads 16 k of 256 columns of B, and 8 k past them."""
    assert execute(VLP) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["level", "whose", "words", "read", "words", "written"]
    assert ["L1", "B", "6,144", "0"] in [line.split() for line in lines]
    assert not [line for line in lines if line.startswith("shared memory")]
    assert "sgemm-vega-vlp: 0 barrier releases" in lines


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
