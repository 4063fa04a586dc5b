"""The examples of the documents: their blocks of code, the command lines in them, and how these are run.

`make examples` runs this file, which writes what the commands print anew into the documents.
"""

import io
import re
import shlex
import tempfile
from collections.abc import Sequence
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from unittest import mock

from gpusim.commands.main import execute
from isa.nvidia.compiler import compile

ROOT = Path(__file__).parents[2]
COMPILE = compile.compile_file
DOCUMENTS = sorted(path for folder in (".", "docs", "docs/units", "examples") for path in ROOT.glob(f"{folder}/*.md"))
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.M | re.S)
NAMED = re.compile(r"(?:#|//) (\S+\.(?:asm|toml))\n")  # the first line of a block that is a file of that name
PROMPT = re.compile(r"^\$ ", re.M)
WRITES = (
    "--out",
    "--plot",
    "--plots",
    "--kernel-tuner",
    "--t4",
    "--trace",
    "--csv",
    "--capture",
    ">",
)  # the next word is a file to write


@dataclass(frozen=True)
class Block:
    """A fenced block of code of a document, and the line on which its text begins."""

    document: Path
    line: int
    language: str
    text: str

    @property
    def name(self) -> str:
        """Its name in a test."""
        return f"{self.document.name}:{self.line}"


@dataclass(frozen=True)
class Command:
    """A line `gpusim ...` of a document, continued lines joined; the output that the document states, if any."""

    block: Block
    text: str
    output: str | None = None

    @property
    def words(self) -> list[str]:
        """Its words, without a comment after them."""
        return shlex.split(self.text, comments=True)

    @property
    def writes(self) -> set[str]:
        """The files that it makes."""
        return {file for option, file in pairwise(self.words) if option in WRITES}


def blocks(document: Path) -> list[Block]:
    """Return the fenced blocks of a document, in order."""
    text = document.read_text(encoding="utf-8")
    return [Block(document, text[: m.start(2)].count("\n") + 1, m[1].strip(), m[2]) for m in BLOCK.finditer(text)]


def commands(block: Block) -> list[Command]:
    """Return the command lines of a block: in `console` those after a prompt, with their output; in `sh` all."""
    if block.language == "console":
        parts = (part.partition("\n") for part in PROMPT.split(block.text)[1:])
        return [Command(block, line, output) for line, _, output in parts]
    lines = block.text.replace("\\\n", " ").splitlines() if block.language == "sh" else []
    return [Command(block, line) for line in lines if shlex.split(line, comments=True)]


def every_command() -> list[Command]:
    """Return the command lines of all documents, in order."""
    return [command for document in DOCUMENTS for block in blocks(document) for command in commands(block)]


def before(text: str, block: Block) -> list[Command]:
    """Return the commands above in a block's document that make files named in a text, after those that these need."""
    above = [one for other in blocks(block.document) if other.line <= block.line for one in commands(other)]
    makers = [one for one in above if one.text != text and any(_named(file, text) for file in one.writes)]
    return [one for maker in makers for one in (*before(maker.text, maker.block), maker)]


def _named(file: str, text: str) -> bool:
    return re.search(rf"(?<![\w./-]){re.escape(file)}(?![\w.-])", text) is not None


def put_files(folder: Path, document: Path) -> None:
    """Put into a folder the examples, and the files that the document has as blocks."""
    (folder / "examples").symlink_to(ROOT / "examples")
    for block in blocks(document):
        if found := NAMED.match(block.text):
            (folder / found[1]).write_text(block.text, encoding="utf-8")


def prepare(folder: Path, text: str, block: Block) -> None:
    """Put the files of a block's document into a folder, and run the commands above it that the text depends on."""
    put_files(folder, block.document)
    for command in before(text, block):
        if run(command)[0]:
            raise AssertionError(command.text)


def run(command: Command) -> tuple[int, str]:
    """Run a command line in the current folder; return its exit code and what it prints, which may go to a file."""
    arguments, _, file = command.text.partition(" > ")
    with redirect_stdout(io.StringIO()) as printed, mock.patch.object(compile, "compile_file", _compiled):
        code = execute(shlex.split(arguments, comments=True)[1:])
    if file:
        Path(file.strip()).write_text(printed.getvalue(), encoding="utf-8")
    return code, "" if file else printed.getvalue()


def _compiled(path: Path | str, architecture: int | None = None, flags: Sequence[str] = ()) -> bytes:
    """Return the cubin that lies beside a source, if there is one: the compiler may be missing, or be another one."""
    cubin = Path(path).with_suffix(".cubin")
    return cubin.read_bytes() if cubin.is_file() else COMPILE(path, architecture, flags)


def refreshed(document: Path) -> str:
    """Return the text of a document with what its commands print now."""
    text = document.read_text(encoding="utf-8")
    for block in [block for block in blocks(document) if block.language == "console"]:
        parts = []
        for command in commands(block):
            with tempfile.TemporaryDirectory() as folder, chdir(folder):
                prepare(Path(folder), command.text, block)
                parts.append(f"$ {command.text}\n{run(command)[1]}")
        text = text.replace(f"```console\n{block.text}", f"```console\n{''.join(parts)}")
    return text


if __name__ == "__main__":
    for one in DOCUMENTS:
        one.write_text(refreshed(one), encoding="utf-8")
