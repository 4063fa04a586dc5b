"""Plain command lines, which typer does not read."""

import inspect
import random
import subprocess
import sys

import pytest
import typer

from gpusim.commands import plain
from gpusim.commands.frame.command import flat
from gpusim.commands.main import COMMANDS, function_of

WORDS = ("chain", "sg4", "3", "-1", "", "a=b", "--", "--json", "--jso", "--machine=wide", "-p", "--help")


def by_typer(command, words):
    """Return what typer gives to a command; None if it refuses the line."""
    seen = []

    def called(**given):
        seen.append(given)

    called.__signature__ = inspect.signature(command)
    called.__annotations__ = command.__annotations__
    app = typer.Typer()
    app.command()(called)
    try:
        app(list(words), standalone_mode=False)
    except typer.TyperException:
        return None
    return seen[0] if seen else None


def given(values):
    """Return values by name, an empty list as none."""
    return {name: None if value == [] else value for name, value in values.items()}


def line(draw, command):
    """Return a random command line: words, and options with or without a text."""
    declared = [
        name for one in inspect.signature(command).parameters.values() for name, _ in plain._names(plain._taken(one))
    ]
    found = []
    for _ in range(draw.randrange(6)):
        found += [draw.choice(declared)] if draw.random() < 0.6 else []
        found += [draw.choice(WORDS[:6])] if draw.random() < 0.8 else [draw.choice(WORDS)]
    return [word for word in found if word != "--help"]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_plain_line_is_read_as_typer_reads_it(name):
    """What is read of a random line without typer is what typer reads of it."""
    command, draw, read = flat(function_of(name)), random.Random(name), 0
    for _ in range(60):
        words = line(draw, command)
        ours = plain.read(command, words)
        if ours is not None:
            read += 1
            assert given(ours) == given(by_typer(command, words)), words
    assert read or name in ("explain", "export", "exec", "examples", "compare", "lessons")


def test_a_line_with_options_is_plain():
    """An argument, texts, what may be repeated, and flags of both kinds are read."""
    words = ["chain", "--machine", "wide", "-p", "a=1", "-p", "b=2", "--no-fast-forward", "--json"]
    found = plain.read(flat(function_of("run")), words)
    assert found is not None
    assert (found["kernel"], found["machine"], found["parameter"]) == ("chain", "wide", ["a=1", "b=2"])
    assert found["json"]
    assert not found["fast_forward"]


@pytest.mark.parametrize(
    "words", [[], ["a", "b"], ["a", "--sms"], ["a", "--sms=1"], ["a", "--threads", "2"], ["--", "a"]]
)
def test_other_lines_are_left(words):
    """A line that lacks a word, has one too many, or gives an option another type than a text is left to typer."""
    assert plain.read(flat(function_of("run")), words) is None


def test_no_types_are_imported_for_a_plain_line():
    """A run of a kernel by its name imports no Pydantic."""
    code = "import sys\nfrom gpusim.commands.main import execute; execute(['run', 'chain'])"
    code += "\nprint('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("False\n")
