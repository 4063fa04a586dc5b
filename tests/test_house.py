"""The house rules that no linter checks."""

import ast
import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gpusim.commands.main import COMMANDS

ROOT = Path(__file__).parent.parent
PACKAGES = ("gpusim", "isa", "workloads", "docs")
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
Function = ast.FunctionDef | ast.AsyncFunctionDef
EXPECTATIONS = {"pytest.raises", "pytest.warns"}


def label(path: Path) -> str:
    """Return the path from the root of the project."""
    return path.relative_to(ROOT).as_posix()


@cache
def functions(path: Path) -> list[Function]:
    """Return every function of a file, nested ones too."""
    return functions_in(nodes(path))


def functions_of(text: str) -> list[Function]:
    """Return every function of a source text, nested ones too."""
    return functions_in(nodes_of(text))


def functions_in(source: list[ast.AST]) -> list[Function]:
    """Return the functions among the nodes of a source."""
    return [node for node in source if isinstance(node, Function)]


@cache
def nodes(path: Path) -> list[ast.AST]:
    """Return the nodes of a file's syntax tree."""
    return nodes_of(path.read_text(encoding="utf-8"))


def nodes_of(text: str) -> list[ast.AST]:
    """Return the nodes of a source text's syntax tree."""
    return list(ast.walk(ast.parse(text)))


def called(function: Function) -> set[str]:
    """Return the names that a function calls, with the module where it is written out."""
    return {ast.unparse(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)}


def asserts(function: Function) -> bool:
    """Tell whether a function asserts something that isn't constant, or expects an exception or a warning."""
    claims = [node.test for node in ast.walk(function) if isinstance(node, ast.Assert)]
    return any(not isinstance(claim, ast.Constant) for claim in claims) or bool(called(function) & EXPECTATIONS)


def checkers(helpers: list[Function]) -> set[str]:
    """Return the names of those helpers called checks that assert, by themselves or through another one."""
    named = [f for f in helpers if re.match("_?(check|assert)", f.name)]
    found = {f.name for f in named if asserts(f)}
    return found | {f.name for f in named if called(f) & found}


def idle(tests: list[Function], helpers: set[str]) -> list[str]:
    """Return the names of the tests that check nothing."""
    return [f.name for f in tests if f.name.startswith("test_") and not asserts(f) and not called(f) & helpers]


def length(function: Function) -> int:
    """Return the lines of a function from `def` to its end, docstring excluded."""
    first = function.body[0]
    docstring = first.end_lineno - first.lineno + 1 if ast.get_docstring(function) is not None else 0
    return function.end_lineno - function.lineno + 1 - docstring


def faults_of(paths: Iterable[Path], faults: Callable[[Path], Any]) -> dict[str, Any]:
    """Return the faults of each file that has any."""
    return {label(path): wrong for path in paths if (wrong := faults(path))}


def silent(path: Path) -> list[str]:
    """Return the names of the tests of a file that have no docstring."""
    return [f.name for f in functions(path) if f.name.startswith("test_") and not ast.get_docstring(f)]


def test_every_test_states_its_claim():
    """Every test function has a docstring that says what it claims."""
    assert faults_of(TESTS, silent) == {}


def test_every_test_checks_something():
    """Every test function asserts, expects an exception or a warning, or calls a check of the tests that does."""
    found = checkers([f for path in TESTS for f in functions(path)])
    assert faults_of(TESTS, lambda path: idle(functions(path), found)) == {}


EMPTY = [
    "pass",
    "with open('f'): pass",
    "x == 1",
    "check_nothing(x)",
    "check_elsewhere(x)",
    "assert True",
    "compute(x)",
]


@pytest.mark.parametrize("body", EMPTY)
def test_a_test_that_checks_nothing_is_found(body):
    """A `with` of another kind, a comparison left alone, a check that asserts nothing or is none: all are caught."""
    helpers = functions_of("def check_nothing(x): x == 1\ndef compute(x): assert x")
    assert idle(functions_of(f"def test_it(x):\n    {body}"), checkers(helpers)) == ["test_it"]


@pytest.mark.parametrize("body", ["assert x", "with pytest.raises(E): f()", "with pytest.warns(W): f()", "check(x)"])
def test_a_test_that_checks_something_is_let_through(body):
    """An assert, an expected exception or warning, and a check that asserts through another each suffice."""
    helpers = functions_of("def check(x): _check_all(x)\ndef _check_all(x): assert x")
    assert idle(functions_of(f"def test_it(x):\n    {body}"), checkers(helpers)) == []


