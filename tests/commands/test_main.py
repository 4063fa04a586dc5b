import signal
import subprocess
import sys
from functools import reduce
from operator import getitem
from types import SimpleNamespace

import msgspec
import pytest
from draws import few

from gpusim.commands import main
from gpusim.commands.frame.options import settings_from
from gpusim.machine.machine import load
from gpusim.reproduction.claims import read
from isa.errors import UserError

VEGA = "error: examples/vega.asm: a kernel is no command; gpusim run examples/vega.asm simulates it\n"
CLAIMS = {claim.id for claim in read()}


def test_help_lists_every_command(capsys):
    """`gpusim` and `gpusim --help` list every command with its line of help."""
    assert main.execute([]) == main.execute(["--help"]) == 0
    text = capsys.readouterr().out
    for name, line in main.COMMANDS.items():
        assert text.count(f"{name} ") >= 2
        assert text.count(line) == 2


def test_help_has_no_number_without_end(capsys):
    """A range that ends where whole numbers do is told by its beginning."""
    assert main.execute(["run", "--help"]) == 0
    text = capsys.readouterr().out
    assert "[x>=1]" in " ".join(text.split())
    assert str(2**63 - 1) not in text


@pytest.mark.every
@pytest.mark.parametrize("name", main.COMMANDS)
def test_every_command_has_an_example(name, capsys):
    """The help of each command has an example of it."""
    assert main.execute([name, "--help"]) == 0
    assert f"Example: gpusim {name}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["machine"], "error: gpusim: No such command 'machine'. Did you mean 'machines'? See `gpusim --help`\n"),
        (["compare"], "error: gpusim compare: Missing argument 'KERNEL'. See `gpusim compare --help`\n"),
        (["asm"], "error: gpusim asm: Missing argument 'file'. See `gpusim asm --help`\n"),
        (["chain"], "error: chain: a kernel is no command; gpusim run chain simulates it\n"),
        (["examples/vega.asm"], VEGA),
        (["README.md"], "error: gpusim: No such command 'README.md'. See `gpusim --help`\n"),
        (
            ["sweep", "chain", "--sample", "3"],
            "error: gpusim sweep: --sample is --draw now. See `gpusim sweep --help`\n",
        ),
        (["machines", "gtx58"], "error: machine gtx58: no such machine; did you mean gtx580?\n"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, message, capsys):
    """A user's error is reported in one line on stderr, with exit code 2 and nothing on stdout."""
    assert main.execute(arguments) == 2
    assert capsys.readouterr() == ("", message)


def test_an_error_may_choose_its_exit_code(monkeypatch, capsys):
    """A UserError ends the command with the error's own exit code, such as 3 for a simulation that never ends."""

    def fail() -> None:
        error = UserError("block 0 waits for ever")
        error.exit_code = 3
        raise error

    monkeypatch.setattr(main, "_command", lambda _: fail)
    assert main.execute(["machines"]) == 3
    assert capsys.readouterr().err == "error: block 0 waits for ever\n"


