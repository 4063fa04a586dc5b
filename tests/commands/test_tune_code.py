import json
import os
from pathlib import Path

import pytest
from msgspec import structs
from space_files import SOURCE, SPACE, needs_compiler, written

from gpusim.analysis.search.code import code_points
from gpusim.commands.main import execute
from gpusim.commands.search import tune_code
from isa.errors import UserError

UNUSED = SOURCE.replace("BLOCK * PAD", "BLOCK")  # PAD changes nothing
MIXED = SPACE.replace('"BLOCK * EACH <= 512"', '"BLOCK != 128 and EACH * PAD < 4"')
ONE = ("-p", "BLOCK=64", "-p", "EACH=1", "-p", "PAD=1")
pytestmark = [needs_compiler, pytest.mark.jit]


def document(capsys, path, *options):
    """Return the JSON document of a command line that succeeds."""
    assert execute(["tune", str(path), "--jobs", "1", *options, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def rows(path):
    """Return the trials of a results file."""
    return [json.loads(line) for line in path.read_text().splitlines()[1:]]


@pytest.mark.long
def test_points_are_ranked_on_each_machine(tmp_path, capsys):
    """Points are ranked by time, equal code is one launch, what can't be launched is named, and values are right."""
    options = "--machine", "a100", "--machine", "rtx3090", "--top", "9"
    found = document(capsys, written(tmp_path, MIXED, UNUSED), *options)
    assert (found["points"], found["sizes"]) == (6, {"N": 16384})
    assert [one["machine"] for one in found["machines"]] == ["a100", "rtx3090"]
    for one in found["machines"]:
        times = [each["figures"]["milliseconds"] for each in one["ranking"]]
        assert times == sorted(times)
        assert [each["rank"] for each in one["ranking"]] == [1, 1, 3]
        assert (one["simulated"], one["launches"]) == (3, 2)
        assert {each["point"]["BLOCK"] for each in one["without"]} == {2048}
        assert one["without"][0]["reason"] == f"needs 2048 threads per block; {one['machine']} has 1024"
        assert one["check"]["verification"]["values"] == 1024
        assert one["check"]["verification"]["wrong"] == 0
        assert one["elsewhere"][0]["rank"] == 1


@pytest.mark.long
def test_the_screen_names_what_it_shows(tmp_path, capsys):
    """The screen has the ranking, the counts, and the check of the winner's values."""
    assert execute(["tune", str(written(tmp_path)), *ONE, "--machine", "a100", "--jobs", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "sum.toml on a100 (A100), N=16384"
    assert lines[2].split() == ["rank", "ms", "GFLOP/s", "warps", "stall", "reasons", "point"]
    assert lines[3].endswith("BLOCK=64 EACH=1 PAD=1")
    assert "simulated: 1 of 1 point; 1 launch of different machine code" in lines
    assert "values of the fastest: right: 1,024 values in 16 blocks, exact, at N=1024" in lines


@pytest.mark.long
def test_estimated_times_are_told(tmp_path, capsys):
    """A time that follows from two of the SM's four waves has a ~, and the screen counts such points."""
    text = SPACE.replace("N = 16384", "N = 262144")
    few = *ONE, "--machine", "a100", "--set", "chip.sms=32", "--jobs", "1", "--sample", "1"
    assert execute(["tune", str(written(tmp_path, text)), *few]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[3].split()[1].startswith("~")
    assert "estimated (~): 1 point from whole waves" in lines
    (found,) = document(capsys, tmp_path / "sum.toml", *few)["machines"]
    assert (found["ranking"][0]["method"], found["ranking"][0]["simulated_blocks"]) == ("waves", 64)


@pytest.mark.long
def test_bounds_and_seconds_are_told_if_asked_for(tmp_path, capsys):
    """Without --bound no point has a bound; it changes no time. --verbose has the seconds of each stage of a trial."""
    path, options = written(tmp_path), (*ONE, "--machine", "a100")
    plain, bounded = (document(capsys, path, *options, *more)["machines"][0] for more in ((), ("--bound",)))
    (alone,), (also,) = plain["ranking"], bounded["ranking"]
    assert (alone["figures"]["bound_cycles"], alone["figures"]["limits"]) == (0, {})
    assert 0 < also["figures"]["bound_cycles"] <= also["figures"]["cycles"] == alone["figures"]["cycles"]
    assert "stages" not in plain
    assert execute(["tune", str(path), *options, "--jobs", "1", "--verbose"]) == 0
    lines = capsys.readouterr().out.split("CPU seconds by stage:")[1].splitlines()
    assert lines[2].split() == ["stage", "trials", "total", "share", "median", "most"]
    told = {line.split()[0] for line in lines[3:] if line}
    assert {"compile", "read", "decode", "launch", "engine", "other"} <= told


@pytest.mark.long
def test_each_architecture_has_its_own_compilation(tmp_path, capsys, monkeypatch):
    """On two machines a trial has the seconds of its machine's compilation; one that was not compiled has none."""
    compiled, out = tune_code.compiled, tmp_path / "out.jsonl"

    def slow(wanted, **named):
        return structs.replace(compiled(wanted, **named), seconds=float(wanted.architecture))

    monkeypatch.setattr(tune_code, "compiled", slow)
    options = "-p", "BLOCK=64,2048", *ONE[2:], "--machine", "a100", "--machine", "rtx3090", "--verbose"
    document(capsys, written(tmp_path, MIXED), *options, "--out", str(out))
    found = {(one["machine"], one["point"]["BLOCK"]): one.get("seconds", {}) for one in rows(out)}
    assert (found["a100", 64]["compile"], found["rtx3090", 64]["compile"]) == (80, 86)
    assert found["a100", 2048] == found["rtx3090", 2048] == {}


@pytest.mark.long
def test_caches_may_begin_empty(tmp_path, capsys):
    """A point takes longer with --caches cold than with warm ones, from which it loads."""
    path, options = written(tmp_path), (*ONE, "--machine", "a100")
    cold, warm = (document(capsys, path, *options, "--caches", caches)["machines"] for caches in ("cold", "warm"))
    assert cold[0]["median_milliseconds"] > warm[0]["median_milliseconds"]


def test_wrong_values_of_the_winner_are_an_exit_code(tmp_path, capsys):
    """A winner that computes something else than expected is reported, with exit code 1."""
    path = written(tmp_path, SPACE.replace("x + 1", "x + 2"))
    assert execute(["tune", str(path), *ONE, "--machine", "a100", "--jobs", "1"]) == 1
    assert "values of the fastest: WRONG: 1,024 of 1,024 values; " in capsys.readouterr().out


@pytest.mark.long
def test_a_check_that_can_not_run_keeps_the_ranks(tmp_path, capsys):
    """If the check's launch is refused, the ranks are shown with the reason."""
    path = written(tmp_path, SPACE.replace("N = 1024", "N = 16"))
    found = document(capsys, path, *ONE, "--machine", "a100")["machines"][0]
    assert found["ranking"][0]["rank"] == 1
    assert found["check"]["reason"].endswith(
        "grid.0: N // (BLOCK * EACH) is 0, expected `int` >= 1; gpusim schema launch lists the keys"
    )


@pytest.mark.long
def test_a_point_that_does_not_compile_has_the_error_as_its_reason(tmp_path, capsys):
    """Other points are ranked, and the point is named with the compiler's first error."""
    source = f"#if EACH == 1\n#error no\n#endif\n{SOURCE}"
    path = written(tmp_path, source=source)
    found = document(capsys, path, "-p", "BLOCK=64", "-p", "PAD=1", "--machine", "a100")["machines"][0]
    assert [each["point"]["EACH"] for each in found["ranking"]] == [2]
    (without,) = found["without"]
    assert without["point"] == {"BLOCK": 64, "EACH": 1, "PAD": 1}
    assert without["reason"].startswith(f"{tmp_path}/sum.cu:2:")
    assert without["reason"].endswith("#error no")


@pytest.mark.long
def test_an_interrupted_run_goes_on(tmp_path, capsys):
    """Points on file are neither compiled nor simulated again, and the document comes out the same."""
    path, out = written(tmp_path, MIXED, UNUSED), tmp_path / "results.jsonl"
    first = document(capsys, path, "--machine", "a100", "--results", str(out))
    lines = out.read_bytes().splitlines(keepends=True)
    assert len(lines) == 1 + 6
    out.write_bytes(b"".join(lines[:-1]) + lines[-1][:20])
    assert document(capsys, path, "--machine", "a100", "--results", str(out)) == first
    assert sorted(out.read_bytes().splitlines(keepends=True)) == sorted(lines)
    (tmp_path / "sum.cu").write_text("")
    assert execute(["tune", str(path), "--machine", "a100", "--results", str(out)]) == 2
    assert capsys.readouterr().err.startswith(f"error: {out}: results of a source with the hash ")


@pytest.mark.long
def test_results_are_written_for_kernel_tuner(tmp_path, capsys):
    """Each machine has a cache of its own with every combination; what is no point, or can't run, is InvalidConfig."""
    path, cache = written(tmp_path), tmp_path / "k.json"
    document(capsys, path, "-p", "EACH=2", "-p", "PAD=1", "--machine", "a100", "--kernel-tuner", str(cache))
    found = json.loads(cache.read_text())
    assert (found["kernel_name"], found["device_name"], found["problem_size"]) == ("sum", "a100", [16384])
    assert found["tune_params"] == {"BLOCK": [64, 128, 2048], "EACH": [2], "PAD": [1]}
    ran = {key for key, each in found["cache"].items() if each["time"] != "InvalidConfig"}
    assert ran == {"64,2,1", "128,2,1"}


@pytest.mark.long
def test_files_of_several_machines_have_their_names(tmp_path, capsys):
    """For several machines the name of each goes into its file's."""
    options = "--machine", "a100", "--machine", "rtx3090", "--kernel-tuner", str(tmp_path / "k.json")
    document(capsys, written(tmp_path), *ONE, *options)
    assert [json.loads((tmp_path / f"k-{name}.json").read_text())["device_name"] for name in ("a100", "rtx3090")] == [
        "a100",
        "rtx3090",
    ]


@pytest.mark.long
def test_files_of_several_machines_are_named_on_the_screen(tmp_path, capsys):
    """The last lines are the files of each machine; of one machine there is none, as its file has the given name."""
    path, cache = written(tmp_path), str(tmp_path / "k.json")
    machines = "--machine", "a100", "--machine", "rtx3090"
    assert execute(["tune", str(path), *ONE, *machines, "--kernel-tuner", cache, "--jobs", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()[-4:]
    named = [f"{name}: {tmp_path}/k-{name}.json" for name in ("a100", "rtx3090")]
    assert lines == ["", "for Kernel Tuner:", *named]
    assert execute(["tune", str(path), *ONE, *machines[:2], "--kernel-tuner", cache, "--jobs", "1"]) == 0
    assert "k.json" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("option", "other", "cause"),
    [
        ("--t4", ["--kernel-tuner", "k.json"], "k.json: is the file of --kernel-tuner, too; give another file"),
        ("--t4", [], "sum.toml: is read: sum.toml; give another file"),
        ("--kernel-tuner", [], "sum.cu: is read: sum.cu; give another file"),
    ],
)
def test_no_file_takes_anothers_place(option, other, cause, tmp_path, monkeypatch, capsys):
    """A file to write that is read, or that another option writes, is refused, and left as it is."""
    text = written(tmp_path).read_text()
    monkeypatch.chdir(tmp_path)
    assert execute(["tune", "sum.toml", "--machine", "a100", *other, option, cause.partition(":")[0]]) == 2
    assert capsys.readouterr().err == f"error: {option} {cause}\n"
    assert Path("sum.toml").read_text() == text
    assert sorted(one.name for one in tmp_path.iterdir()) == ["sum.cu", "sum.toml"]


def test_what_lacks_here_is_no_reason_of_a_point(tmp_path, capsys, monkeypatch):
    """Where nothing can be compiled for a machine, that is one line before anything is written."""

    def refused(*_):
        raise UserError("CUDA C needs a compiler; install one")

    monkeypatch.setattr(code_points.compile, "compile_source", refused)
    out = tmp_path / "results.jsonl"
    assert execute(["tune", str(written(tmp_path)), "--machine", "a100", "--results", str(out)]) == 2
    assert capsys.readouterr().err == "error: --machine a100: CUDA C needs a compiler; install one\n"
    assert not out.exists()


def test_a_missing_source_has_its_place(tmp_path, capsys):
    """A source that is not there, or no file, is one line, with the place of its name in the space file."""
    path = written(tmp_path)
    (tmp_path / "sum.cu").unlink()
    assert execute(["tune", str(path), "--machine", "a100"]) == 2
    missing = f"{tmp_path}/sum.cu: no such file; name the CUDA source, from this file's folder"
    assert capsys.readouterr().err == f"error: {path}:1:1: {missing}\n"
    os.mkfifo(tmp_path / "sum.cu")
    assert execute(["tune", str(path), "--machine", "a100"]) == 2
    assert capsys.readouterr().err == f"error: {path}:1:1: {tmp_path}/sum.cu: no regular file; name another\n"


@pytest.mark.long
def test_settings_that_do_nothing_are_reported(tmp_path, capsys):
    """A setting that the winner can't feel is a note, and in the document; another one is neither."""
    options = "--machine", "a100", "--set", "unit.sfu.latency=30", "--set", "global_memory.latency=600", "--jobs", "1"
    assert execute(["tune", str(written(tmp_path)), *ONE, *options, "--json"]) == 0
    found = capsys.readouterr()
    assert [one["setting"] for one in json.loads(found.out)["ineffective"]] == ["unit.sfu.latency"]
    assert [line for line in found.err.splitlines() if line.startswith("note: ")] == [
        line for line in found.err.splitlines() if line.startswith("note: unit.sfu.latency=30 changes nothing for sum ")
    ]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--size", "1,1,1"], "error: --size 1,1,1: {} is a space file; give -p NAME=VALUE"),
        (
            ["--stage", "x"],
            "error: --stage x: {} is a space file, which has no stages; -p NAME=VALUE keeps fewer points",
        ),
        (["--machine", "gtx580"], "error: --machine gtx580: executes no machine code; take a10, a100, "),
        (["--machine", "a100", "--machine", "a100"], "error: --machine a100: given twice; leave one out"),
        (["--sample", "none"], "error: --sample none: give a number of blocks, or all"),
        (["--sms", "some"], "error: --sms some: give 1, all, or a divisor of the"),
        (["--sms", "all", "--sample", "4"], "error: --sample 4: of several SMs every block is simulated; leave it out"),
        (["-p", "M=1"], "error: -p M=1: {} has no M; it has BLOCK, EACH, PAD, N"),
        (["-p", "BLOCK=2048"], "error: {}:2:1: none of 4 points is left by BLOCK * EACH <= 512; loosen it"),
        (["--kernel-tuner", "/nowhere/k"], "error: /nowhere/k: there is no directory /nowhere; create it"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(tmp_path, options, line, capsys):
    """Wrong input is reported with its place and a fix, and leaves nothing behind."""
    path = written(tmp_path)
    assert execute(["tune", str(path), *options]) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith(line.format(path))
    assert sorted(one.name for one in tmp_path.iterdir()) == ["sum.cu", "sum.toml"]


@pytest.mark.parametrize(
    ("old", "new"),
    [('fill = "hash 1"', 'file = "none.npy"'), ('value = "x + 1"', 'file = "none.npy"')],
)
def test_a_missing_array_is_found_before_anything_is_compiled(tmp_path, old, new, capsys):
    """A .npy file that is not there is one line, whether the launch or the check needs it."""
    text = SPACE.replace(old, new)
    path = written(tmp_path, text, "no CUDA C")
    assert execute(["tune", str(path), "--machine", "a100"]) == 2
    number = next(i for i, line in enumerate(text.splitlines(), 1) if new in line)
    missing = f"{tmp_path}/none.npy: No such file or directory; write it with numpy.save"
    assert capsys.readouterr().err == f"error: {path}:{number}:1: {missing}\n"


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--sample", "4"], "error: --sample 4: for space files only; sgemm-lai is none"),
        (["--machine", "a100", "--machine", "h200"], "error: --machine h200: only space files are tuned for several; "),
    ],
)
def test_a_generated_kernel_takes_no_options_of_space_files(options, line, capsys):
    """What only space files take is refused for the spaces of generated kernels."""
    assert execute(["tune", "sgemm-lai", *options]) == 2
    assert capsys.readouterr().err.startswith(line)


def test_where_nothing_can_run_the_first_reason_is_reported(tmp_path, capsys):
    """If no point can be simulated, one line gives the reason of the first."""
    path = written(tmp_path, SPACE.replace('"BLOCK * EACH <= 512"', '"BLOCK > 1024"'))
    assert execute(["tune", str(path), "--machine", "a100"]) == 2
    line = "no point can be simulated on a100; the first: needs 2048 threads per block; a100 has 1024"
    assert capsys.readouterr().err == f"error: {path}: {line}\n"
