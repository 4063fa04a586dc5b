"""`gpusim tune FILE.toml --budget N`: short trials, full ones of the best, and what that may have cost."""

import json

import pytest
from space_files import SPACE, needs_compiler, written

from gpusim.analysis.search.code.code_tuning import CodeTrial, Short
from gpusim.analysis.search.code.halving import LONG, SHORT
from gpusim.commands.main import execute
from gpusim.commands.search.code.budget import FULL, halved
from isa.errors import UserError

CODES = [f"c{n}" for n in range(16)]
WIDE = SPACE.replace("[64, 128, 2048]", "[64, 96, 128, 256, 2048]")


def short(code, instructions, time, reason=""):
    """Return the outcome of a short trial."""
    return CodeTrial("m", {"P": code}, code, short=[] if reason else [Short(instructions, time, 0.5)], reason=reason)


def searched(budget, predictions, known=None, codes=CODES):
    """Return which codes ran with how many instructions, in order, and the last that became known of each."""
    ran, last = {}, dict(known or {})

    def run(instructions, some):
        ran[instructions] = list(some)
        for code in some:
            time = predictions.get(code, 100.0 + int(code[1:]))
            if instructions == FULL:
                yield CodeTrial("m", {"P": code}, code, reason="full")  # any that is not left out
            else:
                yield short(code, instructions, time, "refused" if time == 0 else "")

    for found in halved(codes, budget, known or {}, run):
        last[found.code] = found
    return ran, last


def test_the_best_of_each_round_go_on():
    """16 points for 6 full trials: short trials of all, longer ones of the best 8, full ones of the best 2."""
    ran, last = searched(6, {"c9": 1.0, "c3": 2.0})
    assert {length: len(some) for length, some in ran.items()} == {SHORT: 16, LONG: 8, FULL: 2}
    assert ran[FULL] == ["c9", "c3"]
    assert ran[LONG][:2] == ["c9", "c3"]
    assert [one.instructions for one in last["c9"].short] == [SHORT, LONG]
    assert last["c15"].left_out


def test_without_a_budget_all_run_in_full():
    """None and a budget of all points are full trials of all, and nothing else."""
    for budget in (None, 16, 99):
        ran, _ = searched(budget, {})
        assert ran == {FULL: CODES}


def test_refused_points_take_no_place():
    """A point whose short trial is refused has neither a longer nor a full one, others take its place."""
    ran, last = searched(6, {"c0": 0, "c1": 0})
    assert len(ran[LONG]) == 8
    assert {"c0", "c1"} & {*ran[LONG], *ran[FULL]} == set()
    assert last["c0"].reason == "refused"


def test_an_interrupted_search_ends_as_one_that_was_not():
    """What is on file runs no second time, and decides as it does in one go."""
    ran, whole = searched(6, {"c9": 1.0, "c3": 2.0})
    for cut in (4, 14):
        known = {code: short(code, SHORT, whole[code].short[0].milliseconds) for code in CODES[:cut]}
        again, last = searched(6, {"c9": 1.0, "c3": 2.0}, known)
        assert again[SHORT] == CODES[cut:]
        assert again[FULL] == ran[FULL]
        assert last == whole


def test_a_space_without_short_trials_is_refused():
    """Where no point has a prediction the error names the option; where some have, the others come last."""
    with pytest.raises(UserError, match="--budget 6: no point has a short trial; leave it out"):
        searched(6, dict.fromkeys(CODES))
    ran, _ = searched(6, {"c0": None, "c1": None})
    assert {"c0", "c1"} & {*ran[LONG], *ran[FULL]} == set()


def document(capsys, path, *options):
    """Return what a command line that succeeds says of its machine."""
    assert execute(["tune", str(path), "--machine", "a100", "--jobs", "1", *options, "--json"]) == 0
    return json.loads(capsys.readouterr().out)["machines"][0]


@needs_compiler
@pytest.mark.jit
@pytest.mark.long
def test_a_budget_is_spent_and_told(tmp_path, capsys):
    """Within a budget fewer points have a full trial, with the same time as without; the account adds up."""
    path, out = written(tmp_path, WIDE), tmp_path / "results.jsonl"
    plain, found = document(capsys, path), document(capsys, path, "--budget", "8", "--results", str(out))
    times = {json.dumps(one["point"]): one["figures"]["milliseconds"] for one in plain["ranking"]}
    assert "budget" not in plain
    account = found["budget"]
    points = [one["points"] for one in account["rounds"]]
    assert points == sorted(points, reverse=True)
    assert found["launches"] == points[-1] < plain["launches"] == points[0]
    assert len(account["left_out"]) + found["simulated"] == plain["simulated"]
    for one in found["ranking"]:
        assert times.get(json.dumps(one["point"]), one["figures"]["milliseconds"]) == one["figures"]["milliseconds"]
        assert "seconds" not in one
    assert all(one["seconds"] > 0 for one in account["rounds"])
    assert 0 <= account["missed_percent"] <= 100
    again = document(capsys, path, "--budget", "8", "--results", str(out))
    assert again == found
    assert execute(["tune", str(path), "--machine", "a100", "--budget", "8", "--results", str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    (begin,) = (place for place, line in enumerate(lines) if line == "within a budget of 8 full trials:")
    shown = lines[begin + 2 :]
    assert shown[0].split() == ["trials", "points", "CPU", "seconds", "each", "error"]
    assert all(str(many) in line.split() for many, line in zip(points, shown[1:4], strict=True))
    assert shown[4] == f"error: standard deviation from {points[-1]} full trials, after one factor"
    assert shown[5].startswith(f"left out: {len(account['left_out'])} points; chance that one is the fastest, ")
    assert len(document(capsys, path, "--top", "99", "--results", str(out))["ranking"]) == plain["simulated"]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (
            ["--budget", "0"],
            "error: gpusim tune: Invalid value for '--budget': ",
        ),
        (
            ["--budget", "3", "--kernel-tuner", "k.json"],
            "error: --kernel-tuner k.json: needs every point; leave --budget",
        ),
    ],
)
def test_bad_budgets_are_one_line(options, line, tmp_path, capsys, monkeypatch):
    """A budget of nothing, and a cache that would lack points, are refused."""
    monkeypatch.chdir(tmp_path)
    assert execute(["tune", str(written(tmp_path)), "--machine", "a100", *options]) == 2
    told = capsys.readouterr().err
    assert told.startswith(line)
    assert told.count("\n") == 1


def test_generated_kernels_have_no_budget(capsys):
    """Their trials are short anyway: the option is refused by name."""
    assert execute(["tune", "sgemm-lai", "--machine", "gtx580", "--budget", "3"]) == 2
    assert capsys.readouterr().err == "error: --budget 3: for space files only; sgemm-lai is none\n"
