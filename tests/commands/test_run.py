import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from draws import few

from gpusim.commands import main
from gpusim.commands.frame.arguments import kernel_of

SMALL = ["-p", "m=96", "-p", "n=96", "-p", "k=32"]


def answer(capsys, *arguments):
    """Return the document that a command prints."""
    assert main.execute([*arguments, "--json"]) == 0
    captured = capsys.readouterr()
    return json.loads(captured.out)


@pytest.mark.jit
def test_run_shows_one_screen(capsys):
    """`gpusim run` prints a kernel's result on the default machine in at most 50 lines."""
    assert main.execute(["run", "sgemm-lai", *SMALL]) == 0
    text = capsys.readouterr().out
    assert text.startswith("sgemm-lai on gtx580 (GeForce GTX 580), lrr, compiled engine")
    assert len(text.splitlines()) <= 50


@pytest.mark.jit
def test_run_prints_a_document(capsys):
    """`--json` prints one document with its schema version first, and nothing else on stdout."""
    found = answer(capsys, "run", "sgemm-lai", *SMALL, "--machine", "gtx580-1566")
    assert next(iter(found)) == "schema_version"
    assert (found["machine"], found["parameters"]["m"], found["verified"]) == ("gtx580-1566", 96, True)


@pytest.mark.jit
def test_run_takes_a_listing(capsys):
    """A listing holds its launch, data and expected values, so that `run` verifies it completely."""
    found = answer(capsys, "run", "examples/saxpy.asm", "--machine", "c2050")
    assert (found["kernel"], found["machine"], found["verified"]) == ("saxpy", "c2050", True)
    assert found["verification"]["scope"] == "complete"


@pytest.mark.jit
def test_run_notes_a_wait_that_machine_code_lacks(capsys, tmp_path):
    """Saxpy's FFMA no longer waits for the loads before it: values are as if it did, and the screen and JSON say so."""
    text = Path("examples/saxpy.sass").read_text()
    assert "0x004fca000800000b" in text  # FFMA, which waits for barrier 2
    (tmp_path / "saxpy.sass").write_text(text.replace("0x004fca000800000b", "0x000fca000800000b"))
    (tmp_path / "saxpy.toml").write_text(Path("examples/saxpy.toml").read_text())
    found = answer(capsys, "run", str(tmp_path / "saxpy.sass"))
    noted = [(one["pc"], one["register"], one["writer"], one["barrier"]) for one in found["missing_waits"]]
    assert (found["verified"], noted) == (True, [(20, "R2", 16, 2), (20, "R11", 17, 2)])
    assert main.execute(["run", str(tmp_path / "saxpy.sass")]) == 0
    screen = " ".join(capsys.readouterr().out.split())
    assert "hazards saxpy+0x140 FFMA R11, R2, UR5, R11 reads R2 without a wait for barrier 2" in screen
    assert "; and 1 other result. Values are as if all waited" in screen


@pytest.mark.jit
def test_settings_and_policy_change_the_machine(capsys):
    """An FFMA latency of 9 instead of 18 makes a chain take 10/18 of the cycles; `--policy` sets the policy."""
    before = answer(capsys, "run", "chain")
    after = answer(capsys, "run", "chain", "--set", "unit.fp32.latency=9", "--policy", "gto")
    # Slots are 2 cycles apart, so that a latency of 9 takes 10.
    assert after["cycles"] == pytest.approx(before["cycles"] / 18 * 10, rel=0.05)
    assert after["policy"] == "gto"
    assert (before["settings"], after["settings"]) == ({}, {"unit.fp32.latency": 9})


VLP = ["run", "sgemm-vega-vlp", "-p", "m=64", "-p", "n=64", "-p", "k=16", "-p", "threads=64", "--machine", "mi60"]


