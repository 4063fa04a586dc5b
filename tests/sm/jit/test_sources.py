from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gpusim.sm.jit import sources

ROOT = Path(__file__).parents[3]
ENGINE = "gpusim.engines.compiled"
FILES = sorted(path for package in sources.OURS for path in (ROOT / package).rglob("*.py"))
MODULES = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in FILES}
LOADED = "import sys, gpusim.engines.compiled; print(*sys.modules)"


@pytest.fixture
def tree(tmp_path):
    """Return a copy of our packages, to be edited before its first key."""
    for package in sources.OURS:
        only = shutil.ignore_patterns("*.toml", "__pycache__")
        shutil.copytree(ROOT / package, tmp_path / "tree" / package, ignore=only)
    return tmp_path / "tree"


def edit(path: Path, before: str = "", after: str = "\n# edited\n") -> None:
    """Replace a text in a file; without one, add a remark."""
    text = path.read_text()
    path.write_text(text.replace(before, after) if before else text + after)


def modules_imported(path: Path) -> set[str]:
    """Return the modules of ours that a file imports, as Python's parser sees it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: the key knows no relative imports"
            names |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names & MODULES.keys()


@pytest.mark.long
def test_every_import_is_seen():
    """Every import of our modules that Python's parser finds in our files is found, in functions too."""
    missed = {name: modules_imported(path) - sources.imported(path.read_text()) for name, path in MODULES.items()}
    assert len(missed) > 200
    assert not any(missed.values())


def test_all_that_python_loads_for_an_engine_is_in_its_key():
    """Every module of ours that the compiled engine's import loads is among its sources."""
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True, cwd=ROOT)
    ours = {name for name in done.stdout.split() if name.partition(".")[0] in sources.OURS}
    assert len(ours) > 50
    assert ours <= sources.sources(ENGINE).keys()


@pytest.mark.parametrize(
    "edited",
    [
        "gpusim/sm/front/barrier/barrier.py",
        "gpusim/sm/state/layout.py",
        "isa/values/lanes.py",
        "gpusim/sm/jit/compiler/linking.py",
    ],
)
def test_an_edit_of_an_engines_source_changes_its_key(tree, edited):
    """An edit of a rule, the state, a value function's helper or the compiler changes the key."""
    edit(tree / edited)
    assert sources.key(ENGINE, tree) != sources.key(ENGINE)


@pytest.mark.long
@pytest.mark.parametrize("edited", ["gpusim/support/plural.py", "gpusim/commands/run/run.py", "workloads/catalog.py"])
def test_an_edit_of_anything_else_leaves_the_key(tree, edited):
    """An edit of support code, a command or a kernel leaves the key; so does copying the sources."""
    edit(tree / edited)
    assert sources.key(ENGINE, tree) == sources.key(ENGINE)


@pytest.mark.long
@pytest.mark.parametrize("folder", ["gpusim/mechanisms", "isa/hardware"])
def test_a_module_that_has_moved_is_still_seen(tree, folder):
    """An edit of a rule that moved to a new folder changes the key, and the rule is among the sources."""
    shutil.copytree(tree, other := tree.with_name("other"))
    for root in (tree, other):
        (root / folder).mkdir()
        (root / folder / "__init__.py").write_text("")
        (root / "gpusim/sm/front/barrier/barrier.py").rename(root / folder / "barrier.py")
        edit(root / "gpusim/sm/walk/issue.py", "from gpusim.sm.front.barrier import barrier\n", "")
        edit(root / "gpusim/sm/walk/issue.py", "\n\n@", f"\nfrom {folder.replace('/', '.')} import barrier\n\n@")
    edit(other / folder / "barrier.py")
    assert sources.key(ENGINE, tree) != sources.key(ENGINE, other)
    assert f"{folder.replace('/', '.')}.barrier" in sources.sources(ENGINE, tree)


def test_a_module_that_is_not_ours_has_no_key():
    """A test's own module, __main__, NumPy and a missing module have no key, and so are never cached."""
    assert [sources.key(name) for name in (__name__, "__main__", "numpy", "gpusim.nowhere")] == [None] * 4


def test_all_packages_that_are_installed_are_ours():
    """The packages of pyproject.toml are exactly those whose imports are followed."""
    (included,) = re.findall(r"^include = \[(.*)\]", (ROOT / "pyproject.toml").read_text(), re.M)
    assert set(re.findall(r'"(\w+)\*"', included)) == set(sources.OURS)
