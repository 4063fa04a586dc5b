"""The examples of the help texts, run as they are printed."""

import json
import re
import shlex
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from read.schemas import check_document

from gpusim.commands.main import COMMANDS, execute

ROOT = Path(__file__).parent.parent.parent
COMPILING = {
    *("run", "timeline", "explain", "report", "limits", "compare", "sweep", "tune"),
    *("validate", "reproduce", "schedule", "hazards", "export", "view"),
}
SLOW = {"tune": "simulates every point of a search space", "schedule": "simulates a hundred orders of a program"}

OTHERS = {"kernels": "kernel", "machines": "two-machines"}  # commands whose document has another name


def marks(name):
    """Return the marks of a test that runs the example of a command."""
    return [pytest.mark.jit] * (name in COMPILING) + [pytest.mark.slow] * (name in SLOW)


EXAMPLES = [pytest.param(name, marks=marks(name)) for name in COMMANDS]


def printed(capsys, *arguments):
    """Run a command line, and return its exit code and what it prints."""
    code = execute(arguments)
    return code, capsys.readouterr().out


def examples(capsys, *command):
    """Return the examples in the help of a command as arguments of `execute`, wrapped lines rejoined."""
    _, text = printed(capsys, *command, "--help")
    found = [shlex.split(example) for example in re.findall(r"^ *Example: (.*?)(?:\n\n|\Z)", text, re.M | re.S)]
    assert found
    assert all(words[: len(command) + 1] == ["gpusim", *command] for words in found)
    return [words[1:] for words in found]


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    """Work in a folder that has the project's listings and nothing else."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)


def test_the_example_of_the_program_works_as_printed(capsys):
    """The example in `gpusim --help` prints something and ends with 0."""
    for arguments in examples(capsys):
        code, message = printed(capsys, *arguments)
        assert (code, bool(message.strip())) == (0, True)


@pytest.mark.long
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_works_as_printed(name, capsys):
    """Each example in the help of a command prints something and ends with 0."""
    for arguments in examples(capsys, name):
        code, message = printed(capsys, *arguments)
        assert (code, bool(message.strip())) == (0, True)


@pytest.mark.long
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_prints_json_too(name, capsys):
    """Each example with `--json` prints one document that fits its schema, and ends with 0."""
    for arguments in examples(capsys, name):
        command, *others = arguments
        code, message = printed(capsys, command, "--json", *others)
        found = json.loads(message)
        assert code == 0
        if name == "schema":
            Draft202012Validator.check_schema(found)
        else:
            check_document(found, "report-lines" if "--by" in arguments else OTHERS.get(name, name))