@pytest.mark.long
@pytest.mark.jit
def test_energy_adds_a_table_and_a_key(capsys):
    """`--energy` adds joules by level and watts to the screen and the document; without it there are none."""
    assert main.execute([*VLP, "--energy"]) == 0
    lines = capsys.readouterr().out.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("in all"))
    total, power, counted = lines[first : first + 3]
    assert total.startswith("in all")
    assert power.endswith("W of them without work")
    assert counted == "times are words, as `gpusim traffic --forwarding` counts them, and thread instructions"
    spent = answer(capsys, *VLP, "--energy")["energy"]
    assert spent["joules"] == pytest.approx(sum(part["joules"] for part in spent["parts"]))
    assert spent["watts"] == pytest.approx(spent["idle_watts"] + spent["joules"] / spent["seconds"])
    assert "energy" not in answer(capsys, *VLP)


def test_energy_needs_energies(capsys):
    """A machine without [energy] is refused in one line."""
    assert main.execute(["run", "chain", "--energy"]) == 2
    assert capsys.readouterr().err == "error: no energies in machine gtx580: add [energy] to its file\n"


@pytest.mark.jit
def test_lines_end_without_blanks(capsys):
    """No line of `gpusim run` ends with a blank."""
    assert main.execute(["run", "chain"]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if line != line.rstrip()] == []


@pytest.mark.jit
def test_the_reference_engine_agrees(capsys):
    """`--engine reference` takes the same cycles as the default engine."""
    arguments = ["run", "chain", "-p", "length=16"]
    assert answer(capsys, *arguments)["cycles"] == answer(capsys, *arguments, "--engine", "reference")["cycles"]


@pytest.mark.jit
def test_a_sample_can_be_asked_for(capsys):
    """`--sample 6` simulates waves and `--sample all` the complete launch; the document says which."""
    arguments = ["run", "throughput", "-p", "blocks=31", "-p", "iterations=1", "--set", "chip.sms=1"]
    assert answer(capsys, *arguments, "--sample", "6")["scaling"]["method"] == "waves"
    assert answer(capsys, *arguments, "--sample", "all")["scaling"]["method"] == "complete"


@pytest.mark.jit
def test_all_sms_can_be_asked_for(capsys):
    """`--sms all` simulates every block of the grid on all SMs, and the document says so."""
    found = answer(capsys, "run", "throughput", "-p", "blocks=5", "--set", "chip.sms=2", "--sms", "all")
    assert (found["sms"], [sm["blocks"] for sm in found["each_sm"]], found["verified"]) == (2, [3, 2], True)


@pytest.mark.jit
def test_all_sms_run_on_threads(capsys):
    """`--threads 2` is in the document; in turn it is one thread, with the reason there and in a note."""
    arguments = [
        "run",
        "throughput",
        "-p",
        "blocks=5",
        "--set",
        "chip.sms=3",
        "--sms",
        "all",
        "--threads",
        "2",
        "--json",
    ]
    assert main.execute(arguments) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert (found["threads"], found["in_turn"], captured.err) == (2, "", "")
    assert main.execute([*arguments, "--machine", "gtx480", "--set", "cache.hits=tags"]) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert (found["threads"], found["in_turn"]) == (1, "SMs share the tags of the L2")
    assert f"note: the SMs ran on one thread: {found['in_turn']}\n" in captured.err


def test_one_sm_takes_no_threads(capsys):
    """`--threads` without `--sms all` is refused in one line, with what to do."""
    assert main.execute(["run", "chain", "--threads", "2"]) == 2
    assert capsys.readouterr().err == "error: threads=2: one SM runs on one thread; take several, or leave it out\n"


@pytest.mark.jit
@pytest.mark.parametrize("rest", few(["ISETP.LT P0, R0, 10000\n@P0 BRA top\nEXIT\n", "BRA top\n"], 1))
def test_a_run_beyond_its_limit_ends_with_3(rest, tmp_path, capsys):
    """A loop of 10,000 rounds or without end exceeds `--max-cycles` 1000: one line and exit code 3."""
    file = tmp_path / "loop.asm"
    file.write_text(f"top:\nIADD R0, R0, 1\n{rest}")
    assert main.execute(["run", str(file), "--max-cycles", "1000"]) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: loop: still running after 1000 cycles")
    assert captured.err.count("\n") == 1


