import ast
import re
from pathlib import Path

import pytest
from interpreter.interpret import interpret
from read.fenced import DOCUMENTS

from gpusim.engines.walks.races import races
from gpusim.simulation.verify import compare
from isa.instruction import Instruction
from isa.operands.operand import SPECIALS, Address, Immediate, Label, Register, scalar
from isa.row import Unit
from isa.table import ROWS, TABLE
from isa.text import listing
from isa.text.buffer_text import DTYPES, GENERATORS
from isa.text.printer import show_instruction

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "listing.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PYTHON_FILE = re.compile(r"(?<![\w./-])(?:[\w.-]+/)+[a-z_0-9]+\.py\b")  # with its folder; no lessonNN_name.py
DOCUMENTED = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
EXAMPLES = re.findall(r"^```asm\n(.*?)^```$", TEXT, re.M | re.S)


def rows(section):
    """Cells of the table rows of a section, without the heads."""
    body = TEXT.split(f"\n## {section}\n")[1].split("\n## ")[0]
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in body.splitlines() if line[:1] == "|"]
    return [cells for cells in table if cells[0].startswith("`")]


def quoted(text):
    return re.findall(r"`([^`]+)`", text)


@pytest.mark.every
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_no_line_of_a_document_is_over_120_characters(path):
    """Prose and code of the documents are wrapped at 120 characters; rows of tables can't be."""
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > 120 and not line.startswith("|")] == []


def docstrings(path):
    """Return the docstrings of a file of Python, one after another."""
    every = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return "\n".join(ast.get_docstring(one) or "" for one in every if isinstance(one, DOCUMENTED))


def test_files_that_are_named_exist():
    """A path of a Python file in a document or a docstring leads there from the root, gpusim/ or the file's folder."""
    product = [path for room in ("gpusim", "isa", "workloads") for path in (ROOT / room).rglob("*.py")]
    texts = {path: path.read_text(encoding="utf-8") for path in DOCUMENTS} | {one: docstrings(one) for one in product}
    named = {(path, name) for path, text in texts.items() for name in PYTHON_FILE.findall(text)}
    assert len(named) > 300
    starts = {path: (ROOT, ROOT / "gpusim", path.parent) for path in texts}
    lost = [(path, name) for path, name in named if not any((start / name).is_file() for start in starts[path])]
    assert lost == []


@pytest.mark.jit
def test_the_recipe_for_a_policy_runs(capsys):
    """CONTRIBUTING's Python code simulates under two policies: values are right both times, and the cycles differ."""
    (code,) = re.findall(r"^```python\n(import .*?)^```$", CONTRIBUTING, re.M | re.S)
    exec(code, {})
    lines = capsys.readouterr().out.splitlines()
    assert len(set(lines)) == 2
    assert all("values right" in line for line in lines)


def test_the_example_computes_what_it_expects():
    """The document's one example leaves in memory what its .expect says."""
    (text,) = EXAMPLES
    kernel = listing.read(text)
    (expectation,) = kernel.outcome()
    values = compare(kernel, interpret(kernel).memory, expectation)
    assert len(values.got) == 64
    assert values.got.tolist() == expectation.value.tolist()


def test_the_example_needs_its_barrier():
    """As the document says, the example has no race, and has one without the barrier."""
    (text,) = EXAMPLES
    assert races(listing.read(text)) == []
    assert races(listing.read(text.replace("BAR.SYNC 0", "NOP"))) != []


def test_the_mnemonics_are_those_of_the_table():
    """The document lists each mnemonic of the instruction table once, and no other."""
    for section, gcn in (("Instructions", False), ("Instructions of GCN", True)):
        named = [name for cells in rows(section) for name in quoted(cells[0])]
        assert sorted(named) == sorted(name for name, row in TABLE.items() if row.is_gcn == gcn)


@pytest.mark.every
@pytest.mark.parametrize("row", [row for row in ROWS if row.is_gcn], ids=lambda row: row.mnemonic)
def test_each_mnemonic_of_gcn_is_described_as_it_is_written(row):
    """Unit, number of operands, and the places of VCC, off and offset agree with the text that the printer writes."""
    ((_, operands, unit, _),) = [cells for cells in rows("Instructions of GCN") if row.mnemonic in quoted(cells[0])]
    kinds = {"m": Address(Register(2), 4), "l": Label("on"), "n": Immediate(0, "int")}
    kinds |= {"m": Address(scalar(2), 4)} if row.unit is Unit.SMEM else {}
    shown = show_instruction(Instruction(row, tuple(kinds.get(letter, Register(4)) for letter in row.form)))
    written, named = (text.split(",") if text else [] for text in (shown.partition(" ")[2], operands))
    assert unit == row.unit.value
    assert len(written) == len(named)
    for text, name in zip(written, named, strict=True):
        words = (r"\bVCC\b", r"\boff\b", r"\boffset:")
        assert [bool(re.search(word, text)) for word in words] == [bool(re.search(word, name)) for word in words]


@pytest.mark.every
@pytest.mark.parametrize("row", [row for row in ROWS if not row.is_gcn], ids=lambda row: row.mnemonic)
def test_each_mnemonic_has_its_operands_and_unit(row):
    """Unit, number of operands, and where registers and predicates are written agree with the table."""
    ((_, operands, unit, _),) = [cells for cells in rows("Instructions") if row.mnemonic in quoted(cells[0])]
    names = [name.strip() for name in operands.split(",")] if operands else []
    assert unit == row.unit.value
    assert len(names) == len(row.form)
    written = {"d": "Rd", "P": "Pd", "Q": "Pa", "m": "[Ra+offset]", "t": "tex[name]", "l": "label", "s": "special"}
    assert all(name == written[letter] for name, letter in zip(names, row.form, strict=True) if letter in written)


def test_directives_generators_and_types_are_those_of_the_reader():
    """The document names every directive, generator and buffer type, and no other."""
    first = [quoted(cells[0])[0].split()[0] for cells in rows("Directives")]
    assert sorted(first) == sorted((*listing.DIRECTIVES, *GENERATORS))
    assert quoted(TEXT.split(" Types are ")[1].split(". ")[0]) == list(DTYPES)


def test_special_registers_are_all_named():
    """The document names every special register, and no other."""
    paragraph = TEXT.split("Special registers, read by `S2R`:")[1].split("\n\n")[0]
    assert quoted(paragraph) == list(SPECIALS)