def test_no_function_is_over_60_lines():
    """No function is longer than 60 lines, docstring excluded."""
    assert faults_of(SOURCES + TESTS, lambda path: [f.name for f in functions(path) if length(f) > 60]) == {}


def test_no_file_is_over_400_lines():
    """No file is longer than 400 lines."""
    assert faults_of(SOURCES + TESTS, lambda path: len(path.read_text(encoding="utf-8").splitlines()) > 400) == {}


def test_most_functions_are_short():
    """Over all sources, 95 of 100 functions are under 25 lines, and half are no longer than 8."""
    lengths = sorted(length(f) for path in SOURCES for f in functions(path))
    assert lengths[len(lengths) * 95 // 100] < 25
    assert lengths[len(lengths) // 2] <= 8


def test_every_module_of_gpusim_has_its_layer():
    """Each module is in exactly one layer of .importlinter, by itself or with its package."""
    layers = re.findall(
        r"gpusim[\w.]+", (ROOT / ".importlinter").read_text(encoding="utf-8").split("\nlayers =")[1].split("\n\n")[0]
    )
    for path in (path for path in SOURCES if path.name != "__init__.py" and path.is_relative_to(ROOT / "gpusim")):
        module = label(path).removesuffix(".py").replace("/", ".")
        assert sum(f"{module}.".startswith(f"{layer}.") for layer in layers) == 1, module


NAMED = re.compile(r"\b(kernel|machine|entry)\.(name|key)\b")


def asked_by_name(source: list[ast.AST]) -> list[str]:
    """Return where a source decides by the name of a kernel or machine: compares, looks up, matches or searches it."""
    found = []
    for node in source:
        if isinstance(node, ast.Compare):
            found.append(ast.unparse(node))
        elif isinstance(node, ast.Match):
            found.append(ast.unparse(node.subject))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and "with" in node.func.attr:
            found.append(ast.unparse(node.func.value))
        elif isinstance(node, ast.Subscript):
            found.append(ast.unparse(node.slice))
    return [each for each in found if NAMED.search(each)]


CORE = [path for path in SOURCES if re.match(r"isa/|gpusim/(?!reproduction/|commands/)", label(path))]


def test_the_core_asks_for_no_name():
    """The code that simulates and reports treats all kernels and machines alike: it decides nothing by their names."""
    assert faults_of(CORE, lambda path: asked_by_name(nodes(path))) == {}


@pytest.mark.parametrize(
    "text", ["kernel.name == 'a'", "machine.key.startswith('g')", "TABLE[kernel.name]", "machine.key in SOME"]
)
def test_a_decision_by_name_is_found(text):
    """Comparisons, prefixes and look-ups by a name are all caught."""
    assert len(asked_by_name(nodes_of(text))) == 1


def test_no_two_test_files_share_a_name():
    """Test files have distinct names, since most test folders are not packages; pytest distinguishes conftests."""
    names = [path.name for path in TESTS if path.name.startswith("test_")]
    assert sorted(set(names)) == sorted(names)


VOCABULARY, REFUSALS = (ROOT / "docs/vocabulary.md").read_text(encoding="utf-8").split("\n## Refused words\n")


def rows_of(text: str) -> list[list[str]]:
    """Return the columns of each row of a table."""
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| ")][1:]
    return [[column.strip() for column in row] for row in rows]


def vocabulary() -> list[list[str]]:
    """Return the columns of each row of the vocabulary."""
    return rows_of(VOCABULARY)


def speaks_of(text: str, term: str) -> bool:
    """Whether a source has a word of a term, in any form: of more than six letters the first six."""
    return any(word[:6] in text.lower() for word in re.findall(r"\w+", term.lower()))


def test_the_files_of_the_vocabulary_speak_of_its_terms():
    """Every row has four columns, a meaning, and a file that exists and has a word of the term in it."""
    rows = vocabulary()
    assert len(rows) > 40
    assert [row for row in rows if len(row) != 4 or len(row[1].split()) < 2] == []
    paths = {term: ROOT / path.strip("`") for term, *_, path in rows}
    assert [term for term, path in paths.items() if not path.is_file()] == []
    assert [term for term, path in paths.items() if not speaks_of(path.read_text(encoding="utf-8"), term)] == []


@pytest.mark.parametrize(
    ("term", "found"), [("coalescing", True), ("bank conflict", True), ("lane", False), ("warp", False)]
)
def test_a_term_is_found_in_any_form_of_its_words(term, found):
    """A source with the words `coalesced` and `banks` has words of the first two terms, and of no other."""
    assert speaks_of("def coalesced(banks): ...", term) == found


def test_the_vocabulary_is_sorted():
    """The terms are in alphabetical order, and each occurs once."""
    terms = [row[0].lower() for row in vocabulary()]
    assert len(terms) > 40
    assert terms == sorted(set(terms))


REFUSED = sorted({word for row in rows_of(REFUSALS) for word in row[0].split(", ")})
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/units").glob("*.md"))]


def names_in(source: list[ast.AST]) -> set[str]:
    """Return the names of a source, strings that could be names too, split into lower-case words."""
    values = [value for node in source for _, value in ast.iter_fields(node)]
    names = {part for value in values if isinstance(value, str) for part in value.split(".") if part.isidentifier()}
    return {" ".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)).lower() for name in names}