@pytest.mark.jit
def test_a_deadlock_ends_with_3(tmp_path, capsys):
    """A barrier that is never completed gives one line and exit code 3."""
    file = tmp_path / "stuck.asm"
    file.write_text(".block 64\nBAR.SYNC 0, 96\nEXIT\n")
    assert main.execute(["run", str(file)]) == 3
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.every
@pytest.mark.parametrize("command", ["run", "bound"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chian"], "no kernel chian (did you mean chain?)"),
        (["chain", "-p", "lenght=3"], "no parameter lenght (did you mean length?)"),
        (["chain", "-p", "length"], "-p length: no value; give -p name=value"),
        (["chain", "-p", "length=0"], "length=0 is too small"),
        (["chain", "--machine", "gtx58"], "no such machine; did you mean gtx580?"),
        (["chain", "--set", "unit.fp32.latncy=9"], "did you mean unit.fp32.latency?"),
        (["chain", "--set", "unit.fp32.latency=fast"], "takes a whole number from 1 to 1000000000"),
        (["chain", "--set", "unit.fp32.latency"], "no value; give --set machine.path=value"),
        (["chain", "--set", "unit.fp32.latency=10000000000"], "takes a whole number from 1 to 1000000000"),
        (
            ["chain", "--set", "l2.ways=8 l2.bytes=4096"],
            "l2.ways=8 l2.bytes=4096: several at once; give --set",
        ),
        (["chain", "--set", "x"], "--set x: no value; give --set machine.path=value"),
        (["chain", "--set", "="], "--set =: a name or a value is missing; give --set machine.path=value"),
        (["chain", "--set", "chip.sms="], "a name or a value is missing; give --set machine.path=value"),
        (["examples"], "examples: Is a directory; give the path of a listing"),
        (["nowhere/vadd"], "nowhere/vadd: No such file"),
        (["vadd.txt"], "vadd.txt: No such file"),
        (["chain", "--policy", "fifo"], "unknown scheduling policy fifo"),
        (["missing.asm"], "missing.asm: No such file"),
        (["examples/saxpy.asm", "-p", "n=3"], "examples/saxpy.asm is a listing"),
        (["sgemm-lai", "-p", "m=100"], "m=100 is not a positive multiple of 96"),
        (["sgemm-lai", "-p", "lds=128", "-p", "prefetch=on"], "needs 67 registers"),
    ],
)
def test_bad_arguments_are_one_line(command, arguments, message, capsys):
    """`run` and `bound` report each wrong argument in one line with the fix, and exit code 2."""
    assert main.execute([command, *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1


@pytest.mark.jit
@pytest.mark.parametrize(
    "arguments",
    [
        ["--engine", "fast"],
        ["--sample", "some"],
        ["--sample", "0"],
        ["--sample", "-3"],
        ["--policy", "gto", "--set", "schedulers.policy=lrr"],
        ["--max-cycles", "0"],
        ["--sms", "3"],
        ["--sms", "all", "--sample", "2"],
    ],
)
def test_bad_options_of_run_are_one_line(arguments, capsys):
    """Unknown engines, empty samples, limits below 1, three SMs and two policies are each refused in one line."""
    assert main.execute(["run", "chain", *arguments]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert any(argument in message for argument in arguments)


ANNOUNCE = """
from gpusim.commands.frame.progress import begin_compiling as t
from gpusim.engines import beforehand
beforehand.begin = beforehand.compile_acts = lambda: None
"""


@pytest.mark.long
@pytest.mark.jit
def test_compiling_is_reported_once(tmp_path):
    """With an empty cache stderr says that the engine is compiled once; stdout stays empty."""
    command = [sys.executable, "-c", f"{ANNOUNCE}t()"]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stderr.startswith("compiling the engine, once per installation")
    assert done.stdout == ""


@pytest.mark.long
@pytest.mark.jit
def test_compiling_names_what_is_compiled(tmp_path):
    """The engine, the walk through blocks and caches of timelines each have a line that tells them apart."""
    calls = "t(); t('walk'); t('timeline')"
    command = [sys.executable, "-c", f"{ANNOUNCE}{calls}"]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    named = [line.partition(",")[0].removeprefix("compiling ") for line in done.stderr.splitlines()]
    assert named == ["the engine", "the walk through blocks", "the caches of timelines"]


@pytest.mark.long
@pytest.mark.jit
def test_without_a_cache_compiling_is_reported_with_the_cause(tmp_path):
    """If no code can be kept, stderr gives the cause and says that compiling takes about half a minute."""
    command = [sys.executable, "-c", f"{ANNOUNCE}t()"]
    (tmp_path / "file").touch()
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "file")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    cause, compiling = done.stderr.splitlines()
    assert cause.startswith("warning: compiled code is not kept")
    assert compiling == "compiling the engine, about half a minute"


def test_a_listing_may_have_any_ending(tmp_path):
    """An existing file is read as a listing, with the ending .txt or with none."""
    for name in ("vadd.txt", "vadd"):
        (tmp_path / name).write_text("EXIT\n")
        assert kernel_of(str(tmp_path / name), ()).name == "vadd"


def test_a_listing_may_begin_with_a_byte_order_mark(tmp_path):
    """A listing may begin with a UTF-8 byte-order mark."""
    (tmp_path / "marked.asm").write_text("EXIT\n", encoding="utf-8-sig")
    assert len(kernel_of(str(tmp_path / "marked.asm"), ()).program) == 1


def test_wrong_values_of_shared_memory_point_at_races(tmp_path, capsys):
    """If a kernel with shared memory gives wrong values, the output names `gpusim races`."""
    text = ".shared 128\n.buffer y f32 1\n.expect y = 1\nLDS R0, [RZ]\nMOV R1, c[y]\nSTG [R1], R0\nEXIT\n"
    (tmp_path / "wrong.asm").write_text(text)
    assert main.execute(["run", str(tmp_path / "wrong.asm")]) == 1
    assert "gpusim races KERNEL" in " ".join(capsys.readouterr().out.split())


TAN = ["run", "dgemm-tan", "-p", "m=64", "-p", "n=64", "-p", "k=32", "--machine", "c2050"]


@pytest.mark.jit
def test_a_run_of_a_racy_kernel_names_the_accesses(capsys):
    """With the published barriers the screen names both accesses of a race, and no value is verified."""
    assert main.execute([*TAN, "-p", "barriers=literal"]) == 0
    screen = " ".join(capsys.readouterr().out.split())
    assert "values not checked: the kernel races as published" in screen
    assert "races block 0, shared word 0x0: warp 1 reads it at pc" in screen
    found = answer(capsys, *TAN, "-p", "barriers=literal")
    first, second = found["races"][0]["first"], found["races"][0]["second"]
    assert (first["text"].split()[0], "STS.64" in second["text"]) == ("LDS.64", True)
    assert (found["verified"], found["verification"]["scope"]) == (False, "none")


@pytest.mark.jit
def test_a_kernel_with_its_barriers_is_verified(capsys):
    """With every barrier all values are checked, and the run looks for no races."""
    found = answer(capsys, *TAN)
    assert (found["verified"], found["verification"]["scope"], found["races"]) == (True, "complete", None)


@pytest.mark.jit
@pytest.mark.parametrize(("kernel", "counted"), [("stream", False), ("chain", True)])
def test_a_kernel_without_operations_has_no_rate_of_them(kernel, counted, capsys):
    """Without operations GFLOP/s and percent of peak are null, not 0, and the screen has GB/s; else numbers."""
    assert main.execute(["run", kernel, "--machine", "gtx580", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["gflops"] is not None, found["percent_of_peak"] is not None) == (counted, counted)
    assert main.execute(["run", kernel, "--machine", "gtx580"]) == 0
    text = capsys.readouterr().out
    assert ("GFLOP/s" in text) == counted
    assert counted or "GB/s of the DRAM" in text