def test_an_interrupt_ends_with_130(monkeypatch, capsys):
    """Control-C ends a command with the shell's code for it and one line, not a traceback."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(main, "_command", lambda _: interrupt)
    assert main.execute(["machines"]) == 130
    assert capsys.readouterr() == ("", "error: interrupted\n")


def test_ctrl_c_again_changes_nothing(monkeypatch):
    """A second Ctrl-C soon after the first changes nothing; a later one interrupts again."""
    now = [0.0]
    monkeypatch.setattr(main, "monotonic", lambda: now[0])
    interrupt = main.interrupter()
    with pytest.raises(KeyboardInterrupt):
        interrupt(signal.SIGINT, None)
    interrupt(signal.SIGINT, None)
    now[0] += main.GRACE
    with pytest.raises(KeyboardInterrupt):
        interrupt(signal.SIGINT, None)


def test_a_closed_pipe_is_no_error():
    """If the reader closes the pipe, a command ends with 0 and says nothing, for a table and for a document."""
    for arguments in (["machines", "gtx580"], ["machines", "gtx580", "--json"]):
        command = [sys.executable, "-m", "gpusim", *arguments]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            running.stdout.close()
            assert running.stderr.read() == b""
            assert running.wait() == 0


@pytest.mark.parametrize("arguments", few([["machines"], ["--help"], ["asm", "examples/saxpy.asm"], ["kernels"]], 1))
def test_looking_things_up_loads_no_engine(arguments):
    """Commands that do not simulate import no compiler, no event queue and no graph library."""
    script = (
        "import sys; from gpusim.commands.main import execute; code = execute(sys.argv[1:]); "
        "sys.exit(code or sum(name in sys.modules for name in ('numba', 'simpy', 'networkx')))"
    )
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_help_waits_for_no_numpy():
    """`gpusim --help` imports neither NumPy nor rich, so that it is quick."""
    script = (
        "import sys; from gpusim.commands.main import execute; execute(['--help']); "
        "sys.exit(sum(name in sys.modules for name in ('numpy', 'rich')))"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("machine", ["gtx580", "h200"])
def test_settings_that_are_completed_exist(machine):
    """Each completion of `--set` is a number that the machine has, so that setting it to itself changes nothing."""
    paths = [path.rstrip("=") for path in settings_from(SimpleNamespace(params={"machine": machine}), "")]
    facts = msgspec.to_builtins(load(machine))
    own = {path: str(reduce(getitem, path.split("."), facts)) for path in paths}
    assert len(own) > 100
    assert load(machine, {path: text for path, text in own.items() if text.lstrip("-").isdigit()}) == load(machine)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("gpusim swe", {"sweep"}),
        ("gpusim run --max-c", {"--max-cycles"}),
        ("gpusim run chain --machine gtx58", {"gtx580", "gtx580-1566"}),
        ("gpusim bound sgemm-l", {"sgemm-lai"}),
        ("gpusim lessons --o", {"--open"}),
        ("gpusim view sgemm-l", {"sgemm-lai"}),
        ("gpusim view chain --machine gtx68", {"gtx680", "gtx680-speculated"}),
        ("gpusim compare chain sgemm-l", {"sgemm-lai"}),
        ("gpusim run chain --policy ol", {"oldest"}),
        ("gpusim kernels sgemm-l", {"sgemm-lai"}),
        ("gpusim machines h2", {"h200"}),
        ("gpusim space cge", {"cgemm"}),
        ("gpusim run sgemm-lai -p l", {"layout=", "lds="}),
        ("gpusim compare mix chain --machine gtx580 -p ite", {"iterations="}),
        ("gpusim run nothing -p l", set()),
        ("gpusim run chain --machine h200 --set l2.wa", {"l2.ways="}),
        ("gpusim run chain --set schedulers.po", {"schedulers.policy="}),
        ("gpusim run chain --machine nothing --set l2", set()),
        ("gpusim run chain --engine r", {"reference"}),
        ("gpusim tune sg", {"sgemm", "sgemm-lai"}),
        ("gpusim reproduce LS7", {f"LS7{number}" for number in range(10) if f"LS7{number}" in CLAIMS}),
        ("gpusim schema tim", {"timeline"}),
        ("gpusim space zgemm --stage ti", {"tiling"}),
    ],
)
def test_a_shell_completes_commands_options_and_names(words, found, monkeypatch, capsys):
    """Bash gets the commands, options, kernels, machines, policies, search spaces, parameters and settings that fit."""
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1), "_GPUSIM_COMPLETE": "complete_bash"}
    for name, value in asked.items():
        monkeypatch.setenv(name, value)
    assert main.execute([]) == 0
    shown = capsys.readouterr()
    assert (set(shown.out.split()), shown.err) == (found, "")
