"""The frame of commands: groups of options, repeated ones, `--json`, and options of one meaning everywhere."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Annotated, get_args

import pytest
import typer
from typer.models import OptionInfo
from typer.testing import CliRunner

from gpusim.commands.catalog.examples import ExamplesDocument
from gpusim.commands.frame.command import Answer, flat, tell
from gpusim.commands.frame.options import repeated
from gpusim.commands.main import COMMANDS, execute, function_of

OWN = {  # options that say what they are of: of which file, or how many values they take
    *("--machine", "-p", "--set", "--policy", "--out", "--open", "--csv", "--plot", "--markdown", "--sample"),
    *("--search", "--seed"),
}
# Options that end a command in another way than elsewhere, or that are for some of its inputs only.
OTHERWISE = {
    ("--max-cycles", "hazards"),
    ("--max-cycles", "sweep"),
    ("--sms", "tune"),
    ("--dask", "tune"),
    ("--launch", "exec"),
    ("--budget", "tune"),
}
SIMULATING = "run", "report", "compare", "sweep", "tune", "schedule"
ONE_SM = "view", "timeline", "explain", "export", "limits", "hazards"


@dataclass(frozen=True)
class Names:
    """Names of a group, one of them repeated."""

    first: Annotated[str, typer.Option("--first")]
    more: Annotated[Sequence[str], repeated("--more", "NAME", "More names")] = ()


def greet(names: Names, loud: Annotated[bool, typer.Option("--loud")] = False) -> Answer:
    """Greet some names."""
    every = [names.first, *names.more]
    assert isinstance(names.more, tuple)
    return Answer(
        lambda: ExamplesDocument(" ".join(every), []),
        f"{' '.join(every)}{'!' if loud else ''}\n",
        code=3 if loud else 0,
    )


@pytest.fixture
def json_of(capsys):
    """Give the function that runs a command and returns its document."""

    def asked(*arguments):
        assert execute([*arguments, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return asked


def infos(name):
    """Return the options of a command by their first names."""
    kinds = flat(function_of(name)).__annotations__.values()
    return {str(one.default): one for kind in kinds for one in get_args(kind) if isinstance(one, OptionInfo)}


def run(*arguments):
    """Run `greet` as a program, and return its exit code and what it prints."""
    app = typer.Typer()
    app.command()(flat(greet))
    ended = CliRunner().invoke(app, arguments)
    return ended.exit_code, ended.output


def test_a_group_is_taken_apart():
    """The options of a group stand in its place, and `--json` comes last."""
    assert list(signature(flat(greet)).parameters) == ["first", "more", "loud", "json"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--first", "a"], (0, "a\n")),
        (["--first", "a", "--more", "b", "--more", "c", "--loud"], (3, "a b c!\n")),
        (["--first", "a", "--json"], (0, '{\n  "schema_version": 1,\n  "folder": "a",\n  "examples": []\n}\n')),
    ],
)
def test_a_command_gets_its_groups(arguments, expected):
    """A command gets the group with its options, a tuple of what is repeated; its answer is printed, its code kept."""
    assert run(*arguments) == expected


def test_only_what_is_printed_is_made(capsys):
    """The document is not made for the screen, nor the screen for the document."""
    made = []
    answer = Answer(
        lambda: made.append("document") or ExamplesDocument("", []), lambda: made.append("screen") or ["on it"]
    )
    tell(answer, json=False)
    tell(answer, json=True)
    assert made == ["screen", "document"]
    assert capsys.readouterr().out.startswith("on it\n{")


def test_options_of_one_meaning_are_declared_once():
    """An option that several commands have says the same in all, but for those that name what they are of."""
    found = {}
    for name in COMMANDS:
        for option, info in infos(name).items():
            if option not in OWN and (option, name) not in OTHERWISE:
                found.setdefault(option, set()).add(info.help)
    assert {option: texts for option, texts in found.items() if len(texts) > 1} == {}


@pytest.mark.every
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_prints_json(name):
    """Every command has --json."""
    assert "--json" in infos(name)


@pytest.mark.parametrize("name", [*SIMULATING, *ONE_SM])
def test_every_run_says_what_its_caches_hold(name):
    """All commands that make a run take --caches; those that are not about one SM take --sms and --threads, too."""
    taken = infos(name).keys()
    assert "--caches" in taken
    assert (taken >= {"--sms", "--threads"}) == (name in SIMULATING)


@pytest.mark.parametrize(
    ("machine", "caches", "expected"),
    [("h200", "warm", {"l2.filled": 1}), ("h200", "cold", {}), ("gtx580", "cold", {"cache.hits": "tags"})],
)
def test_caches_are_settings(machine, caches, expected, json_of):
    """--caches sets what the machine has and has otherwise, and documents tell it as settings."""
    assert json_of("bound", "examples/saxpy.asm", "--machine", machine, "--caches", caches)["settings"] == expected


def test_a_setting_goes_before_caches(json_of):
    """What --set says of a cache holds."""
    asked = "bound", "examples/saxpy.asm", "--machine", "h200", "--caches", "warm", "--set", "l2.filled=0"
    assert json_of(*asked)["settings"] == {"l2.filled": 0}


def test_caches_go_before_the_launch_file(json_of):
    """The launch file of saxpy says warm; --caches cold lets its caches begin empty."""
    assert json_of("bound", "examples/saxpy.sass")["settings"] == {"l2.filled": 1}
    assert json_of("bound", "examples/saxpy.sass", "--caches", "cold")["settings"] == {}


@pytest.mark.parametrize("command", ["run", "compare", "sweep"])
@pytest.mark.parametrize(
    ("machine", "caches", "lacking"), [("c1060", "cold", "cache.hits"), ("gtx580", "warm", "l2.filled")]
)
def test_a_machine_without_caches_is_named(command, machine, caches, lacking, capsys):
    """--caches on a machine whose caches can't be so ends in one line with code 2."""
    assert execute([command, "mix", "--machine", machine, "--caches", caches]) == 2
    expected = f"error: --caches {caches}: {machine} has no {lacking}; leave the option out\n"
    assert capsys.readouterr().err == expected


@pytest.mark.long
@pytest.mark.jit
def test_threads_change_no_cycle(json_of):
    """All SMs of each variant give the same figures on one thread as on two."""
    asked = "compare", "mix", "-p", "iterations=1", "--policy", "lrr,gto", "--sms", "all"
    one, two = (json_of(*asked, "--threads", number) for number in "12")
    assert one == two


@pytest.mark.jit
@pytest.mark.parametrize("command", ["compare", "sweep", "report", "schedule"])
def test_one_sm_runs_on_one_thread(command, capsys):
    """Several threads for one SM end in one line with code 2, before anything is simulated."""
    assert execute([command, "mix", "--threads", "2", *(["--policy", "lrr,gto"] if command == "compare" else [])]) == 2
    assert capsys.readouterr().err == "error: threads=2: one SM runs on one thread; take several, or leave it out\n"


@pytest.mark.parametrize(
    "option",
    [
        ["--sms", "all"],
        ["--sms", "1"],
        ["--threads", "2"],
        ["--caches", "warm"],
        ["--nvcc-flags", "-O3"],
        ["--sample", "all"],
        ["--bound"],
        ["--verbose"],
    ],
)
def test_options_of_space_files_are_refused_elsewhere(option, capsys):
    """An option for space files ends in one line with code 2 where a space is none."""
    assert execute(["tune", "sgemm-lai", *option]) == 2
    assert capsys.readouterr().err == f"error: {' '.join(option)}: for space files only; sgemm-lai is none\n"
