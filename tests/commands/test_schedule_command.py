from __future__ import annotations

import json

import pytest
from draws import few
from interpreter.interpret import interpret

from gpusim.commands.main import execute
from isa.text import listing

LATE = """
.kernel late
.block 32
.buffer X f32 32 = hash 1
.buffer Y f32 32
.expect Y = 2 * X + 6
    S2R R0, TID.X
    SHL R1, R0, 2
    IADD R2, R1, c[X]
    IADD R3, R1, c[Y]
    MOV R5, 1.0
    FADD R5, R5, 1.0
    FADD R5, R5, 4.0
    LDG R4, [R2]
    FFMA R5, R4, 2.0, R5
    STG [R3], R5
    EXIT
"""
RUN = ["schedule", "--machine", "gtx580"]


@pytest.fixture
def path(tmp_path):
    """Return the path of a listing whose load comes late."""
    path = tmp_path / "late.asm"
    path.write_text(LATE)
    return path


def test_the_listing_comes_out_reordered(capsys, path):
    """The output can be read again and computes the same; its load is now before the additions."""
    assert execute([*RUN, str(path)]) == 0
    kernel = listing.read(capsys.readouterr().out)
    names = [i.row.mnemonic for i in kernel.program.instructions]
    assert names.index("LDG") < names.index("FADD")
    assert (interpret(kernel).memory == interpret(listing.load(path)).memory).all()


def test_json_tells_each_order(capsys, path):
    """The document has both orders: fewer stalls and cycles, right values, and each instruction's old pc."""
    assert execute([*RUN, str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    given, static = document["orders"]
    assert (given["name"], static["name"], document["chosen"]) == ("as given", "static", "static")
    assert static["stalls"] < given["stalls"]
    assert static["cycles"] < given["cycles"]
    assert (given["values"], static["values"], document["search"]) == ("right", "right", None)
    assert sorted(i["was"] for i in document["instructions"]) == list(range(11))
    assert document["latencies"]["of"]["FADD"] == {"raw": 18, "war": 0}
    assert (given["gflops"], static["gflops"]) == (None, None)  # the listing promises no number of operations


def test_the_search_keeps_the_fastest_order(capsys, path):
    """No order takes fewer cycles than the chosen one, and the document counts the 8 orders judged."""
    assert execute([*RUN, str(path), "--search", "--budget", "8", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    cycles = {order["name"]: order["cycles"] for order in document["orders"]}
    assert list(cycles) == ["as given", "static", "searched"]
    assert cycles[document["chosen"]] == min(cycles.values())
    assert document["search"]["judged"] == 8


SMALL = ["sgemm-lai", "-p", "blocking=2", "-p", "m=32", "-p", "n=32"]
LARGE = ["dgemm-tan", "-p", "variant=v1", "-p", "m=64", "-p", "n=64", "--machine", "c2050"]


@pytest.mark.jit
@pytest.mark.parametrize("kernel", few([SMALL, LARGE], 1), ids=lambda kernel: kernel[0])
def test_a_kernel_of_the_catalog_is_searched_on_a_smaller_launch(kernel, capsys):
    """`--on` sets the sizes for the search alone, which then takes fewer cycles than the launch itself."""
    assert execute(["schedule", *kernel, "-p", "k=32", "--search", "--budget", "2", "--on", "k=16", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["search"]["cycles"] < min(order["cycles"] for order in document["orders"])


def test_the_file_is_written_whole(capsys, path, tmp_path):
    """`--out` gets the program and stdout the comparison; no other file is left."""
    out = tmp_path / "better.asm"
    assert execute([*RUN, str(path), "--out", str(out)]) == 0
    assert "static stalls" in capsys.readouterr().out
    assert listing.load(out).name == "late"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["better.asm", "late.asm"]


def test_an_unchanged_order_prints_one_line(capsys, tmp_path):
    """If nothing moves, one line says so in place of the program; `--out` gets the unchanged program."""
    path, out = tmp_path / "chain.asm", tmp_path / "same.asm"
    path.write_text("MOV R0, 1\nIADD R0, R0, 1\nEXIT\n")
    assert execute([*RUN, str(path)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "nothing moved: static is the order as given"
    assert execute([*RUN, str(path), "--out", str(out)]) == 0
    assert listing.load(out).program.instructions == listing.load(path).program.instructions


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize("kernel", few([SMALL, LARGE], 1), ids=lambda kernel: kernel[0])
def test_a_listing_without_expected_values_says_so(kernel, capsys, tmp_path):
    """A listing can't hold values expected block by block: the file and the screen say so."""
    out = tmp_path / "better.asm"
    assert execute(["schedule", *kernel, "-p", "k=16", "--out", str(out)]) == 0
    line = "a listing has no values to compare this kernel's with: running it checks none"
    assert line in capsys.readouterr().out.splitlines()
    assert f"// {line}" in out.read_text().splitlines()


def test_a_machine_with_codes_gets_them_anew(capsys, path):
    """On h200 the new order gets new control codes: the values of both orders are right."""
    assert execute(["schedule", str(path), "--machine", "h200", "--json"]) == 0
    assert [order["values"] for order in json.loads(capsys.readouterr().out)["orders"]] == ["right", "right"]


def test_wrong_values_end_with_code_1(capsys, path):
    """A listing whose values are not those that it expects is reported, with exit code 1."""
    path.write_text(LATE.replace("2 * X + 6", "2 * X + 7"))
    assert execute([*RUN, str(path)]) == 1
    assert "wrong" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--on", "k=16"], "--on: it is for --search; add that, or leave it out"),
        (["--budget", "5"], "--budget: it is for --search; add that, or leave it out"),
        (["--seed", "0"], "--seed: it is for --search; add that, or leave it out"),
        (["--search", "--on", "variant=v2"], "--on variant=v2: this changes the program; give sizes only"),
        (["--out", "no/such.asm"], "no/such.asm: there is no directory no; create it, or name another"),
        (["--search", "--budget", "0"], "--budget"),
        (["--search", "--seed", "-1"], "--seed"),
    ],
)
def test_bad_input_ends_with_one_line(capsys, arguments, message):
    """Wrong options are reported in one line with the fix, and exit code 2."""
    assert execute(["schedule", "dgemm-tan", "--machine", "c2050", *arguments]) == 2
    err = capsys.readouterr().err
    assert err == f"error: {message}\n" if ":" in message else f"'{message}'" in err
    assert err.count("\n") == 1
