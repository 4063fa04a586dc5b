import json
from pathlib import Path

import pytest

from gpusim.commands.main import execute
from gpusim.machine.file import Fact
from gpusim.machine.machine import facts, load, read
from gpusim.machine.trust.grades import CARRIED, GRADES, GUESSED, MEASURED, PUBLISHED, grade, grades
from gpusim.machine.trust.measured import PROGRAM, card_of, of_card

CARD = Path(__file__).parents[1] / "data" / "measured_h200.csv"
SHEET = "sms=128 clock=2520 bandwidth=1008 l2=72 capability=8.9"


def made(capsys, *arguments):
    """Return the document of a command that succeeds."""
    assert execute([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_machine_file_of_a_data_sheet(tmp_path, capsys):
    """Words of a data sheet become numbers with that source, its capability limits; all others are the parent's."""
    path = tmp_path / "rtx4090.toml"
    arguments = ["machines", "new", "RTX 4090", "--like", "rtx3090", "--sheet", SHEET, "-o", str(path)]
    document = made(capsys, *arguments)
    machine, parent = load(str(path)), load("rtx3090")
    assert (machine.name, machine.architecture, machine.key) == ("RTX 4090", "sm_89", "rtx4090")
    assert (machine.chip.sms, machine.chip.shader_mhz, machine.chip.dram_mbs) == (128, 2520, 1008000)
    assert (machine.l2.bytes, machine.limits.blocks) == (72 << 20, 24)
    assert machine.unit == parent.unit
    assert set(document["parents"]) == set(facts("rtx3090")) - set(document["stated"])
    assert document["stated"]["chip.sms"] == {"value": 128, "parent": 82}
    assert all(fact.method == "vendor" for fact in facts(str(path)).values() if "rtx4090.toml" in fact.place)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["new", "x", "--sheet", "smz=3"], "--sheet smz: did you mean sms?"),
        (["new", "x", "--sheet", "sms=none"], "--sheet sms=none: give a number above 0: SMs"),
        (["new", "x", "--sheet", "sms=inf"], "--sheet sms=inf: give a number above 0: SMs"),
        (["new", "x", "--sheet", "capability=4.0"], "--sheet capability=4.0: choose one of 2.0, 2.1, "),
        (["new", "x"], "--sheet: is empty"),
        (["new"], "machines new: give a name"),
        (["gtx580", "--sheet", "sms=3"], "--sheet: is for `machines new`"),
        (["measure", "x"], "machines measure x: takes no name"),
        (["measure", "--read", "nowhere.csv"], "nowhere.csv"),
        (["measure", "--like", "rtx3090"], "--like rtx3090: is for --read, which makes the machine; leave it out"),
        (["gtx580", "--like", "rtx3090"], "--like: is for `machines new`"),
        (["measure", "--differing"], "--differing: compares two machines, and measure makes one; leave it out"),
        (["new", "x", "--sheet", "sms=3", "--differing"], "--differing: compares two machines, and new makes one"),
    ],
)
def test_what_makes_no_machine_is_refused_in_one_line(arguments, message, tmp_path, capsys, monkeypatch):
    """Unknown words, what is no number, missing names: one line, exit code 2, and no file."""
    monkeypatch.chdir(tmp_path)
    assert execute(["machines", *arguments]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_no_machine_is_not_left(tmp_path, capsys):
    """An L2 that is no whole sets is refused as in any machine file, and the file is gone."""
    path = tmp_path / "odd.toml"
    assert execute(["machines", "new", "odd", "--like", "rtx3090", "--sheet", "l2=0.0001", "-o", str(path)]) == 2
    assert "are no whole sets" in capsys.readouterr().err
    assert not path.exists()


def test_a_file_that_exists_is_not_replaced(tmp_path, capsys):
    """What is in its place stays as it is, whether the new file could be one or not."""
    path = tmp_path / "kept.toml"
    path.write_text("mine")
    for sheet in ("sms=100", "l2=0.0001"):
        assert execute(["machines", "new", "x", "--like", "rtx3090", "--sheet", sheet, "-o", str(path)]) == 2
        assert "kept.toml: exists, and may have been edited" in capsys.readouterr().err
    assert path.read_text() == "mine"


def test_measure_replaces_no_file(tmp_path, capsys, monkeypatch):
    """A program of that name, which may have been edited, is left as it is, by its default name too."""
    monkeypatch.chdir(tmp_path)
    for arguments in ([], ["-o", "own.cu"]):
        path = tmp_path / (arguments[-1] if arguments else "measure.cu")
        path.write_text("mine")
        assert execute(["machines", "measure", *arguments]) == 2
        assert f"{path.name}: exists, and may have been edited; name another with --out" in capsys.readouterr().err
        assert path.read_text() == "mine"


def test_a_machine_may_be_like_one_of_a_file(tmp_path, capsys, monkeypatch):
    """The new file extends that of --like by its path from there, also in another folder."""
    (tmp_path / "made").mkdir()
    monkeypatch.chdir(tmp_path)
    made(capsys, "machines", "new", "one", "--like", "rtx3090", "--sheet", "sms=100", "-o", "one.toml")
    document = made(capsys, "machines", "new", "two", "--like", "one.toml", "--sheet", "l2=8", "-o", "made/two.toml")
    assert document["like"] == "one"
    machine = load("made/two.toml")
    assert (machine.chip.sms, machine.l2.bytes) == (100, 8 << 20)


def test_the_program_is_written(tmp_path, capsys):
    """`measure` writes the program, and says how to compile it and what to do with its output."""
    path = tmp_path / "measure.cu"
    assert execute(["machines", "measure", "-o", str(path)]) == 0
    assert path.read_text() == PROGRAM.read_text()
    assert "gpusim machines measure --read card.csv" in capsys.readouterr().out


def test_a_card_reproduces_its_machine_within_2_percent():
    """What the program measured on an H200 gives the numbers of h200.toml, each within 2 %, but for far loads.

    Latencies of the L2 and the DRAM differ by card and SM: here 2.8 % less and 4.6 % more.
    """
    parent = read("h200")
    _, stated = of_card(card_of(CARD.read_text(), CARD.name), parent)
    off = {path: fact.value / parent.facts[path].value - 1 for path, fact in stated.items()}
    assert len(stated) > 50
    far = {"global_memory.latency", *(f"cache.l2_latency_{width}" for width in (32, 64, 128))}
    assert {path for path, by in off.items() if abs(by) > 0.02} <= far
    assert all(abs(off[path]) < 0.05 for path in far)


def test_a_machine_file_of_a_card_has_its_own_sources(tmp_path, capsys):
    """The file states what was measured, by this program and on that day, and extends the machine that it is like."""
    path = tmp_path / "card.toml"
    document = made(capsys, "machines", "measure", "--read", str(CARD), "--like", "rtx3090", "-o", str(path))
    fact = facts(str(path))["unit.dp.latency"]
    assert (fact.value, fact.method) == (8, "measured")
    assert fact.source == "measured, gpusim machines measure, 2026-12-01"
    assert load(str(path)).name == "NVIDIA H200"
    assert document["like"] == "rtx3090"
    assert grade(fact, read(str(path))) == MEASURED
    assert grade(facts(str(path))["pipe.tensor.lanes"], read(str(path))) == CARRIED


def test_what_is_no_output_of_the_program_is_refused(tmp_path, capsys):
    """Another file, and one with what is no number, are refused in one line."""
    path = tmp_path / "card.csv"
    broken = [CARD.read_text().replace("dp.latency,8.0000", f"dp.latency,{word}") for word in ("x", "nan", "inf")]
    for text in ("a,b\n", *broken, CARD.read_text().replace("capability,9.0", "capability,x")):
        assert text != CARD.read_text()
        path.write_text(text)
        assert execute(["machines", "measure", "--read", str(path), "-o", str(tmp_path / "card.toml")]) == 2
        assert capsys.readouterr().err.startswith(f"error: {path}: ")


def test_a_machine_ends_with_grades_by_area(capsys):
    """The grades of a machine's areas add up to its numbers; those that decide and are another card's are named."""
    document = made(capsys, "machines", "rtx3090")
    assert sum(one["numbers"] for one in document["grades"]) == len(document["facts"])
    for one in document["grades"]:
        assert sum(one["shares"].values()) == pytest.approx(100)
        assert set(one["shares"]) == set(GRADES)
    doubtful = {path: how for one in document["grades"] for path, how in one["doubtful"].items()}
    assert doubtful["pipe.fma.lanes"] == CARRIED
    assert doubtful["schedulers.issue_interval"] == GUESSED
    assert execute(["machines", "rtx3090"]) == 0
    screen = " ".join(capsys.readouterr().out.split("how far to trust")[1].split())
    assert screen.count(f"{CARRIED}: ") == screen.count(f"{GUESSED}: ") == 1


def test_another_clock_is_the_same_card(tmp_path):
    """A GTX 580 at another clock has nothing of another card; an RTX 3090 has what is known of Volta and Turing.

    An RTX 3090 Ti is another card than the RTX 3090 whose name its own begins with.
    """
    path = tmp_path / "ti.toml"
    path.write_text('name = "GeForce RTX 3090 Ti"\nextends = "rtx3090"\n')
    assert all(one.shares[MEASURED] == 0 for one in grades(read(str(path)), facts(str(path))))
    same = grades(read("gtx580-1566"), facts("gtx580-1566"))
    assert all(one.shares[CARRIED] == 0 for one in same)
    assert any(one.shares[CARRIED] for one in grades(read("rtx3090"), facts("rtx3090")))


def test_what_names_the_chip_is_not_carried_over():
    """An H100 has what the H200's file says of an H100 alone, or of both; the H200 has the latter, too."""

    def graded(machine, source, method="measured"):
        return grade(Fact(1, source, method, place="h200.toml:1"), read(machine))

    one, both, paper = "measured on an H100, 2026-11-25", "measured on an H200 and an H100, 2026", "NVIDIA H100 paper"
    for machine in ("h100", "h100-pcie"):
        assert [graded(machine, each) for each in (one, both, paper)] == [MEASURED, MEASURED, PUBLISHED]
        assert graded(machine, "measured on an H200, 2026-11-21") == graded(machine, "none found") == CARRIED
        assert graded(machine, one, "guess") == GUESSED
    assert [graded("h200", each) for each in (one, both, paper)] == [CARRIED, MEASURED, PUBLISHED]
    assert graded("l4", "stall counts of ptxas 13.0 for sm_89") == graded("l4", "compute capability 8.9") == PUBLISHED
    assert graded("l4", "compute capability 8") == graded("l4", "ptxas, sm_86") == CARRIED
    assert graded("rtx3090", "seen on an RTX 3090 Ti") == graded("l4", "L40S data sheet") == CARRIED


@pytest.mark.jit
def test_a_run_says_which_numbers_are_of_another_card(capsys):
    """Once, and as one line, where what limits the run follows from them; an H200's are its own."""
    assert execute(["run", "throughput", "-p", "iterations=1", "--machine", "rtx3090"]) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if "from another card" in line]
    assert len(told) == 1
    assert told[0].startswith("note: limited by ")
    assert "register_file.banks" in told[0]
    assert execute(["run", "throughput", "-p", "iterations=1", "--machine", "h200"]) == 0
    assert "from another card" not in capsys.readouterr().err
