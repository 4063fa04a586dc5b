import json
from pathlib import Path

import pytest

from gpusim.commands.main import execute

SMALL = ("throughput", "-p", "length=32", "-p", "iterations=2")


def document(capsys, *arguments):
    """Return the JSON document of a comparison that succeeds."""
    assert execute(["compare", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.jit
def test_two_machines_stand_side_by_side(capsys):
    """Each variant has the cycles of `gpusim run`, and the parts of the difference add up to it."""
    found = document(capsys, *SMALL, "--machine", "gtx580", "--machine", "gtx680")
    cycles = []
    for machine in ("gtx580", "gtx680"):
        assert execute(["run", *SMALL, "--machine", machine, "--json"]) == 0
        cycles.append(json.loads(capsys.readouterr().out)["cycles"])
    assert [each["label"] for each in found["variants"]] == ["gtx580", "gtx680"]
    assert [each["figures"]["cycles"] for each in found["variants"]] == cycles
    (difference,) = found["differences"]
    assert difference["of"] == "gtx680"
    assert difference["cycles"] == cycles[1] - cycles[0]
    assert sum(part["cycles"] for part in difference["parts"]) == pytest.approx(cycles[1] - cycles[0])


@pytest.mark.long
@pytest.mark.jit
def test_all_sms_are_compared(capsys):
    """With --sms all each variant takes the cycles that `gpusim run` takes with it; not as many SMs are refused."""
    found = document(capsys, *SMALL, "--machine", "gtx580", "--machine", "gtx680", "--sms", "all")
    cycles = []
    for machine in ("gtx580", "gtx680"):
        assert execute(["run", *SMALL, "--machine", machine, "--sms", "all", "--json"]) == 0
        cycles.append(json.loads(capsys.readouterr().out)["cycles"])
    assert [each["figures"]["cycles"] for each in found["variants"]] == cycles
    assert found["sms"] == "all"
    both = ["compare", *SMALL, "--machine", "gtx580", "--machine", "gtx680", "--sms"]
    assert execute([*both, "all"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "all SMs are simulated"
    assert execute([*both, "7"]) == 2
    assert "--sms 7: give 1, all, or a divisor of the 16 SMs of gtx580" in capsys.readouterr().err


@pytest.mark.jit
def test_the_screen_has_cycles_and_the_largest_part_of_the_difference(capsys, monkeypatch):
    """In 80 columns, the screen has two policies' cycles, the difference, and a line with its largest part."""
    monkeypatch.setenv("COLUMNS", "80")
    both = document(capsys, "mix", "-p", "iterations=2", "--policy", "lrr,gto")
    assert execute(["compare", "mix", "-p", "iterations=2", "--policy", "lrr,gto"]) == 0
    text = capsys.readouterr().out
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["policy=lrr", "policy=gto", "difference"]
    one, other = (each["figures"]["cycles"] for each in both["variants"])
    assert lines[1].split() == ["cycles", f"{one:,}", f"{other:,}", f"{100 * (other / one - 1):+.1f}", "%"]
    message = " ".join(lines[lines.index("") + 1 :])
    assert message.startswith(
        f"policy=gto takes {abs(other - one):,} cycles {'more' if other > one else 'fewer'} than policy="
    )
    assert both["differences"][0]["parts"][0]["cause"] in message


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize(("command", "noun"), [("compare", "variant"), ("sweep", "point")])
def test_estimates_are_told(command, noun, capsys):
    """The screen says how many of the launches have estimated cycles, and by how much these may be wrong."""
    asked = ["-p", "k=512,8192", "--machine", "wide", "--estimate", "0.5%"]
    assert execute([command, "sg4", *asked]) == 0
    line = f"ESTIMATES: cycles of 1 of 2 {noun}s may be wrong by 0.5 % at most"
    assert line in capsys.readouterr().out.splitlines()


@pytest.mark.long
@pytest.mark.jit
def test_copies_are_compared_in_bytes(capsys):
    """Without operations GFLOP/s are null, and the screen has GB/s and percent of the peak; else neither."""
    copies = "offset-copy", "--machine", "gtx480", "--machine", "gtx580"
    found = [each["figures"] for each in document(capsys, *copies)["variants"]]
    assert [(each["gflops"], each["percent_of_peak"]) for each in found] == [(None, None)] * 2
    assert execute(["compare", *copies]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["GB/s", "of", "the", "DRAM", *(f"{each['dram_gbs']:.4g}" for each in found)] in [
        words[:6] for words in lines
    ]
    assert (found[0]["l2_gbs"] is None, found[1]["l2_gbs"]) == (False, None)  # the GTX 580 knows no tags
    assert ["GB/s", "of", "the", "L2", f"{found[0]['l2_gbs']:.4g}", "-"] in lines
    assert not any("GFLOP/s" in words for words in lines)
    assert execute(["compare", *SMALL, "--machine", "gtx480", "--machine", "gtx580"]) == 0
    assert "GB/s" not in capsys.readouterr().out


@pytest.mark.jit
def test_a_variant_makes_several_changes_at_once(capsys):
    """--variant changes several values at once, replaces options of the same name, and is compared with no change."""
    found = document(capsys, *SMALL, "-p", "warps=2", "--variant", "schedulers.count=1 warps=4")
    assert [each["label"] for each in found["variants"]] == ["unchanged", "schedulers.count=1 warps=4"]
    assert [(each["settings"], each["parameters"]["warps"]) for each in found["variants"]] == [
        ({}, "2"),
        ({"schedulers.count": "1"}, "4"),
    ]


@pytest.mark.jit
def test_listings_are_compared(capsys, tmp_path):
    """Two listings are two variants; a listing and its copy take the same cycles."""
    path = tmp_path / "other.asm"
    path.write_text(Path("examples/saxpy.asm").read_text())
    assert execute(["compare", "examples/saxpy.asm", str(path)]) == 0
    assert "takes as many cycles as examples/saxpy.asm." in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (SMALL, "error: compare: 1 variant, and there is room for 2 to 6; give two kernels, machines or values"),
        ([*SMALL, "-p", "warps=1:9"], "error: compare: 9 variants, and there is room for 2 to 6; take gpusim sweep"),
        (["throughptu", *SMALL], "error: no kernel throughptu (did you mean throughput?); there are "),
        ([*SMALL, "--machine", "a", "--machine", "b"], "error: machine a: no such machine; choose one of "),
        (
            [*SMALL, "--variant", "schedulers.count"],
            "error: --set schedulers.count: no value; give --set machine.path=",
        ),
        (["nothing.asm", "throughput"], "error: nothing.asm: No such file or directory; give the path of a listing"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, line, capsys):
    """Wrong input is reported with its place and a fix, before anything is simulated."""
    assert execute(["compare", *arguments]) == 2
    assert capsys.readouterr().err.startswith(line)


def test_a_variant_that_can_not_run_is_named(capsys):
    """If a machine cannot hold a variant's kernel, the comparison ends with the variant's name and the reason."""
    assert execute(["compare", *SMALL, "--set", "limits.registers_per_thread=4,5"]) == 2
    assert capsys.readouterr().err.startswith("error: registers_per_thread=4: throughput: needs ")


@pytest.mark.parametrize("lengths", ["64,2", "2,64"])
def test_a_variant_beyond_its_limit_ends_as_run_does(lengths, capsys):
    """A variant that exceeds --max-cycles, the first or the second, ends the comparison with code 3 and its name."""
    limit = ["--max-cycles", "300"]
    assert execute(["run", "chain", "-p", "length=64", *limit]) == 3
    reason = capsys.readouterr().err.removeprefix("error: ")
    assert execute(["compare", "chain", "-p", f"length={lengths}", *limit]) == 3
    assert capsys.readouterr().err == f"error: length=64: {reason}"
