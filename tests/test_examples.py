"""The examples of the documents run, and print exactly the text that the documents show."""

import re
import shutil

import pytest
from read import fenced
from read.fenced import DOCUMENTS, ROOT, every_command

from gpusim.commands.main import COMMANDS

pytestmark = pytest.mark.jit
OTHERS = {"make", "python", ".", "dask"}  # first words of lines in blocks of `sh` that are no commands of gpusim
# These take more than three seconds of a core: all claims, all figures of a machine, search spaces, searches, chips,
# energies, and the sweep of a large kernel. Commands with one of these in them have the mark `slow`.
SLOW = re.compile(r"\breproduce\b|\bvalidate\b|\btune\b|--search|--sms all|--energy|-p m=960")
LEDGER = "tests/reproduction/test_pages.py", "test_the_document_is_what_the_ledger_computes"
ELSEWHERE = {"gpusim reproduce": LEDGER}  # it runs for many minutes, and this slow test runs it already
GIVEN = ("gpusim/published/h200.csv",)  # files of the checkout, in which a reader types commands
LANGUAGES = {"sh", "console", "python", "asm", "cuda", "toml", "text", "", "{include}", "{toctree}"}
MEASURED = re.compile(r"\b\d+(?:,\d{3})+\b|\b\d+(?:\.\d+)? %|\b\d+\.\d+\b")  # 16,384 or 81.1 % or 1.5
BLOCKS = [block for document in DOCUMENTS for block in fenced.blocks(document)]
EVERY = [command for command in every_command() if command.words[0] == "gpusim"]
RUN = [command for command in EVERY if " ".join(command.words) not in ELSEWHERE]


def parameter(command):
    """Return a command as a test's parameter, named by its place and text."""
    marks = [pytest.mark.slow] if SLOW.search(command.text) else []
    return pytest.param(command, marks=marks, id=f"{command.block.name} {' '.join(command.words[1:])}")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in a temporary folder, with the width of a run without a terminal."""
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.chdir(tmp_path)
    for name in GIVEN:
        (tmp_path / name).parent.mkdir(parents=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


@pytest.mark.long
@pytest.mark.parametrize("command", [parameter(one) for one in RUN])
def test_a_command_works_as_the_document_has_it(command, folder):
    """Each command line of the documents ends with code 0, makes its files, and prints the text below it, if any."""
    fenced.prepare(folder, command.text, command.block)
    code, printed = fenced.run(command)
    assert code == 0
    assert [file for file in command.writes if not (folder / file).exists()] == []
    if command.output is not None:
        assert printed == command.output, "`make examples` writes it anew"


@pytest.mark.filterwarnings("ignore:None of the tunable parameters")  # Kernel Tuner: nothing is launched
@pytest.mark.parametrize("block", [one for one in BLOCKS if one.language == "python"], ids=lambda block: block.name)
def test_python_of_a_document_runs(block, folder, capsys):
    """Each Python block runs and prints the comments after its prints, or is a part of gpusim/reproduction."""
    if block.text.startswith("@claim"):
        assert any(block.text in path.read_text() for path in (ROOT / "gpusim" / "reproduction").rglob("*.py"))
        return
    for package in re.findall(r"^import (\w+)", block.text, re.M):
        pytest.importorskip(package)
    fenced.prepare(folder, block.text, block)
    capsys.readouterr()
    exec(block.text, {})
    printed = capsys.readouterr().out.splitlines()
    assert [line for line in re.findall(r"print\(.*\)  # (.*)$", block.text, re.M) if line not in printed] == []


@pytest.mark.parametrize("block", [one for one in BLOCKS if one.language == "cuda"], ids=lambda block: block.name)
def test_cuda_of_a_document_is_that_of_an_example(block):
    """Each block of CUDA C is, line by line, in one of the examples."""
    assert any(block.text in path.read_text(encoding="utf-8") for path in ROOT.glob("examples/*/*.cu"))


TUTORIAL = (ROOT / "docs" / "why-slow.md").read_text(encoding="utf-8")


def test_numbers_of_the_cuda_tutorial_are_printed():
    """Each number in the prose of docs/why-slow.md that is simulated is in the output of one of its commands."""
    printed = "".join(block for language, block in fenced.BLOCK.findall(TUTORIAL) if language == "console")
    prose = re.sub(r"^\| measured.*$|\d\.\d µs", "", fenced.BLOCK.sub("", TUTORIAL), flags=re.M)
    stated = MEASURED.findall(prose)
    assert len(stated) > 5
    assert [number for number in stated if number not in printed] == []


def test_what_the_changes_of_the_cuda_tutorial_save():
    """The microseconds that each change saves, measured and simulated, are differences of the tutorial's table."""
    rows = [re.findall(r"\d\.\d+", line) for line in TUTORIAL.splitlines() if line.startswith(("| meas", "| sim"))]
    simulated, measured = ([float(one) * 1000 for one in row] for row in rows)
    saved = [row[n] - row[n + 1] for n in (0, 1) for row in (measured, simulated)]
    assert [f"{one:.1f}" for one in saved] == re.findall(r"(\d\.\d) µs", TUTORIAL)


def test_every_block_is_of_a_kind_that_is_tested():
    """Each block has one of the tested languages; blocks of `sh` have commands of gpusim, and four others."""
    assert [block.name for block in BLOCKS if block.language.partition(" ")[0] not in LANGUAGES] == []
    assert [one.text for one in every_command() if one.words[0] not in {"gpusim", *OTHERS}] == []


def test_commands_are_in_blocks_that_run():
    """No line of plain text begins with a command, except one with a cluster's address."""
    plain = [block for block in BLOCKS if block.language in ("", "text", "toml", "asm")]
    lines = [line for block in plain for line in block.text.splitlines() if re.match(r"(\$ )?gpusim ", line)]
    assert [line for line in lines if "--dask tcp://" not in line] == []


def test_every_command_has_an_example():
    """The documents use every command."""
    assert {command.words[1] for command in EVERY} >= set(COMMANDS)


def test_the_demo_is_the_readmes_screen():
    """`make demo` runs the command whose screen the README shows."""
    recipe = (ROOT / "Makefile").read_text().split("\ndemo:")[1].split("\n\n")[0]
    shown, *_ = [one for one in EVERY if one.block.document == ROOT / "README.md" and one.output]
    assert f"\t$(BIN)/{shown.text}" in recipe.splitlines()


def test_files_that_a_command_needs_are_made_first():
    """For each command that reads run.json, the one earlier command that writes it is found."""
    wanted = [one for one in EVERY if "run.json" in one.text and "run.json" not in one.writes]
    assert wanted
    for command in wanted:
        (maker,) = fenced.before(command.text, command.block)
        assert maker.writes == {"run.json"}


def test_commands_that_run_elsewhere_exist():
    """A command that is not run here is one of the documents, and the test that runs it exists."""
    assert {" ".join(command.words) for command in EVERY} >= set(ELSEWHERE)
    for file, test in ELSEWHERE.values():
        assert f"@pytest.mark.slow\n@pytest.mark.jit\ndef {test}(" in (ROOT / file).read_text()
