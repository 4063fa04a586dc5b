"""`python -m gpusim.kernel_tuner`: scripts as they are."""

import subprocess
import sys
from pathlib import Path

import pytest
from space_files import needs_compiler

from gpusim.api.kernel_tuner import script

pytest.importorskip("kernel_tuner")
SCRIPTS = Path(__file__).parent / "scripts"


@pytest.fixture
def _names():
    """Names find what they found before."""
    from gpusim.api.kernel_tuner import stand_in  # noqa: PLC0415  (an extra)

    path, arguments = [*sys.path], [*sys.argv]
    yield
    stand_in.remove()
    sys.path[:], sys.argv[:] = path, arguments


@pytest.mark.parametrize(
    ("line", "machine", "rest"),
    [
        ("S", "rtx3090", []),
        ("S --machine a100 x --machine y", "a100", ["x", "--machine", "y"]),
        ("--machine=v100 S x -- y", "v100", ["x", "--", "y"]),
        ("S -- --machine x -- y", "rtx3090", ["--machine", "x", "--", "y"]),
    ],
)
def test_the_command_line(line, machine, rest, tmp_path):
    """The machine stands beside the script; what stands behind, or behind --, are the script's own arguments."""
    file = tmp_path / "s.py"
    file.write_text("")
    words = [str(file) if word == "S" else word for word in line.split()]
    assert script.read(words) == script.Line(str(file), machine, tuple(rest))


def test_a_module_is_run_by_its_name():
    """-m takes a module, as Python does; what follows are its own arguments."""
    expected = script.Line("pytest", "a100", ("-q", "t.py"), module=True, bounded=True)
    assert script.read(["--machine", "a100", "--bound", "-m", "pytest", "-q", "t.py"]) == expected


@pytest.mark.usefixtures("_names")
@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("", ["--machine", "none"], "error: machine none: no such machine"),
        ("", ["--machine", "gtx580"], "error: gtx580: executes no machine code"),
        (
            "import kernel_tuner\nkernel_tuner.run_kernel('f', '', 1, [], {}, lang='HIP')",
            [],
            "error: lang=HIP: the simulated card runs",
        ),
    ],
)
def test_what_it_refuses(text, arguments, message, tmp_path, capsys):
    """What is refused is one line on stderr, and exit code 2."""
    file = tmp_path / "s.py"
    file.write_text(text)
    with pytest.raises(SystemExit) as ended:
        script.main([str(file), *arguments])
    assert ended.value.code == 2
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 1
    assert told[0].startswith(message)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "error: the following arguments are required: SCRIPT\n"),
        ("none.py", "error: none.py: no such file\n"),
        ("-m none.of_these", "error: none.of_these: no such module\n"),
        ("-m ..", "error: ..: no such module\n"),
    ],
)
def test_what_is_not_there_is_named(line, message, capsys):
    """Without a script, and for one or a module that is not there, the usage and a line, with exit code 2."""
    with pytest.raises(SystemExit) as ended:
        script.main(line.split())
    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith(message)


def test_help_has_an_example(capsys):
    """--help shows how a script is run."""
    with pytest.raises(SystemExit):
        script.main(["--help"])
    assert "python -m gpusim.kernel_tuner vector_add.py --machine a100" in capsys.readouterr().out


@pytest.mark.long
@pytest.mark.jit
@needs_compiler
@pytest.mark.parametrize(("how", "bounded"), [(["s.py"], False), (["--bound", "-m", "s"], True)])
def test_a_script_runs_unchanged(how, bounded, tmp_path):
    """A script with modules beside it, its arguments and CuPy runs to its end in a process of its own.

    Bounds are found where they are asked for.
    """
    (tmp_path / "beside.py").write_text(f"text = {(SCRIPTS / 'vector_add.py').read_text()!r}")
    lines = [
        "import sys, cupy",
        "from kernel_tuner.util import get_config_string",
        "from beside import text",
        "assert sys.argv[1:] == ['3']",
        "text = text.replace('[64, 256, 1024, 2048]', '[64]').replace('100_000', '1_000')",
        "exec(text)",
        "assert len(results) == 2 and all(('bound' in one) == BOUNDED for one in results)",
        "print(get_config_string(env['best_config']), cupy.arange(int(sys.argv[1])))",
    ]
    (tmp_path / "s.py").write_text("\n".join(lines).replace("BOUNDED", str(bounded)))
    command = [sys.executable, "-m", "gpusim.kernel_tuner", *how, "--machine", "a100", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "block_size_x=64" in done.stdout
    assert "[0 1 2]" in done.stdout