def refused(texts: Iterable[str]) -> list[str]:
    """Return the words that the vocabulary refuses and that occur in the texts as whole words, in the plural too."""
    whole = "\n".join(texts).lower()
    return [word for word in REFUSED if re.search(rf"\b{word}(?:e?s)?\b", whole)]


def prose(path: Path) -> list[str]:
    """Return the lines of a document; of the vocabulary those before the refused words."""
    return (VOCABULARY if path.name == "vocabulary.md" else path.read_text(encoding="utf-8")).splitlines()


def test_no_name_has_a_word_that_the_vocabulary_refuses():
    """No identifier, field or key of the packages has one of those words, alone or between underscores."""
    sources = [path for path in SOURCES if not path.is_relative_to(ROOT / "docs")]
    assert len(REFUSED) > 5
    assert faults_of(sources, lambda path: refused(names_in(nodes(path)))) == {}


def test_no_document_has_a_word_that_the_vocabulary_refuses():
    """The README and the documents have none of these words either."""
    assert faults_of(DOCUMENTS, lambda path: refused(prose(path))) == {}


@pytest.mark.parametrize("text", ["reach = 1", "x.the_reach(1)", "class TheReach: ...", "f(reach_2=1)", "x['reach']"])
def test_a_refused_word_is_found_in_any_name(text):
    """Variables, attributes, classes, arguments and keys are all searched, word by word."""
    assert refused(names_in(nodes_of(text))) == ["reach"]
    assert refused(names_in(nodes_of(text.replace("each", "eached")))) == []


def test_a_refused_word_is_found_in_the_plural():
    """`Rungs` and `reaches` are found as `rung` and `reach` are, in documents and in names."""
    assert refused(["Rungs, the sums that a warp has"]) == ["rung"]
    assert refused(names_in(nodes_of("f(reaches=1)"))) == ["reach"]


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_every_command_in_the_documents_exists(document):
    """Each `make X` is a target of the Makefile, each `gpusim X` a command, and each linked file exists."""
    text = (ROOT / document).read_text(encoding="utf-8")
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    code = "\n".join(re.findall(r"`[^`\n]+`|^```\w*\n.*?^```", text, re.M | re.S))
    assert set(re.findall(r"\bmake ([\w-]+)", code)) <= targets
    assert set(re.findall(r"(?:^|`)gpusim (\w[\w-]*)", code, re.M)) <= set(COMMANDS)
    for link in re.findall(r"\]\(([\w./-]+)\)", text):
        assert (ROOT / link).is_file(), link


def test_the_documents_name_only_files_that_exist():
    """Every path in backquotes in the guides exists."""
    for document in ("README.md", "CONTRIBUTING.md"):
        for path in re.findall(
            r"`((?:gpusim|isa|workloads|tests|docs|examples|\.ci)/[\w./-]*)`",
            (ROOT / document).read_text(encoding="utf-8"),
        ):
            assert (ROOT / path).exists(), f"{document}: {path}"


def test_constraints_pin_every_dependency_by_version():
    """The constraints file holds exact versions and no address, and covers every dependency of the project."""
    lines = [
        line for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines() if not line.startswith("#")
    ]
    assert all(re.fullmatch(r"[\w.\-]+==[\w.]+", line) for line in lines)
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in lines}
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    lists = re.findall(r"^(?:dependencies|test|check|lessons|docs) = \[(.*)\]", project, re.M)
    wanted = {name for one in lists for name in re.findall(r'"([\w-]+)(?:~=[\d.]+)?"', one)}
    assert {"numpy", "simpy", "numba", "pytest", "ruff"} <= wanted <= pinned
